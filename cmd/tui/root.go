package main

import (
	"errors"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups under which help lists the commands.
const (
	groupBegin   = "begin"
	groupMeasure = "measure"
	groupData    = "data"
	groupLists   = "lists"
	groupOther   = "other"
)

// root builds the tree of commands.
func (a *app) root() *cobra.Command {
	cmd := a.dashboardCommand()
	cmd.Use = "tui"
	cmd.Version = version()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.Args = a.unknownCommand
	cmd.SetVersionTemplate("wirelab {{.Version}}\n")
	cmd.SetFlagErrorFunc(flagError)
	cmd.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if err := nothingEmpty(cmd, args); err != nil {
			return err
		}
		return a.loadPlugins(cmd.Context())
	}
	a.plugins.add(cmd)
	cmd.AddGroup(
		&cobra.Group{ID: groupBegin, Title: "Begin here:"},
		&cobra.Group{ID: groupMeasure, Title: "Measure:"},
		&cobra.Group{ID: groupData, Title: "Recordings and reports:"},
		&cobra.Group{ID: groupLists, Title: "What there is:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	cmd.SetHelpCommandGroupID(groupOther)
	cmd.SetCompletionCommandGroupID(groupOther)
	cmd.AddCommand(
		a.tourCommand(),
		a.runCommand(), a.sweepCommand(), a.workerCommand(), a.searchCommand(), a.walkoffCommand(), a.benchCommand(), a.tuneCommand(),
		a.recordCommand(), a.replayCommand(), a.reportCommand(), a.compareCommand(), a.checkCommand(), a.trainCommand(), a.patchCommand(),
		a.proxyCommand(), a.listenCommand(),
		a.encodersCommand(), a.pluginsCommand(), a.linksCommand(), a.datasetsCommand(), a.presetsCommand(),
		a.auditCommand(),
	)
	nameParents(cmd)
	return cmd
}

// nameParents makes the library's own commands answer unknown names as ours do:
// it would print its help and call that success.
func nameParents(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args = noArgs
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			c.Run = nil
			c.RunE = func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err != nil || about == nil || len(rest) > 0 {
					return noArgs(root, args)
				}
				return about.Help()
			}
		}
	}
}

// version is what the Go tool knows of the build.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}

// unknownCommand is what the dashboard says to arguments: it takes none.
func (a *app) unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if strings.HasSuffix(args[0], ".toml") {
		return usagef("unknown command %q; did you mean tui run %s, or tui --config %s?", args[0], args[0], args[0])
	}
	return noArgs(cmd, args)
}

// noArgs is for commands that take flags only, or further commands.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var known []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			known = append(known, c.Name())
		}
	}
	under := strings.TrimPrefix(cmd.CommandPath(), "tui")
	unknown := strings.TrimSpace(under + " " + args[0])
	switch hint := didYouMean(args[0], known); {
	case len(known) == 0:
		return usagef("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	case hint != "":
		return usagef("unknown command %q%s", unknown, hint)
	}
	return usagef("unknown command %q; expected one of %s", unknown, strings.Join(known, ", "))
}

// oneArg is for commands that take exactly one thing, such as "a report.json".
func oneArg(thing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return usagef("%s expects %s", cmd.CommandPath(), thing)
		case 1:
			return nil
		}
		return usagef("%s expects %s and nothing after it, got %q", cmd.CommandPath(), thing, args[1])
	}
}

// firstOf returns the first argument, "" if there is none.
func firstOf(args []string) string { return strings.Join(args[:min(len(args), 1)], "") }

// perhapsArg is oneArg for commands that can do without.
func perhapsArg(thing string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return oneArg(thing)(cmd, args)
	}
}

// flagError words what the flag library found.
func flagError(cmd *cobra.Command, err error) error {
	where := ""
	if cmd.HasParent() {
		where = cmd.CommandPath() + ": "
	}
	var missing *pflag.NotExistError
	var needs *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &missing) && missing.GetSpecifiedShortnames() != "":
		return usagef("%sunknown flag -%s", where, missing.GetSpecifiedName())
	case errors.As(err, &missing):
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		hint := didYouMean(missing.GetSpecifiedName(), known)
		return usagef("%sunknown flag --%s%s", where, missing.GetSpecifiedName(), strings.Replace(hint, "mean ", "mean --", 1))
	case errors.As(err, &needs):
		return usagef("%sflag --%s expects %s", where, needs.GetSpecifiedName(), kindOf(needs.GetFlag()))
	case errors.As(err, &invalid):
		return usagef("%s--%s %q makes no sense; expected %s", where, invalid.GetFlag().Name, invalid.GetValue(), kindOf(invalid.GetFlag()))
	}
	return usage(err)
}

// nothingEmpty refuses empty names: they come from variables that scripts forgot
// to set, and must not stand for the default.
func nothingEmpty(cmd *cobra.Command, args []string) (err error) {
	if cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd {
		return nil // the shell asks what may stand where nothing does yet
	}
	for _, arg := range args {
		if arg == "" {
			return usagef("%s: an argument is empty; expected %s", cmd.CommandPath(), cmd.UseLine())
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && err == nil {
			err = usagef("%s: --%s is empty; expected %s", cmd.CommandPath(), f.Name, kindOf(f))
		}
	})
	return err
}

// kindOf says what a flag takes.
func kindOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "uint64":
		return "a whole number"
	case "duration":
		return "a time with its unit, such as 20ms"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	}
	if name, _ := pflag.UnquoteUsage(f); name != "" {
		return name
	}
	return "a value"
}

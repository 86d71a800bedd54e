package main

import (
	"errors"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"wirelab/experiment/config"
)

// The groups of commands in the help text.
const (
	groupBegin   = "begin"
	groupMeasure = "measure"
	groupData    = "data"
	groupLists   = "lists"
	groupOther   = "other"
)

// addManualCommand adds the command that writes man pages; nil in builds without the tag manual, as the program is
// shipped. .ci/release uses it.
var addManualCommand func(root *cobra.Command)

// root returns the command tree: the dashboard command with all others below it. Before any command
// runs, its arguments are checked for empty ones and the plugins are loaded.
func (a *app) root() *cobra.Command {
	cmd := a.dashboardCommand()
	cmd.Version = version() + ", " + describeCommit()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.Args = a.checkRootArgs
	cmd.SetVersionTemplate("wirelab {{.Version}}\n")
	cmd.SetFlagErrorFunc(flagError)
	cmd.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if err := checkNotEmpty(cmd, args); err != nil {
			return err
		}
		return a.loadPlugins(cmd.Context())
	}
	a.plugins.add(cmd)
	cmd.AddGroup(
		&cobra.Group{ID: groupBegin, Title: "Start here:"},
		&cobra.Group{ID: groupMeasure, Title: "Measure:"},
		&cobra.Group{ID: groupData, Title: "Recordings and reports:"},
		&cobra.Group{ID: groupLists, Title: "Lists:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	cmd.SetHelpCommandGroupID(groupOther)
	cmd.SetCompletionCommandGroupID(groupOther)
	cmd.AddCommand(
		a.tourCommand(),
		a.runCommand(), a.sweepCommand(), a.workerCommand(), a.searchCommand(), a.walkoffCommand(), a.tuneCommand(),
		a.recordCommand(), a.replayCommand(), a.reportCommand(), a.compareCommand(), a.checkCommand(), a.trainCommand(), a.patchCommand(),
		a.proxyCommand(), a.listenCommand(),
		a.encodersCommand(), a.pluginsCommand(), a.linksCommand(), a.datasetsCommand(), a.presetsCommand(),
		a.auditCommand(),
	)
	rejectUnknownNames(cmd)
	if addManualCommand != nil {
		addManualCommand(cmd)
	}
	return cmd
}

// rejectUnknownNames makes Cobra's own commands, completion and help, fail on an unknown name. By
// default they print their help and exit with 0.
func rejectUnknownNames(root *cobra.Command) {
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
				target, rest, err := root.Find(args)
				if err != nil || target == nil || len(rest) > 0 {
					return noArgs(root, args) // an error that suggests a command
				}
				return target.Help()
			}
		}
	}
}

// version returns the module version that the build recorded: a tag or pseudo-version, with "+dirty"
// after local changes, or "(devel)"; "(unknown)" if nothing was recorded.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}

// describeCommit returns the commit and its date that the build recorded, and whether the sources had been changed
// since.
func describeCommit() string {
	var settings []debug.BuildSetting
	if info, ok := debug.ReadBuildInfo(); ok {
		settings = info.Settings
	}
	return commitText(settings)
}

// commitText is describeCommit for the settings of a build.
func commitText(settings []debug.BuildSetting) string {
	values := map[string]string{}
	for _, s := range settings {
		values[s.Key] = s.Value
	}
	revision := values["vcs.revision"]
	if revision == "" {
		return "commit unknown: it was built without Git, or with -buildvcs=false"
	}
	date, _, _ := strings.Cut(values["vcs.time"], "T")
	text := "commit " + revision[:min(len(revision), 12)] + " of " + date
	if values["vcs.modified"] == "true" {
		text += " with local changes"
	}
	return text
}

// checkRootArgs is the argument check of the root command, the dashboard, whose only argument is the path of a file. An
// unknown command ends up here.
func (a *app) checkRootArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	_, err := os.Stat(args[0])
	isPath := err == nil || strings.ContainsAny(args[0], `/\.`)
	switch {
	case isPath && len(args) > 1:
		return usagef("tui expects one file, got %q too", args[1])
	case isPath:
		return nil
	}
	return noArgs(cmd, args)
}

// noArgs is an argument check for commands that take only flags, or only subcommands. Its error
// suggests a subcommand, if there are any.
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
	parent := strings.TrimPrefix(cmd.CommandPath(), "tui")
	unknown := strings.TrimSpace(parent + " " + args[0])
	if len(known) == 0 {
		return usagef("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	}
	e := config.Unknown("", "command", unknown, known)
	e.Near = config.Near(args[0], known)
	if e.Near != "" {
		e.Expected = ""
	}
	return asUsageError(e)
}

// oneArg returns an argument check for commands with exactly one argument. argument describes it
// in error messages, such as "a report.json".
func oneArg(argument string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return usagef("%s expects %s", cmd.CommandPath(), argument)
		case 1:
			return nil
		}
		return usagef("%s expects %s and nothing after it, got %q", cmd.CommandPath(), argument, args[1])
	}
}

// firstArg returns the first argument, or "" without arguments.
func firstArg(args []string) string { return strings.Join(args[:min(len(args), 1)], "") }

// optionalArg returns an argument check for commands with at most one argument; see oneArg.
func optionalArg(argument string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return oneArg(argument)(cmd, args)
	}
}

// flagError rewrites an error of the flag library as a usage error that names the command, the
// flag and the expected value.
func flagError(cmd *cobra.Command, err error) error {
	prefix := ""
	if cmd.HasParent() {
		prefix = cmd.CommandPath() + ": "
	}
	var unknown *pflag.NotExistError
	var noValue *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "": // a flag of one letter
		return usagef("%sunknown flag -%s", prefix, unknown.GetSpecifiedName())
	case errors.As(err, &unknown):
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		e := &config.Error{Problem: prefix + "unknown flag --" + unknown.GetSpecifiedName()}
		if near := config.Near(unknown.GetSpecifiedName(), known); near != "" {
			e.Near = "--" + near
		}
		return asUsageError(e)
	case errors.As(err, &noValue):
		return usagef("%sflag --%s expects %s", prefix, noValue.GetSpecifiedName(), expectedValue(noValue.GetFlag()))
	case errors.As(err, &invalid):
		return usagef("%s--%s %q makes no sense; expected %s", prefix, invalid.GetFlag().Name, invalid.GetValue(), expectedValue(invalid.GetFlag()))
	}
	return asUsageError(err)
}

// checkNotEmpty refuses empty arguments and empty values of string flags. They usually come from
// an unset variable in a script, and must not select the default.
func checkNotEmpty(cmd *cobra.Command, args []string) (err error) {
	if cmd.Name() == cobra.ShellCompRequestCmd || cmd.Name() == cobra.ShellCompNoDescRequestCmd {
		return nil // the shell completes a word that may still be empty
	}
	for _, arg := range args {
		if arg == "" {
			return usagef("%s: an argument is empty; expected %s", cmd.CommandPath(), cmd.UseLine())
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.Value.String() == "" && err == nil {
			err = usagef("%s: --%s is empty; expected %s", cmd.CommandPath(), f.Name, expectedValue(f))
		}
	})
	return err
}

// expectedValue describes the value of a flag for error messages: its type, or the name in its
// usage text.
func expectedValue(f *pflag.Flag) string {
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

package main

import (
	"slices"
	"strings"

	"wirelab/dataset"
	"wirelab/dataset/world"
	"wirelab/encoders/table"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/lossmodel"

	"github.com/spf13/cobra"
)

// names lists what may be typed, with what each is.
type names func() []cobra.Completion

// complete makes the shell offer list for a flag.
func complete(cmd *cobra.Command, flag string, list names) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveKeepOrder
	})
	if err != nil {
		panic("tui: completion for a flag that does not exist: " + flag)
	}
}

// completeArg makes the shell offer list for the first argument, in this order.
func completeArg(list names, files cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list(), files | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeFiles makes the shell offer files with one of these endings for the first n arguments.
func completeFiles(n int, endings ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return endings, cobra.ShellCompDirectiveFilterFileExt
	}
}

func encoderNames() (list []cobra.Completion) {
	for _, c := range table.All() {
		list = append(list, cobra.CompletionWithDesc(c.Name, c.Summary))
	}
	return list
}

func presetNames() (list []cobra.Completion) {
	for _, p := range experiment.Presets() {
		list = append(list, cobra.CompletionWithDesc(p.Name, p.Summary))
	}
	return list
}

func profileNames() (list []cobra.Completion) {
	for _, p := range lossmodel.Profiles() {
		list = append(list, cobra.CompletionWithDesc(p.Name, p.Summary))
	}
	return list
}

// dataSpecs offers the kinds of data; files are offered beside them.
func dataSpecs() (list []cobra.Completion) {
	for _, k := range dataset.Kinds() {
		spec, _, takesPath := strings.Cut(k.Spec, ":")
		if takesPath {
			spec += ":"
		}
		list = append(list, cobra.CompletionWithDesc(spec, k.Summary))
	}
	return list
}

func scriptNames() (list []cobra.Completion) {
	for _, s := range world.Scripts() {
		list = append(list, cobra.CompletionWithDesc(s.Name, s.Summary))
	}
	return list
}

// settingKeys offers KEY= for --set.
func settingKeys() (list []cobra.Completion) {
	flatKeys("", config.Default().Values(), func(key string) { list = append(list, key+"=") })
	slices.Sort(list)
	return list
}

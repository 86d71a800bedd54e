package main

import (
	"slices"
	"strings"

	"wirelab/dataset"
	"wirelab/dataset/world"
	"wirelab/encoders"
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

// described lists items by name, each with its summary.
func described[T any](items []T, describe func(T) (name, summary string)) (list []cobra.Completion) {
	for _, x := range items {
		list = append(list, cobra.CompletionWithDesc(describe(x)))
	}
	return list
}

func encoderNames() []cobra.Completion {
	return described(table.All(), func(c encoders.Codec) (name, summary string) { return c.Name, c.Summary })
}

func presetNames() []cobra.Completion {
	return described(experiment.Presets(), func(p experiment.Preset) (name, summary string) { return p.Name, p.Summary })
}

func profileNames() []cobra.Completion {
	return described(lossmodel.Profiles(), func(p lossmodel.Profile) (name, summary string) { return p.Name, p.Summary })
}

func scriptNames() []cobra.Completion {
	return described(world.Scripts(), func(s world.Script) (name, summary string) { return s.Name, s.Summary })
}

// dataSpecs offers the kinds of data; files are offered beside them.
func dataSpecs() []cobra.Completion {
	return described(dataset.Kinds(), func(k dataset.Kind) (name, summary string) {
		spec, _, takesPath := strings.Cut(k.Spec, ":")
		if takesPath {
			spec += ":"
		}
		return spec, k.Summary
	})
}

// settingKeys offers KEY= for --set.
func settingKeys() (list []cobra.Completion) {
	flatKeys("", config.Default().Values(), func(key string) { list = append(list, key+"=") })
	slices.Sort(list)
	return list
}

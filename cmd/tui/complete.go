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

// completionList returns the words that complete a flag or an argument, with a description of
// each.
type completionList func() []cobra.Completion

// complete registers list as the shell completion of a flag. It panics if cmd has no such flag.
func complete(cmd *cobra.Command, flag string, list completionList) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return list(), cobra.ShellCompDirectiveKeepOrder
	})
	if err != nil {
		panic("tui: completion for a flag that does not exist: " + flag)
	}
}

// completeArg completes the first argument with list, in its order. files selects whether the shell
// also completes file names: ShellCompDirectiveDefault, or ShellCompDirectiveNoFileComp.
func completeArg(list completionList, files cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list(), files | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeFiles completes the first n arguments with the names of files with one of these
// extensions.
func completeFiles(n int, extensions ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completions returns a completion for each item, with its summary as description.
func completions[T any](items []T, describe func(T) (name, summary string)) (list []cobra.Completion) {
	for _, x := range items {
		list = append(list, cobra.CompletionWithDesc(describe(x)))
	}
	return list
}

// encoderNames completes a flag with the encoders.
func encoderNames() []cobra.Completion {
	return completions(table.All(), func(c encoders.Codec) (name, summary string) { return c.Name, c.Summary })
}

// presetNames completes a flag with the presets.
func presetNames() []cobra.Completion {
	return completions(experiment.Presets(), func(p experiment.Preset) (name, summary string) { return p.Name, p.Summary })
}

// profileNames completes a flag or an argument with the link profiles.
func profileNames() []cobra.Completion {
	return completions(lossmodel.Profiles(), func(p lossmodel.Profile) (name, summary string) { return p.Name, p.Summary })
}

// scriptNames completes an argument with the scripts of the cube world.
func scriptNames() []cobra.Completion {
	return completions(world.Scripts(), func(s world.Script) (name, summary string) { return s.Name, s.Summary })
}

// dataSpecs completes --data with the kinds of data. Kinds with an argument are completed up to
// their colon, such as "file:"; the shell adds file names.
func dataSpecs() []cobra.Completion {
	return completions(dataset.Kinds(), func(k dataset.Kind) (name, summary string) {
		spec, _, takesPath := strings.Cut(k.Spec, ":")
		if takesPath {
			spec += ":"
		}
		return spec, k.Summary
	})
}

// settingKeys completes --set with "KEY=" for every configuration key.
func settingKeys() (list []cobra.Completion) {
	for _, key := range config.Keys() {
		list = append(list, key+"=")
	}
	slices.Sort(list)
	return list
}

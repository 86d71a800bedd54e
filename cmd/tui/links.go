package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"wirelab/lossmodel"
)

// profileInfo is one link profile in the JSON of `links`.
type profileInfo struct {
	Name    string         `json:"name"`
	Summary string         `json:"summary"`
	Source  string         `json:"source"`
	Down    map[string]any `json:"down"`
	Up      map[string]any `json:"up"`
}

func profileOf(p lossmodel.Profile) profileInfo {
	return profileInfo{Name: p.Name, Summary: p.Summary, Source: p.Source, Down: p.Down.Values(), Up: p.Up.Values()}
}

func (a *app) linksCommand() *cobra.Command {
	cmd := a.listCommand("links", "List the link profiles, and what can be set on a link",
		`List the profiles that "profile" in a configuration takes, and the keys that can be
set under [down], towards the receiver, and under [up], back to the sender; with
--set, link.KEY means both.`,
		`  tui links
  tui links show lte
  tui run --set profile=lte --set down.loss=3%`,
		a.links)
	cmd.AddCommand(a.linksShowCommand())
	return cmd
}

func (a *app) links(json bool) error {
	profiles, keys := lossmodel.Profiles(), lossmodel.Keys()
	if json {
		list := make([]profileInfo, len(profiles))
		for i, p := range profiles {
			list[i] = profileOf(p)
		}
		return a.stdout.json(map[string]any{"profiles": list, "keys": keys})
	}
	g := newGrid("profile", "what it is like")
	for _, p := range profiles {
		g.row(p.Name, p.Summary)
	}
	g.write(a.stdout, a.columns)
	fmt.Fprintln(a.stdout)
	g = newGrid("key", "default", "takes", "what it does")
	for _, k := range keys {
		g.row(k.Key, k.Default, takes(k), k.Help)
	}
	g.write(a.stdout, a.columns)
	return nil
}

// takes says what a key can be set to.
func takes(k lossmodel.KeyInfo) string {
	if len(k.Choices) > 0 {
		return strings.Join(k.Choices, ", ")
	}
	return k.Min + " to " + k.Max
}

func (a *app) linksShowCommand() *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show what a link profile sets",
		Long: `Show what a link profile sets, as the tables of a configuration. What is at its
default, a perfect link, is left out.`,
		Example: `  tui links show lte
  tui links show lte --json`,
		Args: oneArg("the name of a profile"),
		RunE: func(_ *cobra.Command, args []string) error { return a.link(args[0], json) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return profileNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&json, "json", false, "write one JSON document to standard output")
	return cmd
}

func (a *app) link(name string, json bool) error {
	p, err := lossmodel.ProfileByName(name)
	if err != nil {
		return usage(unknownName("link profile", name, profileList(), "tui links"))
	}
	if json {
		return a.stdout.json(profileOf(p))
	}
	fmt.Fprintf(a.stdout, "# %s: %s\n# After %s.\n", p.Name, p.Summary, strings.TrimSuffix(p.Source, "."))
	for _, side := range []struct {
		name string
		spec lossmodel.Spec
	}{{"down", p.Down}, {"up", p.Up}} {
		fmt.Fprintf(a.stdout, "\n[%s]\n", side.name)
		for _, k := range lossmodel.Keys() {
			if v, err := side.spec.Get(k.Key); err == nil && v != k.Default {
				fmt.Fprintf(a.stdout, "%s = %q\n", k.Key, v)
			}
		}
	}
	return nil
}

func profileList() (names []string) {
	for _, p := range lossmodel.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

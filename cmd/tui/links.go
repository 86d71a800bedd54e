package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirelab/internal/texttable"
	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/measure"
)

// profileInfo is one link profile in the JSON of `links`.
type profileInfo struct {
	Name    string         `json:"name"`
	Summary string         `json:"summary"`
	Source  string         `json:"source"`
	Down    map[string]any `json:"down"`
	Up      map[string]any `json:"up"`
}

func (a *app) linksCommand() *cobra.Command {
	cmd := a.listCommand("links", "List the link profiles, and what can be set on a link",
		`List the profiles that "profile" in a configuration takes, and the keys that can be
set under [down], towards the receiver, and under [up], back to the sender; with
--set, link.KEY means both.`,
		`  tui links
  tui links show lte
  tui links test lte
  tui run --set profile=lte --set down.loss=3%`,
		a.links)
	cmd.AddCommand(a.linksShowCommand(), a.linksTestCommand(), a.linksTraceCommand(), a.linksFitCommand(), a.linksMeasureCommand())
	return cmd
}

func (a *app) links() error {
	profiles, keys := lossmodel.Profiles(), lossmodel.Keys()
	list := make([]profileInfo, len(profiles))
	g := texttable.New("profile", "what it is like")
	for i, p := range profiles {
		list[i] = profileInfo{Name: p.Name, Summary: p.Summary, Source: p.Source, Down: p.Down.Values(), Up: p.Up.Values()}
		g.Add(p.Name, p.Summary)
	}
	if a.asJSON {
		return a.stdout.json(map[string]any{"profiles": list, "keys": keys})
	}
	g.WriteText(a.stdout, a.columns)
	fmt.Fprintln(a.stdout)
	g = texttable.New("key", "unit", "default", "takes", "what it does")
	for _, k := range keys {
		g.Add(k.Key, k.Unit, k.Default, takes(k), sourced(k.Help, k.Source))
	}
	g.WriteText(a.stdout, a.columns)
	for _, k := range keys {
		a.models(k)
	}
	return nil
}

// models tells of the models of a key, with their parameters.
func (a *app) models(k lossmodel.KeyInfo) {
	if len(k.Models) == 0 {
		return
	}
	fmt.Fprintln(a.stdout)
	g := texttable.New("model of "+k.Key, "parameter", "default", "takes", "what it does")
	for _, m := range k.Models {
		g.Add(m.Name, "", "", "", sourced(m.Summary, m.Source))
		for _, p := range m.Params {
			g.Add("", p.Name, p.Default, span(p.Unit, p.Min, p.Max), p.Help)
		}
	}
	g.WriteText(a.stdout, a.columns)
}

// sourced adds where something is from, if that is known.
func sourced(text, source string) string {
	if source == "" {
		return text
	}
	return text + " (" + source + ")"
}

// takes says what a key can be set to.
func takes(k lossmodel.KeyInfo) string {
	if len(k.Choices) > 0 {
		return strings.Join(k.Choices, ", ")
	}
	return span(k.Unit, k.Min, k.Max)
}

// span says what lies between two bounds, or what there is without them.
func span(unit, least, most string) string {
	switch {
	case unit == "file":
		return "a path"
	case unit == "line":
		return "a netem line"
	case least == "" && most == "":
		return unit
	}
	return least + " to " + most
}

func profileList() (names []string) {
	for _, p := range lossmodel.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

func (a *app) linksTraceCommand() *cobra.Command {
	var link linkFlags
	var traffic trafficFlags
	up := false
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Send packets over a link and write what became of each as CSV",
		Long: `Send packets over a link and write what became of each, and of each copy:
seq,send_us,recv_us,copy, where recv_us may be "lost". links fit takes that back,
and so does the key trace of a link: down.trace = "FILE.csv".

A line of netem decides packet by packet as Linux does with its seed:

  tui links trace --netem "loss gemodel 1% 20% seed 1" --packets 200000`,
		Example: `  tui links trace --profile lte --packets 10000 > lte.csv
  tui links trace --set down.loss=5% --set down.burst=3 --packets 100000 | tui links fit -
  tui links trace --config experiment.toml --up --interval 16.667ms --packets 3600`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.linksTrace(cmd, &link, &traffic, up) },
	}
	link.add(cmd)
	traffic.add(cmd, 10_000, time.Millisecond, 64)
	link.addProfile(cmd)
	cmd.Flags().BoolVar(&up, "up", false, "the link back to the sender instead of the one to the receiver")
	a.addQuiet(cmd)
	return cmd
}

func (a *app) linksTrace(cmd *cobra.Command, f *linkFlags, traffic *trafficFlags, up bool) error {
	if err := traffic.check(); err != nil {
		return err
	}
	link, err := f.load(cmd)
	if err != nil {
		return err
	}
	chosen := link.side(up)
	a.warn(warnings(chosen))
	var rows []capture.Packet
	err = a.await(cmd.Context(), "trace", func() (err error) {
		rows, err = measure.Trace(chosen.spec, link.seed, traffic.Traffic)
		return usage(err)
	})
	if err != nil {
		return err
	}
	return capture.Write(a.stdout, slices.Values(rows))
}

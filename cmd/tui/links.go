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

// profileInfo is a link profile in the JSON output of tui links.
type profileInfo struct {
	Name    string         `json:"name"`
	Summary string         `json:"summary"`
	Source  string         `json:"source"`
	Down    map[string]any `json:"down"`
	Up      map[string]any `json:"up"`
}

// linksCommand returns tui links, which lists profiles and keys and has subcommands to examine
// links.
func (a *app) linksCommand() *cobra.Command {
	cmd := a.listCommand("links", "List the link profiles and the settings of links",
		`List the profiles that the configuration key "profile" accepts, and the keys of links.
Set a key under [down] for the link to the receiver and under [up] for the link back to
the sender; with --set, link.KEY sets both.`,
		`  tui links
  tui links show unity-4g
  tui run --set profile=lte --set down.loss=3%`,
		a.listLinks)
	cmd.AddCommand(a.linksShowCommand(), a.linksTraceCommand(), a.linksFitCommand(), a.linksMeasureCommand())
	return cmd
}

// listLinks writes the link profiles, the keys of links, and the models that some keys accept.
func (a *app) listLinks() error {
	profiles, keys := lossmodel.Profiles(), lossmodel.Keys()
	list := make([]profileInfo, len(profiles))
	g := texttable.New("profile", "properties")
	for i, p := range profiles {
		list[i] = profileInfo{Name: p.Name, Summary: p.Summary, Source: p.Source, Down: p.Down.Values(), Up: p.Up.Values()}
		g.Add(p.Name, p.Summary)
	}
	if a.asJSON {
		return a.stdout.json(map[string]any{"profiles": list, "keys": keys})
	}
	g.WriteText(a.stdout, a.columns)
	fmt.Fprintln(a.stdout)
	g = texttable.New("key", "unit", "default", "values", "effect")
	for _, k := range keys {
		g.Add(k.Key, k.Unit, k.Default, formatValues(k), withSource(k.Help, k.Source))
	}
	g.WriteText(a.stdout, a.columns)
	for _, k := range keys {
		a.writeModels(k)
	}
	return nil
}

// writeModels writes a table of the models of a key with their parameters, if it has models.
func (a *app) writeModels(k lossmodel.KeyInfo) {
	if len(k.Models) == 0 {
		return
	}
	fmt.Fprintln(a.stdout)
	g := texttable.New("model of "+k.Key, "parameter", "default", "values", "effect")
	for _, m := range k.Models {
		g.Add(m.Name, "", "", "", withSource(m.Summary, m.Source))
		for _, p := range m.Params {
			g.Add("", p.Name, p.Default, formatRange(p.Unit, p.Min, p.Max), p.Help)
		}
	}
	g.WriteText(a.stdout, a.columns)
}

// withSource appends the source in parentheses, unless it is empty.
func withSource(text, source string) string {
	if source == "" {
		return text
	}
	return text + " (" + source + ")"
}

// formatValues formats the values that a key accepts.
func formatValues(k lossmodel.KeyInfo) string {
	if len(k.Choices) > 0 {
		return strings.Join(k.Choices, ", ")
	}
	return formatRange(k.Unit, k.Min, k.Max)
}

// formatRange formats the range of a value for a table. minValue and maxValue are empty if the value
// has no bounds; the unit then describes what is expected.
func formatRange(unit, minValue, maxValue string) string {
	switch {
	case unit == "file":
		return "a path"
	case unit == "line":
		return "a netem line"
	case minValue == "" && maxValue == "":
		return unit
	}
	return minValue + " to " + maxValue
}

// profileNameList returns the names of all link profiles.
func profileNameList() (names []string) {
	for _, p := range lossmodel.Profiles() {
		names = append(names, p.Name)
	}
	return names
}

// linksTraceCommand returns tui links trace.
func (a *app) linksTraceCommand() *cobra.Command {
	var link linkFlags
	var traffic trafficFlags
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Send packets over a link and write their outcomes as CSV",
		Long: `Send packets over a link and write a CSV row for each packet and each copy:
seq,send_us,recv_us,copy, where recv_us may be "lost". tui links fit reads this format,
and so does the key trace of a link: down.trace = "FILE.csv".

With --netem, the outcome of every packet is the one that Linux gives for the same seed:

  tui links trace --netem "loss gemodel 1% 20% seed 1" --packets 200000`,
		Example: `  tui links trace --profile unity-4g --packets 10000 > mobile.csv
  tui links trace --set down.loss=5% --set down.burst=3 --packets 100000 | tui links fit -
  tui links trace --config experiment.toml --interval 16.667ms --packets 3600`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.linksTrace(cmd, &link, &traffic) },
	}
	link.add(cmd)
	traffic.add(cmd, 10_000, time.Millisecond, 64) // defaults: number of packets, interval, bytes of a packet
	link.addProfile(cmd)
	cmd.Flags().StringVar(&link.file, "config", "", "use the downlink of the configuration in `FILE`")
	a.addQuiet(cmd)
	return cmd
}

// linksTrace sends packets over the downlink of a link, and writes their outcomes as CSV.
func (a *app) linksTrace(cmd *cobra.Command, f *linkFlags, traffic *trafficFlags) error {
	if err := traffic.check(); err != nil {
		return err
	}
	link, err := f.load(cmd)
	if err != nil {
		return err
	}
	chosen := link.directions[0]
	a.warn(linkWarnings(chosen))
	var rows []capture.Packet
	err = a.await(cmd.Context(), "trace", func() (err error) {
		rows, err = measure.Trace(chosen.spec, link.seed, traffic.Traffic)
		return asUsageError(err)
	})
	if err != nil {
		return err
	}
	return capture.Write(a.stdout, slices.Values(rows))
}

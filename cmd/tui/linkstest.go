package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"wirelab/internal/texttable"
	"wirelab/internal/units"
	"wirelab/lossmodel/measure"
)

// linkTest is the JSON output of tui links test.
type linkTest struct {
	Link       string          `json:"link"`
	Seed       uint64          `json:"seed"`
	Packets    int             `json:"packets"`
	IntervalUS float64         `json:"interval_us"`
	Size       int             `json:"size"`
	MaxSigmas  float64         `json:"max_sigmas"` // a figure with a larger deviation fails
	OK         bool            `json:"ok"`
	Down       *measure.Report `json:"down"`
	Up         *measure.Report `json:"up,omitempty"` // absent if the uplink is perfect
}

// linksTestCommand returns tui links test.
func (a *app) linksTestCommand() *cobra.Command {
	var link linkFlags
	var traffic trafficFlags
	cmd := &cobra.Command{
		Use:   "test [NAME]",
		Short: "Test whether a link behaves as its models predict",
		Long: `Send packets through each stage of a link and compare the measured figures with the
closed-form predictions of its model, in units of the standard error.

The exit code is 1 if a figure deviates by more than 5 standard errors, which happens to a
correct model once in two million figures.`,
		Example: `  tui links test lte
  tui links test starlink --packets 100000 --json | jq '.down.checks[].sigmas'
  tui links test --set down.loss=5% --set down.burst=3`,
		Args:              link.profileArg,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.linksTest(cmd, &link, &traffic) },
		ValidArgsFunction: completeArg(profileNames, cobra.ShellCompDirectiveNoFileComp),
	}
	link.add(cmd)
	traffic.add(cmd, 1_000_000, time.Millisecond, 64) // defaults: number of packets, interval, bytes of a packet
	a.addOutputFlags(cmd)
	return cmd
}

// linksTest tests both directions of a link and writes the results.
func (a *app) linksTest(cmd *cobra.Command, f *linkFlags, traffic *trafficFlags) error {
	if err := traffic.check(); err != nil {
		return err
	}
	link, err := f.load(cmd)
	if err != nil {
		return err
	}
	a.warn(linkWarnings(link.directions...))
	reports := make([]measure.Report, len(link.directions))
	err = a.await(cmd.Context(), "test", func() error {
		for i, s := range link.directions {
			if link.sameAsDown(i) {
				reports[i] = reports[0]
				continue
			}
			if reports[i], err = measure.Test(s.spec, link.seed, traffic.Traffic); err != nil {
				return asUsageError(err)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	failed := failedChecks(link, reports)
	doc := linkTest{
		Link: link.title, Seed: link.seed, Packets: traffic.Packets, IntervalUS: float64(traffic.Interval) / 1e3,
		Size: traffic.Size, MaxSigmas: measure.MaxSigmas, OK: len(failed) == 0, Down: &reports[0],
	}
	if len(reports) > 1 {
		doc.Up = &reports[1]
	}
	err = a.writeResult(doc, func(w io.Writer) { writeTest(w, link, traffic, reports) })
	return cmp.Or(err, newFailure(failed))
}

// failedChecks returns a sentence for each figure that deviates too much from its prediction.
// reports contains a report for each direction of link.
func failedChecks(link *chosenLink, reports []measure.Report) (failed []string) {
	for i, r := range reports {
		for _, c := range r.Checks {
			if !c.OK && !link.sameAsDown(i) {
				failed = append(failed, fmt.Sprintf("%s: %s: %s is %s, %.1f standard errors from %s",
					link.directions[i].name, c.Stage, c.Name, units.General(c.Measured, 5), c.Sigmas, units.General(c.Expected, 5)))
			}
		}
	}
	return failed
}

// writeTest writes the results as a table, then the figures of all stages together.
func writeTest(w io.Writer, link *chosenLink, traffic *trafficFlags, reports []measure.Report) {
	fmt.Fprintf(w, "%s.\n%d packets of %d bytes through each stage, seed %d.\n", link.title, traffic.Packets, traffic.Size,
		link.seed)
	g := texttable.New("link", "stage", "figure", ">measured", ">closed form", ">std error", ">sigmas", "unit", "ok")
	for i, r := range reports {
		for _, c := range r.Checks {
			if link.sameAsDown(i) {
				break
			}
			g.Add(link.directions[i].name, c.Stage, c.Name, units.General(c.Measured, 5), units.General(c.Expected, 5), units.General(c.StdErr, 5),
				fmt.Sprintf("%.2f", c.Sigmas), c.Unit, c.OK)
		}
	}
	if len(g.Rows) > 0 {
		fmt.Fprintln(w)
		g.WriteText(w, anyWidth)
	}
	for i, s := range link.directions {
		if link.sameAsDown(i) {
			fmt.Fprintf(w, "\n%s is the same as %s.\n", s.name, link.directions[0].name)
			continue
		}
		fmt.Fprintf(w, "\n%s, all stages together, a packet every %v: %s\n", s.name, traffic.Interval, formatStats(&reports[i].AllStages))
		for _, n := range testNotes(s, &reports[i]) {
			fmt.Fprintf(w, "Note: %s.\n", n)
		}
	}
}

// formatStats formats the figures of a link, measured over all its stages, in one sentence.
func formatStats(stats *measure.Stats) string {
	lost := fmt.Sprintf("%.4g%% lost", stats.LossRate*100)
	if stats.Bursts > 0 {
		lost = fmt.Sprintf("%s in bursts of %s packets", lost, units.Significant(stats.MeanBurst, 3))
	}
	parts := []string{lost}
	if d := &stats.Delay; d.Count > 0 {
		parts = append(parts, fmt.Sprintf("delay %v with standard deviation %v", d.Mean.Round(time.Microsecond), d.SD.Round(time.Microsecond)))
	}
	parts = append(parts, fmt.Sprintf("%.4g%% reordered", stats.Reordering.Ratio*100), fmt.Sprintf("%.4g%% duplicated", stats.Duplicated*100))
	return strings.Join(parts, ", ") + "."
}

// testNotes returns notes on the test, in particular why figures have no closed form.
func testNotes(dir direction, r *measure.Report) []string {
	notes := slices.Clone(r.Notes)
	switch {
	case dir.spec.Netem.On:
		text := "no closed form exists with netem options, because they are applied packet by packet as in the kernel"
		if rate := dir.spec.Netem.LossRate(); rate > 0 {
			text += fmt.Sprintf("; in the long run netem drops %.4g%% of packets", rate*100)
		}
		return append(notes, text)
	case len(r.Checks) == 0 && len(notes) == 0:
		return []string{"all stages of the link are off, so there is nothing to compare"}
	}
	return notes
}

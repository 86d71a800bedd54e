package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"wirelab/internal/texttable"
	"wirelab/internal/units"
	"wirelab/lossmodel/measure"
)

// linkTest is the JSON of `links test`.
type linkTest struct {
	Link       string          `json:"link"`
	Seed       uint64          `json:"seed"`
	Packets    int             `json:"packets"`
	IntervalUS float64         `json:"interval_us"`
	Size       int             `json:"size"`
	MaxSigmas  float64         `json:"max_sigmas"` // beyond which a figure does not hold
	OK         bool            `json:"ok"`
	Down       *measure.Report `json:"down"`
	Up         *measure.Report `json:"up,omitempty"` // absent for a perfect link
}

func (a *app) linksTestCommand() *cobra.Command {
	var link linkFlags
	var traffic trafficFlags
	cmd := &cobra.Command{
		Use:   "test [NAME]",
		Short: "Hold a link to the closed forms of its models",
		Long: `Send packets through each stage of a link and put what comes of it beside the
closed form of its model, with the standard error: a share lost of 5 % is not 5 %
among a thousand packets, but it is within a few standard errors.

Exits with 1 if a figure is more than 5 standard errors off, which a right model
does once in two million.`,
		Example: `  tui links test lte
  tui links test starlink --packets 100000 --json | jq '.down.checks[].sigmas'
  tui links test --set down.loss=5% --set down.burst=3`,
		Args:              link.nameArg,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.linksTest(cmd, &link, &traffic) },
		ValidArgsFunction: completeArg(profileNames, cobra.ShellCompDirectiveNoFileComp),
	}
	link.add(cmd)
	traffic.add(cmd, 1_000_000, time.Millisecond, 64)
	a.addOutputFlags(cmd)
	return cmd
}

func (a *app) linksTest(cmd *cobra.Command, f *linkFlags, traffic *trafficFlags) error {
	if err := traffic.check(); err != nil {
		return err
	}
	link, err := f.load(cmd)
	if err != nil {
		return err
	}
	a.warn(warnings(link.sides...))
	reports := make([]measure.Report, len(link.sides))
	err = a.await(cmd.Context(), "test", func() error {
		for i, s := range link.sides {
			if link.alike(i) {
				reports[i] = reports[0]
				continue
			}
			if reports[i], err = measure.Test(s.spec, link.seed, traffic.Traffic); err != nil {
				return usage(err)
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
	err = a.answer(doc, func(w io.Writer) { writeTest(w, link, traffic, reports) })
	return cmp.Or(err, held(failed))
}

// failedChecks says in a sentence each what does not hold.
func failedChecks(link *chosenLink, reports []measure.Report) (failed []string) {
	for i, r := range reports {
		for _, c := range r.Checks {
			if !c.OK && !link.alike(i) {
				failed = append(failed, fmt.Sprintf("%s: %s: %s is %s, %.1f standard errors from %s",
					link.sides[i].name, c.Stage, c.Name, units.General(c.Measured, 5), c.Sigmas, units.General(c.Expected, 5)))
			}
		}
	}
	return failed
}

func writeTest(w io.Writer, link *chosenLink, traffic *trafficFlags, reports []measure.Report) {
	fmt.Fprintf(w, "%s.\n%d packets of %d bytes through each stage, seed %d.\n", link.title, traffic.Packets, traffic.Size,
		link.seed)
	g := texttable.New("link", "stage", "figure", ">measured", ">closed form", ">std error", ">sigmas", "unit", "holds")
	for i, r := range reports {
		for _, c := range r.Checks {
			if link.alike(i) {
				break
			}
			g.Add(link.sides[i].name, c.Stage, c.Name, units.General(c.Measured, 5), units.General(c.Expected, 5), units.General(c.StdErr, 5),
				fmt.Sprintf("%.2f", c.Sigmas), c.Unit, c.OK)
		}
	}
	if len(g.Rows) > 0 {
		fmt.Fprintln(w)
		g.WriteText(w, 0)
	}
	for i, s := range link.sides {
		if link.alike(i) {
			fmt.Fprintf(w, "\n%s is like %s.\n", s.name, link.sides[0].name)
			continue
		}
		fmt.Fprintf(w, "\n%s, all stages together, a packet every %v: %s\n", s.name, traffic.Interval, wholeOf(&reports[i].Whole))
		for _, n := range notesOf(s, &reports[i]) {
			fmt.Fprintf(w, "Note: %s.\n", n)
		}
	}
}

// wholeOf puts what a link does in a sentence.
func wholeOf(w *measure.Stats) string {
	text := fmt.Sprintf("%.4g%% lost", w.LossRate*100)
	if w.Bursts > 0 {
		text += " in runs of " + units.Significant(w.MeanBurst, 3)
	}
	if d := &w.Delay; d.Count > 0 {
		text += fmt.Sprintf(", delay %v with standard deviation %v", d.Mean.Round(time.Microsecond), d.SD.Round(time.Microsecond))
	}
	return text + fmt.Sprintf(", %.4g%% reordered, %.4g%% duplicated.", w.Reordering.Ratio*100, w.Duplicated*100)
}

// notesOf says why there is no closed form where there is none.
func notesOf(s side, r *measure.Report) []string {
	notes := slices.Clone(r.Notes)
	switch {
	case s.spec.Netem.On:
		text := "a line of netem decides as the kernel does, packet by packet, and has no closed form"
		if rate := s.spec.Netem.LossRate(); rate > 0 {
			text += fmt.Sprintf("; in the long run it picks %.4g%% of packets to lose", rate*100)
		}
		return append(notes, text)
	case len(r.Checks) == 0 && len(notes) == 0:
		return []string{"nothing is on that could be held to a closed form"}
	}
	return notes
}

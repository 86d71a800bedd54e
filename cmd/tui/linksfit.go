package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"wirelab/lossmodel/measure"
)

func (a *app) linksFitCommand() *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "fit CAPTURE.csv",
		Short: "Find the settings of a link that does what a capture shows",
		Long: `Find the settings of a link that does what a capture of a real network, or of
links trace, shows: a table [down] for a configuration, with intervals and the
goodness of the fit as comments.

A capture is CSV, plain, .zst or .gz; - is standard input. The first row names the
columns: seq, send_us, recv_us (a time or "lost") and copy; others are ignored. The
packets.csv of a run is one. Clocks of the two ends may differ.`,
		Example: `  tui links fit capture.csv
  tui links fit capture.csv.zst --json | jq .settings
  tui links fit report/packets.csv > link.toml`,
		Args:              oneArg("a capture in CSV, or - for standard input"),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.linksFit(cmd, args[0], json) },
		ValidArgsFunction: completeFiles("csv", "zst", "gz"),
	}
	a.addOutputFlags(cmd, &json)
	return cmd
}

// fitInfo is the JSON of `links fit`.
type fitInfo struct {
	Capture string `json:"capture,omitempty"`
	measure.FitResult
	Table string `json:"toml"` // the settings as a table of a configuration
}

// fitInfoOf returns a fit with the table of a direction.
func fitInfoOf(direction string, fit *measure.FitResult) fitInfo {
	info := fitInfo{FitResult: *fit, Table: fit.Table(direction)}
	info.Settings = append([]measure.Setting{}, fit.Settings...) // a list even if it is empty
	info.LossModels = append([]measure.Candidate{}, fit.LossModels...)
	return info
}

func (a *app) linksFit(cmd *cobra.Command, path string, json bool) error {
	var fit measure.FitResult
	err := a.await(cmd.Context(), "fit", func() error {
		c, err := a.readCapture(path)
		if err != nil {
			return err
		}
		if fit, err = measure.Fit(c); err != nil {
			return usage(fmt.Errorf("%s: %w", path, err))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if json {
		info := fitInfoOf("down", &fit)
		info.Capture = path
		return a.stdout.json(info)
	}
	fmt.Fprint(a.stdout, fit.TOML())
	fmt.Fprintln(a.stdout)
	writeGoodness(&comment{w: a.stdout}, &fit)
	return nil
}

// writeGoodness says how well the fitted link does, and which models it was taken
// from.
func writeGoodness(w io.Writer, fit *measure.FitResult) {
	g := newGrid("figure", ">capture", ">this link")
	for _, row := range fit.Goodness() {
		g.row(row[0], row[1], row[2])
	}
	g.write(w, 0)
	writeCandidates(w, newGrid("loss model", ">BIC", "the less the better"), fit.LossModels,
		func(m measure.Candidate) string { return fmt.Sprintf("%.1f", m.BIC) })
	writeCandidates(w, newGrid("distribution", ">distance", "the less the better"), fit.DelayModels,
		func(m measure.Candidate) string { return fmt.Sprintf("%.4f", m.D) })
}

// writeCandidates says which models were tried. The first was taken: one with
// more parameters must do better by more than them.
func writeCandidates(w io.Writer, g *grid, models []measure.Candidate, score func(measure.Candidate) string) {
	if len(models) < 2 {
		return
	}
	for i, m := range models {
		remark := ""
		if i == 0 {
			remark = "taken"
		}
		g.row(m.Name, score(m), remark)
	}
	fmt.Fprintln(w)
	g.write(w, 0)
}

// comment puts # before every line that is written to it.
type comment struct {
	w       io.Writer
	pending string // of a line without its end
}

func (c *comment) Write(p []byte) (int, error) {
	text := c.pending + string(p)
	for {
		line, rest, whole := strings.Cut(text, "\n")
		if !whole {
			c.pending = text
			return len(p), nil
		}
		if _, err := fmt.Fprintln(c.w, strings.TrimRight("# "+line, " ")); err != nil {
			return 0, err
		}
		text = rest
	}
}

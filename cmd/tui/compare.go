package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/texttable"
	"wirelab/internal/units"

	"github.com/spf13/cobra"
)

func (a *app) compareCommand() *cobra.Command {
	var limits []string
	cmd := &cobra.Command{
		Use:     "compare BASE NEW",
		GroupID: groupData,
		Short:   "Compare two reports, and fail if a figure got worse",
		Long: `Compare the figures of two reports: of single runs, or of sweeps point by point. Runs with
the same seed are pairs, and only they count where there are any: their differences hold no
luck of the draw, and with two pairs or more there is an interval of 95 %.

--max-regression KEY=SHARE says by how much a figure may get worse: payload_kbps=2%. It may
be given more than once. For most figures more is worse; for decoded it is less; one of which neither
is better, such as sent, must not move either way. A figure without data does not hold.
Keys are those of assertions: payload_kbps, playout.starved_ratio, packet_bytes.p95.

Exits with 1 if a figure got worse by more, or if NEW lacks a point that BASE has.
Without --max-regression it only tells.`,
		Example: `  tui compare main/report.json branch/report.json --max-regression payload_kbps=2%
  tui compare base new --max-regression payload_kbps=1% --max-regression wrong=0% --json`,
		Args:              exactly(2, "BASE and NEW, each a report.json or the folder of one"),
		RunE:              func(_ *cobra.Command, args []string) error { return a.compare(args[0], args[1], limits) },
		ValidArgsFunction: completeFiles(2, "json"),
	}
	cmd.Flags().StringArrayVar(&limits, "max-regression", nil, "how much worse a figure may be: `KEY=SHARE`, such as payload_kbps=2%")
	complete(cmd, "max-regression", figureKeys)
	a.addOutputFlags(cmd)
	return cmd
}

// figureKeys offers KEY= for --max-regression.
func figureKeys() (list []cobra.Completion) {
	for _, key := range slices.Sorted(maps.Keys(figures.Names())) {
		list = append(list, key+"=")
	}
	return list
}

// parseShare reads a share such as 2% or 0.02; false if it is no number.
func parseShare(text string) (float64, bool) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	return v, err == nil && !math.IsNaN(v)
}

func (a *app) compare(was, is string, limits []string) error {
	list, err := parseLimits(limits)
	if err != nil {
		return err
	}
	base, err := report.Read(was)
	if err != nil {
		return badData(err)
	}
	now, err := report.Read(is)
	if err != nil {
		return badData(err)
	}
	result := report.Compare(base, now, list)
	err = a.answer(result, func(w io.Writer) { writeComparison(w, result) })
	return cmp.Or(err, held(worse(result, len(list) > 0)))
}

// parseLimits reads KEY=SHARE.
func parseLimits(texts []string) (list []report.Limit, err error) {
	known := figures.Names()
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usagef("--max-regression %q makes no sense; expected KEY=SHARE, such as payload_kbps=2%%", text)
		}
		if !known[key] {
			names := slices.Sorted(maps.Keys(known))
			return nil, usage(fmt.Errorf("--max-regression: no figure is called %q%s", key, didYouMean(key, names)))
		}
		share, ok := parseShare(value)
		if !ok || share < 0 || math.IsInf(share, 0) {
			return nil, usagef("--max-regression %s: %q is no share; expected 0 or more, such as 2%% or 0.02", key, value)
		}
		if slices.ContainsFunc(list, func(l report.Limit) bool { return l.Key == key }) {
			return nil, usagef("--max-regression %s is given twice", key)
		}
		list = append(list, report.Limit{Key: key, Share: share})
	}
	return list, nil
}

// writeComparison prints what differs; of figures with a limit also what does not.
func writeComparison(w io.Writer, c *report.Comparison) {
	points := slices.ContainsFunc(c.Differences, func(d report.Difference) bool { return len(d.Set) > 0 })
	heads := []string{"figure", ">base", ">new", ">change", ">95 %", ">pairs", "verdict"}
	if points {
		heads = append([]string{"point"}, heads...)
	}
	g := texttable.New(heads...)
	same := 0
	for i := range c.Differences {
		d := &c.Differences[i]
		if d.Max == nil && d.Base == d.New {
			same++
			continue
		}
		change, interval, verdict := "-", "-", ""
		if share, known := d.Share.Value(); known {
			change = fmt.Sprintf("%+.2f %%", 100*share)
		}
		if lo, known := d.Lo.Value(); known {
			interval = fmt.Sprintf("%+.2f to %+.2f", 100*lo, 100*d.Hi.Or(lo))
		}
		switch {
		case d.Worse:
			verdict = "WORSE: at most " + shareText(*d.Max)
		case d.Max != nil:
			verdict = "holds"
		}
		var point []string
		if points {
			point = []string{report.PointName(d.Set)}
		}
		g.Add(point, d.Key, figureOf(d.Base), figureOf(d.New), change, interval, d.Pairs, verdict)
	}
	if len(g.Rows) > 0 {
		g.WriteText(w, 0)
	}
	if same > 0 {
		fmt.Fprintf(w, "%d figures are the same\n", same)
	}
}

func shareText(share float64) string {
	return units.FormatDecimal(math.Round(1e8*share)/1e6) + " %"
}

// worse says in a sentence each what does not hold. Points that are gone count only where
// something is demanded of them.
func worse(c *report.Comparison, demanded bool) (list []string) {
	for _, d := range c.Regressions() {
		where := ""
		if len(d.Set) > 0 {
			where = report.PointName(d.Set) + ": "
		}
		list = append(list, fmt.Sprintf("%s%s got worse by more than %s: %s", where, d.Key, shareText(*d.Max), d.Words()))
	}
	if !demanded {
		return nil
	}
	for _, name := range c.OnlyBase {
		list = append(list, fmt.Sprintf("%s is missing in the new report", config.Printable(name)))
	}
	return list
}

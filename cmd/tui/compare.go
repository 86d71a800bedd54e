package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/experiment/sweep"
	"wirelab/internal/texttable"
	"wirelab/internal/units"

	"github.com/spf13/cobra"
)

// compareCommand returns tui compare.
func (a *app) compareCommand() *cobra.Command {
	var limits []string
	var unlike bool
	cmd := &cobra.Command{
		Use:     "compare BASE NEW",
		GroupID: groupData,
		Short:   "Compare two reports; fail if a figure exceeds --max-regression",
		Long: `Compare the figures of two reports: of single runs, or of sweeps point by point. BASE and NEW
may also be folders of tui sweep, complete or not. Runs with
the same seed are compared as pairs, because they have the same losses; if there are pairs,
other runs are ignored. Two pairs or more give a 95 % confidence interval.

The settings that differ are listed. Reports with other data, another duration or another link
are refused without --unlike.

--max-regression KEY=SHARE limits how much worse a figure may get, such as payload_kbps=2%;
it may be repeated. For most figures higher is worse; for decoded lower is worse; a figure
without a better direction, such as sent, must not change by more in either direction. A
figure without data exceeds every limit. A report with an impossible figure, such as a
negative size or a share above 1, is refused. Keys are those of assertions, such as
payload_kbps, playout.starved_ratio and packet_bytes.p95.

The exit code is 1 if a figure exceeds its limit, or if a point of BASE is missing in NEW.
Without --max-regression the exit code is 0.`,
		Example: `  tui compare main/report.json branch/report.json --max-regression payload_kbps=2%
  tui compare base new --max-regression payload_kbps=1% --max-regression wrong=0% --json`,
		Args:              exactArgs(2, "BASE and NEW, each a report.json or the folder of one"),
		RunE:              func(_ *cobra.Command, args []string) error { return a.compare(args[0], args[1], limits, unlike) },
		ValidArgsFunction: completeFiles(2, "json"),
	}
	cmd.Flags().StringArrayVar(&limits, "max-regression", nil, "`KEY=SHARE` limits how much worse a figure may get, such as payload_kbps=2%; may be repeated")
	cmd.Flags().BoolVar(&unlike, "unlike", false, "also compare runs with other data, another duration or another link")
	complete(cmd, "max-regression", figureKeys)
	a.addOutputFlags(cmd)
	return cmd
}

// figureKeys completes --max-regression with "KEY=" for every figure.
func figureKeys() (list []cobra.Completion) {
	for _, key := range figures.Keys() {
		list = append(list, key+"=")
	}
	return list
}

// parseShare parses a share such as 2% or 0.02, and returns it as a fraction. ok is false if text is
// not a number.
func parseShare(text string) (share float64, ok bool) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	return v, err == nil && !math.IsNaN(v)
}

// compare compares the reports at two paths and writes the differences. limits are the values of
// --max-regression; a figure that got worse by more than its limit is a failure. unlike allows other data, another
// duration and another link.
func (a *app) compare(basePath, newPath string, limits []string, unlike bool) error {
	maxRegressions, err := parseLimits(limits)
	if err != nil {
		return err
	}
	base, err := a.readCompared(basePath)
	if err != nil {
		return markDataError(err)
	}
	current, err := a.readCompared(newPath)
	if err != nil {
		return markDataError(err)
	}
	result := report.Compare(base, current, maxRegressions)
	if len(result.Differences) == 0 && len(result.OnlyBase) > 0 && len(result.OnlyNew) > 0 {
		return usagef("%s and %s have no point in common: %[1]s has %[3]s, and %[2]s has %[4]s", basePath, newPath, result.OnlyBase[0], result.OnlyNew[0])
	}
	if text := unlikeText(result); text != "" && !unlike {
		return usagef("%s and %s are not alike: %s; expected the same data, duration and link, or --unlike", basePath, newPath, text)
	}
	err = a.writeResult(result, func(w io.Writer) { writeComparison(w, result) })
	hasLimits := len(maxRegressions) > 0
	return cmp.Or(err, newFailure(regressions(result, hasLimits)))
}

// unlikeText lists the settings that differ and without which two reports cannot be compared: those of the data,
// the duration and the link. It returns "" if there is no such setting.
func unlikeText(c *report.Comparison) string {
	var list []string
	for _, s := range c.Settings {
		if s.IsUnlike {
			list = append(list, fmt.Sprintf("%s is %q and %q", s.Key, s.Base, s.New))
		}
	}
	return strings.Join(list, ", ")
}

// readCompared reads a report to compare: a report.json, its folder, or the folder of a sweep, whose runs are
// in files of their own. It returns an error if a run has a figure that no run can have.
func (a *app) readCompared(path string) (*report.Report, error) {
	read, folder := report.Read, path
	if filepath.Base(path) == "report.json" {
		folder = filepath.Dir(path)
	}
	if sweep.IsFolder(folder) {
		read, path = sweep.ReadResults, folder
	}
	r, err := read(path)
	if err != nil {
		return nil, err
	}
	for _, run := range r.Runs {
		if key, value, ok := figures.FindImpossible(&run.Totals); ok {
			return nil, &config.Error{File: path, Key: pointPrefix(run.Set) + key, Problem: value + " is impossible",
				Expected: "a figure that a run can have: the report is damaged or was altered"}
		}
	}
	if missing := r.Missing(); missing != "" {
		a.remark("%s: %s", path, missing)
	}
	return r, nil
}

// parseLimits parses the values of --max-regression: KEY=SHARE, with a figure that exists, and each
// key once.
func parseLimits(texts []string) (list []report.Limit, err error) {
	known := figures.Keys()
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil, usagef("--max-regression %q makes no sense; expected KEY=SHARE, such as payload_kbps=2%%", text)
		}
		if !slices.Contains(known, key) {
			return nil, asUsageError(config.Unknown("--max-regression", "figure", key, known))
		}
		share, ok := parseShare(value)
		if !ok || share < 0 || math.IsInf(share, 0) {
			return nil, usagef("--max-regression %s: %q is not a share; expected 0 or more, such as 2%% or 0.02", key, value)
		}
		if slices.ContainsFunc(list, func(l report.Limit) bool { return l.Key == key }) {
			return nil, usagef("--max-regression %s is given twice", key)
		}
		list = append(list, report.Limit{Key: key, Share: share})
	}
	return list, nil
}

// writeComparison writes a table of the figures that differ and of all figures with a limit, then the
// number of the other figures, the points of only one report, and the settings that differ. For sweeps the first column names the point.
func writeComparison(w io.Writer, c *report.Comparison) {
	hasPoints := slices.ContainsFunc(c.Differences, func(d report.Difference) bool { return len(d.Set) > 0 })
	// texttable.New removes the prefix ">", which marks a column of right-aligned numbers.
	titles := []string{"figure", ">base", ">new", ">change", ">95 %", ">pairs", "verdict"}
	if hasPoints {
		titles = append([]string{"point"}, titles...)
	}
	g := texttable.New(titles...)
	same := 0
	var notes figures.Notes
	for i := range c.Differences {
		d := &c.Differences[i]
		if d.Max == nil && d.Base == d.New { // no limit, no difference
			same++
			continue
		}
		change, interval, verdict := "-", "-", ""
		if share, known := d.Share.Value(); known {
			change = fmt.Sprintf("%+.2f %%", 100*share)
		}
		if lo, known := d.Lo.Value(); known {
			notes.Add(d.Interval())
			interval = fmt.Sprintf("%+.2f to %+.2f%s", 100*lo, 100*d.Hi.Or(lo), notes.AddDoubt(d.Interval().Doubt(0)))
		}
		switch {
		case d.Worse:
			verdict = "WORSE: at most " + formatPercent(*d.Max)
		case d.Max != nil:
			verdict = "within limit"
		}
		var point []string
		if hasPoints {
			point = []string{report.PointName(d.Set)}
		}
		g.Add(point, d.Key, formatFigure(d.Base), formatFigure(d.New), change, interval, d.Pairs, verdict)
	}
	if len(g.Rows) > 0 {
		g.WriteText(w, anyWidth)
	}
	for _, line := range notes.Lines() {
		fmt.Fprintln(w, line)
	}
	if same > 0 {
		fmt.Fprintf(w, "%d figures are the same\n", same)
	}
	for _, name := range c.OnlyBase {
		printf(w, "only in base: %s\n", name)
	}
	for _, name := range c.OnlyNew {
		printf(w, "only in new: %s\n", name)
	}
	if len(c.Stretches) > 0 {
		names := make([][]string, len(c.Stretches))
		for i, s := range c.Stretches {
			names[i] = []string{s.Report, s.Name}
		}
		fmt.Fprintln(w, "\nthe figures above are of whole runs; from change to change of the encoder or the link:")
		report.FigureTable([]string{"report", "encoder"}, names, figures.Listed, c.Stretches).WriteText(w, anyWidth)
	}
	if len(c.Settings) > 0 {
		g = texttable.New("setting that differs", "base", "new")
		for _, s := range c.Settings {
			g.Add(s.Key, s.Base, s.New)
		}
		fmt.Fprintln(w)
		g.WriteText(w, anyWidth)
	}
}

// formatPercent formats a share, a fraction of 1, as a percentage with up to 6 decimals.
func formatPercent(share float64) string {
	return units.FormatDecimal(math.Round(1e8*share)/1e6) + " %"
}

// regressions returns a sentence for each figure that exceeds its limit. Points that are missing
// in the new report count only if hasLimits is set.
func regressions(c *report.Comparison, hasLimits bool) (list []string) {
	for _, d := range c.Regressions() {
		prefix := ""
		if len(d.Set) > 0 {
			prefix = report.PointName(d.Set) + ": "
		}
		list = append(list, fmt.Sprintf("%s%s got worse by more than %s: %s", prefix, d.Key, formatPercent(*d.Max), d.Text()))
	}
	if !hasLimits {
		return nil
	}
	for _, name := range c.OnlyBase {
		list = append(list, fmt.Sprintf("%s is missing in the new report", name))
	}
	return list
}

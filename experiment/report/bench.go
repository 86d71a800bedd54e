package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// WriteBench writes a report in Go's benchmark format, for benchstat: a line for each run and each
// shadow. Runs of a point with different seeds have the same name, so benchstat treats them as samples
// of one benchmark. The units are the keys of the figures. All figures are reproducible, except for
// encode-ns and decode-ns.
func WriteBench(w io.Writer, r *Report) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "pkg: wirelab")
	better := map[figures.Direction]string{figures.LessIsBetter: "lower", figures.MoreIsBetter: "higher"}
	for _, row := range figures.Ranked(figures.Main) {
		if word := better[row.Better]; word != "" {
			fmt.Fprintf(out, "Unit %s better=%s\n", row.Key, word)
		}
	}
	for _, run := range r.Runs {
		benchLine(out, benchName(run, run.Encoders(), &run.Timing), &run.Totals, &run.Timing)
		for i := range run.Shadows {
			s := &run.Shadows[i]
			name := benchName(run, s.Label, &s.Timing)
			if s.ToS > 0 { // a later lane may have the same name
				name += "/lane=" + benchWord(s.Lane)
			}
			benchLine(out, name, &s.Totals, &s.Timing)
		}
	}
	return out.Flush()
}

// benchName returns the benchmark name of a lane of a run. It contains the name of the lane and, in a sweep, the
// settings of the run without the seed; otherwise the downlink's loss, if any.
func benchName(r *engine.Result, encoder string, t *figures.Timing) string {
	set := maps.Clone(r.Set)
	if len(set) == 0 {
		set = map[string]string{}
		if loss := r.Config.Text("down.loss"); loss != "" && loss != "0%" { // "0%" and empty mean no loss
			set["down.loss"] = loss
		}
	}
	maps.DeleteFunc(set, func(key, _ string) bool { // the name of the lane contains the encoder and its parameters
		return key == "seed" || strings.HasPrefix(key, "encoder.")
	})
	name := "BenchmarkRun/encoder=" + benchWord(encoder)
	if t.RunsAs != "" { // a plugin, whose times are not those of a native encoder
		name += "/runs=" + benchWord(t.RunsAs)
	}
	for _, k := range slices.Sorted(maps.Keys(set)) {
		name += "/" + benchWord(benchKey(k, set)) + "=" + benchWord(set[k])
	}
	if gomaxprocs.MatchString(name) {
		name += "." // otherwise benchstat would read the suffix as GOMAXPROCS
	}
	return name
}

// gomaxprocs matches the suffix of a benchmark name that stands for GOMAXPROCS.
var gomaxprocs = regexp.MustCompile(`-[0-9]+$`)

// benchKey returns the last part of a dotted key, or the complete key if another key of set has the same
// last part.
func benchKey(key string, set map[string]string) string {
	short := key[strings.LastIndexByte(key, '.')+1:]
	for k := range set {
		if k != key && k[strings.LastIndexByte(k, '.')+1:] == short {
			return key
		}
	}
	return short
}

// benchWord replaces the characters that may not be part of a benchmark name, such as spaces and
// slashes, by underscores.
func benchWord(text string) string {
	word := strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || !strconv.IsPrint(r) || r == utf8.RuneError {
			return '_'
		}
		return r
	}, text)
	return cmp.Or(word, "_")
}

// benchLine writes the line of one benchmark: its name, 1 as the number of iterations, and the known
// main figures.
func benchLine(out io.Writer, name string, t *figures.Totals, timing *figures.Timing) {
	values := figures.Flatten(*t)
	fmt.Fprintf(out, "%s 1", name)
	for _, row := range figures.Ranked(figures.Main) {
		if v, ok := values[row.Key]; ok {
			fmt.Fprintf(out, " %s %s", units.General(v, -1), row.Key)
		}
	}
	for _, x := range []struct {
		us   *figures.Quantiles
		unit string
	}{{&timing.EncodeUS, "encode-ns"}, {&timing.DecodeUS, "decode-ns"}} {
		if x.us.N > 0 { // without a clock there are no times
			fmt.Fprintf(out, " %s %s", units.Fixed(1000*x.us.P50, 0), x.unit) // the median, from µs to ns
		}
	}
	fmt.Fprintln(out)
}

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

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// benchUnits are the figures of a line in Go's benchmark format, by their keys.
var benchUnits = []struct{ key, unit string }{
	{"payload_kbps", "payload-kbps"}, {"wire_kbps", "wire-kbps"}, {"feedback_kbps", "feedback-kbps"},
	{"bits_per_item", "bits/item"}, {"bits_per_changed_cube", "bits/changed-cube"}, {"packet_bytes.p95", "p95-bytes"},
	{"baseline_age_ticks.p50", "baseline-ticks"}, {"network.loss_rate", "lost-ratio"}, {"no_baseline", "no-baseline"}, {"wrong", "wrong"},
	{"playout.starved_ratio", "starved-ratio"}, {"playout.position_error_mm.p95", "p95-mm"}, {"transfer.time_s", "transfer-s"},
}

// WriteBench writes a report in the format of Go's benchmarks, a line for each run and each
// shadow, for benchstat. Runs of one point under several seeds have one name: they are
// the samples of it. The figures of a run repeat to the bit; only encode-ns and decode-ns
// depend on the machine.
func WriteBench(w io.Writer, r *Report) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "pkg: wirelab")
	for _, u := range benchUnits {
		if figures.DirectionOf(u.key) == figures.LessIsBetter {
			fmt.Fprintf(out, "Unit %s better=lower\n", u.unit)
		}
	}
	for _, run := range r.Runs {
		benchLine(out, benchName(run, SettingOf(run, "encoder", "name"), &run.Timing), &run.Totals, &run.Timing)
		for i := range run.Shadows {
			s := &run.Shadows[i]
			benchLine(out, benchName(run, s.Encoder, &s.Timing), &s.Totals, &s.Timing)
		}
	}
	return out.Flush()
}

// benchName names a run by its encoder and by what was set, the seed apart: of a sweep by
// its keys, else by the loss.
func benchName(r *engine.Result, encoder string, t *figures.Timing) string {
	set := maps.Clone(r.Set)
	if len(set) == 0 {
		set = map[string]string{}
		if loss := r.Config.Text("down.loss"); loss != "" && loss != "0%" {
			set["down.loss"] = loss
		}
	}
	delete(set, "seed")
	delete(set, "encoder.name")
	name := "BenchmarkRun/encoder=" + benchWord(encoder)
	if t.RunsAs != "" { // from outside: its times are of that
		name += "/runs=" + benchWord(t.RunsAs)
	}
	for _, k := range slices.Sorted(maps.Keys(set)) {
		name += "/" + benchWord(benchKey(k, set)) + "=" + benchWord(set[k])
	}
	if gomaxprocs.MatchString(name) {
		name += "." // else benchstat takes the end for the number of cores
	}
	return name
}

var gomaxprocs = regexp.MustCompile(`-[0-9]+$`)

// benchKey is the last word of a key, unless another key ends in the same.
func benchKey(key string, set map[string]string) string {
	short := key[strings.LastIndexByte(key, '.')+1:]
	for k := range set {
		if k != key && k[strings.LastIndexByte(k, '.')+1:] == short {
			return key
		}
	}
	return short
}

// benchWord makes a text fit for a name: no space, and no slash, which parts names.
func benchWord(text string) string {
	word := strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || !strconv.IsPrint(r) {
			return '_'
		}
		return r
	}, text)
	return cmp.Or(word, "_")
}

func benchLine(out io.Writer, name string, t *figures.Totals, timing *figures.Timing) {
	all := figures.Of(*t)
	fmt.Fprintf(out, "%s 1", name)
	for _, u := range benchUnits {
		if v, ok := all[u.key]; ok {
			fmt.Fprintf(out, " %s %s", units.General(v, -1), u.unit)
		}
	}
	for _, x := range []struct {
		q    *figures.Quantiles
		unit string
	}{{&timing.EncodeUS, "encode-ns"}, {&timing.DecodeUS, "decode-ns"}} {
		if x.q.N > 0 {
			fmt.Fprintf(out, " %s %s", units.Fixed(1000*x.q.P50, 0), x.unit)
		}
	}
	fmt.Fprintln(out)
}

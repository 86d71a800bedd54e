package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"wirelab/experiment/engine"
)

// allEndings is a result with every failure: two that have happened 1 and 2 times, and so on.
const allEndings = `{"duration_s":2.5,"interrupted":true,"codec_error":"bad row","changes":[],
	"assertions":[{"name":"lost","bound":"<= 1","got":3},{"name":"age","bound":"<= 2","got":null,"absent":true},{"name":"sent","bound":">= 1","got":5,"holds":true}],
	"totals":{"wrong":1,"encode_failed":2,"decode_refused":3},
	"refused":[{"t_ns":1000000000,"why":"too late"},{"t_ns":2000000000,"why":"later"}]}`

// Failed has a sentence for each failure and none for a run without failures.
func TestFailed(t *testing.T) {
	bad := resultFrom(t, allEndings)
	bad.Set = map[string]string{"seed": "4"}
	good := resultFrom(t, `{"assertions":[{"name":"sent","bound":">= 1","got":5,"holds":true}]}`)
	got := (&Report{Runs: []*engine.Result{good, bad}}).Failed()
	want := []string{"seed = 4: assertion lost <= 1 does not hold: measured 3", "seed = 4: assertion age <= 2: the run has no data for this figure",
		"seed = 4: 1 packets decoded to a frame", "seed = 4: the encoder rejected 2 frames: bad row", "seed = 4: the decoder rejected 3 undamaged packets: bad row",
		"seed = 4: the change at 1s (", "seed = 4: the change at 2s ("}
	if len(got) != len(want) {
		t.Fatalf("%d failures: %q", len(got), got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
	bad.Set = nil
	if got := (&Report{Runs: []*engine.Result{bad}}).Failed()[0]; !strings.HasPrefix(got, "assertion lost") {
		t.Errorf("outside a sweep: %q", got)
	}
}

// The counts of a JUnit file are those of its elements, and each failure has the message.
func TestJUnitCounts(t *testing.T) {
	bad := resultFrom(t, allEndings)
	changed := resultFrom(t, `{"changes":[{"t_ns":5}]}`)
	changed.Set = map[string]string{"down.loss": "1%\x01"}
	write := func(r *Report) (all junitSuites, text string) {
		t.Helper()
		var b bytes.Buffer
		if err := WriteJUnit(&b, r); err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(b.Bytes(), &all); err != nil {
			t.Fatal(err)
		}
		tests, failures, errs := 0, 0, 0
		for _, s := range all.Suites {
			n, f, e := 0, 0, 0
			for _, c := range s.Cases {
				n++
				if c.Failure != nil {
					f++
				}
				if c.Error != nil {
					e++
				}
				if c.Class != s.Name {
					t.Errorf("class %q in suite %q", c.Class, s.Name)
				}
			}
			if n != s.Tests || f != s.Failures || e != s.Errors {
				t.Errorf("suite %s counts %d, %d, %d; has %d, %d, %d", s.Name, s.Tests, s.Failures, s.Errors, n, f, e)
			}
			tests, failures, errs = tests+n, failures+f, errs+e
		}
		if tests != all.Tests || failures != all.Failures || errs != all.Errors {
			t.Errorf("counts %d, %d, %d; has %d, %d, %d", all.Tests, all.Failures, all.Errors, tests, failures, errs)
		}
		return all, b.String()
	}
	all, text := write(&Report{Runs: []*engine.Result{bad, {}, changed}, Planned: 4})
	var suites []string
	for _, s := range all.Suites {
		suites = append(suites, fmt.Sprintf("%s %d %d %d", s.Name, s.Tests, s.Failures, s.Errors))
	}
	// Three assertions and the three checks of every run, the changes, and the interruption.
	if got, want := strings.Join(suites, "; "), "run 1 8 6 1; run 2 3 0 0; down.loss=1%\\x01 4 0 0; all runs 1 0 1"; got != want {
		t.Errorf("suites %q, want %q", got, want)
	}
	for _, want := range []string{"measured 3", "the run has no data for it", "1 packets decoded to a frame", "2 frames were rejected: bad row",
		"3 packets were rejected: bad row", "2 could not be made; the first: too late", "interrupted after 2.5 s", "3 of 4 runs were finished"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, c := range []struct {
		file string
		runs int
		want string
	}{{"", 1, "run 1"}, {"", 2, "run 1; run 2"}, {"a.toml", 1, "a.toml"}, {"a.toml", 2, "a.toml: run 1; a.toml: run 2"}} {
		all, _ := write(&Report{File: c.file, Runs: slices.Repeat([]*engine.Result{{}}, c.runs)})
		var names []string
		for _, s := range all.Suites {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, "; "); got != c.want {
			t.Errorf("%d runs of %q: suites %q, want %q", c.runs, c.file, got, c.want)
		}
	}
	for _, c := range []struct {
		r    Report
		want int
	}{{Report{Planned: 1}, 0}, {Report{}, 0}, {Report{Interrupted: true, Planned: 1}, 1}, {Report{Error: "no data", Planned: 1}, 1}, {Report{Planned: 2}, 1}} {
		c.r.Runs = []*engine.Result{{}}
		if all, _ := write(&c.r); all.Errors != c.want || all.Failures != 0 {
			t.Errorf("%+v: %d errors, want %d", c.r, all.Errors, c.want)
		}
	}
}

// The reason of an ending is the error, then the interruption, then a failure.
func TestSetReason(t *testing.T) {
	failed := []*engine.Result{resultFrom(t, `{"totals":{"wrong":1}}`)}
	network := &engine.NetworkError{}
	for _, c := range []struct {
		r    Report
		err  error
		want engine.Ending
	}{
		{Report{}, nil, engine.Finished},
		{Report{Runs: []*engine.Result{{}}}, nil, engine.Finished},
		{Report{Runs: failed}, nil, engine.Unmet},
		{Report{Runs: failed, Interrupted: true}, nil, engine.Interrupted},
		{Report{Runs: failed, Interrupted: true}, errors.New("cut"), engine.BadData},
		{Report{}, WriteError(fs.ErrPermission), engine.BadMachine},
		{Report{}, fmt.Errorf("at last: %w", network), engine.BadNetwork},
	} {
		c.r.SetReason(c.err)
		if c.r.Reason != c.want || c.err == nil && c.r.Error != "" || c.err != nil && c.r.Error != c.err.Error() {
			t.Errorf("%v: %s, %q, want %s", c.err, c.r.Reason, c.r.Error, c.want)
		}
	}
	x := &engine.Result{Interrupted: true}
	if SetReason(x, nil); x.Reason != engine.Interrupted {
		t.Errorf("an interrupted run: %s", x.Reason)
	}
	if WriteError(nil) != nil || !errors.Is(WriteError(fs.ErrPermission), fs.ErrPermission) {
		t.Error("WriteError")
	}
}

// A sweep has a document with runs, a single run is the document itself.
func TestReportJSON(t *testing.T) {
	one := &engine.Result{Digest: "d"}
	for _, c := range []struct {
		r     Report
		sweep bool
	}{{Report{Runs: []*engine.Result{one}}, false}, {Report{Runs: []*engine.Result{one}, Sweep: true}, true}, {Report{Planned: 3}, true}} {
		data, err := json.Marshal(&c.r)
		var doc map[string]any
		if err := errors.Join(err, json.Unmarshal(data, &doc)); err != nil {
			t.Fatal(err)
		}
		runs, isSweep := doc["runs"].([]any)
		if isSweep != c.sweep || isSweep && len(runs) != len(c.r.Runs) || !isSweep && doc["digest"] != "d" {
			t.Errorf("%s", data)
		}
	}
}

// Missing counts the runs that are complete.
func TestMissing(t *testing.T) {
	run := func(text string) *engine.Result { return resultFrom(t, text) }
	complete, saved, unmet := run(`{"reason":"finished"}`), run(`{"reason":"saved"}`), run(`{"reason":"assertion"}`)
	for _, c := range []struct {
		r    Report
		want string
	}{
		{Report{Sweep: true, Planned: 2, Runs: []*engine.Result{complete, unmet}}, ""},
		{Report{Sweep: true, Planned: 1, Runs: []*engine.Result{complete, saved}}, ""},
		{Report{Sweep: true, Runs: []*engine.Result{complete}}, ""},
		{Report{Planned: 2, Runs: []*engine.Result{complete}}, ""},
		{Report{Sweep: true, Planned: 2, Runs: []*engine.Result{complete}}, "1 of 2 runs are complete"},
		{Report{Sweep: true, Planned: 2, Runs: []*engine.Result{complete, run(`{"interrupted":true}`)}}, "1 of 2 runs are complete"},
		{Report{Sweep: true, Planned: 2, Runs: []*engine.Result{complete, run(`{"partial":true}`)}}, "1 of 2 runs are complete"},
		{Report{Sweep: true, Planned: 2, Runs: []*engine.Result{complete, run(`{"reason":"data"}`)}, Reason: engine.Interrupted},
			"1 of 2 runs are complete: the sweep was interrupted"},
		{Report{Sweep: true, Planned: 2, Reason: engine.Unfinished}, "0 of 2 runs are complete: the sweep is still running, or was killed"},
		{Report{Sweep: true, Planned: 2, Reason: engine.BadData, Error: "no file"}, "0 of 2 runs are complete: the sweep was stopped by an error: no file"},
	} {
		if got := c.r.Missing(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Lanes begins with the active encoder, and stops when the caller does.
func TestLanes(t *testing.T) {
	r := resultFrom(t, `{"config":{"encoder":{"name":"raw"}},"totals":{"sent":1},"shadows":[{"label":"rotor","totals":{"sent":2}},
		{"label":"delta","to_s":1.25,"totals":{"sent":3}}]}`)
	names := func(r *engine.Result, most int) (list []string) {
		for name, totals := range Lanes(r) {
			list = append(list, fmt.Sprint(name, " ", totals.Sent))
			if len(list) == most {
				break
			}
		}
		return list
	}
	for most, want := range map[int]string{9: "raw 1, rotor 2, delta (left at 1.2 s) 3", 1: "raw 1", 2: "raw 1, rotor 2"} {
		if got := strings.Join(names(r, most), ", "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	swapped := resultFrom(t, `{"config":{"encoder":{"name":"raw"}},"stretches":[{"encoder":"raw"},{"encoder":"rotor"}]}`)
	if got := names(swapped, 9); got[0] != "raw, rotor 0" {
		t.Errorf("after a swap: %q", got)
	}
}

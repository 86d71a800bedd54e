package report_test

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
)

// saved returns the golden reports with short lists, a sweep, and a document that is not a report.
func saved(t testing.TB) (all [][]byte) {
	t.Helper()
	paths, err := filepath.Glob("../testdata/reports/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal("no golden reports:", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err = json.Unmarshal(data, &doc); err == nil {
			data, err = json.Marshal(truncateLists(doc))
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	one := string(all[0])
	return append(all, []byte(`{"planned": 2, "reason": "interrupted", "runs": [`+one+`,`+one+`]}`), []byte(`{"runs": [null]}`),
		[]byte(`{"version": 99}`), []byte(one[:len(one)/2]))
}

// truncateLists truncates the lists of a JSON document, because many small inputs serve a fuzzer better.
func truncateLists(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k := range x {
			x[k] = truncateLists(x[k])
		}
	case []any:
		x = x[:min(len(x), 2)]
		for i := range x {
			x[i] = truncateLists(x[i])
		}
		return x
	}
	return v
}

// useReport does everything with an accepted report that the commands and the dashboard do.
func useReport(t *testing.T, dir string, data []byte) {
	path := filepath.Join(dir, "report.json")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := report.Read(path)
	if err != nil {
		if !strings.Contains(err.Error(), path) {
			t.Fatalf("an error without its file: %v", err)
		}
		return
	}
	_, _ = r.Missing(), r.Failed()
	for _, run := range r.Runs {
		_, _ = run.Settings()
		_, _ = run.Replayable()
	}
	if err := atomicfile.JSON("", r).Write(io.Discard); err != nil {
		t.Fatalf("accepted, but cannot be written: %v", err)
	}
}

// FuzzRead checks that reading any report.json returns either an error with its name, or a report
// that can be displayed and written.
func FuzzRead(f *testing.F) {
	for _, data := range saved(f) {
		f.Add(data)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		useReport(t, dir, data)
		if _, err := report.SavedReports(dir); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzMutate is like FuzzRead with real reports in which some values are replaced: most random
// bytes are not JSON, and most JSON is not a report.
func FuzzMutate(f *testing.F) {
	all := saved(f)[:4]
	slices.SortFunc(all, func(a, b []byte) int { return len(a) - len(b) })
	all = all[:2] // only small reports, since each input is parsed, modified and written
	f.Add(byte(0), []byte{0, 9, 0, 1, 7, 3}, "9e999")
	f.Add(byte(1), []byte{1, 9, 1, 2, 7, 2}, `{"t": -1, "encoder": "raw"}`)
	f.Add(byte(3), []byte{0, 90, 4, 2, 70, 0}, "[]")
	f.Add(byte(0x92), []byte("\x11\x00\x80V\xf7\xfb\x00\t\a\x05\x03\x00"), "d\x009\x009")                      // puts a value into itself
	f.Add(byte('Z'), []byte("\x01\tllllllll\x02lllllllllllllll\x01\x02\a\x02"), `{"t": -1, "encoder": "raw"}`) // twice
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, which byte, edits []byte, value string) {
		var doc any
		if err := json.Unmarshal(all[int(which)%len(all)], &doc); err != nil {
			t.Fatal(err)
		}
		var other any
		if json.Unmarshal([]byte(value), &other) != nil {
			other = value
		}
		edits = edits[:min(len(edits), 24)] // more changes find no other errors, and are slow
		for ; len(edits) >= 3; edits = edits[3:] {
			places := placesIn(doc, nil)
			at := int(edits[0])<<8 | int(edits[1])
			places[at%len(places)].put([...]any{clone(t, other), nil, 0.0, -1.0, 1e308, "", []any{}, map[string]any{}, true, 0.5, 1e15,
				clone(t, places[at/7%len(places)].value)}[edits[2]%12])
		}
		data, err := json.Marshal(doc)
		if err != nil {
			t.Skip(err)
		}
		useReport(t, dir, data)
	})
}

// clone returns a copy of a JSON value. A value that contained itself would be infinite.
func clone(t *testing.T, v any) (copied any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &copied)
	}
	if err != nil {
		t.Skip(err)
	}
	return copied
}

// place is the position of a value in a JSON document.
type place struct {
	value any
	put   func(any)
}

// placesIn returns the positions of the values below v, in the order of their keys.
func placesIn(v any, list []place) []place {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			list = placesIn(v[k], append(list, place{v[k], func(x any) { v[k] = x }}))
		}
	case []any:
		for i := range v {
			list = placesIn(v[i], append(list, place{v[i], func(x any) { v[i] = x }}))
		}
	}
	return list
}

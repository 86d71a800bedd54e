package experiment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
	"wirelab/experiment/report"
)

// A truncated report, and one of another version, give a clear error. A complete report reads as it
// was saved.
func TestReadReport(t *testing.T) {
	c := labtest.QuickConfig(t)
	c.Duration = 2500 * time.Millisecond
	dir := t.TempDir()
	want := mustRun(t, c, RunOptions{Dir: filepath.Join(dir, "a")}).Runs[0]
	path := filepath.Join(dir, "a", "report.json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := report.ReadRuns(path)
	if err != nil || got[0].Digest != want.Digest || got[0].Version != engine.ReportVersion {
		t.Fatalf("%+v, %v", got, err)
	}
	settings, err := got[0].Settings()
	if err != nil || settings["encoder.name"] != "quantized" || settings["down.burst"] != "off" {
		t.Errorf("settings at the end: %v, %v", settings, err)
	}
	outside := engine.Result{Config: map[string]any{"encoder": map[string]any{"name": "mine"},
		"plugin": []any{map[string]any{"path": "/x/mine.wasm"}}}}
	const says = `report: encoder.name: unknown encoder "mine"; expected --plugin /x/mine.wasm`
	if _, err := outside.Settings(); err == nil || err.Error() != says {
		t.Errorf("of an encoder that is not loaded: %v", err)
	}
	bad := func(text []byte, says string) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := report.ReadRuns(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%d bytes: %v, want a word of %q", len(text), err, says)
		}
	}
	for n := 0; n < len(whole)-2; n += max(len(whole)/97, 1) {
		bad(whole[:n], "report.json")
	}
	bad(whole[:len(whole)/2], "is incomplete")
	bad(nil, "is empty")
	bad([]byte("{}"), "lacks config")
	bad([]byte(`{"runs":[null]}`), "lacks config")
	bad([]byte("\x1f\x8b\x00}"), "is not a report")
	bad([]byte("[1, 2]"), "is not a report")
	bad([]byte(`{"runs": }`), "is damaged")
	withEdit := func(edit func(map[string]any)) []byte {
		var m map[string]any
		if err := json.Unmarshal(whole, &m); err != nil {
			t.Fatal(err)
		}
		edit(m)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	bad(withEdit(func(m map[string]any) { m["version"] = 1 }), "report.json: was saved by another version of Wirelab, with format 1 and digest version 7; "+
		"expected format 2 and digest version 7")
	bad(withEdit(func(m map[string]any) { m["digest_version"] = 6 }), "with format 2 and digest version 6; expected")
	bad(withEdit(func(m map[string]any) { delete(m, "version"); delete(m, "digest_version") }), "with format 0 and digest version 0; expected")
	bad(withEdit(func(m map[string]any) { m["version"], m["totals"] = 3, "elsewhere" }), "another version of Wirelab, with format 3")
	bad([]byte(`{"runs":[{"version":9}]}`), "another version")
	if err := os.WriteFile(path, withEdit(func(m map[string]any) { m["more"] = 1 }), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := report.ReadRuns(path); err != nil {
		t.Errorf("one with an unknown key: %v", err)
	}
}

func TestSavedReports(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"old", "newer", "newest", "empty"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name, "report.json")
		if name == "empty" {
			continue
		}
		if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	list, err := report.SavedReports(dir)
	if err != nil || len(list) != 3 || list[0].Name != "newest" || list[2].Name != "old" {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := report.SavedReports(filepath.Join(dir, "nowhere")); err != nil || len(list) != 0 {
		t.Errorf("a folder that does not exist: %v, %v", list, err)
	}
	if _, err := report.SavedReports(filepath.Join(dir, "old", "report.json")); err == nil {
		t.Error("a file is taken for a folder")
	}
}

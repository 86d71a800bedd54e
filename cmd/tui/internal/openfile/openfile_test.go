package openfile_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/openfile"
	"wirelab/internal/setting"
)

// contents are files of all kinds that are listed, by path.
var contents = map[string]string{
	"a.csv":              "tick,id,x\n0,1,5\n0,2,6\n1,1,7\n1,2,8\n",
	"link.csv":           "seq,send_us,recv_us\n0,1,2\n",
	"run.toml":           "duration = \"5s\"\n[encoder]\nname = \"rotor\"\n",
	"saved/report.json":  `{"version": 2, "digest_version": 7, "config": {"encoder": {"name": "rotor"}, "data": {"source": "demo"}}, "duration_s": 3}`,
	"saved/samples.csv":  "t_s,kbps\n0,1\n",
	"newer/report.json":  `{"digest_version": 7, "config": {}}`,
	"sub/two words.csv":  "tick,x\n0,1\n1,2\n2,3\n",
	"notes.txt":          "It was a dark night.\n",
	"Cargo.toml":         "[package]\nname = \"x\"\n",
	".git/log.csv":       "tick,x\n0,1\n1,2\n",
	"1/2/3/4/far.csv":    "tick,x\n0,1\n1,2\n",
	"program":            "\x7fELF\x02\x01\x01\x00",
	"elsewhere/used.csv": "tick,x\n0,1\n1,2\n",
}

// inFolder makes a folder with contents the current one, and returns it.
func inFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range contents {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	return folder
}

func TestRecognise(t *testing.T) {
	inFolder(t)
	for path, want := range map[string]openfile.Kind{
		"a.csv": openfile.Data, "link.csv": openfile.LinkCapture, "run.toml": openfile.Config, "saved": openfile.Report,
		"saved/report.json": openfile.Report, "text:notes.txt": openfile.Data, "world:roll": openfile.Data, "demo": openfile.Data,
	} {
		if kind, err := openfile.Recognise(path); kind != want || err != nil {
			t.Errorf("%s is opened as %d, %v; want %d", path, kind, err, want)
		}
	}
	for path, want := range map[string]string{
		"sub":       "sub: is a folder without a report.json; expected a recording, ",
		"program":   "program: begins with the bytes 7f 45 4c 46 02 01 01 00; expected a recording of cubes, ",
		"notes.txt": "notes.txt: looks like a text; expected a recording, a capture, a demo, a log, a configuration or a report, or text:notes.txt for ",
		"./no.csv":  "./no.csv: does not exist; expected a recording, ",
	} {
		if _, err := openfile.Recognise(path); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v; want %q", path, err, want)
		}
	}
}

// search returns all that a search finds.
func search(s *openfile.Search) []setting.Option {
	for s.Step() {
	}
	return s.Found
}

// What needs no file is listed at once, then what was opened before, then what is near by. Texts, the files of reports, hidden and distant folders and what
// cannot be opened are left out.
func TestSearch(t *testing.T) {
	folder := inFolder(t)
	if err := os.Symlink(folder, "loop"); err != nil {
		t.Skip(err)
	}
	here := filepath.Join(folder, "sub")
	recent := filepath.Join(t.TempDir(), "state", "opened")
	for _, path := range []string{filepath.Join(folder, "elsewhere", "used.csv"), filepath.Join(folder, "gone.csv"), filepath.Join(folder, "a.csv")} {
		if err := openfile.Remember(recent, path); err != nil {
			t.Fatal(err)
		}
	}
	date := time.Date(2026, 1, 2, 3, 4, 0, 0, time.Local)
	for name := range contents {
		_ = os.Chtimes(name, date, date)
	}
	later := date.AddDate(0, 0, 1)
	if err := os.Chtimes("newer/report.json", later, later); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range search(openfile.NewSearch(recent, "")) {
		got = append(got, o.Name+": "+o.Summary)
	}
	want := []string{
		"a.csv: log, 0.0 s, 60 Hz, 34 B, 2026-01-02",
		"elsewhere/used.csv: log, 0.0 s, 60 Hz, 15 B, 2026-01-02",
		"link.csv: link capture, sets the downlink, 2026-01-02",
		"run.toml: configuration, demo, 5s, 2026-01-02",
		"newer: report, 2026-01-03", // of a sweep
		"saved: report, rotor, 3.0 s, demo, 2026-01-02",
		"sub/two words.csv: log, 0.1 s, 60 Hz, 19 B, 2026-01-02",
	}
	if files := len(got) - len(want); files < 1 || !slices.Equal(got[files:], want) || !strings.HasPrefix(got[0], "demo: ") {
		t.Errorf("it finds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	t.Chdir(here) // the files used before are found from everywhere, with the other files in their folders
	found := setting.Names(search(openfile.NewSearch(recent, folder)))
	for _, name := range []string{"../a.csv", "two words.csv", "../saved", "../run.toml"} {
		if !slices.Contains(found, name) {
			t.Errorf("from another folder it finds %q, without %s", found, name)
		}
	}
}

// Paths are listed in their shortest form.
func TestShortPath(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	t.Chdir(t.TempDir())
	here, _ := os.Getwd()
	for path, want := range map[string]string{
		here + "/x/a.csv": "x/a.csv", filepath.Dir(here) + "/b.csv": "../b.csv", "/home/ada/c.csv": "~/c.csv", "/d.csv": "/d.csv",
	} {
		if got := openfile.ShortPath(path); got != want {
			t.Errorf("%s is listed as %q, want %q", path, got, want)
		}
	}
}

// A pasted path may be quoted, a URL or escaped.
func TestParsePath(t *testing.T) {
	folder := inFolder(t)
	t.Setenv("HOME", folder)
	path := filepath.Join(folder, "sub", "two words.csv")
	for _, text := range []string{path, "'" + path + "'", `"` + path + "\"\n", "file://" + strings.ReplaceAll(path, " ", "%20"),
		strings.ReplaceAll(path, " ", `\ `) + " ", "~/sub/two words.csv"} {
		if got, exists := openfile.ParsePath(text); got != path || !exists {
			t.Errorf("%q is the path %q, %v", text, got, exists)
		}
	}
	if got, exists := openfile.ParsePath("'no such file'"); got != "'no such file'" || exists {
		t.Errorf("without a file: %q, %v", got, exists)
	}
}

func TestComplete(t *testing.T) {
	inFolder(t)
	var c openfile.Completer
	for typed, want := range map[string]string{
		"s": "1/ Cargo.toml a.csv elsewhere/ link.csv newer/ notes.txt program run.toml saved/ sub/", "sub/": "sub/two words.csv", ".g": ".git/", "no/": "",
	} {
		if got := strings.Join(c.Complete(typed), " "); got != want {
			t.Errorf("%q is completed by %q, want %q", typed, got, want)
		}
	}
}

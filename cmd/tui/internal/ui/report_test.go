package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/experiment"
)

// shelfOf makes a folder with made-up reports: two good ones, one cut off, one of a
// later version.
func shelfOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	report := func(encoder, loss, kbps string) string {
		return `{"version":1,"config":{"seed":7,"encoder":{"name":"` + encoder + `"},"down":{"loss":"` + loss + `"}},"seed":7,"duration_s":30,"duration_ns":30000000000,
"frames":1800,"item":"cube","items_per_frame":901,"totals":{"sent":1800,"decoded":1700,"lost":100,"lost_by":{},"failures":{"no_baseline":2},
"payload_kbps":` + kbps + `,"wire_kbps":170.5,"bits_per_item":3.1,"packet_bytes":{"p50":380,"p95":512},"playout":{"starved_ratio":0.01}},
"timing":{"encode_us":{"p50":40},"decode_us":{"p50":35}},"shadows":[{"encoder":"raw","totals":{"payload_kbps":700.25}}],
"changes":[{"t_ns":1000000000,"t_s":1,"change":{"down":{"latency":"25ms"}}}],"digest":"x"}`
	}
	good := report("rotor", "2%", "142.5")
	for i, r := range []struct{ name, text string }{
		{"2026-02-01-100000-rotor", good},
		{"2026-02-01-110000-quantized", report("quantized", "10%", "301.75")},
		{"2026-02-01-120000-cut-off", good[:len(good)/2]},
		{"2026-02-01-130000-later", strings.Replace(good, `"version":1`, `"version":4`, 1)},
	} {
		path := filepath.Join(dir, r.name, "report.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(r.text), 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// working presses keys, and lets the work in the background be done after each.
func working(t *testing.T, m *Model, keys ...string) {
	t.Helper()
	p := reportPageOf(m)
	for _, k := range append([]string{""}, keys...) {
		if k != "" {
			press(m, k)
		}
		for range 4 {
			p.busy, p.due = false, p.due || !p.shelf.listed // what a tick began is not run here
			if read := m.work(); read != nil {
				m.Update(read())
			}
			m.lab.ticks = slowTicks - 1
			m.Update(tickMsg{})
		}
	}
}

func TestGoldenReport(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		keys []string
		opt  Options
	}{
		{name: "report-160x48", w: 160, h: 48},
		{name: "report-160x48-beside", w: 160, h: 48, keys: []string{"down", "down", "down"}},
		{name: "report-160x48-two", w: 160, h: 48, keys: []string{"down", "down", "down", "b", "down"}, opt: Options{ASCII: true}},
		{name: "report-80x24", w: 80, h: 24, keys: []string{"down"}},
		{name: "report-80x24-beside", w: 80, h: 24, keys: []string{"down", "down", "down", "down", "enter"}},
		{name: "report-80x24-later", w: 80, h: 24, keys: []string{"down", "enter"}},
		{name: "report-80x24-cut-off", w: 80, h: 24, keys: []string{"down", "down", "enter"}},
		{name: "report-80x24-changes", w: 80, h: 24, keys: []string{"shift+tab"}},
		{name: "report-20x5", w: 20, h: 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := shelfOf(t)
			c.opt.ReportsDir = dir
			m := screen(newFakeLab(), c.w, c.h, c.opt)
			press(m, "6")
			working(t, m, c.keys...)
			golden(t, c.name, m.View())
		})
	}
}

func reportPageOf(m *Model) *reportPage {
	for _, p := range m.pages {
		if p, ok := p.(*reportPage); ok {
			return p
		}
	}
	return nil
}

// The figures of a report stand beside those of this run, with what each was set to
// at its end: a change on the way counts.
func TestReportBesideThisRun(t *testing.T) {
	m := screen(newFakeLab(), 160, 48, Options{ReportsDir: shelfOf(t)})
	press(m, "6")
	working(t, m, "down", "down", "down", "down")
	p := reportPageOf(m).both
	if p.right == nil || p.right.trouble != "" || p.right.totals.PayloadKbps != 142.5 || p.right.settings["down.latency"] != "25ms" {
		t.Fatalf("beside stands %+v", p.right)
	}
	differ := map[string]setting{}
	for _, s := range differing(p.left, p.right) {
		differ[s.key] = s
	}
	for key, want := range map[string][2]string{"encoder.name": {"relative-orientation", "rotor"}, "down.loss": {"5%", "2%"}, "down.latency": {"50ms", "25ms"}, "up.latency": {"65ms", "0ms"}} {
		if got := differ[key]; got.a != want[0] || got.b != want[1] {
			t.Errorf("%s: %+v, want %v", key, got, want)
		}
	}
	if _, ok := differ["seed"]; ok {
		t.Error("equal seeds are told as different")
	}
	working(t, m, "b", "up")
	if p.left.name != "2026-02-01-100000-rotor" || p.right.name != "2026-02-01-110000-quantized" {
		t.Errorf("held against each other: %s and %s", p.left.name, p.right.name)
	}
	working(t, m, "esc")
	if p.left.name != "this run" || p.right != nil {
		t.Errorf("esc leaves %+v", p.right)
	}
}

// Hostile files and folders are sentences, and the page goes on.
func TestReportsThatCannotBeRead(t *testing.T) {
	dir := shelfOf(t)
	for _, size := range [][2]int{{160, 48}, {80, 24}, {60, 20}} {
		m := screen(newFakeLab(), size[0], size[1], Options{ReportsDir: dir})
		press(m, "6")
		working(t, m, "down")
		p := reportPageOf(m).both
		if p.right == nil || !strings.Contains(p.right.trouble, "later version of Wirelab, in format 4") {
			t.Errorf("a later version: %+v", p.right)
		}
		working(t, m, "down")
		if p.right == nil || !strings.Contains(p.right.trouble, "ends in the middle") {
			t.Errorf("a truncated file: %+v", p.right)
		}
		working(t, m, "enter", "tab", "b", "up", "b", "down", "down", "tab", "down", "esc")
	}
	file := filepath.Join(dir, "2026-02-01-100000-rotor", "report.json")
	m := screen(newFakeLab(), 160, 48, Options{ReportsDir: file})
	press(m, "6")
	working(t, m)
	if !strings.Contains(m.View(), "not a directory") {
		t.Error("a folder that is a file is not told of")
	}
	none := screen(newFakeLab(), 80, 24, Options{ReportsDir: filepath.Join(dir, "nowhere")})
	press(none, "6")
	working(t, none, "down", "b", "enter", "esc")
	if !strings.Contains(none.View(), "Reports") {
		t.Error("the page is gone")
	}
}

// A report that appears is listed within seconds, one that is removed goes, and the
// cursor stays with its own.
func TestShelfFollowsTheFolder(t *testing.T) {
	dir := shelfOf(t)
	m := screen(newFakeLab(), 160, 48, Options{ReportsDir: dir})
	press(m, "6")
	working(t, m, "down", "down", "down")
	p := reportPageOf(m)
	name := p.shelf.picked().Name
	if err := os.RemoveAll(filepath.Join(dir, "2026-02-01-130000-later")); err != nil {
		t.Fatal(err)
	}
	p.due = true
	working(t, m)
	if len(p.shelf.list) != 3 || p.shelf.picked().Name != name {
		t.Errorf("%d reports, the cursor on %+v, want %s", len(p.shelf.list), p.shelf.picked(), name)
	}
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	p.due = true
	working(t, m)
	if len(p.shelf.list) != 2 || p.shelf.picked() != nil {
		t.Errorf("the report is gone, and the cursor on %+v", p.shelf.picked())
	}
}

// However many reports are looked at, few are kept in memory.
func TestFewReportsAreKept(t *testing.T) {
	p := newReportPage("")
	for i := range 200 {
		p.keep(experiment.SavedReport{Path: strings.Repeat("x", i+1)}, &dossier{})
	}
	if len(p.read) > keptDossiers || len(p.stamps) > keptDossiers {
		t.Errorf("%d are kept", len(p.read))
	}
}

// BenchmarkReportPage draws page 6 with two runs side by side.
func BenchmarkReportPage160x48(b *testing.B) {
	m := screen(newFakeLab(), 160, 48, Options{Renderer: colourRenderer()})
	press(m, "6")
	p := reportPageOf(m)
	d := presentDossier(fakeSnapshot(60 * time.Second))
	d.name, d.settings["seed"] = "other", "8"
	p.shelf.base, p.read["x"] = "x", d
	p.arrange()
	b.ReportAllocs()
	for b.Loop() {
		m.lab.ticks = slowTicks - 1
		m.Update(tickMsg{})
		_ = m.View()
	}
}

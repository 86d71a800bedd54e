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

// atOnce is a page whose work in the background is done at once.
type atOnce struct{ page }

func (p atOnce) observe(v sight) bool {
	changed := p.page.observe(v)
	for read := p.page.(worker).work(); read != nil; read = p.page.(worker).work() {
		read()()
		changed = true
	}
	return changed
}

// reportScreen is page 6 of a dashboard, after some keys.
func reportScreen(lab Lab, w, h int, opt Options, keys ...string) *Model {
	m := screen(lab, w, h, opt)
	m.pages[5] = atOnce{m.pages[5]}
	m.keys = m.bindings()
	for _, k := range append([]string{"6"}, keys...) {
		for range 4 {
			m.lab.ticks = slowTicks - 1
			m.Update(tickMsg{})
		}
		press(m, k)
	}
	for range 4 {
		m.lab.ticks = slowTicks - 1
		m.Update(tickMsg{})
	}
	return m
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
			golden(t, c.name, reportScreen(newFakeLab(), c.w, c.h, c.opt, c.keys...).View())
		})
	}
}

// The figures of a report stand beside those of this run, with what each was set to
// at its end: a change on the way counts.
func TestReportBesideThisRun(t *testing.T) {
	page := newReportPage(shelfOf(t))
	m := newStage(page, newFakeLab(), 160, 46)
	m.press("down", "down", "down", "down")
	p := page.both
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
	m.press("b", "up")
	if p.left.name != "2026-02-01-100000-rotor" || p.right.name != "2026-02-01-110000-quantized" {
		t.Errorf("held against each other: %s and %s", p.left.name, p.right.name)
	}
	m.press("esc")
	if p.left.name != "this run" || p.right != nil {
		t.Errorf("esc leaves %+v", p.right)
	}
}

// Hostile files are sentences, and the page goes on.
func TestReportsThatCannotBeRead(t *testing.T) {
	dir := shelfOf(t)
	for _, size := range [][2]int{{160, 46}, {80, 22}, {60, 18}} {
		page := newReportPage(dir)
		m := newStage(page, newFakeLab(), size[0], size[1])
		m.press("down")
		p := page.both
		if p.right == nil || !strings.Contains(p.right.trouble, "later version of Wirelab, in format 4") {
			t.Errorf("a later version: %+v", p.right)
		}
		m.press("down")
		if p.right == nil || !strings.Contains(p.right.trouble, "ends in the middle") {
			t.Errorf("a truncated file: %+v", p.right)
		}
		for _, k := range []string{"enter", "tab", "b", "up", "b", "down", "down", "tab", "down", "esc"} {
			m.press(k)
			_ = m.view()
		}
	}
}

// Hostile folders are sentences too.
func TestFoldersThatCannotBeRead(t *testing.T) {
	dir := shelfOf(t)
	file := filepath.Join(dir, "2026-02-01-100000-rotor", "report.json")
	m := reportScreen(newFakeLab(), 160, 48, Options{ReportsDir: file})
	if !strings.Contains(m.View(), "not a directory") {
		t.Error("a folder that is a file is not told of")
	}
	none := reportScreen(newFakeLab(), 80, 24, Options{ReportsDir: filepath.Join(dir, "nowhere")}, "down", "b", "enter", "esc")
	if !strings.Contains(none.View(), "Reports") {
		t.Error("the page is gone")
	}
}

// A report that appears is listed within seconds, one that is removed goes, and the
// cursor stays with its own.
func TestShelfFollowsTheFolder(t *testing.T) {
	dir := shelfOf(t)
	p := newReportPage(dir)
	m := newStage(p, newFakeLab(), 160, 46)
	m.press("down", "down", "down")
	name := p.shelf.picked().Name
	if err := os.RemoveAll(filepath.Join(dir, "2026-02-01-130000-later")); err != nil {
		t.Fatal(err)
	}
	p.due = true
	m.tick(false)
	if len(p.shelf.list) != 3 || p.shelf.picked().Name != name {
		t.Errorf("%d reports, the cursor on %+v, want %s", len(p.shelf.list), p.shelf.picked(), name)
	}
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	p.due = true
	m.tick(false)
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
	p := newReportPage("")
	m := newStage(p, newFakeLab(), 160, 46)
	d := presentDossier(fakeSnapshot(60 * time.Second))
	d.name, d.settings["seed"] = "other", "8"
	p.shelf.base, p.read["x"] = "x", d
	p.arrange()
	b.ReportAllocs()
	for b.Loop() {
		m.tick(true)
		_ = m.view()
	}
}

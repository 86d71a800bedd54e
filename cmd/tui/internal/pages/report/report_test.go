package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/report"
)

// The figures of a report stand beside those of this run, with what each was set to
// at its end: a change on the way counts.
func TestReportBesideThisRun(t *testing.T) {
	page := New(labtest.Reports(t))
	m := labtest.NewStage(page, labtest.NewLab(), 160, 46)
	m.Press("down", "down", "down", "down")
	p := page.both
	if p.right == nil || p.right.trouble != "" || p.right.totals.PayloadKbps != 142.5 || p.right.settings["down.latency"] != "25ms" {
		t.Fatalf("beside stands %+v", p.right)
	}
	differ := map[string]setting{}
	for _, s := range differing(p.left, p.right) {
		differ[s.key] = s
	}
	for key, want := range map[string][2]string{"encoder.name": {"relative-orientation", "rotor"}, "down.loss": {"5%", "2%"},
		"down.latency": {"50ms", "25ms"}, "up.latency": {"65ms", "0ms"}} {
		if got := differ[key]; got.a != want[0] || got.b != want[1] {
			t.Errorf("%s: %+v, want %v", key, got, want)
		}
	}
	if _, ok := differ["seed"]; ok {
		t.Error("equal seeds are told as different")
	}
	m.Press("b", "up")
	if p.left.name != "2026-02-01-100000-rotor" || p.right.name != "2026-02-01-110000-quantized" {
		t.Errorf("held against each other: %s and %s", p.left.name, p.right.name)
	}
	m.Press("esc")
	if p.left.name != "this run" || p.right != nil {
		t.Errorf("esc leaves %+v", p.right)
	}
}

// Hostile files are sentences, and the page goes on.
func TestNamesInTheList(t *testing.T) {
	for _, c := range [][3]string{
		{"2026-11-22-092949-rotor", "rotor", "11-22 09:29:49"},
		{"2026-11-22-092949-rotor-2", "rotor", "11-22 09:29:49 2"},
		{"2026-11-22-092949-autosave-kinetic-lite", "kinetic-lite", "11-22 09:29:49 auto"},
		{"2026-11-22-092949-autosave-rotor-3", "rotor", "11-22 09:29:49 auto 3"},
		{"before the fix", "rotor", "before the fix"},
		{"2026-11-22-092949-rotor", "raw", "2026-11-22-092949-rotor"},
		{"", "", ""},
	} {
		if got := when(c[0], c[1]); got != c[2] {
			t.Errorf("%q of %s is listed as %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestReportsThatCannotBeRead(t *testing.T) {
	dir := labtest.Reports(t)
	for _, size := range [][2]int{{160, 46}, {80, 22}, {60, 18}} {
		page := New(dir)
		m := labtest.NewStage(page, labtest.NewLab(), size[0], size[1])
		m.Press("down")
		p := page.both
		if p.right == nil || !strings.Contains(p.right.trouble, "later version of Wirelab, in format 4") {
			t.Errorf("a later version: %+v", p.right)
		}
		m.Press("down")
		if p.right == nil || !strings.Contains(p.right.trouble, "is incomplete") {
			t.Errorf("a truncated file: %+v", p.right)
		}
		for _, k := range []string{"enter", "tab", "b", "up", "b", "down", "down", "tab", "down", "esc"} {
			m.Press(k)
			_ = m.View()
		}
	}
}

// A report that appears is listed within seconds, one that is removed goes, and the
// cursor stays with its own.
func TestListFollowsTheFolder(t *testing.T) {
	dir := labtest.Reports(t)
	p := New(dir)
	m := labtest.NewStage(p, labtest.NewLab(), 160, 46)
	m.Press("down", "down", "down")
	name := p.saved.picked().Name
	if err := os.RemoveAll(filepath.Join(dir, "2026-02-01-130000-later")); err != nil {
		t.Fatal(err)
	}
	p.due = true
	m.Tick(false)
	if len(p.saved.list) != 3 || p.saved.picked().Name != name {
		t.Errorf("%d reports, the cursor on %+v, want %s", len(p.saved.list), p.saved.picked(), name)
	}
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	p.due = true
	m.Tick(false)
	if len(p.saved.list) != 2 || p.saved.picked() != nil {
		t.Errorf("the report is gone, and the cursor on %+v", p.saved.picked())
	}
}

// However many reports are looked at, few are kept in memory.
func TestFewReportsAreKept(t *testing.T) {
	p := New("")
	for i := range 200 {
		p.keep(report.SavedReport{Path: strings.Repeat("x", i+1)}, &run{})
	}
	if len(p.read) > keptRuns || len(p.stamps) > keptRuns {
		t.Errorf("%d are kept", len(p.read))
	}
}

// BenchmarkReportPage draws page 6 with two runs side by side.
func BenchmarkReportPage160x48(b *testing.B) {
	p := New("")
	m := labtest.NewStage(p, labtest.NewLab(), 160, 46)
	d := presentRun(labtest.Snapshot(60 * time.Second))
	d.name, d.settings["seed"] = "other", "8"
	p.saved.base, p.read["x"] = "x", d
	p.arrange()
	b.ReportAllocs()
	for b.Loop() {
		m.Tick(true)
		_ = m.View()
	}
}

// A report can be renamed, deleted and had back; the list says what was sent with what over
// which link.
func TestReportsAreKept(t *testing.T) {
	dir := labtest.Reports(t)
	p := New(dir)
	m := labtest.NewStage(p, labtest.NewLab(), 160, 46)
	m.Press("down", "down", "down", "down")
	_ = m.View()
	m.Tick(true)
	if h := p.saved.heads[p.saved.picked().Path]; h.encoder != "rotor" || h.kbps != "143" && h.kbps != "142" || h.link == "" {
		t.Errorf("the list says %+v", h)
	}
	names := func() (list []string) {
		saved, err := report.SavedReports(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range saved {
			list = append(list, s.Name)
		}
		return list
	}
	before, name := names(), p.saved.picked().Name
	path := filepath.Dir(p.saved.picked().Path)
	p.remove()
	m.Tick(true)
	if now := names(); len(now) != len(before)-1 || slices.Contains(now, name) {
		t.Errorf("after deleting %s: %v", name, now)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if r := p.restore(); !r.Bad || !strings.Contains(r.Say, "already") {
		t.Errorf("its name is taken, and u says %q", r.Say)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if r := p.restore(); r.Command != nil || !slices.Equal(names(), before) {
		t.Errorf("brought back: %v, were %v", names(), before)
	}
	if r := p.restore(); r.Command == nil || !r.Command.Undo {
		t.Error("where nothing was deleted, u takes no change back")
	}
	m.Tick(true)
	p.saved.chosen = slices.IndexFunc(p.saved.list, func(s report.SavedReport) bool { return s.Name == name })
	box := p.rename().Over.(*naming)
	for _, bad := range []string{"", "../x", ".hidden", before[0]} {
		box.text.Set(bad)
		if r := box.Key(labtest.KeyMsg("enter")); r.Closes || box.err == "" {
			t.Errorf("%q is taken for a name", bad)
		}
	}
	box.text.Set("the good one")
	if r := box.Key(labtest.KeyMsg("enter")); !r.Closes || !slices.Contains(names(), "the good one") || slices.Contains(names(), name) {
		t.Errorf("after renaming: %v", names())
	}
}

// What the list says of a report comes from the reading that the page beside it takes; of one
// that was written anew it is read anew, wherever the cursor stands.
func TestHeadsFollowTheFiles(t *testing.T) {
	dir := labtest.Reports(t)
	p := New(dir)
	m := labtest.NewStage(p, labtest.NewLab(), 160, 46)
	m.Press("down", "down", "down", "down")
	path := p.saved.picked().Path
	if h := p.saved.heads[path]; h.encoder != "rotor" {
		t.Errorf("the report was read, and the list knows %+v", h)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, keys := range [][]string{{}, {"esc"}} {
		_ = m.View()
		kbps := fmt.Sprintf("%d", 911+i)
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), "142.5", kbps+".00000000"[:6+i], 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		p.due = true
		m.Press(keys...)
		m.Tick(true)
		if h := p.saved.heads[path]; h.kbps != kbps {
			t.Errorf("after %v: %s kbps stand in the list, %s in the file", keys, h.kbps, kbps)
		}
	}
}

// The charts of a report are those of its samples, also where the last line was cut off.
func TestChartsOfAReport(t *testing.T) {
	dir := labtest.Reports(t)
	text := "t_s,sent,payload_kbps,wire_kbps,feedback_kbps,bits_per_item,bits_per_changed,ok,lost\n"
	for i := range 300 {
		text += fmt.Sprintf("%.3f,6,%d,200,10,1,50,5,1\n", float64(i+1)/10, 100+i)
	}
	text += "30.1,6,\"4"
	if err := os.WriteFile(filepath.Join(dir, "2026-02-01-100000-rotor", "samples.csv"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := New(dir)
	m := labtest.NewStage(p, labtest.NewLab(), 160, 46)
	m.Press("down", "down", "down", "down")
	_ = m.View()
	box := p.Enter().Over.(*chartsBox)
	if n := len(box.charts.Lane.Samples); box.err != nil || n != 300 || box.charts.Lane.Samples[299].PayloadBits != 39_900 {
		t.Fatalf("%d samples, %v", n, box.err)
	}
	c := look.NewCanvas(120, 40)
	box.Draw(c, labtest.Theme(false))
	if v := strings.Join(c.Lines(labtest.Theme(false)), "\n"); !strings.Contains(v, "Bandwidth") || !strings.Contains(v, "2026-02-01-100000-rotor") {
		t.Errorf("the charts:\n%s", v)
	}
	m.Press("up")
	if box := p.Enter().Over.(*chartsBox); box.err == nil {
		t.Error("a report without samples has charts")
	}
}

// o writes the page of the report under the cursor in the background, and names it; of one
// that cannot be read it says why.
func TestHTMLPage(t *testing.T) {
	dir := labtest.Reports(t)
	page := New(dir)
	m := labtest.NewStage(page, labtest.NewLab(), 160, 46)
	if r := page.html(); !r.Bad || r.Program != nil {
		t.Errorf("with nothing chosen: %+v", r)
	}
	m.Press("down", "down", "down", "down")
	r := page.html()
	said, ok := r.Program().(room.NoticeMsg)
	want := filepath.Join(dir, page.saved.picked().Name, "report.html")
	if !ok || said.Bad || said.Text != "for a browser: "+want {
		t.Fatalf("%q, then %+v", r.Say, said)
	}
	if text, err := os.ReadFile(want); err != nil || !strings.Contains(string(text), "Content-Security-Policy") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	m.Press("home", "down")
	if said := page.html().Program().(room.NoticeMsg); !said.Bad || !strings.Contains(said.Text, "later version") {
		t.Errorf("of a later version: %+v", said)
	}
}

// Figures that only cubes have are in the table of cubes only.
func TestReadingsOfOthers(t *testing.T) {
	labels := func(item string) (list []string) {
		for _, m := range readings(item) {
			list = append(list, m.label)
		}
		return list
	}
	cubes, rest := labels("cube"), labels("entity")
	for _, own := range []string{"bits per changed ", "off by mm, p95"} {
		has := func(label string) bool { return strings.HasPrefix(label, own) }
		if !slices.ContainsFunc(cubes, has) || slices.ContainsFunc(rest, has) {
			t.Errorf("%q: cubes %q, entities %q", own, cubes, rest)
		}
	}
	if len(rest) != len(cubes)-2 {
		t.Errorf("of %d figures %d are of entities", len(cubes), len(rest))
	}
}

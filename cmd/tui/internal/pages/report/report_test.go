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

// TestReportComparedWithThisRun: the figures of a report are compared with those of this run, and the
// settings are those at the end of each run.
func TestReportComparedWithThisRun(t *testing.T) {
	page := New(labtest.WriteReports(t))
	m := labtest.NewStage(page, labtest.NewLab(), 160, 46)
	m.Press("down", "down", "down", "down")
	p := labtest.Pane[*comparison](page)
	if p.right == nil || p.right.readError != "" || p.right.totals.PayloadKbps != 142.5 || p.right.settings["down.latency"] != "25ms" {
		t.Fatalf("beside stands %+v", p.right)
	}
	differ := map[string]setting{}
	for _, s := range differingSettings(p.left, p.right) {
		differ[s.key] = s
	}
	for key, want := range map[string][2]string{"encoder.name": {"relative-orientation", "rotor"}, "down.loss": {"5%", "2%"},
		"down.latency": {"50ms", "25ms"}, "up.latency": {"65ms", "0ms"}} {
		if got := differ[key]; got.a != want[0] || got.b != want[1] {
			t.Errorf("%s: %+v, want %v", key, got, want)
		}
	}
	if _, ok := differ["seed"]; ok {
		t.Error("equal seeds are listed as different")
	}
	m.Press("b", "up")
	if p.left.name != "2026-02-01-100000-rotor" || p.right.name != "2026-02-01-110000-quantized" {
		t.Errorf("compared: %s and %s", p.left.name, p.right.name)
	}
	m.Press("esc")
	if p.left.name != "this run" || p.right != nil {
		t.Errorf("esc leaves %+v", p.right)
	}
}

// TestNamesInTheList: the list shortens names without losing what distinguishes them.
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
		if got := shortReportName(c[0], c[1]); got != c[2] {
			t.Errorf("%q of %s is listed as %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestReportsThatCannotBeRead(t *testing.T) {
	dir := labtest.WriteReports(t)
	for _, size := range [][2]int{{160, 46}, {80, 22}, {60, 18}} {
		page := New(dir)
		m := labtest.NewStage(page, labtest.NewLab(), size[0], size[1])
		m.Press("down")
		p := labtest.Pane[*comparison](page)
		if p.right == nil || !strings.Contains(p.right.readError, "another version of Wirelab, with format 4") {
			t.Errorf("another version: %+v", p.right)
		}
		m.Press("down")
		if p.right == nil || !strings.Contains(p.right.readError, "is incomplete") {
			t.Errorf("a truncated file: %+v", p.right)
		}
		for _, k := range []string{"enter", "tab", "b", "up", "b", "down", "down", "tab", "down", "esc"} {
			m.Press(k)
			_ = m.View()
		}
	}
}

// TestListFollowsTheFolder: new reports are listed within seconds, removed ones disappear, and the
// cursor stays on its report.
func TestListFollowsTheFolder(t *testing.T) {
	dir := labtest.WriteReports(t)
	p, m := labtest.NewPaneStage[*reports](New(dir), labtest.NewLab(), 160, 46)
	m.Press("down", "down", "down")
	name := p.selected().Name
	if err := os.RemoveAll(filepath.Join(dir, "2026-02-01-130000-later")); err != nil {
		t.Fatal(err)
	}
	p.listDue = true
	m.Tick(false)
	if len(p.list) != 3 || p.selected().Name != name {
		t.Errorf("%d reports, the cursor on %+v, want %s", len(p.list), p.selected(), name)
	}
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	p.listDue = true
	m.Tick(false)
	if len(p.list) != 2 || p.selected() != nil {
		t.Errorf("the report is gone, and the cursor on %+v", p.selected())
	}
}

// TestReportsInMemoryAreBounded: selecting many reports keeps only maxRuns of them in memory.
func TestReportsInMemoryAreBounded(t *testing.T) {
	p := labtest.Pane[*reports](New(""))
	for i := range 200 {
		p.store(report.SavedReport{Path: strings.Repeat("x", i+1)}, &run{})
	}
	if len(p.runs) > maxRuns || len(p.stamps) > maxRuns {
		t.Errorf("%d reports in memory", len(p.runs))
	}
}

// BenchmarkReportPage draws page 6 with a comparison of two runs.
func BenchmarkReportPage160x48(b *testing.B) {
	p, m := labtest.NewPaneStage[*reports](New(""), labtest.NewLab(), 160, 46)
	d := presentRun(labtest.Snapshot(60 * time.Second))
	d.name, d.settings["seed"] = "other", "8"
	p.base, p.runs["x"] = "x", d
	p.updateComparison()
	b.ReportAllocs()
	for b.Loop() {
		m.Tick(true)
		_ = m.View()
	}
}

// TestSummariesFollowTheFiles: the list shows encoder, bandwidth and link of a report that was read, and a report
// that was rewritten is read again, wherever the cursor is.
func TestSummariesFollowTheFiles(t *testing.T) {
	dir := labtest.WriteReports(t)
	p, m := labtest.NewPaneStage[*reports](New(dir), labtest.NewLab(), 160, 46)
	m.Press("down", "down", "down", "down")
	path := p.selected().Path
	if h := p.summaries[path]; h.encoder != "rotor" || h.kbps != "143" && h.kbps != "142" || h.link == "" {
		t.Errorf("the report was read, and its summary is %+v", h)
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
		p.listDue = true
		m.Press(keys...)
		m.Tick(true)
		if h := p.summaries[path]; h.kbps != kbps {
			t.Errorf("after %v: %s kbps in the list, %s in the file", keys, h.kbps, kbps)
		}
	}
}

// TestChartsOfAReport: the charts show the samples of the report, also if its last line is incomplete.
func TestChartsOfAReport(t *testing.T) {
	dir := labtest.WriteReports(t)
	text := "t_s,sent,payload_bits,wire_bits,feedback_bits,items,changed,decoded,lost\n"
	for i := range 300 {
		text += fmt.Sprintf("%.3f,6,%d,20000,1000,%[2]d,%d,5,1\n", float64(i+1)/10, 100*(100+i), 2*(100+i))
	}
	text += "30.1,6,\"4"
	if err := os.WriteFile(filepath.Join(dir, "2026-02-01-100000-rotor", "samples.csv"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, m := labtest.NewPaneStage[*reports](New(dir), labtest.NewLab(), 160, 46)
	m.Press("down", "down", "down", "down")
	_ = m.View()
	box := p.Enter().Overlay.(*chartsBox)
	if n := len(box.charts.Lane.Samples); box.err != nil || n != 300 || box.charts.Lane.Samples[299].PayloadBits != 39_900 {
		t.Fatalf("%d samples, %v", n, box.err)
	}
	c := look.NewCanvas(120, 40)
	box.Draw(c, labtest.Theme(false))
	v := strings.Join(c.Lines(labtest.Theme(false)), "\n")
	// The mean of 100 to 399 kbps, with 50 bits per changed cube and 1 per cube.
	for _, want := range []string{"Bandwidth", "2026-02-01-100000-rotor", "payload, mean 249.5", "wire 200.0", "mean 50.0  per cube 1.00", "means of the run"} {
		if !strings.Contains(v, want) {
			t.Errorf("the charts lack %q:\n%s", want, v)
		}
	}
	m.Press("up")
	if box := p.Enter().Overlay.(*chartsBox); box.err == nil {
		t.Error("a report without samples has charts")
	}
}

// TestHTMLPage: o writes the HTML page of the selected report in the background and shows its path, or
// why the report cannot be read.
func TestHTMLPage(t *testing.T) {
	dir := labtest.WriteReports(t)
	page := New(dir)
	m := labtest.NewStage(page, labtest.NewLab(), 160, 46)
	if r := labtest.Pane[*reports](page).writeHTML(); !r.IsError || r.Program != nil {
		t.Errorf("without a selection: %+v", r)
	}
	m.Press("down", "down", "down", "down")
	r := labtest.Pane[*reports](page).writeHTML()
	said, ok := r.Program().(room.NoticeMsg)
	want := filepath.Join(dir, labtest.Pane[*reports](page).selected().Name, "report.html")
	if !ok || said.IsError || said.Text != "HTML page: "+want {
		t.Fatalf("%q, then %+v", r.Notice, said)
	}
	if text, err := os.ReadFile(want); err != nil || !strings.Contains(string(text), "Content-Security-Policy") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	m.Press("home", "down")
	if notice := labtest.Pane[*reports](page).writeHTML().Program().(room.NoticeMsg); !notice.IsError || !strings.Contains(notice.Text, "another version") {
		t.Errorf("of another version: %+v", notice)
	}
}

// TestFiguresOfOtherItems: figures that only cubes have are only in the table of cubes.
func TestFiguresOfOtherItems(t *testing.T) {
	labels := func(item string) (list []string) {
		for _, m := range runFigures(item) {
			list = append(list, m.label)
		}
		return list
	}
	cubes, rest := labels("cube"), labels("entity")
	for _, own := range []string{"bits per changed ", "position error mm, p95"} {
		has := func(label string) bool { return strings.HasPrefix(label, own) }
		if !slices.ContainsFunc(cubes, has) || slices.ContainsFunc(rest, has) {
			t.Errorf("%q: cubes %q, entities %q", own, cubes, rest)
		}
	}
	if len(rest) != len(cubes)-2 {
		t.Errorf("of %d figures %d are of entities", len(cubes), len(rest))
	}
}

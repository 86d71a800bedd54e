package compare

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/report"
)

// withReports returns the table of a page with the reports of a folder, after some keys.
func withReports(dir string, w, h int, keys ...string) (*table, *labtest.Stage) {
	p, m := labtest.NewPaneStage[*table](New(&panes.SelectedShadow{}, dir), labtest.NewLab(), w, h)
	_ = m.View()
	p.showAll = true
	p.arrange()
	_ = m.View()
	m.Tick(true) // reads what is visible
	if len(keys) > 0 {
		m.Press(append([]string{"down"}, keys...)...) // passes over the heading
	}
	return p, m
}

// lineWith returns the first line that contains a text; "" if none does.
func lineWith(view, text string) string {
	for _, line := range strings.Split(view, "\n") {
		if strings.Contains(line, text) {
			return line
		}
	}
	return ""
}

// TestReportsAreRows: a report has its figures in the columns of encoders, and what it does not have is
// "-". The selected one is compared with this run or with the reference: all figures, and the settings at
// the end of each run.
func TestReportsAreRows(t *testing.T) {
	p, m := withReports(labtest.WriteReports(t), 160, 60, "down", "down", "down", "down")
	r := p.selected()
	if got := strings.Fields(lineWith(m.View(), "02-01 10:00:00 rotor")); strings.Join(got[4:9], " ") != "142.5 - 4.0 40.0 35.0" {
		t.Errorf("%q", got)
	}
	if v := m.View(); !strings.Contains(v, "other data or link") || strings.Contains(v, "×") {
		t.Errorf("a report of another link has a ratio:\n%s", v)
	}
	other := &table{thisRun: &run{settings: map[string]string{}, length: 9 * time.Second}, reference: &row{}}
	for want, c := range map[string]struct {
		seconds time.Duration
		key     string
	}{"": {9, "seed"}, "lasts 20.0 s, not 9.0 s": {20, "seed"}, "other sender.budget": {9, "sender.budget"}, "other data or link": {9, "down.loss"}} {
		report := &run{settings: map[string]string{c.key: "7"}, length: c.seconds * time.Second}
		if got := other.unlike(&row{report: report}); got != want {
			t.Errorf("a report with another %s: %q, want %q", c.key, got, want)
		}
	}
	for text, want := range map[string]string{"payload, kbps": "142.5", "encoder.name": "relative-orientation rotor setting", "down.loss": "5% 2% setting",
		"down.latency": "50ms 25ms setting", "up.latency": "65ms 0ms setting"} {
		if line := strings.Join(strings.Fields(lineWith(m.View(), text)), " "); !strings.Contains(line, want) && text != "up.latency" {
			t.Errorf("%s: %q, want %q\n%s", text, line, want, m.View())
		}
	}
	m.Press("r", "up")
	if v := m.View(); !strings.Contains(v, "2026-02-01-110000-quantized vs 2026-02-01-100000-rotor") || !strings.Contains(v, "vs "+r.name) {
		t.Errorf("the reference is not %s:\n%s", r.name, v)
	}
	m.Press("esc")
	if v := m.View(); !strings.Contains(v, "quantized vs this run") {
		t.Errorf("esc does not end the reference:\n%s", v)
	}
}

// TestRowForEachStretch: a run or a report with changes of its encoder or link has a row for each stretch, which is not
// judged: it had other frames. Several short ones have one row. Enter on a stretch of this run goes to its start.
func TestRowForEachStretch(t *testing.T) {
	dir := labtest.WriteReports(t)
	path := filepath.Join(dir, "2026-02-01-100000-rotor", "report.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	swapped := strings.Replace(string(text), `"changes":`, `"stretches":[{"encoder":"rotor","from_s":0,"to_s":12,"payload_kbps":100,"failed":1,"bits_per_changed":9.5},
{"encoder":"raw x=3","from_s":12,"to_s":30,"payload_kbps":170.8,"failed":0}],"changes":`, 1)
	if err := os.WriteFile(path, []byte(swapped), 0o644); err != nil {
		t.Fatal(err)
	}
	_, m := withReports(dir, 200, 46)
	for text, want := range map[string]string{"02-01 10:00:00 mean of rotor, raw x=3": "142.5 - 4.0", "0-12 s rotor": "100.0 9.5 5.0", "12-30 s raw x=3": "170.8 - 0.0"} {
		if line := strings.Join(strings.Fields(lineWith(m.View(), text)), " "); !strings.Contains(line, text+" "+want) {
			t.Errorf("%q, want %q\n%s", line, text+" "+want, m.View())
		}
	}
	lab := labtest.NewLab()
	lab.Snap.Lanes[0].Stretches = []meters.StretchFigures{{Encoder: "raw", ToS: 50, Link: "lte"}, {Encoder: "raw", FromS: 50, ToS: 51, Link: "lte, loss 1%"},
		{Encoder: "raw", FromS: 51, ToS: 52.6, Link: "lte, loss 2%"}, {Encoder: "raw", FromS: 52.6, ToS: 80, PayloadKbps: 7, Link: "lte, loss 5%"}, {Encoder: "rotor", FromS: 80, ToS: 81, Link: "lte"}}
	p, m := labtest.NewPaneStage[*table](New(&panes.SelectedShadow{}, ""), lab, 160, 46)
	for text, want := range map[string]string{"0-50 s raw": "0.0 - 0.0 - - - lte; other frames", "50-53 s several settings": "- - - - - - too short",
		"53-80 s raw": "7.0 - 0.0 - - - loss 5%, lte; other frames", "80-81 s rotor": "0.0 - 0.0 - - - too short"} {
		if line := strings.Join(strings.Fields(lineWith(m.View(), text)), " "); !strings.Contains(line, text+" "+want) {
			t.Errorf("%q, want %q\n%s", line, text+" "+want, m.View())
		}
	}
	m.Press("down", "down", "down")
	if r := p.Enter(); r.Line != "seek 00:52.6" {
		t.Errorf("enter on a stretch: %+v", r)
	}
	m.Press("r")
	if line := lineWith(m.View(), "A relative-orientation "); !strings.Contains(line, "other frames") {
		t.Errorf("a lane is compared with a stretch: %q", line)
	}
}

// TestShortNames: names are shortened without losing what distinguishes them.
func TestShortNames(t *testing.T) {
	for _, c := range [][3]string{
		{"2026-11-22-092949-rotor", "rotor", "11-22 09:29:49 rotor"},
		{"2026-11-22-092949-rotor-2", "rotor", "11-22 09:29:49 2 rotor"},
		{"2026-11-22-092949-autosave-kinetic-lite", "kinetic-lite", "11-22 09:29:49 auto kinetic-lite"},
		{"2026-11-22-092949-autosave-rotor-3", "rotor", "11-22 09:29:49 auto 3 rotor"},
		{"before the fix", "rotor", "before the fix"},
		{"2026-11-22-092949-rotor", "raw", "2026-11-22-092949-rotor"},
		{"", "", ""},
	} {
		r := &run{SavedReport: report.SavedReport{Name: c[0]}, encoders: c[1], settings: map[string]string{"encoder.name": c[1]}}
		if got := r.shortName(); got != c[2] {
			t.Errorf("%q of %s is listed as %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// TestReportsThatCannotBeRead: the row of a report says why it cannot be read.
func TestReportsThatCannotBeRead(t *testing.T) {
	dir := labtest.WriteReports(t)
	for _, size := range [][2]int{{160, 46}, {80, 22}, {60, 18}} {
		p, m := withReports(dir, size[0], size[1], "down")
		if err := p.selected().err; err == nil || !strings.Contains(err.Error(), "another version of Wirelab, with format 4") {
			t.Errorf("another version: %v", err)
		}
		m.Press("down")
		if err := p.selected().err; err == nil || !strings.Contains(err.Error(), "is incomplete") {
			t.Errorf("a truncated file: %v", err)
		}
		for _, k := range []string{"enter", "tab", "r", "up", "r", "down", "down", "tab", "down", "esc"} {
			m.Press(k)
			_ = m.View()
		}
	}
}

// TestRowsFollowTheFolder: new reports are listed within seconds, removed ones disappear, the cursor stays
// on its report, and a report that was rewritten is read again.
func TestRowsFollowTheFolder(t *testing.T) {
	dir := labtest.WriteReports(t)
	p, m := withReports(dir, 160, 46, "down", "down", "down")
	list := func() {
		p.listDue = true
		m.Tick(false)
		_ = m.View()
	}
	name := p.selected().report.Name
	remove := func(name string) {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		list()
	}
	if remove("2026-02-01-130000-later"); len(p.list) != 3 || p.selected().report.Name != name {
		t.Errorf("%d reports, the cursor on %+v, want %s", len(p.list), p.selected(), name)
	}
	if remove(name); len(p.list) != 2 || p.indexOf(filepath.Join(dir, name, "report.json")) >= 0 {
		t.Errorf("the report is gone, and the cursor on %+v", p.selected())
	}
	path := filepath.Join(dir, "2026-02-01-100000-rotor", "report.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), "142.5", "911.0000", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if list(); p.rows[p.indexOf(path)].figures[figureKbps] != 911 {
		t.Errorf("%v kbps in the row, 911 in the file", p.rows[p.indexOf(path)].figures[figureKbps])
	}
}

// TestReportsInMemoryAreBounded: reading many reports keeps only maxRuns of them in memory.
func TestReportsInMemoryAreBounded(t *testing.T) {
	d := folder{runs: map[string]*run{}}
	for i := range 2*maxRuns + 10 {
		d.store(&run{SavedReport: report.SavedReport{Path: fmt.Sprint(i)}})
	}
	if len(d.runs) > maxRuns {
		t.Errorf("%d reports in memory", len(d.runs))
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
	p, m := withReports(dir, 160, 46, "down", "down", "down", "down")
	box := p.Enter().Overlay.(*chartsBox)
	if n := len(box.charts.Lane.Samples); n != 300 || box.charts.Lane.Samples[299].PayloadBits != 39_900 {
		t.Fatalf("%d samples", n)
	}
	c := look.NewCanvas(120, 40)
	box.Draw(c, labtest.Theme(false))
	v := strings.Join(strings.Fields(strings.Join(c.Lines(labtest.Theme(false)), "\n")), " ")
	// The mean of 100 to 399 kbps, with 50 bits per changed cube and 1 per cube.
	for _, want := range []string{"Bandwidth", "2026-02-01-100000-rotor", "payload, mean 249.5", "wire 200.0", "mean 50.0 per cube 1.00", "means of the run"} {
		if !strings.Contains(v, want) || strings.Contains(v, "budget line") {
			t.Errorf("the charts lack %q, or have a limit of another run:\n%s", want, v)
		}
	}
	m.Press("up")
	if _, ok := p.Enter().Overlay.(*chartsBox); ok {
		t.Error("a report without samples has charts")
	}
}

// TestHTMLPage: the HTML page of the selected report is written in the background, and its path or an error
// is shown.
func TestHTMLPage(t *testing.T) {
	dir := labtest.WriteReports(t)
	p, m := withReports(dir, 160, 46)
	if r := p.WriteHTML(); !r.IsError || r.Program != nil {
		t.Errorf("without a selection: %+v", r)
	}
	m.Press("down", "down", "down", "down", "down")
	r := p.WriteHTML()
	notice, ok := r.Program().(room.NoticeMsg)
	want := filepath.Join(dir, p.selected().report.Name, "report.html")
	if !ok || notice.IsError || notice.Text != "HTML page: "+want {
		t.Fatalf("%q, then %+v", r.Notice, notice)
	}
	if text, err := os.ReadFile(want); err != nil || !strings.Contains(string(text), "Content-Security-Policy") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	m.Press("up", "up", "up")
	if notice := p.WriteHTML().Program().(room.NoticeMsg); !notice.IsError || !strings.Contains(notice.Text, "another version") {
		t.Errorf("of another version: %+v", notice)
	}
}

// TestOnlyComparableReportsAreListed: reports of other data or links are listed only after enter on the heading. Those of
// like runs are sorted.
func TestOnlyComparableReportsAreListed(t *testing.T) {
	lab := labtest.NewLab()
	lab.Snap.Config.Data.Source, lab.Snap.Config.Seed = "demo", 7
	dir := labtest.WriteReports(t)
	p, m := labtest.NewPaneStage[*table](New(&panes.SelectedShadow{}, dir), lab, 160, 46)
	_ = m.View()
	m.Tick(true)
	for _, saved := range p.list[len(p.list)-2:] {
		like := p.runs[saved.Path]
		like.settings = lab.Snap.Config.Settings()
		like.comparedWith = nil
	}
	p.arrange()
	listed := func() (n int) {
		for _, r := range p.rows {
			if r.report != nil {
				n++
			}
		}
		return n
	}
	v := m.View()
	isSorted := strings.Index(v, "142.5") < strings.Index(v, "301.8") // the newer report sent more
	if listed() != 2 || !isSorted || !strings.Contains(v, "reports like this run; enter shows 2 others") {
		t.Errorf("%d reports\n%s", listed(), v)
	}
	m.Press("down", "enter")
	if listed() != 4 {
		t.Errorf("%d reports after enter", listed())
	}
	m.Press("enter")
	if listed() != 2 {
		t.Errorf("%d reports after a second enter", listed())
	}
}

// TestUnreadReport: a report that was not read yet has no figures and no error of its own.
func TestUnreadReport(t *testing.T) {
	d := folder{listed: true, list: []report.SavedReport{{Name: "x", Path: "x/report.json", Saved: time.Unix(1, 0)}}}
	d.showAll = true
	rows := d.rows(&run{}, figureKbps)
	if len(rows) != 2 || !math.IsNaN(rows[1].figures[figureKbps]) || !errors.Is(rows[1].err, errUnread) {
		t.Errorf("%+v", rows)
	}
}

// BenchmarkReportRows160x48 draws the page with a report selected.
func BenchmarkReportRows160x48(b *testing.B) {
	p, m := labtest.NewPaneStage[*table](New(&panes.SelectedShadow{}, b.TempDir()), labtest.NewLab(), 160, 46)
	other := *p.thisRun
	other.SavedReport = report.SavedReport{Name: "other", Path: "other"}
	p.list = []report.SavedReport{other.SavedReport}
	p.store(&other)
	p.arrange()
	m.Press("down")
	b.ReportAllocs()
	for b.Loop() {
		m.Tick(true)
		_ = m.View()
	}
}

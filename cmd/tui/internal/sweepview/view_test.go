package sweepview

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/sweep"
	"wirelab/internal/golden"
)

const three = `
duration = "1s"
encoder.name = "changed-index"
[sweep]
repeat = 8
[[sweep.axis]]
key = "encoder.name"
values = ["changed-index", "zstd-baseline"]
[[sweep.axis]]
key = "down.loss"
values = ["0%", "1%", "5%", "10%", "20%"]
[[sweep.axis]]
key = "sender.every"
values = [1, 2, 3, 4]
`

const one = `
duration = "1s"
[sweep]
repeat = 8
[[sweep.axis]]
key = "down.loss"
values = ["0%", "1%", "5%", "10%", "20%"]
`

// watched returns a sweep with a given number of simulated results.
func watched(t testing.TB, text string, runs int) *sweep.Watch {
	t.Helper()
	c, err := config.Parse("test.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := sweep.NewPlan(t.Context(), c, "v1")
	if err != nil {
		t.Fatal(err)
	}
	w := sweep.NewWatch(p)
	w.SetProgress(sweep.Progress{Planned: p.Runs(), Workers: 3})
	for n := range min(runs, p.Runs()) {
		addResult(w, n)
	}
	w.SetProgress(sweep.Progress{Planned: p.Runs(), Workers: 3, Runs: runs, Points: runs / p.Repeat})
	return w
}

// addResult adds the simulated result of a run.
func addResult(w *sweep.Watch, run int) {
	point, seed := run/w.Repeat(), run%w.Repeat()
	kbps := 40 + 3*float64(point) + 5*math.Sin(float64(seed*seed+point))
	rates := figures.Rates{PayloadKbps: kbps, WireKbps: 2 * kbps}
	w.AddResult(sweep.Outcome{Run: run, Result: &engine.Result{Digest: "x", Totals: figures.Totals{Rates: rates, Counts: figures.Counts{Sent: 60}}}})
}

// screen returns a sweep on a screen of the given size, without colours, after ten seconds.
func screen(w *sweep.Watch, width, height int, ascii bool, keys ...string) *model {
	return screenWith(w, width, height, ui.Options{ASCII: ascii, Renderer: labtest.PlainRenderer()}, keys...)
}

func screenWith(w *sweep.Watch, width, height int, opt ui.Options, keys ...string) *model {
	now := time.Duration(0)
	m := newModel(Sweep{Watch: w, Title: "loss.toml", Dir: "out", Queue: true, Clock: func() time.Duration { return now }}, opt, nil)
	now = 10 * time.Second
	m.Update(tea.WindowSizeMsg{Width: width, Height: height})
	for _, k := range keys {
		m.Update(labtest.KeyMsg(k))
	}
	for range pollTicks {
		m.Update(room.Tick{})
	}
	return m
}

const point = "duration = \"1s\"\n[sweep]\nrepeat = 8\n"

// screenStates are sweeps after some keys, with the texts that the screen of 160 x 48 must contain, separated by "; ".
// Without texts, two sizes of the screen are compared with golden files.
var screenStates = []struct {
	name, text string
	runs       int
	keys, want string
}{
	{"three", three, 150, "down down right", ""},
	{"one", one, 40, "down", ""},
	{"compared", three, 320, "down right r down S", ""},
	{"turned", three, 320, "a down right c", "encoder down, downlink loss across"},
	{"ranking", three, 320, "tab tab down", "Ranking payload, best first; 40/40 points complete"},
	{"charts", three, 320, "tab tab tab right 0", "Along send every n-th frame payload kbps, 95 % intervals"},
	{"point", point, 8, "", "Seeds payload kbps, a dot per seed; 8 of 8 runs"},
	{"nothing", three, 0, "", "no results yet"},
	{"one point", point, 0, "", "no results yet; 0 of 8 runs, running for 10 s"},
	{"acks", three, 320, "c c", "Ranking acks, smallest first"},
	{"help", three, 20, "?", "esc close"},
	{"many", "duration = \"1s\"\n[[sweep]]\nkey = \"sender.window\"\nvalues = [" + numbers(40) + "]\n[[sweep]]\nkey = \"sender.history\"\nvalues = [" +
		numbers(30) + "]\n", 100, "end pgdown a end c ] home", "scroll for more; 100/1200 points"},
}

// TestScreens compares each state with golden files, or looks for its texts.
func TestScreens(t *testing.T) {
	compare := func(name string, m *model) {
		golden.Compare(t, filepath.Join("testdata", name+".golden"), m.View()+"\n")
	}
	for _, s := range screenStates {
		w, keys := watched(t, s.text, s.runs), strings.Fields(s.keys)
		m := screen(w, 160, 48, false, keys...)
		if s.want == "" {
			compare(s.name+"-160x48", m)
			compare(s.name+"-80x24", screen(w, 80, 24, false, keys...))
			continue
		}
		for _, want := range strings.Split(s.want, "; ") {
			if !strings.Contains(strings.Join(strings.Fields(m.View()), " "), want) {
				t.Errorf("%s: no %q:\n%s", s.name, want, m.View())
			}
		}
	}
	colours := ui.Options{Theme: "dark", Renderer: labtest.ColourRenderer()}
	compare("colour-160x48", screenWith(watched(t, three, 150), 160, 48, colours, "down", "down", "right"))
}

// TestLayout checks the layout of each state, see labtest.CheckLayout, with the cursor and the focus at other places.
func TestLayout(t *testing.T) {
	for i, s := range screenStates {
		watch := watched(t, s.text, s.runs)
		for _, ascii := range []bool{false, true} {
			m := screen(watch, 160, 48, ascii, strings.Fields(s.keys)...)
			for range 200 { // until no notice covers the footer
				m.Update(room.Tick{})
			}
			hasBox := s.name == "help"
			labtest.CheckLayout(t, uint64(i), ascii, func(w, h int) (view string, isPage bool) {
				m.Update(tea.WindowSizeMsg{Width: w, Height: h})
				isPage = !hasBox && w >= 60 && h >= 18
				if isPage {
					m.Update(labtest.KeyMsg("tab"))
					m.Update(labtest.KeyMsg("right"))
				}
				return m.View(), isPage
			})
		}
	}
}

func numbers(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i + 1)
	}
	return strings.Join(list, ", ")
}

// TestKeys: the cursor stays on the grid, keys step through every axis, and q quits.
func TestKeys(t *testing.T) {
	m := screen(watched(t, three, 320), 80, 24, false)
	press := func(keys ...string) {
		for _, k := range keys {
			m.Update(labtest.KeyMsg(k))
		}
	}
	press("left", "up", "[") // the first value: around to the last
	if fmt.Sprint(m.cursor) != "[1 0 0]" {
		t.Errorf("at %v", m.cursor)
	}
	press("]", "end", "pgdown", "right", "down")
	if fmt.Sprint(m.cursor) != "[0 4 3]" {
		t.Errorf("at %v", m.cursor)
	}
	if p := m.watch.PointIndex(m.cursor); p != 19 {
		t.Errorf("point %d, expected 19", p)
	}
	if press("3"); m.page.FocusedIndex() != paneRanking {
		t.Errorf("3 focuses pane %d", m.page.FocusedIndex()+1)
	}
	press("1", "c")
	if m.watch.Names[m.figure] != "wire_kbps" {
		t.Errorf("figure %q", m.watch.Names[m.figure])
	}
	press(strings.Fields(strings.Repeat("c ", len(m.shownFigures())-1) + "a a a")...)
	if m.watch.Names[m.figure] != "payload_kbps" || fmt.Sprint(m.axisOrder) != "[0 1 2]" {
		t.Errorf("figure %q, axes %v", m.watch.Names[m.figure], m.axisOrder)
	}
	m.Update(room.Tick{})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 80})
	press("?")
	labtest.CheckHelp(t, m.View())
	press("esc")
	press("q")
	m.Update(room.Tick{})
	if !strings.Contains(m.View(), "The sweep has completed") {
		t.Errorf("q does not ask while the sweep runs:\n%s", m.View())
	}
	for _, k := range []string{"y", "ctrl+c"} { // y answers the question
		if _, cmd := m.Update(labtest.KeyMsg(k)); cmd == nil || cmd() != (tea.QuitMsg{}) {
			t.Errorf("%s does not quit", k)
		}
	}
	m.state.Ended = "done"
	if _, cmd := m.Update(labtest.KeyMsg("q")); cmd == nil || cmd() != (tea.QuitMsg{}) {
		t.Error("q asks after the sweep ended")
	}
}

// TestLeftHalfIsFilled: at every size that the screen is made for, with one and with several axes, at most a quarter of the rows between
// header and footer are blank in the left half of the screen.
func TestLeftHalfIsFilled(t *testing.T) {
	for _, text := range []string{three, one} {
		w := watched(t, text, 320)
		for _, size := range [][2]int{{60, 18}, {80, 24}, {120, 36}, {160, 48}, {220, 60}} {
			lines := strings.Split(screen(w, size[0], size[1], false).View(), "\n")
			blank, page := 0, lines[3:len(lines)-1]
			for _, line := range page {
				if strings.Trim(string([]rune(line)[:size[0]/2]), " │") == "" {
					blank++
				}
			}
			if blank > len(page)/4 {
				t.Errorf("%v: %d of %d rows are blank at the left:\n%s", size, blank, len(page), strings.Join(lines, "\n"))
			}
		}
	}
}

// TestCellsTile: the cells of the map cover their area without gaps and overlaps, for any grid and size.
func TestCellsTile(t *testing.T) {
	for _, g := range []mapGrid{{x: 3, y: 2, width: 80, height: 30, shown: [2]int{7, 9}}, {width: 3, height: 1, shown: [2]int{1, 1}},
		{x: 1, y: 1, width: 100, height: 17, first: [2]int{4, 5}, shown: [2]int{17, 33}}} {
		for y := range g.height {
			for x := range g.width {
				row, col, ok := g.cellAt(g.x+x, g.y+y)
				left, top, w, h := g.cell(row-g.first[0], col-g.first[1])
				if !ok || g.x+x < left || g.x+x >= left+w || g.y+y < top || g.y+y >= top+h {
					t.Fatalf("%+v: (%d,%d) is cell %d,%d, %v", g, x, y, row, col, ok)
				}
			}
		}
		if _, _, ok := g.cellAt(g.x+g.width, g.y); ok {
			t.Errorf("%+v: a cell beyond the right edge", g)
		}
	}
}

// TestFilledCells: with colours the cell of the largest mean has the background of the highest level, and its value
// and unit are in it.
func TestFilledCells(t *testing.T) {
	m := screenWith(watched(t, three, 320), 160, 48, ui.Options{Theme: "dark", Renderer: labtest.ColourRenderer()}, "]")
	if !regexp.MustCompile(`\x1b\[38;5;16;48;5;195m +[0-9.]+ kbps`).MatchString(m.View()) {
		t.Errorf("no filled cell with value and unit:\n%q", m.View())
	}
}

// TestCellsShowMeans: at all sizes every visible cell of the map shows its mean, those of a row in the same line.
func TestCellsShowMeans(t *testing.T) {
	losses := `"0%", "1%", "2%", "5%", "10%", "20%", "50%"`
	for _, c := range []struct {
		losses          string
		w, h            int
		columns, detail int // visible columns, and the text of cellMeans
	}{{losses, 86, 20, 7, 1}, {losses, 66, 15, 7, 2}, {losses, 80, 18, 7, 1}, {losses, 60, 12, 7, 2}, {losses + `, "51%", "52%", "53%", "54%", "55%"`, 60, 12, 7, 2}} {
		text := "duration = \"1s\"\n[sweep]\nrepeat = 3\n[[sweep.axis]]\nkey = \"encoder.name\"\nvalues = [\"relative-orientation\", \"rotor\"]\n" +
			"[[sweep.axis]]\nkey = \"down.loss\"\nvalues = [" + c.losses + "]\n"
		m := screen(watched(t, text, 28), 160, 48, true, "end")
		pane := look.NewCanvas(c.w, c.h)
		m.drawMap(pane, true)
		lines, g := pane.Lines(m.Theme()), m.mapGrid
		if g.shown != [2]int{2, c.columns} || g.detail != c.detail {
			t.Errorf("%+v: %+v\n%s", c, g, strings.Join(lines, "\n"))
		}
		if last := g.first[1] + g.shown[1] - 1; last != m.cursorOn(m.columns()) {
			t.Errorf("%+v: the last visible column is %d:\n%s", c, last, strings.Join(lines, "\n"))
		}
		for i := range g.shown[0] {
			for j := range g.shown[1] {
				x, y, w, h := g.cell(i, j)
				want := m.cellMeans(m.watch.PointIndex([]int{i, g.first[1] + j}))[g.detail]
				if line := lines[y+firstLine(h)]; !strings.Contains(line[x:x+w], want) {
					t.Errorf("%+v: cell %d,%d has no %q:\n%s", c, i, j, want, strings.Join(lines, "\n"))
				}
			}
		}
	}
}

// TestReferenceIsMarked: in maps of all sizes the cell of the reference says so, and all rows of cells have ratios or none.
func TestReferenceIsMarked(t *testing.T) {
	for _, keys := range []string{"", "a", "down right right r", "down right right r a", "down right right r a a"} {
		for _, runs := range []int{0, 320} {
			m := screen(watched(t, three, runs), 160, 48, false, strings.Fields(keys)...)
			for h := 10; h < 40; h++ {
				pane := look.NewCanvas(78, h)
				m.drawMap(pane, true)
				text, g := strings.Join(pane.Lines(m.Theme()), "\n"), m.mapGrid
				ratios, others := strings.Count(text, "×"), g.shown[0]*g.shown[1]-1 // without the reference
				if ref := strings.Count(text, "ref"); ref != 1 || ratios > 1 && ratios < others {
					t.Errorf("%q, %d runs, %d rows: %d references, %d ratios of %v:\n%s", keys, runs, h, ref, ratios, g.shown, text)
				}
			}
		}
	}
}

// TestFiguresKeepTheirColumns: the list of figures has the same columns and decimals at all points.
func TestFiguresKeepTheirColumns(t *testing.T) {
	m := screen(watched(t, three, 320), 160, 48, false, "down", "right", "r")
	layouts := map[string]bool{}
	for p := range m.means {
		m.selectPoint(p)
		pane := look.NewCanvas(52, 12)
		m.drawPoint(pane, true)
		text := strings.Join(pane.Lines(m.Theme()), "\n")
		heading := regexp.MustCompile(`figure .*│`).FindString(text)
		decimals := regexp.MustCompile(`payload +\d+(\.\d+)? `).FindStringSubmatch(text)
		layouts[heading+fmt.Sprint(len(decimals[1]))] = true
	}
	if len(layouts) != 1 || len(m.means) != 40 {
		t.Errorf("%d layouts at %d points: %v", len(layouts), len(m.means), layouts)
	}
}

// TestSmallScreenUpdates: the line above the panes of a small screen shows the results as they arrive.
func TestSmallScreenUpdates(t *testing.T) {
	w := watched(t, one, 0)
	m := screen(w, 80, 24, false)
	if !strings.Contains(m.View(), "payload - kbps") {
		t.Fatalf("results before the first run:\n%s", m.View())
	}
	addResult(w, 0)
	for range pollTicks {
		m.Update(room.Tick{})
	}
	if !strings.Contains(m.View(), "payload 40.0 kbps  ×1 reference") {
		t.Errorf("the first result is not in the line:\n%s", m.View())
	}
}

// TestRanking: the ranking is sorted by the means, and the cursor moves along it.
func TestRanking(t *testing.T) {
	w := watched(t, three, 150)
	m := screen(w, 160, 48, false)
	means, _ := w.Means(0)
	for _, want := range []func(before, after float64) bool{
		func(before, after float64) bool { return before <= after },
		func(before, after float64) bool { return before >= after },
	} {
		for i := 1; i < len(m.ranked); i++ {
			before, after := means[m.ranked[i-1]], means[m.ranked[i]]
			if before.N == 0 && after.N > 0 || after.N > 0 && !want(before.Mean, after.Mean) {
				t.Fatalf("%s: %v before %v", m.orderName(), before, after)
			}
		}
		for i, r := range []int{m.ranks[m.ranked[0]], m.ranks[m.ranked[18]]} { // 19 points have results
			if best := m.order == bestFirst; r != map[bool]int{best: 1, !best: 19}[i == 0] {
				t.Errorf("%s: row %d has rank %d", m.orderName(), 18*i, r)
			}
		}
		points := map[int]bool{} // the columns of decimal points of the means in the ranking
		for _, row := range regexp.MustCompile(`(?m)^│[ ▸] +\d+  .*?\d\.\d+  ±`).FindAllString(m.View(), -1) {
			points[utf8.RuneCountInString(row[:strings.LastIndexByte(row, '.')])] = true
		}
		if len(points) != 1 {
			t.Errorf("decimal points in columns %v:\n%s", points, m.View())
		}
		m.Update(labtest.KeyMsg("S"))
		m.Update(room.Tick{})
	}
	if !slices.IsSorted(m.ranked) {
		t.Errorf("%s: %v", m.orderName(), m.ranked)
	}
	for _, k := range []string{"S", "tab", "tab", "g", "down", "down"} { // best first, in the pane Ranking
		m.Update(labtest.KeyMsg(k))
	}
	if m.selected() != m.ranked[2] {
		t.Errorf("point %d, want %d", m.selected(), m.ranked[2])
	}
	m.Update(tea.MouseMsg{X: 10, Y: strings.Count(m.View()[:strings.Index(m.View(), "Ranking")], "\n") + 2, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	if m.selected() != m.ranked[0] {
		t.Errorf("a click on the first row selects point %d", m.selected())
	}
}

// TestCompareWithAnyPoint: r compares with the selected point; the ratio and its interval follow from the values of
// both points, paired by seed.
func TestCompareWithAnyPoint(t *testing.T) {
	w := watched(t, three, 320)
	m := screen(w, 160, 48, false, "down", "right", "r", "down")
	reference, point := w.PointIndex([]int{0, 1, 1}), w.PointIndex([]int{0, 2, 1})
	if m.reference != reference || m.selected() != point {
		t.Fatalf("points %d and %d", m.reference, m.selected())
	}
	x, y := w.Values(point, 0), w.Values(reference, 0)
	want := figures.EstimateRatio(x, y)
	text := fmt.Sprintf("×%.3f ±%.3f", want.Mean, (*want.Hi-*want.Lo)/2)
	if view := strings.Join(strings.Fields(m.View()), " "); strings.Count(view, text) < 3 { // in the map, the ranking and the list of figures
		t.Errorf("%q is not on the screen:\n%s", text, m.View())
	}
	if m.Update(labtest.KeyMsg("up")); m.texts[m.selected()].ratioInterval != "reference" {
		t.Errorf("the reference is compared with itself: %+v", m.texts[m.selected()])
	}
	m.Update(labtest.KeyMsg("r"))
	if m.Update(room.Tick{}); m.reference != reference || !strings.Contains(m.View(), "is the reference already") {
		t.Errorf("r on the reference: compared with %d\n%s", m.reference, m.View())
	}
}

// TestExport: the CSV file has a row per point in the order of the ranking, with the ratio to the reference.
func TestExport(t *testing.T) {
	w := watched(t, three, 320)
	m := screen(w, 160, 48, false, "down", "r", "S")
	var file strings.Builder
	m.sweep.Export = func(fill func(io.Writer) error) (string, error) { return "x.csv", fill(&file) }
	_, cmd := m.Update(labtest.KeyMsg("w"))
	if msg, ok := cmd().(room.NoticeMsg); !ok || msg.IsError || !strings.Contains(msg.Text, "x.csv") {
		t.Fatalf("%+v", msg)
	}
	rows, err := csv.NewReader(strings.NewReader(file.String())).ReadAll()
	if err != nil || len(rows) != 41 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	at := func(row []string, column string) string { return row[slices.Index(rows[0], column)] }
	for i, p := range m.ranked {
		row := rows[i+1]
		set := w.Points()[p].Set
		mean, _ := strconv.ParseFloat(at(row, "payload_kbps"), 64)
		ratio, _ := strconv.ParseFloat(at(row, "payload_kbps.ratio_to_reference"), 64)
		if at(row, "down.loss") != set["down.loss"] || at(row, "encoder.name") != set["encoder.name"] || at(row, "seeds") != "8" ||
			mean != w.Mean(p, 0).Mean || p != m.reference && ratio != w.Ratio(p, m.reference, 0).Mean {
			t.Errorf("row %d, point %d: %v", i, p, row[:10])
		}
	}
}

// TestEnterOpensThePoint: enter ends the screen with the selected point, and the next screen has the same selection.
func TestEnterOpensThePoint(t *testing.T) {
	m := screen(watched(t, three, 320), 80, 24, false, "down", "right", "S", "r")
	_, cmd := m.Update(labtest.KeyMsg("enter"))
	if cmd == nil || cmd() != (tea.QuitMsg{}) || m.opened != m.selected() {
		t.Errorf("opened %d, selected %d", m.opened, m.selected())
	}
	next := newModel(m.sweep, ui.Options{Renderer: labtest.PlainRenderer()}, &m.selection)
	if !reflect.DeepEqual(next.selection, m.selection) || next.selected() != m.opened || next.opened >= 0 {
		t.Errorf("%+v after %+v", next.selection, m.selection)
	}
}

func BenchmarkFrame160x48(b *testing.B) {
	m := screenWith(watched(b, three, 320), 160, 48, ui.Options{Theme: "dark", Renderer: labtest.ColourRenderer()}, "down", "right")
	b.ReportAllocs()
	for b.Loop() {
		for range pollTicks {
			m.Update(room.Tick{})
		}
		_ = m.View()
	}
}

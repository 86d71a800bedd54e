package report

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/report"
)

// page is page 6: the changes, the saved reports, and a comparison of two runs. Files are read in the
// background, because a large file takes a while and a network folder may not respond.
type page struct {
	room.Panes
	dir        string         // the folder of the reports; "" if none exists
	log        *panes.Changes // the changes of the running session
	saved      *saved
	comparison *comparison
	summary    *room.Slot

	current *run                          // the running session
	runs    map[string]*run               // reports that were read, by path
	stamps  map[string]report.SavedReport // name, size and time of each report in runs when it was read, by path
	reading bool                          // a file or the folder is being read in the background; only one is at a time
	redraws int                           // redraws that were due (View.RedrawDue) since the folder was last listed
	notice  int                           // the newest notice of the lab; a new one may mean that a report was saved
	listDue bool                          // the folder has to be listed
}

// The panes, as indices of Slots.
const (
	paneSaved = iota
	paneComparison
	paneChanges
)

// maxRuns bounds the reports that are kept in memory.
const maxRuns = 16

// listEvery is the number of redraws between two listings of the folder, to find reports of other
// processes.
const listEvery = 6

// New returns the page, on which the current run is selected. dir is the folder of the reports, "" if
// none exists.
func New(dir string) *page {
	p := &page{dir: dir, log: &panes.Changes{}, saved: &saved{dir: dir, cursor: -1, summaries: map[string]summary{}}, comparison: &comparison{}, listDue: true}
	p.Slots = []*room.Slot{paneSaved: room.NewSlot(p.saved), paneComparison: room.NewSlot(p.comparison), paneChanges: room.NewSlot(p.log)}
	p.Focusable = []int{paneSaved, paneComparison}
	p.summary = room.NewSlot(&panes.SummaryLine{})
	p.runs, p.stamps = map[string]*run{}, map[string]report.SavedReport{}
	return p
}

func (p *page) Name() string { return "Report" }

// Observe implements room.Observer. It updates the current run when a redraw is due. A new notice of the
// lab, which may report a saved file, or listEvery redraws make the folder due for listing.
func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	changed = p.Slots[paneChanges].Observe(v) || changed
	if v.Snap.Notice.ID != p.notice {
		p.notice, p.listDue = v.Snap.Notice.ID, true
	}
	if v.RedrawDue {
		p.redraws++
		if p.redraws >= listEvery {
			p.redraws, p.listDue = 0, true
		}
	}
	if p.current == nil || v.RedrawDue {
		p.current = presentRun(v.Newest())
		p.comparison.item = v.Snap.Item
		p.updateComparison()
		changed = true
	}
	return changed
}

// updateComparison sets the two runs that are compared. The left one is the base, or the current run
// without a base; the right one is the selected report or, if the current run is selected and a report is
// the base, the current run. If both are the same run, the right one is nil.
func (p *page) updateComparison() {
	p.comparison.left, p.comparison.right = p.current, nil
	if base := p.runs[p.saved.base]; base != nil && p.saved.base != "" {
		p.comparison.left = base
	}
	switch s := p.saved.selected(); {
	case s != nil:
		p.comparison.right = p.runs[s.Path]
		if p.comparison.right == nil {
			p.comparison.right = &run{name: s.Name, note: "being read"}
		}
	case p.saved.base != "":
		p.comparison.right = p.current
	}
	if p.comparison.left == p.comparison.right {
		p.comparison.right = nil
	}
	p.Slots[paneComparison].Redraw()
	p.Slots[paneSaved].Redraw()
}

// Work implements room.Worker. It returns the most urgent read: the selected report if it is not stored or
// the file changed, the folder if it is due, or a visible report without a summary; nil if there is
// none or another read is in progress.
func (p *page) Work() (read func() (storeResult func())) {
	if p.reading || p.dir == "" {
		return nil
	}
	if s := p.saved.selected(); s != nil && p.stamps[s.Path] != *s {
		p.reading = true
		saved := *s
		return func() func() {
			d := openRun(saved)
			return func() { p.store(saved, d) }
		}
	}
	if s := p.saved.nextUnread(); s != nil && !p.listDue {
		p.reading = true
		saved := *s
		return func() func() {
			summary := newSummary(saved, openRun(saved))
			return func() {
				p.reading, p.saved.summaries[saved.Path] = false, summary
				p.Slots[paneSaved].Redraw()
			}
		}
	}
	if !p.listDue {
		return nil
	}
	p.reading, p.listDue = true, false
	dir := p.dir
	return func() func() {
		list, err := report.SavedReports(dir)
		return func() {
			p.reading = false
			if p.saved.setList(list, err) {
				p.updateComparison()
			}
		}
	}
}

// store stores report s, whose content is opened. If maxRuns reports are stored already, it first drops all
// but the base of comparisons.
func (p *page) store(s report.SavedReport, opened *run) {
	p.reading = false
	if len(p.runs) >= maxRuns {
		for path := range p.runs {
			if path != p.saved.base {
				delete(p.runs, path)
				delete(p.stamps, path)
			}
		}
	}
	p.runs[s.Path], p.stamps[s.Path], p.saved.summaries[s.Path] = opened, s, newSummary(s, opened)
	p.updateComparison()
}

// Lines implements room.Page. A large screen shows all panes, a small one a pane at a time.
func (p *page) Lines(th *look.Theme, w, h int) []string {
	const summaryRows = 1
	p.Resize(w, h)
	lines := p.summary.Render(th, w, summaryRows, look.Unfocused)[:1:1] // a capacity of 1 makes append copy: the slot reuses its lines
	if p.Wide() {
		if p.Focused == paneChanges {
			p.Focused = paneSaved // the list of changes has no keys on a large screen
		}
		left := min(max(w*36/100, 44), 62)
		upper := (h - summaryRows) * 55 / 100
		p.Places = []room.Place{
			p.Slots[paneSaved].Place(0, 0, left, upper),
			p.Slots[paneChanges].Place(0, upper, left, h-summaryRows-upper),
			p.Slots[paneComparison].Place(left, 0, w-left, h-summaryRows),
		}
		// nil: no pane is highlighted in addition to the focused one.
		return append(lines, room.RenderPlaces(th, p.Places, h-summaryRows, p.Slots[p.Focused].Pane, nil)...)
	}
	p.Places = []room.Place{p.Slots[p.Focused].Place(0, 1, w, h-summaryRows-1)}
	lines = append(lines, p.TabRow(th))
	return append(lines, p.Slots[p.Focused].Render(th, w, h-summaryRows-1, look.Focused)...)
}

// Move selects a report, or scrolls the comparison.
func (p *page) Move(dx, dy int) room.Request {
	switch p.Focused {
	case paneSaved:
		p.saved.moveCursor(dy + dx)
		p.updateComparison()
	case paneComparison:
		p.comparison.scroll(dy + dx)
		p.Slots[paneComparison].Redraw()
	}
	return room.Request{}
}

// Enter opens the charts of the selected report. On a small screen, where the list is shown alone, it
// shows the comparison first.
func (p *page) Enter() room.Request {
	if p.Focused == paneSaved && !p.Wide() {
		p.Focused = paneComparison
		return room.Request{}
	}
	return p.openCharts()
}

// toggleBase makes the selected report the base of comparisons, or the current run if the report is
// the base already.
func (p *page) toggleBase() room.Request {
	if p.saved.selected() == nil && p.saved.base == "" {
		return room.Refusal("this run is the base already; select a saved report")
	}
	path := ""
	if s := p.saved.selected(); s != nil && s.Path != p.saved.base {
		path = s.Path
	}
	p.saved.base = path
	p.updateComparison()
	return room.Request{}
}

// Release clears selection and base: only the current run is shown.
func (p *page) Release() room.Request {
	p.saved.cursor, p.saved.base, p.comparison.firstRow = -1, "", 0
	p.updateComparison()
	return room.Request{}
}

// Selection implements room.Copier: the path of the selected report.
func (p *page) Selection() string {
	if r := p.saved.selected(); r != nil {
		return r.Path
	}
	return ""
}

// Click focuses the pane at (x, y) and selects the report there.
func (p *page) Click(x, y int) room.Request {
	y--              // row 0 is the summary line
	const tabRow = 0 // below the summary line
	at := p.FocusAt(x, y, tabRow)
	if at.Slot == p.Slots[paneSaved] {
		p.saved.clickAt(y - at.Y)
		p.updateComparison()
	}
	return room.Request{}
}

// Wheel implements room.Wheeler: it selects a report, or scrolls the comparison.
func (p *page) Wheel(x, y, notches int) room.Request {
	const summaryRows = 1
	switch at := room.PlaceAt(p.Places, x, y-summaryRows); at.Slot {
	case p.Slots[paneSaved]:
		p.saved.moveCursor(-notches)
		p.updateComparison()
	case p.Slots[paneComparison]:
		p.comparison.scroll(-notches)
		p.Slots[paneComparison].Redraw()
	}
	return room.Request{}
}

func (p *page) Arrows() [][2]string {
	if p.Focused == paneComparison {
		return [][2]string{{"↑↓", "scroll"}}
	}
	return [][2]string{{"↑↓", "select"}}
}

func (p *page) KeyHelp(key string) string {
	return map[string]string{"up": "select a report, or scroll the comparison", "enter": "open the charts of the report; on a small screen its figures first",
		"tab": "next pane", "esc": "show this run only"}[key]
}

func (p *page) Bindings() []room.Binding {
	const group = "Report, page 6"
	toEnd := func(direction int) func() room.Request {
		return func() room.Request { return p.Move(0, direction*room.ListEnd) }
	}
	return []room.Binding{
		room.Bind(group, []string{"b"}, "b", "use this report as the base of comparisons, instead of this run",
			p.toggleBase).InFooter("base").Pin(),
		room.Bind(group, []string{"o"}, "o", "write the report as an HTML page, report.html",
			p.writeHTML).InFooter("HTML"),
		room.Bind(group, []string{"home"}, "home end", "first row (this run), last row (oldest report)", toEnd(-1)),
		room.Bind(group, []string{"end"}, "", "", toEnd(1)),
	}
}

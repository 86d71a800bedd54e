package report

import (
	"os"
	"path/filepath"
	"slices"

	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/report"
)

// reports is the list of the running session and of saved reports. Files are read in the background, because a large file
// takes a while and a network folder may not respond.
type reports struct {
	saved
	comparison *comparison
	page       *room.Page
	figures    *room.Slot // of comparison

	current *run                          // the running session
	runs    map[string]*run               // reports that were read, by path
	stamps  map[string]report.SavedReport // name, size and time of each report in runs when it was read, by path
	reading bool                          // a file or the folder is being read in the background; only one is at a time
	redraws int                           // redraws that were due (View.RedrawDue) since the folder was last listed
	notice  int                           // the newest notice of the lab; a new one may mean that a report was saved
	changed bool                          // the list must be drawn again
	listDue bool                          // the folder has to be listed
}

// maxRuns bounds the reports that are kept in memory.
const maxRuns = 16

// listEvery is the number of redraws between two listings of the folder, to find reports of other
// processes.
const listEvery = 6

// New returns the page: the saved reports, a comparison of two runs, and the changes of the running
// session. The current run is selected. dir is the folder of the reports, "" if none exists.
func New(dir string) *room.Page {
	p := &room.Page{Name: "Report", Top: room.NewSlot(&panes.SummaryLine{}), TopIfWide: true}
	comparison := &comparison{}
	reports := &reports{saved: saved{dir: dir, cursor: -1, summaries: map[string]summary{}}, comparison: comparison, page: p,
		listDue: true, runs: map[string]*run{}, stamps: map[string]report.SavedReport{}}
	s := p.Add(reports, comparison, &panes.Changes{})
	reports.figures = s[1]
	p.LayOut = func(w, h int) []room.Place {
		left := min(max(w*36/100, 44), 62)
		upper := h * 55 / 100
		return []room.Place{
			s[0].Place(0, 0, left, upper),
			s[2].Place(0, upper, left, h-upper),
			s[1].Place(left, 0, w-left, h),
		}
	}
	return p
}

// Observe implements room.Observer. It updates the current run when a redraw is due. A new notice of the
// lab, which may report a saved file, or listEvery redraws make the folder due for listing.
func (p *reports) Observe(v room.View) bool {
	changed := p.changed
	p.changed = false
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
func (p *reports) updateComparison() {
	p.comparison.left, p.comparison.right = p.current, nil
	if base := p.runs[p.base]; base != nil && p.base != "" {
		p.comparison.left = base
	}
	switch s := p.selected(); {
	case s != nil:
		p.comparison.right = p.runs[s.Path]
		if p.comparison.right == nil {
			p.comparison.right = &run{name: s.Name, note: "being read"}
		}
	case p.base != "":
		p.comparison.right = p.current
	}
	if p.comparison.left == p.comparison.right {
		p.comparison.right = nil
	}
	p.changed, p.comparison.changed = true, true
}

// Work implements room.Worker. It returns the most urgent read: the selected report if it is not stored or
// the file changed, the folder if it is due, or a visible report without a summary; nil if there is
// none or another read is in progress.
func (p *reports) Work() (read func() (storeResult func())) {
	if p.reading || p.dir == "" {
		return nil
	}
	if s := p.selected(); s != nil && p.stamps[s.Path] != *s {
		p.reading = true
		saved := *s
		return func() func() {
			d := openRun(saved)
			return func() { p.store(saved, d) }
		}
	}
	if s := p.nextUnread(); s != nil && !p.listDue {
		p.reading = true
		saved := *s
		return func() func() {
			summary := newSummary(saved, openRun(saved))
			return func() {
				p.reading, p.summaries[saved.Path] = false, summary
				p.changed = true
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
			if p.setList(list, err) {
				p.updateComparison()
			}
		}
	}
}

// store stores report s, whose content is opened. If maxRuns reports are stored already, it first drops all
// but the base of comparisons.
func (p *reports) store(s report.SavedReport, opened *run) {
	p.reading = false
	if len(p.runs) >= maxRuns {
		for path := range p.runs {
			if path != p.base {
				delete(p.runs, path)
				delete(p.stamps, path)
			}
		}
	}
	p.runs[s.Path], p.stamps[s.Path], p.summaries[s.Path] = opened, s, newSummary(s, opened)
	p.updateComparison()
}

// Move selects a report.
func (p *reports) Move(dx, dy int) room.Request {
	p.moveCursor(dy + dx)
	p.updateComparison()
	return room.Request{}
}

// Enter opens the charts of the selected report. On a small screen, where the list is shown alone, it
// shows the comparison first.
func (p *reports) Enter() room.Request {
	if !p.page.Wide() && p.page.Focused().Pane == room.Pane(p) {
		p.page.FocusOn(p.figures)
		return room.Request{}
	}
	return p.openCharts()
}

// ShowReport implements room.ReportLister.
func (p *reports) ShowReport(path string) room.Request {
	info, err := os.Stat(path)
	if err != nil {
		return room.Refusal(err.Error())
	}
	p.opened = append(p.opened, report.SavedReport{Name: filepath.Base(filepath.Dir(path)), Path: path, Saved: info.ModTime(), Bytes: info.Size()})
	p.setList(slices.Clone(p.list), p.err)
	p.cursor = slices.IndexFunc(p.list, func(s report.SavedReport) bool { return s.Path == path })
	p.updateComparison()
	return room.Request{}
}

// toggleBase makes the selected report the base of comparisons, or the current run if the report is
// the base already.
func (p *reports) toggleBase() room.Request {
	if p.selected() == nil && p.base == "" {
		return room.Refusal("this run is the base already; select a saved report")
	}
	path := ""
	if s := p.selected(); s != nil && s.Path != p.base {
		path = s.Path
	}
	p.base = path
	p.updateComparison()
	return room.Request{}
}

// Release clears selection and base: only the current run is shown.
func (p *reports) Release() room.Request {
	p.cursor, p.base, p.comparison.firstRow = -1, "", 0
	p.updateComparison()
	return room.Request{}
}

// Selection implements room.Copier: the path of the selected report.
func (p *reports) Selection() string {
	if r := p.selected(); r != nil {
		return r.Path
	}
	return ""
}

// Click selects the report on row y.
func (p *reports) Click(_, y int) room.Request {
	p.clickAt(y)
	p.updateComparison()
	return room.Request{}
}

func (p *reports) Arrows() [][2]string { return [][2]string{{"↑↓", "select"}} }

func (p *reports) KeyHelp(key string) string {
	return map[string]string{"up": "select a report, or scroll the comparison", "enter": "open the charts of the report; on a small screen its figures first",
		"tab": "next pane", "esc": "show this run only"}[key]
}

func (p *reports) Bindings() []room.Binding {
	toEnd := func(direction int) room.Request { return p.Move(0, direction*room.ListEnd) }
	return []room.Binding{
		room.Bind("b", "use this report as the base of comparisons, instead of this run",
			p.toggleBase).InFooter("base").Pin(),
		room.Bind("o", "write the report as an HTML page, report.html",
			p.writeHTML).InFooter("HTML"),
		room.Pair("home", "end", "first row (this run), last row (oldest report)", toEnd),
	}
}

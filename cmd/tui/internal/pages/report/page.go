package report

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/report"
)

// page is page 6: what was changed when, the saved reports, and any two runs
// side by side. Files are read in the background: a large one takes a while, and a
// folder on a network may not answer at all.
type page struct {
	room.Panes
	dir     string // where reports are
	log     *panes.Changes
	saved   *saved
	both    *comparison
	summary *room.Slot

	now    *run            // the present run
	read   map[string]*run // by path, as read
	stamps map[string]report.SavedReport
	busy   bool                 // something is being read
	looks  int                  // slow looks until the folder is listed again
	notice int                  // newest of the lab's that was seen: a save is one
	due    bool                 // list the folder
	gone   []report.SavedReport // deleted here, and still to be had back
}

const (
	atSaved = iota
	atBoth
	atChanges
)

// keptRuns is how many reports are kept in memory.
const keptRuns = 16

// listEvery is how many slow looks pass between two lookings into the folder.
const listEvery = 6

// New returns the page.
func New(dir string) *page {
	p := &page{dir: dir, log: &panes.Changes{}, saved: &saved{dir: dir, chosen: -1, heads: map[string]head{}}, both: &comparison{}, due: true}
	p.Slots = []*room.Slot{atSaved: room.NewSlot(p.saved), atBoth: room.NewSlot(p.both), atChanges: room.NewSlot(p.log)}
	p.Usable = []int{atSaved, atBoth}
	p.summary = room.NewSlot(&panes.SummaryLine{})
	p.read, p.stamps = map[string]*run{}, map[string]report.SavedReport{}
	return p
}

func (p *page) Name() string { return "Report" }

func (p *page) Observe(v room.View) bool {
	changed := p.summary.Observe(v)
	changed = p.Slots[atChanges].Observe(v) || changed
	if v.Snap.Notice.ID != p.notice {
		p.notice, p.due = v.Snap.Notice.ID, true
	}
	if v.Slow {
		p.looks++
		if p.looks >= listEvery {
			p.looks, p.due = 0, true
		}
	}
	if p.now == nil || v.Slow {
		p.now = presentRun(v.Present())
		p.both.item = v.Snap.Item
		p.arrange()
		changed = true
	}
	return changed
}

// arrange puts the two runs beside each other that are chosen.
func (p *page) arrange() {
	p.both.left, p.both.right = p.now, nil
	if d := p.read[p.saved.base]; d != nil && p.saved.base != "" {
		p.both.left = d
	}
	switch s := p.saved.picked(); {
	case s != nil:
		p.both.right = p.read[s.Path]
		if p.both.right == nil {
			p.both.right = &run{name: s.Name, note: "being read"}
		}
	case p.saved.base != "":
		p.both.right = p.now
	}
	if p.both.left == p.both.right {
		p.both.right = nil
	}
	p.Slots[atBoth].Redraw()
	p.Slots[atSaved].Redraw()
}

// Work is what has to be read now; nil if nothing has. Once it is read, take is
// called where pages live.
func (p *page) Work() (read func() (take func())) {
	if p.busy || p.dir == "" {
		return nil
	}
	if s := p.saved.picked(); s != nil && p.stamps[s.Path] != *s {
		p.busy = true
		saved := *s
		return func() func() {
			d := openRun(saved)
			return func() { p.keep(saved, d) }
		}
	}
	if s := p.saved.unread(); s != nil && !p.due {
		p.busy = true
		one := *s
		return func() func() {
			h := headOf(one, openRun(one))
			return func() {
				p.busy, p.saved.heads[one.Path] = false, h
				p.Slots[atSaved].Redraw()
			}
		}
	}
	if !p.due {
		return nil
	}
	p.busy, p.due = true, false
	dir := p.dir
	return func() func() {
		list, err := report.SavedReports(dir)
		return func() {
			p.busy = false
			if p.saved.put(list, err) {
				p.arrange()
			}
		}
	}
}

// keep takes a report that was read.
func (p *page) keep(s report.SavedReport, d *run) {
	p.busy = false
	if len(p.read) >= keptRuns {
		for path := range p.read {
			if path != p.saved.base {
				delete(p.read, path)
				delete(p.stamps, path)
			}
		}
	}
	p.read[s.Path], p.stamps[s.Path], p.saved.heads[s.Path] = d, s, headOf(s, d)
	p.arrange()
}

// Lines shows all on a large screen, and a pane at a time on a small one.
func (p *page) Lines(th *look.Theme, w, h int) []string {
	const above = 1
	p.Resize(w, h)
	lines := p.summary.Render(th, w, above, false)[:1:1]
	if p.Wide() {
		if p.At == atChanges {
			p.At = atSaved // it has no use for the keys here
		}
		left := min(max(w*36/100, 44), 62)
		upper := (h - above) * 55 / 100
		p.Places = []room.Place{
			p.Slots[atSaved].At(0, 0, left, upper),
			p.Slots[atChanges].At(0, upper, left, h-above-upper),
			p.Slots[atBoth].At(left, 0, w-left, h-above),
		}
		return append(lines, room.Join(th, p.Places, h-above, p.Slots[p.At].Pane, nil)...)
	}
	p.Places = []room.Place{p.Slots[p.At].At(0, 1, w, h-above-1)}
	lines = append(lines, p.Tabs(th))
	return append(lines, p.Slots[p.At].Render(th, w, h-above-1, true)...)
}

// Move chooses a report, or scrolls what stands beside.
func (p *page) Move(dx, dy int) room.Request {
	switch p.At {
	case atSaved:
		p.saved.choose(dy + dx)
		p.arrange()
	case atBoth:
		p.both.scroll(dy + dx)
		p.Slots[atBoth].Redraw()
	}
	return room.Request{}
}

// Enter shows what is chosen, where it is not in sight already.
func (p *page) Enter() room.Request {
	if p.At == atSaved && !p.Wide() {
		p.At = atBoth
		return room.Request{}
	}
	return p.openCharts()
}

// rebase holds the others against the report under the cursor, or again against the
// present run.
func (p *page) rebase() room.Request {
	path := ""
	if s := p.saved.picked(); s != nil && s.Path != p.saved.base {
		path = s.Path
	}
	p.saved.base = path
	p.arrange()
	return room.Request{}
}

// Release goes back to the present run alone.
func (p *page) Release() {
	p.saved.chosen, p.saved.base, p.both.top = -1, "", 0
	p.arrange()
}

// Click gives the keys to a pane, and chooses the report that is there.
func (p *page) Click(x, y int) room.Request {
	y--
	at := p.Hit(x, y, 0)
	if at.Slot == p.Slots[atSaved] {
		p.saved.point(y - at.Y)
		p.arrange()
	}
	return room.Request{}
}

func (p *page) Arrows() [][2]string {
	if p.At == atBoth {
		return [][2]string{{"↑↓", "scroll"}}
	}
	return [][2]string{{"↑↓", "choose"}}
}

func (p *page) Means(key string) string {
	return map[string]string{"up": "choose a report, or scroll what stands beside", "enter": "its charts; on a small screen first its figures",
		"tab": "the next pane", "esc": "this run alone again"}[key]
}

func (p *page) Bindings() []room.Binding {
	const group = "Report, page 6"
	end := func(way int) func() room.Request { return func() room.Request { return p.Move(0, way*room.Far) } }
	return []room.Binding{
		room.Bind(group, []string{"b"}, "b", "base: hold the others against this report instead of this run",
			p.rebase).InFooter("base").Pin(),
		room.Bind(group, []string{"r"}, "r", "rename the report", p.rename).InFooter("rename"),
		room.Bind(group, []string{"delete", "backspace"}, "del", "delete the report; u brings it back", p.remove).InFooter("delete"),
		room.Bind(group, []string{"o"}, "o", "write the report's page for a browser, report.html, and say where it is",
			p.html).InFooter("page"),
		room.Bind(group, []string{"u"}, "u", "bring back what was deleted here, else undo", p.restore),
		room.Bind(group, []string{"home"}, "home end", "this run, the oldest report", end(-1)),
		room.Bind(group, []string{"end"}, "", "", end(1)),
	}
}

package ui

import (
	"slices"

	"wirelab/experiment"
)

// reportPage is page 6: what was changed when, the saved reports, and any two runs
// side by side. Files are read in the background: a large one takes a while, and a
// folder on a network may not answer at all.
type reportPage struct {
	base
	dir    string // where reports are
	log    *logPane
	shelf  *shelfPane
	both   *dossierPane
	slots  []*slot // reports, beside, changes: in the order of the tab key
	vitals *slot
	at     int
	w, h   int
	places []place

	now    *dossier            // the present run
	read   map[string]*dossier // by path, as read
	stamps map[string]experiment.SavedReport
	busy   bool // something is being read
	looks  int  // slow looks until the folder is listed again
	notice int  // newest of the lab's that was seen: a save is one
	due    bool // list the folder
}

const (
	atShelf = iota
	atBoth
	atChanges
)

// keptDossiers is how many reports are kept in memory.
const keptDossiers = 16

// listEvery is how many slow looks pass between two lookings into the folder.
const listEvery = 6

func newReportPage(dir string) *reportPage {
	p := &reportPage{dir: dir, log: &logPane{}, shelf: &shelfPane{dir: dir, chosen: -1}, both: &dossierPane{}, due: true}
	p.slots = []*slot{newSlot(p.shelf), newSlot(p.both), newSlot(p.log)}
	p.vitals = newSlot(&vitalsPane{})
	p.read, p.stamps = map[string]*dossier{}, map[string]experiment.SavedReport{}
	return p
}

func (p *reportPage) name() string { return "Report" }

func (p *reportPage) observe(v sight) bool {
	changed := p.vitals.observe(v)
	changed = p.slots[atChanges].observe(v) || changed
	if v.snap.Notice.ID != p.notice {
		p.notice, p.due = v.snap.Notice.ID, true
	}
	if v.slow {
		if p.looks++; p.looks >= listEvery {
			p.looks, p.due = 0, true
		}
	}
	if p.now == nil || v.slow {
		p.now = presentDossier(v.present())
		p.both.item = v.snap.Item
		changed = p.arrange() || changed
	}
	return changed
}

// arrange puts the two runs beside each other that are chosen; it reports true.
func (p *reportPage) arrange() bool {
	p.both.left, p.both.right = p.now, nil
	if d := p.read[p.shelf.base]; d != nil && p.shelf.base != "" {
		p.both.left = d
	}
	switch s := p.shelf.picked(); {
	case s != nil:
		if p.both.right = p.read[s.Path]; p.both.right == nil {
			p.both.right = &dossier{name: s.Name, note: "being read"}
		}
	case p.shelf.base != "":
		p.both.right = p.now
	}
	if p.both.left == p.both.right {
		p.both.right = nil
	}
	p.slots[atBoth].redraw()
	p.slots[atShelf].redraw()
	return true
}

// work is what has to be read now; nil if nothing has. Once it is read, take is
// called where pages live.
func (p *reportPage) work() (read func() (take func())) {
	if p.busy || p.dir == "" {
		return nil
	}
	if s := p.shelf.picked(); s != nil && p.stamps[s.Path] != *s {
		p.busy = true
		saved := *s
		return func() func() {
			d := openDossier(saved)
			return func() { p.keep(saved, d) }
		}
	}
	if !p.due {
		return nil
	}
	p.busy, p.due = true, false
	dir := p.dir
	return func() func() {
		list, err := experiment.SavedReports(dir)
		return func() {
			p.busy = false
			if p.shelf.put(list, err) {
				p.arrange()
			}
		}
	}
}

// keep takes a report that was read.
func (p *reportPage) keep(s experiment.SavedReport, d *dossier) {
	p.busy = false
	if len(p.read) >= keptDossiers {
		for path := range p.read {
			if path != p.shelf.base {
				delete(p.read, path)
				delete(p.stamps, path)
			}
		}
	}
	p.read[s.Path], p.stamps[s.Path] = d, s
	p.arrange()
}

// view shows all on a large screen, and a pane at a time on a small one.
func (p *reportPage) view(th *theme, w, h int) []string {
	const above = 1
	p.w, p.h = w, h
	lines := p.vitals.render(th, w, above, false)[:1:1]
	if wide(w, h) {
		if p.at == atChanges {
			p.at = atShelf // it has no use for the keys here
		}
		left := min(max(w*36/100, 44), 62)
		shelf := (h - above) * 55 / 100
		p.places = []place{
			p.slots[atShelf].at(0, 0, left, shelf),
			p.slots[atChanges].at(0, shelf, left, h-above-shelf),
			p.slots[atBoth].at(left, 0, w-left, h-above),
		}
		return append(lines, join(th, p.places, h-above, p.slots[p.at].pane, nil)...)
	}
	p.places = []place{p.slots[p.at].at(0, 1, w, h-above-1)}
	lines = append(lines, tabsOf(th, p.slots, p.at, w))
	return append(lines, p.slots[p.at].render(th, w, h-above-1, true)...)
}

func (p *reportPage) focus(step int) {
	n := len(p.slots)
	if wide(p.w, p.h) {
		n = atChanges
	}
	p.at = (p.at + step + n) % n
}

// move chooses a report, or scrolls what stands beside.
func (p *reportPage) move(dx, dy int) request {
	switch p.at {
	case atShelf:
		p.shelf.choose(dy + dx)
		p.arrange()
	case atBoth:
		p.both.scroll(dy + dx)
		p.slots[atBoth].redraw()
	}
	return request{}
}

// enter shows what is chosen, where it is not in sight already.
func (p *reportPage) enter() request {
	if p.at == atShelf && !wide(p.w, p.h) {
		p.at = atBoth
	}
	return request{}
}

// rebase holds the others against the report under the cursor, or again against the
// present run.
func (p *reportPage) rebase() request {
	path := ""
	if s := p.shelf.picked(); s != nil && s.Path != p.shelf.base {
		path = s.Path
	}
	p.shelf.base = path
	p.arrange()
	return request{}
}

// release goes back to the present run alone.
func (p *reportPage) release() {
	p.shelf.chosen, p.shelf.base, p.both.top = -1, "", 0
	p.arrange()
}

// click gives the keys to a pane, and chooses the report that is there.
func (p *reportPage) click(x, y int) request {
	y--
	at := placeAt(p.places, x, y)
	if i := slices.Index(p.slots, at.slot); i >= 0 && (i != atChanges || !wide(p.w, p.h)) {
		p.at = i
	}
	if at.slot == p.slots[atShelf] {
		p.shelf.point(y - at.y)
		p.arrange()
	}
	return request{}
}

func (p *reportPage) arrows() [][2]string {
	if p.at == atBoth {
		return [][2]string{{"↑↓", "scroll"}}
	}
	return [][2]string{{"↑↓", "choose"}}
}

func (p *reportPage) bindings() []binding {
	const group = "Report, page 6"
	return []binding{
		bind(group, []string{"b"}, "b", "base: hold the others against this report instead of this run", p.rebase).inFooter("base").pin(),
	}
}

package ui

import (
	"fmt"

	"wirelab/experiment/engine"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/pages/bits"
	"wirelab/cmd/tui/internal/pages/compare"
	"wirelab/cmd/tui/internal/pages/file"
	"wirelab/cmd/tui/internal/pages/live"
	"wirelab/cmd/tui/internal/pages/packets"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/pages/report"
	"wirelab/cmd/tui/internal/pages/shown"
	"wirelab/cmd/tui/internal/pages/world"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/session"
	"wirelab/dataset/frame"
	"wirelab/encoders/table"
	"wirelab/lossmodel"

	tea "github.com/charmbracelet/bubbletea"
)

// slowTicks is how many ticks pass between two redraws of what moves all the time.
const slowTicks = 10

// dashboard is the dashboard of a lab: it passes the newest snapshot to its pages on every tick, and
// what they ask for to the lab.
type dashboard struct {
	*Shell
	lab     *session.Session
	cat     *controls.Catalog
	marks   int // made by the m key
	leaving leaving
}

// newDashboard returns the dashboard over a lab.
func newDashboard(lab room.Lab, opt Options) *dashboard {
	return newModel(lab, opt, controls.NewCatalog(table.All(), lossmodel.Profiles(), lossmodel.Keys()))
}

func newModel(lab room.Lab, opt Options, cat *controls.Catalog) *dashboard {
	cat.Picture = opt.Picture
	m := &dashboard{cat: cat}
	m.Shell = newShell(m, opt)
	m.lab = session.New(lab, m.theme, m.again)
	m.note = &m.lab.Notice
	m.pages = pages(opt, cat)
	const fourth = 3
	switch schema := m.lab.Snap.Schema; { // where there is no world, there is something else to see
	case room.OfFiles(schema):
		m.open = fourth
		m.pages[fourth] = file.New(cat)
	case schema != nil && !frame.IsCubes(schema):
		m.pages[fourth] = shown.New(schema)
	}
	m.Bind(m.bindings())
	m.Refresh(true)
	if opt.Tour {
		m.startTour()
	}
	return m
}

// pages are the pages of the dashboard, in the order of the keys that show them.
func pages(opt Options, cat *controls.Catalog) []room.Page {
	second := &panes.Second{}
	return []room.Page{
		live.New(cat),
		bits.New(second),
		packets.New(),
		world.New(),
		compare.New(second),
		report.New(opt.ReportsDir),
	}
}

func (m *dashboard) Refresh(all bool) { m.observe(m.pageView(all)) }

// observe passes a view to the open page.
func (m *dashboard) observe(v room.View) (changed bool) {
	p, ok := m.page().(room.Observer)
	return ok && p.Observe(v)
}

// pageView is what the panes may see now.
func (m *dashboard) pageView(slow bool) room.View {
	s := m.lab
	return room.View{Snap: s.Shown(), Now: s.Snap, Cfg: s.Config(), Speed: s.Speed(), Slow: slow, Back: s.Past.Away,
		Spare: m.output.spare()}
}

func (m *dashboard) Tick() (changed bool, cmd tea.Cmd) {
	before := m.lab.Poll()
	now := m.lab.Snap
	if now.State == engine.Broken {
		return false, m.Quit(fmt.Errorf("%w: %w", errBroken, now.Err))
	}
	if m.tour != nil {
		changed = m.tour.Tick()
	}
	m.lab.Settle()
	if m.leaving.done(now) {
		return false, m.Quit(nil)
	}
	// While time stands still every snapshot is a step that somebody asked for.
	stepped := now.State != engine.Running && now.Now != before.Now
	turned := now.State != before.State || len(now.Marks) != len(before.Marks)
	observed := m.observe(m.pageView(m.lab.Ticks%m.slowTicks() == 0 || stepped || turned || begins(before, now)))
	step := clockStep(now)
	return changed || observed || turned || now.Now/step != before.Now/step || now.Actual != before.Actual, nil
}

// begins reports whether one of the first samples came: whoever starts the program
// waits for a chart.
func begins(before, now *engine.Snapshot) bool {
	const first = 4
	return len(before.Lanes) > 0 && len(now.Lanes) > 0 && len(now.Lanes[0].Samples) <= first &&
		len(now.Lanes[0].Samples) != len(before.Lanes[0].Samples)
}

// slowTicks is how many ticks pass between two redraws of what moves all the
// time. A larger screen waits longer, so that the terminal gets no more to do.
func (m *dashboard) slowTicks() int {
	const usual = 160 * 48
	return slowTicks * max(m.w*m.h, usual) / usual
}

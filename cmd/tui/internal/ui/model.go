package ui

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/openfile"
	"wirelab/cmd/tui/internal/pages/bits"
	"wirelab/cmd/tui/internal/pages/compare"
	"wirelab/cmd/tui/internal/pages/crowd"
	"wirelab/cmd/tui/internal/pages/file"
	"wirelab/cmd/tui/internal/pages/live"
	"wirelab/cmd/tui/internal/pages/packets"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/pages/transport"
	"wirelab/cmd/tui/internal/pages/world"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/session"
	"wirelab/cmd/tui/internal/tour"
	"wirelab/encoders/table"
	"wirelab/lossmodel"

	tea "github.com/charmbracelet/bubbletea"
)

// baseTicksPerRedraw is the number of ticks, half a second, between two redraws of panes that change all
// the time, on a screen of normal size.
const baseTicksPerRedraw = 10

// dashboard is the screen of the lab, a session with its encoders and links. On every tick it
// passes the newest snapshot to the open page, and it passes the requests of pages to the lab.
type dashboard struct {
	*Shell
	lab         *session.Session
	cat         *controls.Catalog // the encoders, link profiles and keys of links that can be chosen
	repeating   int               // number of ticks since the lab repeats the run up to the time cursor; 0 if it does not
	marks       int               // number of marks made with the m key
	crosshair   time.Duration     // the instant under the crosshair of all charts; 0 means none
	pendingSave pendingSave
	paths       openfile.Completer
	estimated   []config.Encoder // the encoders that the lab was requested to estimate
	flow        *room.Page       // the page Flow; in pages only while it has something to show, see showPages
	ofClient    []*room.Page     // the pages that show the selected client of a crowd; see showClient
}

func newDashboard(lab room.Lab, opt Options) *dashboard {
	return newDashboardWith(lab, opt, controls.NewCatalog(table.All(), lossmodel.Profiles(), lossmodel.Keys()))
}

// newDashboardWith returns the dashboard of a lab with the given catalog; it sets the pictures of
// the catalog. If opt.Tour is set, the tour is open.
func newDashboardWith(lab room.Lab, opt Options, cat *controls.Catalog) *dashboard {
	cat.Picture = opt.Picture
	m := &dashboard{cat: cat}
	m.Shell = newShell(m, opt)
	m.lab = session.New(lab, m.theme, m.refreshAll)
	m.notice = &m.lab.Notice
	if m.showsCrowd() {
		m.pages = m.crowdPages(opt)
	} else {
		m.pages = pages(opt, cat, m.lab.Snap)
	}
	m.flow = transport.New()
	m.showPages()
	if room.SendsFiles(m.lab.Snap.Schema) {
		m.open = m.pageNamed("File")
	}
	release := func() {
		m.lab.ReturnToPresent()
		m.crosshair = 0
	}
	leaving := Leaving{Release: release, Esc: "clear the selection and the crosshair",
		Quit: "quit; asks if a changed run is unsaved", Stop: "save the run and quit"}
	if opt.Point != "" {
		leaving.Quit = "to the sweep; asks if changes are unsaved"
		leaving.Stop = "save the run, and end the sweep"
		leaving.Brief = "back to sweep"
	}
	m.Bind(m.bindings(), leaving)
	m.Refresh(allPanes)
	switch {
	case opt.Tour:
		m.startTour()
	case opt.OfferTour && tour.Suits(m.lab.Snap):
		m.notice.Show("/tour shows the ideas in eight steps; ? lists the keys", room.ToneDim)
	}
	if opt.Report != "" {
		m.showReport(opt.Report)
	}
	return m
}

// pages returns the pages of a session in the order of their keys, without the page Flow.
func pages(opt Options, cat *controls.Catalog, snap *engine.Snapshot) []*room.Page {
	comparison := &panes.SelectedShadow{} // the shadow that is compared with the active encoder, on two pages
	data := world.New(snap.Schema)
	if room.SendsFiles(snap.Schema) {
		data = file.New(cat)
	}
	return []*room.Page{live.New(cat), bits.New(comparison), packets.New(), data, compare.New(comparison, opt.ReportsDir)}
}

// crowdPages returns the pages of a crowd. It makes those of the selected client too, which showClient adds when its run
// is repeated; their keys [ and ] select a client.
func (m *dashboard) crowdPages(opt Options) []*room.Page {
	comparison := &panes.SelectedShadow{}
	page, selectClient := crowd.New()
	m.ofClient = []*room.Page{bits.New(comparison), packets.New(), world.New(m.lab.Snap.Schema)}
	for _, p := range m.ofClient {
		p.Keys = append(p.Keys, room.Pair("[", "]", "previous, next client, as on the page Crowd",
			selectClient).InFooter("client").Pin())
	}
	return []*room.Page{page, compare.New(comparison, opt.ReportsDir)}
}

// pageNamed returns the index of a page; that of the open one if it does not exist.
func (m *dashboard) pageNamed(name string) int {
	if i := slices.IndexFunc(m.pages, func(p *room.Page) bool { return p.Name == name }); i >= 0 {
		return i
	}
	return m.open
}

// showPages adds the pages that have something to show since the last call, and removes those that have nothing to
// show and are not open.
func (m *dashboard) showPages() {
	if m.showsCrowd() {
		m.showClient()
		return
	}
	has := slices.Contains(m.pages, m.flow)
	switch needed := transport.Needed(m.pageView(!allPanes)); {
	case needed && !has:
		m.pages, m.dirty = append(m.pages, m.flow), true
	case !needed && has && m.page() != m.flow && m.tour == nil: // the tour returns to the page before
		m.pages, m.dirty = m.pages[:len(m.pages)-1], true
	}
}

// showClient adds the pages of the selected client after the page Crowd if the lab repeats a client, and otherwise
// removes them.
func (m *dashboard) showClient() {
	has, needed := len(m.pages) > len(m.ofClient), m.lab.Snap.Crowd.Client != nil
	if has == needed || has && m.isOfClient() {
		return
	}
	open := m.page()
	if needed {
		m.pages = slices.Insert(m.pages, 1, m.ofClient...)
	} else {
		m.pages = slices.Delete(m.pages, 1, 1+len(m.ofClient))
	}
	m.open, m.dirty = slices.Index(m.pages, open), true
}

// isOfClient reports whether the open page shows the selected client of a crowd.
func (m *dashboard) isOfClient() bool { return slices.Contains(m.ofClient, m.page()) }

// clientSnapshot returns the snapshot of the client in that of a crowd, which has the same state; one without lanes if
// the lab repeats no client.
func clientSnapshot(snap *engine.Snapshot) *engine.Snapshot {
	if snap == nil {
		return nil
	}
	client := engine.Snapshot{Now: snap.Now, Config: snap.Config, Schema: snap.Schema, Item: snap.Item}
	if snap.Crowd.Client != nil {
		client = *snap.Crowd.Client
	}
	client.State = snap.State
	client.Pace = snap.Pace
	client.Past = cmp.Or(snap.Past, client.Past)
	return &client
}

// Refresh implements Screen: it passes the current state to the open page.
func (m *dashboard) Refresh(all bool) { m.page().Observe(m.pageView(all)) }

// pageView returns the view of the current state, or of the moment of the time cursor while that
// is in the past. redrawDue means that panes that change all the time are to be drawn again; others
// are drawn when they change.
func (m *dashboard) pageView(redrawDue bool) room.View {
	s := m.lab
	v := room.View{Snap: s.Shown(), Present: s.Snap, Cfg: s.Config(), Speed: s.Speed(), RedrawDue: redrawDue, Past: s.Past.Active, Crosshair: m.shownCrosshair(),
		CanRedrawAll: m.output.available()}
	if s.Repeated() == nil {
		v.Now = s.Snap
	}
	if m.isOfClient() {
		v.Snap, v.Now, v.Present = clientSnapshot(v.Snap), clientSnapshot(v.Now), clientSnapshot(v.Present)
		v.Cfg = v.Snap.Config
	}
	return v
}

// Tick implements Screen. It reports a change if any pane of the page, the tour, the state of the
// session or the header changed. It quits if the session failed, or if the report is written after
// which the user wants to quit. A session that lost its peer stays on the screen.
func (m *dashboard) Tick() (changed bool, cmd tea.Cmd) {
	before := m.lab.Poll()
	now := m.lab.Snap
	if err := failure(now); err != nil && !lostPeer(now) {
		return false, m.Quit(err)
	}
	if m.tour != nil {
		changed = m.tour.Tick()
	}
	m.lab.Sync()
	m.repeating++
	if p := now.Past; p == nil || p.Snap != nil || p.Reached == 0 {
		m.repeating = 0
	}
	m.showPages()
	if m.pendingSave.done(now) {
		return false, m.pendingSave.then()
	}
	// While time is paused every new snapshot is the result of a step that the user requested.
	stepped := now.State != engine.Running && now.Now != before.Now
	stateChanged := now.State != before.State || len(now.Marks) != len(before.Marks)
	redrawDue := m.lab.Ticks%m.ticksPerRedraw() == 0 || stepped || stateChanged || isFirstSample(before, now)
	if a, b := before.Crowd, now.Crowd; a != nil && b != nil && clientOf(a) != clientOf(b) {
		m.refreshAll()
	}
	pageChanged := m.page().Observe(m.pageView(redrawDue))
	boxChanged := m.updateEncoderList()
	step := clockStep(now)
	headerChanged := now.Now/step != before.Now/step || now.Actual != before.Actual // the clock or the speed in the header changed
	return changed || pageChanged || boxChanged || stateChanged || headerChanged, m.continueSearch()
}

// failure returns why the session stopped; nil if it can continue.
func failure(snap *engine.Snapshot) error {
	if snap.State != engine.Broken {
		return nil
	}
	return fmt.Errorf("%w: %w", errBroken, snap.Err)
}

// lostPeer reports whether the session stopped because of the network or the receiver there.
func lostPeer(snap *engine.Snapshot) bool {
	return snap.State == engine.Broken && errors.As(snap.Err, new(*engine.NetworkError))
}

// clientOf returns the number of the client whose run the lab repeats beside the crowd; 0 if none, or not yet.
func clientOf(x *engine.CrowdView) int {
	if x.Client == nil {
		return 0
	}
	return x.Client.Client
}

// isFirstSample reports whether one of the first samples, the points of the charts, of the active
// encoder has arrived between two snapshots. It is then shown without delay, so that the charts do not
// stay empty.
func isFirstSample(before, now *engine.Snapshot) bool {
	const numFirst = 4
	if before.Crowd != nil && now.Crowd != nil {
		return len(now.Crowd.Samples) <= numFirst && len(now.Crowd.Samples) != len(before.Crowd.Samples)
	}
	return len(before.Lanes) > 0 && len(now.Lanes) > 0 && len(now.Lanes[0].Samples) <= numFirst &&
		len(now.Lanes[0].Samples) != len(before.Lanes[0].Samples)
}

// ticksPerRedraw returns the number of ticks between two redraws of panes that change all the time. It
// grows with the size of the screen, so that the output rate stays the same.
func (m *dashboard) ticksPerRedraw() int {
	const baseCells = 160 * 48 // of a screen of normal size: columns times rows
	return baseTicksPerRedraw * max(m.w*m.h, baseCells) / baseCells
}

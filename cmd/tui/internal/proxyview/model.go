package proxyview

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/script"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/trust"
	"wirelab/internal/words"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// Proxy gives the screen access to a running proxy.
type Proxy struct {
	Snapshot       func(*relay.Snapshot) // polls the relay; see relay.Relay.Snapshot
	Recent         *relay.Recent         // the newest datagrams
	Live           *script.Live
	Notes          *Notes
	Listen, Server string // addresses, for the header
	Shared         bool   // all clients share one pair of links
	Open           bool   // other machines can reach the proxy
}

// Client returns the client with the given turn, its number in the order of joining. It fails if there is no such client,
// or if all clients share one pair of links.
func (p *Proxy) Client(turn int) (relay.Client, error) {
	if p.Shared {
		return relay.Client{}, errors.New("all clients share one pair of links; it cannot be set for one client")
	}
	var now relay.Snapshot
	p.Snapshot(&now)
	i := slices.IndexFunc(now.Clients, func(c relay.ClientState) bool { return c.Number == turn })
	if i < 0 {
		return relay.Client{}, fmt.Errorf("there is no client %d now; clients are numbered from 1 in the order of joining", turn)
	}
	return now.Clients[i].Client, nil
}

var _ ui.Screen = (*model)(nil)

// model is the screen of a proxy.
type model struct {
	*ui.Shell
	proxy  Proxy
	cat    *controls.Catalog
	target relay.Client // the client whose links the user changes; the zero Client means all
	page   *room.Page
	ticks  int // number of calls of Tick

	live      history
	frozen    *history               // displayed while the display is stopped; nil otherwise
	datagrams []relay.TracedDatagram // the newest, or those when the display was stopped, with their outcomes; oldest first
	verdict

	controls       controls.Pane
	selectedClient int // turn of the client under the cursor; 0: none
	clientTable    grid.Table
	datagramTable  grid.Table
	datagramOffset int            // distance of the datagram cursor from the newest datagram
	axis           panes.TimeAxis // of the charts

	changesShown int                    // number of changes of proxy.Live already shown
	notesShown   int                    // number of notes already shown
	marks        []config.StampedChange // marks in the charts: changes, and marks of the user
}

// verdict is the comparison of the links and the proxy with their settings.
type verdict struct {
	judge      Judge
	shown      Judge            // of checks
	checks     [2][]trust.Check // by relay.Way; of the links that the controls set
	linkFaults []string         // deviations of the links from their settings at the last comparison
	faults     []string         // linkFaults and the deviations of the proxy itself in the last recentSpan
	late       [2]bool          // directions that are late in the last recentSpan: see relay.Totals.Late
	faultyFor  time.Duration    // total time with faults
	lastFault  string           // the first fault when the last time with faults began, with the value above its limit
	judgedAt   time.Duration    // relay time at which the links were last compared with their settings
	polledAt   time.Duration    // relay time of the newest poll that the verdict includes
}

// newModel returns the screen of proxy p.
func newModel(p Proxy, opt ui.Options) *model {
	m := &model{proxy: p, cat: controls.NewCatalog(nil, lossmodel.Profiles(), lossmodel.Keys())}
	m.cat.Picture = opt.Picture
	m.controls.Cat = m.cat
	m.page = newPage(m)
	m.Shell = ui.NewShell(m, m.page, opt)
	m.Bind(m.bindings(), ui.Leaving{Esc: "continue the display, or else set all clients", Quit: "end the proxy; asks while clients are active",
		Stop: "end the proxy as interrupted"})
	m.poll()
	return m
}

// Tick implements ui.Screen. It polls on every second tick, which is once per period.
func (m *model) Tick() (changed bool, cmd tea.Cmd) {
	m.ticks++
	if m.ticks%2 != 0 {
		return false, nil
	}
	m.poll()
	m.page.Redraw()
	return true, nil
}

// Refresh implements ui.Screen: it redraws all panes.
func (m *model) Refresh(bool) { m.page.Redraw() }

// Small implements ui.Screen.
func (m *model) Small() (text string, alone bool) { return "Traffic continues.", false }

// elapsed returns the relay's time at the newest poll.
func (m *model) elapsed() time.Duration { return m.live.snap.Totals.At }

// displayed returns the history that the screen shows: frozen while the display is stopped.
func (m *model) displayed() *history {
	if m.frozen != nil {
		return m.frozen
	}
	return &m.live
}

// judgeEvery is the interval at which the links are compared with their settings.
const judgeEvery = time.Second

// poll reads the newest state of the relay.
func (m *model) poll() {
	h := &m.live
	m.proxy.Snapshot(&h.snap)
	h.observe()
	m.verdict.judgeNow(h, m.target.Number)
	m.update()
	if m.frozen == nil {
		const maxListed = 64 // datagrams of each direction; more than a screen shows
		m.datagrams = m.appendNewest(m.datagrams[:0], maxListed)
		if slices.ContainsFunc(m.datagrams, hasOutcome) { // otherwise a long delay would fill the list with datagrams in flight
			m.datagrams = slices.DeleteFunc(m.datagrams, func(x relay.TracedDatagram) bool { return !hasOutcome(x) })
		}
		return
	}
	for i := range m.datagrams { // those in flight when the display was stopped may have arrived since
		m.datagrams[i] = m.refreshOutcome(m.datagrams[i])
	}
}

// judgeNow updates the verdict from the newest poll, and adds the time since the last poll to faultyFor if
// there are faults. It compares the links with their settings at most once per judgeEvery. checks are those of the
// links of one client, the number of which is given, or of all if it is 0.
func (v *verdict) judgeNow(h *history, client int) {
	before, now := v.polledAt, h.snap.Totals.At
	v.polledAt = now
	if now-v.judgedAt >= judgeEvery || v.judgedAt == 0 {
		v.judgedAt = now
		links := h.snap.Links
		if client > 0 {
			links = slices.DeleteFunc(slices.Clone(links), func(l relay.LinkStatus) bool { return l.Client != client && l.Client != 0 })
		}
		for direction := range v.checks {
			v.checks[direction] = v.shown.Checks(links, relay.Direction(direction))
		}
		v.linkFaults = v.judge.Deviations(h.snap.Links)
	}
	v.late = h.recent.Late(v.late)
	wasFaulty := len(v.faults) > 0
	v.faults = append(slices.Clone(v.linkFaults), h.recent.Deviations(v.late)...)
	if len(v.faults) > 0 {
		if !wasFaulty {
			v.lastFault = v.faults[0]
		}
		if before > 0 {
			v.faultyFor += now - before
		}
	}
}

// hasOutcome reports whether a datagram was lost or has left the link.
func hasOutcome(x relay.TracedDatagram) bool { return x.Lost() || x.Outcomes[0].Kind != relay.Entered }

// refreshOutcome returns x with its newest outcome: x itself if it has one, or if the relay no longer stores the datagram.
func (m *model) refreshOutcome(x relay.TracedDatagram) relay.TracedDatagram {
	if hasOutcome(x) {
		return x
	}
	if now, ok := m.proxy.Recent.Find(x.Way, x.Seq); ok {
		return now
	}
	return x
}

// appendNewest appends the newest datagrams of both directions to list, at most n of each, and
// sorts list by time.
func (m *model) appendNewest(list []relay.TracedDatagram, n int) []relay.TracedDatagram {
	for _, direction := range []relay.Direction{relay.Up, relay.Down} {
		list = m.proxy.Recent.Newest(list, direction, n)
	}
	slices.SortStableFunc(list, func(a, b relay.TracedDatagram) int { return cmp.Compare(a.At, b.At) })
	return list
}

// update shows the changes and notes since the last call as notices, adds a mark for each change, and shows
// the current settings in the controls.
func (m *model) update() {
	const isError = true
	changes := m.proxy.Live.Changes(m.changesShown)
	for _, change := range changes {
		label := change.Label()
		change.Change = config.NewChange("mark", label) // of this copy, which becomes the mark in the charts
		m.marks = append(m.marks, change.StampedChange)
		m.ShowNotice(label, !isError)
	}
	m.changesShown += len(changes)
	const maxMarks = 200
	m.marks = m.marks[max(len(m.marks)-maxMarks, 0):]
	notes := m.proxy.Notes.All()
	for _, text := range notes[min(m.notesShown, len(notes)):] {
		m.ShowNotice(text, isError)
	}
	m.notesShown = len(notes)
	m.controls.Of = " of all clients"
	if m.target.Number > 0 {
		m.controls.Of = fmt.Sprintf(" of client %d", m.target.Number)
	}
	m.controls.Observe(room.View{Cfg: m.proxy.Live.Config(m.target), Snap: &engine.Snapshot{}, Speed: 1})
}

// Context implements ui.Screen.
func (m *model) Context() command.Context {
	return command.Context{Catalog: m.cat, Config: m.proxy.Live.Config(m.target), Screen: command.Proxy}
}

// Execute implements ui.Screen: it carries out a typed command.
func (m *model) Execute(o command.Order) (cmd tea.Cmd, err error) {
	live := m.proxy.Live
	switch {
	case o.Change != nil:
		_, err = live.Change(m.target, *o.Change)
	case o.Undo:
		err = stepHistory(live.Undo, "nothing to undo")
	case o.Redo:
		err = stepHistory(live.Redo, "nothing to redo")
	case o.Client != nil:
		err = m.setTarget(*o.Client)
	case o.Datagram != nil:
		err = m.openDatagram(*o.Datagram)
	case o.Quit == command.QuitAsking && m.activeClients() > 0:
		m.Open(ui.AskToQuit(fmt.Sprintf("%s will lose the connection to the server.", words.Count(m.activeClients(), "active client")),
			ui.Choice{Key: "y", Description: "end the proxy and print the totals", Request: room.Request{Line: "quit now"}}))
	case o.Quit != command.NoQuit:
		return m.Quit(nil), nil
	}
	m.update()
	return nil, err
}

// activeClients returns the number of clients that sent a datagram within idleAfter.
func (m *model) activeClients() (n int) {
	for _, c := range m.live.snap.Clients {
		if !c.Leaving && m.elapsed()-c.LastSeen < idleAfter {
			n++
		}
	}
	return n
}

// List implements ui.Screen: the command profile without a name opens the list of profiles.
func (m *model) List(word string) (room.Overlay, error) {
	if word != "profile" {
		return nil, nil
	}
	return m.cat.ProfileList(m.proxy.Live.Config(m.target)), nil
}

// stepHistory calls move, which undoes or redoes a change. If there is no change, stepHistory
// returns emptyText as the error.
func stepHistory(move func() (*script.AppliedChange, error), emptyText string) error {
	made, err := move()
	if err == nil && made == nil {
		err = errors.New(emptyText)
	}
	return err
}

// setTarget makes later orders change the links of the client with the given turn, its number in the order of joining, or
// of all clients if turn is 0.
func (m *model) setTarget(turn int) (err error) {
	var target relay.Client
	if turn > 0 {
		target, err = m.proxy.Client(turn)
	}
	if err == nil {
		m.target = target
		m.judgedAt, m.shown = 0, Judge{} // the next poll compares the links of this client
		m.update()
	}
	return err
}

// toggleFrozen stops or continues the display. The traffic continues in both cases.
func (m *model) toggleFrozen() {
	const isError = true
	if m.frozen != nil {
		m.frozen = nil
		m.ShowNotice("display continues", !isError)
		return
	}
	m.frozen = m.live.clone()
	const maxFrozen = 512 // datagrams of each direction, to scroll through
	m.datagrams = m.appendNewest(nil, maxFrozen)
	m.datagramOffset = 0
	m.ShowNotice("display stopped; the traffic continues", !isError)
}

// explainDatagram opens the box about the selected datagram. While the display runs, none is selected, and it opens the
// box about the newest lost datagram, or about the newest if none was lost. If there are no datagrams, it returns an
// error notice.
func (m *model) explainDatagram() room.Request {
	list := m.datagrams
	if len(list) == 0 {
		return room.Request{Notice: "no datagrams yet", IsError: true}
	}
	selected := max(len(list)-1-m.datagramOffset, 0)
	if m.frozen == nil {
		for i, x := range slices.Backward(list) {
			if x.Lost() && (m.target.Number == 0 || x.Client.Number == m.target.Number) {
				selected = i
				break
			}
		}
	}
	return room.Request{Overlay: m.newDatagramBox(list[selected])}
}

// openDatagram opens the box about datagram d.N of a direction, counted from 0. It fails if the datagram is
// not stored.
func (m *model) openDatagram(d command.Datagram) error {
	direction := relay.Down
	if d.Up {
		direction = relay.Up
	}
	for _, x := range m.datagrams {
		if x.Way == direction && x.Seq == d.N {
			m.Open(m.newDatagramBox(x))
			return nil
		}
	}
	if x, ok := m.proxy.Recent.Find(direction, d.N); ok {
		m.Open(m.newDatagramBox(x))
		return nil
	}
	newest := "no datagrams yet"
	if n := m.live.snap.Totals.Flows[direction].In; n > 0 {
		newest = fmt.Sprintf("the newest is %d, and only some thousands before it are stored; --record stores all", n-1)
	}
	return fmt.Errorf("datagram %s %d is not stored: %s", direction, d.N, newest)
}

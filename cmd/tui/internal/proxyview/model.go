package proxyview

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/script"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/config"
	"wirelab/experiment/trust"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// Proxy is what the screen shows and changes.
type Proxy struct {
	Snapshot       func(*relay.Snapshot) // of the relay
	Recent         *relay.Recent
	Live           *script.Live
	Notes          *Notes
	Listen, Server string
	Shared         bool
	Open           bool // it listens beyond this machine
}

var _ ui.Screen = (*model)(nil)

// model is the screen of a proxy.
type model struct {
	*ui.Shell
	page  *page
	proxy Proxy
	cat   *controls.Catalog
	ticks int

	live   history
	frozen *history // what is shown while the display is stopped; nil: live
	fates  []relay.Fated
	stop   []relay.Fated // the newest datagrams when the display was stopped, from the oldest on
	verdict

	controls     controls.Pane
	client       relay.Client // whom the controls set; the zero one: all
	changesShown int
	notesShown   int
	marks        []config.StampedChange
}

// verdict is whether the links and the proxy do what was set.
type verdict struct {
	judge     Judge
	checks    [2][]trust.Check
	broken    []string      // what the links do otherwise than set, as last judged
	faults    []string      // that, and what the proxy does otherwise, now
	faultyFor time.Duration // how long there was any, in all
	lastFault string        // the newest of faults
	judgedAt  time.Duration // when the links were judged last
	polledAt  time.Duration
}

// newModel makes the screen of a proxy.
func newModel(p Proxy, opt ui.Options) *model {
	m := &model{proxy: p}
	m.cat = controls.NewCatalog(nil, lossmodel.Profiles(), lossmodel.Keys())
	m.cat.Picture = opt.Picture
	m.controls.Cat = m.cat
	m.page = newPage(m)
	m.Shell = ui.NewShell(m, m.page, opt)
	m.Bind(m.bindings())
	m.poll()
	return m
}

// Tick implements ui.Screen. Every second tick is a period.
func (m *model) Tick() (changed bool, cmd tea.Cmd) {
	m.ticks++
	if m.ticks%2 != 0 {
		return false, nil
	}
	m.poll()
	m.Refresh(true)
	return true, nil
}

func (m *model) Refresh(bool) {
	for _, s := range m.page.Slots {
		s.Redraw()
	}
}

func (m *model) Context() command.Context {
	return command.Context{Catalog: m.cat, Config: m.proxy.Live.Config(m.client), Screen: command.Proxy}
}

// MinHeight is how many rows the screen needs.
func (m *model) MinHeight() int { return 15 }

// Small returns what matters most where there is no room for panes.
func (m *model) Small() (text string, alone bool) {
	text, _ = m.summary()
	return "The traffic goes on. " + text, false
}

// at is the time of what was seen last.
func (m *model) at() time.Duration { return m.live.snap.Totals.At }

// shown is what the screen shows.
func (m *model) shown() *history {
	if m.frozen != nil {
		return m.frozen
	}
	return &m.live
}

// judgeEvery is how often the links are judged.
const judgeEvery = time.Second

// poll takes what there is now.
func (m *model) poll() {
	h := &m.live
	m.proxy.Snapshot(&h.snap)
	h.take()
	m.verdict.take(h)
	m.update()
	if m.frozen == nil {
		m.fates = m.newest(m.fates[:0], 64)
		return
	}
	for i := range m.stop { // what was under way when the display was stopped has ended since
		m.stop[i] = m.latest(m.stop[i])
	}
}

// take judges what there is now.
func (v *verdict) take(h *history) {
	before, now := v.polledAt, h.snap.Totals.At
	v.polledAt = now
	if now-v.judgedAt >= judgeEvery || v.judgedAt == 0 {
		v.judgedAt = now
		for w := range v.checks {
			v.checks[w] = v.judge.Checks(h.snap.Links, relay.Way(w))
		}
		v.broken = v.judge.Deviations(h.snap.Links)
	}
	v.faults = append(slices.Clone(v.broken), h.now.Deviations()...)
	if len(v.faults) > 0 {
		v.lastFault = v.faults[0]
		if before > 0 {
			v.faultyFor += now - before
		}
	}
}

// latest is the outcome of a datagram by now.
func (m *model) latest(x relay.Fated) relay.Fated {
	if x.Lost() || x.Ends[0].Kind != relay.Entered || m.proxy.Recent == nil {
		return x
	}
	if now, ok := m.proxy.Recent.Find(x.Way, x.Seq); ok {
		return now
	}
	return x
}

// newest appends the newest datagrams of both directions, from the oldest on.
func (m *model) newest(list []relay.Fated, n int) []relay.Fated {
	if m.proxy.Recent == nil {
		return list
	}
	for _, way := range []relay.Way{relay.Up, relay.Down} {
		list = m.proxy.Recent.Newest(list, way, n)
	}
	slices.SortStableFunc(list, func(a, b relay.Fated) int { return cmp.Compare(a.At, b.At) })
	return list
}

// update shows what was changed and remarked since the last poll.
func (m *model) update() {
	made := m.proxy.Live.Changes(m.changesShown)
	for _, x := range made {
		label := x.Change.Label()
		if x.Undo {
			label = "back: " + label
		}
		if x.Client > 0 {
			label = fmt.Sprintf("client %d: %s", x.Client, label)
		}
		x.Change = config.NewChange("mark", label)
		m.marks = append(m.marks, x.StampedChange)
		m.Say(label, false)
	}
	m.changesShown += len(made)
	m.marks = m.marks[max(len(m.marks)-200, 0):]
	notes := m.proxy.Notes.All()
	for _, text := range notes[min(m.notesShown, len(notes)):] {
		m.Say(text, true)
	}
	m.notesShown = len(notes)
	m.controls.Show(controls.Input{Config: m.proxy.Live.Config(m.client), Speed: 1})
}

func (m *model) Obey(o command.Order) (cmd tea.Cmd, err error) {
	switch {
	case o.Change != nil:
		_, err = m.proxy.Live.Change(m.client, *o.Change)
	case o.Undo:
		err = back(m.proxy.Live.Undo, "there is nothing to take back")
	case o.Redo:
		err = back(m.proxy.Live.Redo, "nothing was taken back")
	case o.Client != nil:
		err = m.aim(*o.Client)
	case o.Datagram != nil:
		err = m.find(*o.Datagram)
	case o.Leave != command.Stay:
		return m.Quit(nil), nil
	}
	m.update()
	return nil, err
}

// List returns the list that opens instead of the command profile without a name.
func (m *model) List(word string) (room.Overlay, bool) {
	if word != "profile" {
		return nil, false
	}
	return m.cat.ProfileList(m.proxy.Live.Config(m.client)), true
}

// back moves in the history of changes; none is the error at its end.
func back(move func() (*script.Made, error), none string) error {
	made, err := move()
	if err == nil && made == nil {
		return fmt.Errorf("%s", none)
	}
	return err
}

// aim has the controls set the links of a client, by its turn; 0: of all.
func (m *model) aim(turn int) error {
	switch {
	case turn == 0:
		m.client = relay.Client{}
	case m.proxy.Shared:
		return fmt.Errorf("all clients share one pair of links: what is set is for all")
	default:
		i := slices.IndexFunc(m.live.snap.Clients, func(c relay.ClientState) bool { return c.Turn == turn })
		if i < 0 {
			return fmt.Errorf("there is no client %d", turn)
		}
		m.client = m.live.snap.Clients[i].Client
	}
	m.update()
	return nil
}

// toggle stops the display, or lets it go on. The traffic takes no notice.
func (m *model) toggle() {
	if m.frozen != nil {
		m.frozen, m.stop = nil, nil
		m.Say("the display goes on", false)
		return
	}
	m.frozen = m.live.clone()
	m.stop = m.newest(nil, 512)
	m.page.datagram = 0
	m.Say("the display stands still; the traffic does not", false)
}

// list is what the cursor on datagrams goes over, from the oldest on.
func (m *model) list() []relay.Fated {
	if m.frozen != nil {
		return m.stop
	}
	return m.fates
}

// explain opens the fate of the datagram under the cursor.
func (m *model) explain() room.Request {
	list := m.list()
	if len(list) == 0 {
		return room.Request{Say: "no datagram came yet", Bad: true}
	}
	at := max(len(list)-1-m.page.datagram, 0)
	if m.frozen == nil && m.page.At != paneDatagrams { // the last that was lost, if any was
		for i, x := range slices.Backward(list) {
			if x.Lost() {
				at = i
				break
			}
		}
	}
	return room.Request{Over: &fateBox{m.latest(list[at]), m.proxy.Shared}}
}

// find opens the fate of the n-th datagram of a direction.
func (m *model) find(d command.Datagram) error {
	way := relay.Down
	if d.Up {
		way = relay.Up
	}
	for _, x := range m.stop {
		if x.Way == way && x.Seq == d.N {
			m.Open(&fateBox{x, m.proxy.Shared})
			return nil
		}
	}
	if m.proxy.Recent != nil {
		if x, ok := m.proxy.Recent.Find(way, d.N); ok {
			m.Open(&fateBox{x, m.proxy.Shared})
			return nil
		}
	}
	newest := "none came yet"
	if n := m.live.snap.Totals.Flows[way].In; n > 0 {
		newest = fmt.Sprintf("the newest is %d, and some thousands before it are remembered; --record keeps all", n-1)
	}
	return fmt.Errorf("%s %d is not remembered: %s", way, d.N, newest)
}

package proxyview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/script"
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

// Options are how the screen looks.
type Options struct {
	ASCII    bool
	Theme    string
	Charts   string
	Dark     bool // the ground of the terminal, as far as is known
	Renderer *lipgloss.Renderer
	Picture  func(spec lossmodel.Spec, w int, ascii bool) string // of a link
}

// Model is the program of the screen.
type Model struct {
	proxy       Proxy
	opt         Options
	theme       *look.Theme
	cat         *controls.Catalog
	keys        []room.Binding
	w, h        int
	interrupted bool

	live   history
	frozen *history // what is shown while the display is stopped; nil: live
	fates  []relay.Fated
	stop   []relay.Fated // the newest datagrams when the display was stopped, from the oldest on
	judge  Judge
	checks [2][]trust.Check
	broken []string      // of the links, in what they did not do what was asked, as last judged
	lies   []string      // that, and in what the proxy did not, now
	lied   time.Duration // for how long, in all
	lie    string        // the last one
	looked time.Duration // when the links were judged last
	polled time.Duration // when things were looked at last

	controls controls.Pane
	client   relay.Client // whom the controls set; the zero one: all
	focus    pane
	chosen   int    // the client under the cursor, by turn; 0: none
	datagram uint64 // under the cursor, with its way: by place in the list from the newest
	span     int    // of the charts
	fit      bool

	line  command.Line
	over  room.Overlay
	note  string
	bad   bool // the note is a complaint
	noted time.Duration
	told  int // changes that have been told of
	heard int // notes that have been shown
	marks []config.StampedChange
	ticks int
}

// New makes the screen of a proxy.
func New(p Proxy, opt Options) *Model {
	m := &Model{proxy: p, opt: opt, focus: paneControls}
	m.wear(opt.Theme, opt.Charts)
	m.cat = controls.NewCatalog(nil, lossmodel.Profiles(), lossmodel.Keys())
	m.cat.Picture = opt.Picture
	m.controls.Cat = m.cat
	m.keys = m.bindings()
	m.poll()
	return m
}

func (m *Model) wear(theme, charts string) {
	scheme, _ := look.SchemeNamed(theme)
	m.theme = look.NewTheme(m.opt.Renderer, scheme, m.opt.ASCII).WithCharts(look.ChartStyleNamed(charts))
}

type tick struct{}

func next() tea.Cmd { return tea.Tick(period, func(time.Time) tea.Msg { return tick{} }) }

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd { return next() }

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tick:
		m.poll()
		return m, next()
	case tea.KeyMsg:
		return m, m.typedKeys(msg)
	}
	return m, nil
}

// at is the time of what was seen last.
func (m *Model) at() time.Duration { return m.live.snap.Totals.At }

// shown is what the screen shows.
func (m *Model) shown() *history {
	if m.frozen != nil {
		return m.frozen
	}
	return &m.live
}

// lookEvery is how often the links are judged, and how long figures of clients are over.
const lookEvery = time.Second

// poll takes what there is now.
func (m *Model) poll() {
	h := &m.live
	m.proxy.Snapshot(&h.snap)
	before := m.polled
	m.polled = m.at()
	h.take()
	m.ticks++
	if now := m.at(); now-m.looked >= lookEvery || m.looked == 0 {
		m.looked = now
		for w := range m.checks {
			m.checks[w] = m.judge.Checks(h.snap.Asked, relay.Way(w))
		}
		m.broken = m.judge.Lies(h.snap.Asked)
	}
	if m.lies = append(slices.Clone(m.broken), h.now.Lies()...); len(m.lies) > 0 {
		m.lie = m.lies[0]
		if before > 0 {
			m.lied += m.polled - before
		}
	}
	m.hear()
	if m.frozen == nil {
		m.fates = m.newest(m.fates[:0], 64)
		return
	}
	for i := range m.stop { // what was under way when the display was stopped has ended since
		m.stop[i] = m.latest(m.stop[i])
	}
}

// latest is what became of a datagram by now.
func (m *Model) latest(x relay.Fated) relay.Fated {
	if x.Lost() || x.Ends[0].Kind != relay.Entered || m.proxy.Recent == nil {
		return x
	}
	if now, ok := m.proxy.Recent.Find(x.Way, x.Seq); ok {
		return now
	}
	return x
}

// newest appends the newest datagrams of both directions, from the oldest on.
func (m *Model) newest(list []relay.Fated, n int) []relay.Fated {
	if m.proxy.Recent == nil {
		return list
	}
	for _, way := range []relay.Way{relay.Up, relay.Down} {
		list = m.proxy.Recent.Newest(list, way, n)
	}
	slices.SortStableFunc(list, func(a, b relay.Fated) int { return cmp.Compare(a.At, b.At) })
	return list
}

// hear tells of what was changed and remarked since the last look.
func (m *Model) hear() {
	made := m.proxy.Live.Changes(m.told)
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
		m.say(label, false)
	}
	m.told += len(made)
	m.marks = m.marks[max(len(m.marks)-200, 0):]
	notes := m.proxy.Notes.All()
	for _, text := range notes[min(m.heard, len(notes)):] {
		m.say(text, true)
	}
	m.heard = len(notes)
	m.controls.Show(controls.Input{Config: m.proxy.Live.Config(m.client), Speed: 1})
}

// say shows a notice.
func (m *Model) say(text string, bad bool) { m.note, m.bad, m.noted = text, bad, m.at() }

// noteStays is how long a notice is shown.
const noteStays = 5 * time.Second

// context is what typed commands are read against.
func (m *Model) context() command.Context {
	return command.Context{Catalog: m.cat, Config: m.proxy.Live.Config(m.client), Proxy: true}
}

// change alters the links of whom the controls set.
func (m *Model) change(ch config.Change) error {
	_, err := m.proxy.Live.Change(m.client, ch)
	m.hear()
	return err
}

// back takes the last change back, or makes it again.
func (m *Model) back(move func() (*script.Made, error), none string) {
	made, err := move()
	switch {
	case err != nil:
		m.say(err.Error(), true)
	case made == nil:
		m.say(none, true)
	}
	m.hear()
}

// aim has the controls set the links of a client, by its turn; 0: of all.
func (m *Model) aim(turn int) error {
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
	m.hear()
	return nil
}

// toggle stops the display, or lets it go on. The traffic takes no notice.
func (m *Model) toggle() {
	if m.frozen != nil {
		m.frozen, m.stop = nil, nil
		m.say("the display goes on", false)
		return
	}
	m.frozen = m.live.clone()
	m.stop = m.newest(nil, 512)
	m.datagram = 0
	m.say("the display stands still; the traffic does not", false)
}

// list is what the cursor on datagrams goes over, from the oldest on.
func (m *Model) list() []relay.Fated {
	if m.frozen != nil {
		return m.stop
	}
	return m.fates
}

// explain opens the fate of the datagram under the cursor.
func (m *Model) explain() room.Request {
	list := m.list()
	if len(list) == 0 {
		return room.Request{Say: "no datagram came yet", Bad: true}
	}
	at := max(len(list)-1-int(m.datagram), 0)
	if m.frozen == nil && m.focus != paneDatagrams { // the last that was lost, if any was: what one asks about
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
func (m *Model) find(d command.Datagram) error {
	way := relay.Down
	if d.Up {
		way = relay.Up
	}
	for _, x := range m.stop {
		if x.Way == way && x.Seq == d.N {
			m.over = &fateBox{x, m.proxy.Shared}
			return nil
		}
	}
	if m.proxy.Recent != nil {
		if x, ok := m.proxy.Recent.Find(way, d.N); ok {
			m.over = &fateBox{x, m.proxy.Shared}
			return nil
		}
	}
	newest := "none came yet"
	if n := m.live.snap.Totals.Flows[way].In; n > 0 {
		newest = fmt.Sprintf("the newest is %d, and some thousands before it are remembered; --record keeps all", n-1)
	}
	return fmt.Errorf("%s %d is not remembered: %s", way, d.N, newest)
}

// run carries out the typed line; on an error it stays open to be mended.
func (m *Model) run() tea.Cmd {
	text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(m.line.Text()), "/"))
	if text == "profile" {
		m.line.Remember()
		m.over = m.cat.ProfileList(m.proxy.Live.Config(m.client))
		return nil
	}
	cmd, err := m.execute(text)
	if err != nil {
		m.line.Err = err.Error()
		return nil
	}
	m.line.Remember()
	return cmd
}

// execute does what a typed line says.
func (m *Model) execute(text string) (tea.Cmd, error) {
	o, err := command.Parse(m.context(), text)
	switch {
	case err != nil:
		return nil, err
	case o.Change != nil:
		return nil, m.change(*o.Change)
	case o.Undo:
		m.back(m.proxy.Live.Undo, "there is nothing to take back")
	case o.Redo:
		m.back(m.proxy.Live.Redo, "nothing was taken back")
	case o.Client != nil:
		return nil, m.aim(*o.Client)
	case o.Datagram != nil:
		return nil, m.find(*o.Datagram)
	case o.Themes:
		m.over = controls.NewPicker("Theme", "theme", controls.ThemeChoices(), m.opt.Theme)
	case o.Theme != "":
		m.opt.Theme = o.Theme
		m.wear(o.Theme, m.theme.Charts().String())
	case o.Help:
		m.over = m.help()
	case o.Leave != command.Stay:
		return tea.Quit, nil
	}
	return nil, nil
}

// perform does what a key, the controls or a box ask for.
func (m *Model) perform(r room.Request) tea.Cmd {
	if r.Closes {
		m.over = nil
	}
	cmd := r.Program
	switch {
	case r.Command != nil && r.Command.Change != nil:
		if err := m.change(*r.Command.Change); err != nil {
			m.say(err.Error(), true)
		}
	case r.Line != "":
		more, err := m.execute(r.Line)
		if err != nil {
			m.say(err.Error(), true)
		}
		cmd = tea.Batch(cmd, more)
	case r.Over != nil:
		m.over = r.Over
	case r.Edit != "":
		m.line.Show(r.Edit)
	case r.Say != "":
		m.say(r.Say, r.Bad)
	}
	return cmd
}

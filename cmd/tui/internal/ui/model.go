package ui

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"wirelab/experiment/engine"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
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
	"wirelab/cmd/tui/internal/tour"
	"wirelab/dataset/frame"
	"wirelab/encoders/table"
	"wirelab/lossmodel"

	tea "github.com/charmbracelet/bubbletea"
)

// The dashboard's own beat. It polls; nobody sends it anything.
const (
	tickEvery = 50 * time.Millisecond // redraws at most 20 times a second
	slowTicks = 10                    // what moves all the time is redrawn twice a second
)

// tickMsg is one beat.
type tickMsg struct{}

// interruptMsg asks to leave at once: a signal came, or the context ended.
type interruptMsg struct{}

// workDone brings the result of a page's work.
type workDone struct{ take func() }

// Model is the root of the dashboard and its only tea.Model: it routes keys, asks
// the lab for its newest snapshot on every tick, lets the panes observe it, and
// puts their lines together.
type Model struct {
	lab   *session.Session
	opt   Options
	theme *look.Theme
	cat   *controls.Catalog
	keys  []room.Binding
	pages []room.Page
	open  int // index of the page shown
	w, h  int

	line  command.Line
	over  room.Overlay // nil: none
	tour  *tour.Tour   // nil: none under way
	marks int          // made by the m key

	leaving  leaving
	left     bool     // the program was told to end
	patience patience // with the terminal's answer

	output   outputBudget
	scheme   look.Scheme
	screen   string // what View returns
	answered bool   // a key was, since the last tick
	stale    bool   // something besides the panes changed
	err      error  // why the program ends, nil if it was asked to
}

// New returns the dashboard over a lab.
func New(lab room.Lab, opt Options) *Model {
	return newModel(lab, opt, controls.NewCatalog(table.All(), lossmodel.Profiles(), lossmodel.Keys()))
}

func newModel(lab room.Lab, opt Options, cat *controls.Catalog) *Model {
	if opt.Renderer == nil {
		opt.Renderer = rendererOf(os.Stdout)
	}
	cat.Picture = opt.Picture
	m := &Model{opt: opt, cat: cat}
	m.scheme, _ = look.SchemeNamed(opt.Theme)
	m.theme = look.NewTheme(opt.Renderer, m.scheme, opt.ASCII).WithCharts(look.ChartStyleNamed(opt.Charts))
	m.lab = session.New(lab, m.theme, m.again)
	m.pages = pages(opt, cat)
	const fourth = 3
	switch schema := m.lab.Snap.Schema; { // where there is no world, there is something else to see
	case room.OfFiles(schema):
		m.open = fourth
		m.pages[fourth] = file.New(cat)
	case schema != nil && !frame.IsCubes(schema):
		m.pages[fourth] = shown.New(schema)
	}
	m.keys = m.bindings()
	m.page().Observe(m.pageView(true))
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

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd { return nextTick() }

func nextTick() tea.Cmd { return tea.Tick(tickEvery, func(time.Time) tea.Msg { return tickMsg{} }) }

// Update implements tea.Model. It only routes, and never waits.
func (m *Model) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = m // also what a panic leaves behind: without a model the library would crash in turn
	defer m.guard(&cmd)
	switch msg := msg.(type) {
	case tickMsg:
		return m, m.tick()
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		m.compose()
	case tea.KeyMsg:
		m.stale = true
		m.lab.DismissOld()
		cmd = m.typedKeys(msg)
		m.answer()
	case tea.MouseMsg:
		cmd = m.mouse(msg)
	case groundMsg:
		m.patience = patience{}
		if msg.dark != m.opt.Renderer.HasDarkBackground() {
			m.opt.Renderer.SetHasDarkBackground(msg.dark)
			m.dress()
		}
		m.compose()
	case workDone:
		msg.take()
		m.compose()
	case room.Said:
		m.lab.Say(msg.Text, msg.Bad)
		m.compose()
	case interruptMsg:
		cmd = m.interrupt()
	}
	return m, cmd
}

// answer shows what a key did without waiting for the tick; once between two of
// them, so that a key that is held costs no more than that.
func (m *Model) answer() {
	if m.answered {
		return
	}
	m.answered = true
	m.page().Observe(m.pageView(false))
	m.compose()
}

// View implements tea.Model.
func (m *Model) View() string { return m.screen }

// Err returns why the program ended; nil if it was asked to.
func (m *Model) Err() error { return m.err }

// guard turns a panic into an orderly end: the terminal must be restored before
// anybody can read what happened.
func (m *Model) guard(cmd *tea.Cmd) {
	if r := recover(); r != nil {
		m.err = crashed(m.opt.CrashDir, r, debug.Stack())
		m.screen = ""
		*cmd = tea.Quit
	}
}

// crashed writes the account of a panic to a file and returns the error that
// names it.
func crashed(dir string, cause any, stack []byte) error {
	f, err := os.CreateTemp(dir, "wirelab-crash-*.log")
	if err != nil {
		return fmt.Errorf("%w: %v\n%s", ErrPanic, cause, stack)
	}
	_, err = fmt.Fprintf(f, "%v\n\n%s", cause, stack)
	if closeErr := f.Close(); err != nil || closeErr != nil {
		return fmt.Errorf("%w: %v\n%s", ErrPanic, cause, stack)
	}
	return fmt.Errorf("%w: %v; details are in %s", ErrPanic, cause, f.Name())
}

// page is the one shown.
func (m *Model) page() room.Page { return m.pages[m.open] }

// turn shows another page.
func (m *Model) turn(i int) {
	m.open = i
	m.page().Observe(m.pageView(true))
}

// again shows everything anew.
func (m *Model) again() {
	m.page().Observe(m.pageView(true))
	m.stale = true
}

// pageView is what the panes may see now.
func (m *Model) pageView(slow bool) room.View {
	s := m.lab
	return room.View{Snap: s.Shown(), Now: s.Snap, Cfg: s.Config(), Speed: s.Speed(), Slow: slow, Back: s.Past.Away,
		Spare: m.output.spare()}
}

// tick takes the newest snapshot and redraws what it changes.
func (m *Model) tick() tea.Cmd {
	m.answered = false
	m.output.tick()
	m.stale = m.patience.tick() || m.stale
	before := m.lab.Poll()
	now := m.lab.Snap
	if now.State == engine.Broken {
		m.err = fmt.Errorf("%w: %w", ErrBroken, now.Err)
		return tea.Quit
	}
	if m.tour != nil && m.tour.Tick() {
		m.stale = true
	}
	m.lab.Settle()
	if m.leaving.done(now) {
		return tea.Quit
	}
	// While time stands still every snapshot is a step that somebody asked for.
	stepped := now.State != engine.Running && now.Now != before.Now
	turned := now.State != before.State || len(now.Marks) != len(before.Marks)
	changed := m.page().Observe(m.pageView(m.lab.Ticks%m.slowTicks() == 0 || stepped || turned || begins(before, now)))
	step := clockStep(now)
	if changed || m.stale || m.lab.Note.Stale || now.Now/step != before.Now/step || turned || now.Actual != before.Actual {
		m.compose()
	}
	return tea.Batch(nextTick(), work(m.page()))
}

// work starts what a page has to do in the background.
func work(p room.Page) tea.Cmd {
	w, ok := p.(room.Worker)
	if !ok {
		return nil
	}
	read := w.Work()
	if read == nil {
		return nil
	}
	return func() tea.Msg { return workDone{read()} }
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
func (m *Model) slowTicks() int {
	const usual = 160 * 48
	return slowTicks * max(m.w*m.h, usual) / usual
}

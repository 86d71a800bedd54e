package ui

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/encoders/table"
	"wirelab/experiment"
	"wirelab/lossmodel"
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
	lab   *session
	opt   Options
	theme *theme
	cat   *catalog
	keys  []binding
	pages []page
	open  int // index of the page shown
	w, h  int

	line  commandLine
	over  overlay // nil: none
	tour  *tour   // nil: none under way
	marks int     // made by the m key

	output   outputBudget
	scheme   scheme
	screen   string // what View returns
	answered bool   // a key was, since the last tick
	stale    bool   // something besides the panes changed
	err      error  // why the program ends, nil if it was asked to
}

// New returns the dashboard over a lab.
func New(lab Lab, opt Options) *Model {
	return newModel(lab, opt, newCatalog(table.All(), lossmodel.Profiles(), lossmodel.Keys()))
}

func newModel(lab Lab, opt Options, cat *catalog) *Model {
	if opt.Renderer == nil {
		opt.Renderer = rendererOf(os.Stdout)
	}
	if opt.BudgetKbps == 0 {
		opt.BudgetKbps = 256
	}
	cat.picture = opt.Picture
	m := &Model{opt: opt, cat: cat}
	m.scheme, _ = schemeNamed(opt.Theme)
	m.theme = newTheme(opt.Renderer, m.scheme, opt.ASCII)
	m.lab = newSession(lab, m.theme, m.again)
	m.pages = pages(opt, cat)
	if ofFiles(m.lab.snap.Schema) { // there is no world, and something else to see
		m.open = 3
		m.pages[m.open] = newFilePage(cat)
	}
	m.keys = m.bindings()
	m.page().observe(m.sight(true))
	if opt.Tour {
		m.startTour()
	}
	return m
}

// pages are the pages of the dashboard, in the order of the keys that show them.
func pages(opt Options, cat *catalog) []page {
	return []page{
		newLivePage(cat, opt.BudgetKbps),
		newBitsPage(),
		newPacketsPage(),
		newWorldPage(),
		newComparePage(opt.BudgetKbps),
		newReportPage(opt.ReportsDir),
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
		m.lab.outgrow()
		cmd = m.typedKeys(msg)
		m.answer()
	case tea.MouseMsg:
		m.mouse(msg)
	case workDone:
		msg.take()
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
	m.page().observe(m.sight(false))
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
func (m *Model) page() page { return m.pages[m.open] }

// turn shows another page.
func (m *Model) turn(i int) {
	m.open = i
	m.page().observe(m.sight(true))
}

// again shows everything anew.
func (m *Model) again() {
	m.page().observe(m.sight(true))
	m.stale = true
}

// sight is what the panes may see now.
func (m *Model) sight(slow bool) sight {
	s := m.lab
	return sight{snap: s.shown(), now: s.snap, cfg: s.config(), speed: s.speed(), slow: slow, back: s.past.away, spare: m.output.spare()}
}

// tick takes the newest snapshot and redraws what it changes.
func (m *Model) tick() tea.Cmd {
	m.answered = false
	m.output.tick()
	before := m.lab.poll()
	now := m.lab.snap
	if now.State == experiment.Broken {
		m.err = fmt.Errorf("%w: %w", ErrBroken, now.Err)
		return tea.Quit
	}
	if m.tour != nil && m.tour.tick() {
		m.stale = true
	}
	m.lab.settle()
	// While time stands still every snapshot is a step that somebody asked for.
	stepped := now.State != experiment.Running && now.Now != before.Now
	turned := now.State != before.State || len(now.Marks) != len(before.Marks)
	changed := m.page().observe(m.sight(m.lab.ticks%m.slowTicks() == 0 || stepped || turned || begins(before, now)))
	step := clockStep(now)
	if changed || m.stale || m.lab.note.stale || now.Now/step != before.Now/step || turned || now.Actual != before.Actual {
		m.compose()
	}
	return tea.Batch(nextTick(), work(m.page()))
}

// work starts what a page has to do in the background.
func work(p page) tea.Cmd {
	w, ok := p.(worker)
	if !ok {
		return nil
	}
	read := w.work()
	if read == nil {
		return nil
	}
	return func() tea.Msg { return workDone{read()} }
}

// begins reports whether one of the first samples came: whoever starts the program
// waits for a chart.
func begins(before, now *experiment.Snapshot) bool {
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

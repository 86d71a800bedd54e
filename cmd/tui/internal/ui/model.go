package ui

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"wirelab/experiment/engine"

	"github.com/charmbracelet/bubbles/key"

	tea "github.com/charmbracelet/bubbletea"
)

// The dashboard's own beat. It polls; nobody sends it anything.
const (
	tickEvery = 50 * time.Millisecond // redraws at most 20 times a second
	slowTicks = 10                    // what moves all the time is redrawn twice a second
	noteTicks = 120                   // how long a notice stays
)

// tickMsg is one beat.
type tickMsg struct{}

// interruptMsg asks to leave at once: a signal came, or the context ended.
type interruptMsg struct{}

// Model is the root of the dashboard and its only tea.Model: it routes keys, asks
// the lab for its newest snapshot on every tick, lets the panes observe it, and
// puts their lines together.
type Model struct {
	lab   Lab
	opt   Options
	theme *theme
	cat   *catalog
	keys  []binding
	pages []page
	open  int // index of the page shown
	w, h  int

	snap  *engine.Snapshot
	ticks int
	want  desired
	line  commandLine
	over  overlay // nil: none
	note  notice
	marks int // made by the m key

	thrift thrift
	tour   *tour // nil: none under way
	past   past
	scheme scheme

	screen   string // what View returns
	answered bool   // a key was, since the last tick
	sent     int    // commands so far
	stale    bool   // something besides the panes changed
	err      error  // why the program ends, nil if it was asked to
}

// New returns the dashboard over a lab.
func New(lab Lab, opt Options) *Model { return newModel(lab, opt, newCatalog()) }

func newModel(lab Lab, opt Options, cat *catalog) *Model {
	if opt.Renderer == nil {
		opt.Renderer = rendererOf(os.Stdout)
	}
	if opt.BudgetKbps == 0 {
		opt.BudgetKbps = 256
	}
	cat.picture = opt.Picture
	m := &Model{lab: lab, opt: opt, cat: cat, snap: lab.Snapshot()}
	m.scheme, _ = schemeNamed(opt.Theme)
	m.theme = newThemeOf(opt.Renderer, m.scheme, opt.ASCII)
	m.pages = []page{newLivePage(opt, cat), newBitsPage(), newPacketsPage(), newWorldPage(), newComparePage(opt), newReportPage(opt)}
	if ofFiles(m.snap.Schema) { // there is no world, and something else to see
		m.open = 3
		m.pages[m.open] = newFilePage(cat)
	}
	m.keys = bindings(m.pages)
	m.note.seen = m.snap.Notice.ID
	m.warn()
	m.page().observe(m.sight(true))
	if opt.Tour {
		m.startTour()
	}
	return m
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
		m.outgrow()
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

func (m *Model) page() page { return m.pages[m.open] }

// turn shows another page.
func (m *Model) turn(i int) {
	m.open = i
	m.page().observe(m.sight(true))
}

// sight is what the panes may see now.
func (m *Model) sight(slow bool) sight {
	return sight{snap: m.shown(), now: m.snap, cfg: m.want.config(m.snap), speed: m.want.pace(m.snap), slow: slow, back: m.past.away, spare: m.thrift.affords()}
}

// tick takes the newest snapshot and redraws what it changes.
func (m *Model) tick() tea.Cmd {
	m.ticks++
	m.answered = false
	m.thrift.tick()
	before := m.snap
	m.snap = m.lab.Snapshot()
	if m.snap.State == engine.Broken {
		m.err = fmt.Errorf("%w: %w", ErrBroken, m.snap.Err)
		return tea.Quit
	}
	m.tourTick()
	m.flush()
	m.want.settle(m.snap, m.ticks)
	m.hear()
	// While time stands still every snapshot is a step that somebody asked for.
	stepped := m.snap.State != engine.Running && m.snap.Now != before.Now
	turned := m.snap.State != before.State || len(m.snap.Marks) != len(before.Marks)
	changed := m.page().observe(m.sight(m.ticks%m.slowTicks() == 0 || stepped || turned || begins(before, m.snap)))
	if changed || m.stale || m.snap.Now/m.clockStep() != before.Now/m.clockStep() || turned || m.snap.Actual != before.Actual {
		m.compose()
	}
	return tea.Batch(nextTick(), m.work())
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

// typedKeys handles a key message, in which a fast hand or a slow line may have
// put several runes: each is a key of its own, and may open what takes the next.
// Pasted text is no keys.
func (m *Model) typedKeys(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 {
		return m.typedKey(msg)
	}
	if msg.Paste {
		if m.line.open {
			m.line.edit(msg)
		}
		return nil
	}
	for _, r := range msg.Runes {
		one := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}
		if r == ' ' {
			one.Type = tea.KeySpace
		}
		if cmd := m.typedKey(one); cmd != nil {
			return cmd // it leaves: what follows was not meant for us
		}
	}
	return nil
}

// typedKey gives one key to whoever has the keys.
func (m *Model) typedKey(msg tea.KeyMsg) tea.Cmd {
	switch {
	case m.line.open:
		return m.keyInLine(msg)
	case m.over != nil:
		return m.keyInOverlay(msg)
	case m.tour != nil && m.keyInTour(msg):
		return nil
	}
	return m.key(msg)
}

// key runs what a key is bound to.
func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	var everywhere *binding
	for i := range m.keys {
		b := &m.keys[i]
		switch {
		case !key.Matches(msg, b.Binding):
		case b.page == m.page():
			return m.press(b, msg)
		case b.page == nil && everywhere == nil:
			everywhere = b
		}
	}
	if everywhere != nil {
		return m.press(everywhere, msg)
	}
	m.stray()
	return nil
}

package ui

import (
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/packetlog"
)

// tickEvery is the time between two ticks: the screen is drawn at most 20 times per second.
const tickEvery = 50 * time.Millisecond

// Screen is the content of a Shell: the lab, a proxy or a sweep. It may also implement lister,
// small and short.
type Screen interface {
	// Tick is called every tickEvery. It updates the screen, reports whether it must be drawn
	// again, and may return a command, such as tea.Quit.
	Tick() (changed bool, cmd tea.Cmd)
	// Refresh passes the current state to the open page; all includes panes that change all the
	// time.
	Refresh(all bool)
	Header(w int) Header // for a screen of w columns
	// Context returns the state that typed commands depend on.
	Context() command.Context
	// Obey executes the order of a key or a typed line.
	Obey(command.Order) (tea.Cmd, error)
	// HelpParts returns further sections of the help, after keys and commands.
	HelpParts() []HelpPart
}

// lister is a screen on which some commands without arguments open a list of values.
type lister interface {
	List(word string) (room.Overlay, bool)
}

// guide is a guided tour. It handles keys before all other handlers, and has a panel above the
// footer.
type guide interface {
	Tick() bool
	Key(tea.KeyMsg) bool
	Keys() []room.Binding
	Panel(th *look.Theme, w int) []string
}

// Shell is the frame of all screens of the program and its only tea.Model. It routes keys and
// mouse events, draws header, footer, command line, overlays and notices around the open page,
// and polls the screen at every tick. No goroutine sends it messages, except for terminal replies
// and signals.
type Shell struct {
	screen Screen
	opt    Options
	theme  *look.Theme
	scheme look.Scheme
	keys   []room.Binding
	pages  []room.Page
	open   int // index of the open page
	w, h   int

	line    command.Line
	overlay room.Overlay // nil for none
	tour    guide        // nil for none
	notice  *room.Notice

	quitting   bool       // whether tea.Quit was returned
	startDelay startDelay // until the terminal has replied
	output     outputBudget
	view       string // the result of View
	refreshed  bool   // whether a key has caused a refresh since the last tick
	dirty      bool   // whether anything outside of the page changed
	err        error  // why the program ends; nil for a normal quit
}

// newShell returns a shell without pages.
func newShell(screen Screen, opt Options) *Shell {
	if opt.Renderer == nil {
		opt.Renderer = newRenderer(os.Stdout)
	}
	s := &Shell{screen: screen, opt: opt, notice: &room.Notice{}}
	s.scheme, _ = look.SchemeNamed(opt.Theme)
	s.theme = look.NewTheme(opt.Renderer, s.scheme, opt.ASCII).WithCharts(look.ParseChartStyle(opt.Charts))
	return s
}

// NewShell returns a shell for a screen with a single page.
func NewShell(screen Screen, page room.Page, opt Options) *Shell {
	s := newShell(screen, opt)
	s.pages = []room.Page{page}
	return s
}

// Bind sets the keys of the screen, and adds those of its pages.
func (s *Shell) Bind(keys []room.Binding) { s.keys = append(keys, s.pageKeys()...) }

// Theme returns the current theme.
func (s *Shell) Theme() *look.Theme { return s.theme }

// Say shows a notice; bad marks it as an error.
func (s *Shell) Say(text string, bad bool) { s.notice.Say(text, bad) }

// Open shows an overlay.
func (s *Shell) Open(box room.Overlay) { s.overlay = box }

// Init implements tea.Model.
func (s *Shell) Init() tea.Cmd { return nextTick() }

// nextTick returns the command that sends the next tick.
func nextTick() tea.Cmd { return tea.Tick(tickEvery, func(time.Time) tea.Msg { return room.Tick{} }) }

// Update implements tea.Model. It never blocks.
func (s *Shell) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = s // also after a panic, because Bubble Tea does not accept a nil model
	defer s.recoverPanic(&cmd)
	switch msg := msg.(type) {
	case room.Tick:
		return s, s.tick()
	case tea.WindowSizeMsg:
		s.w, s.h = msg.Width, msg.Height
		s.render()
	case tea.KeyMsg:
		s.dirty = true
		s.notice.DismissOld()
		cmd = s.handleKeys(msg)
		s.refreshAfterKey()
	case tea.MouseMsg:
		cmd = s.mouse(msg)
	case backgroundMsg:
		s.startDelay = startDelay{}
		if msg.dark != s.opt.Renderer.HasDarkBackground() {
			s.opt.Renderer.SetHasDarkBackground(msg.dark)
			s.applyTheme()
		}
		s.render()
	case workDone:
		msg.apply()
		s.render()
	case room.NoticeMsg:
		s.notice.Say(msg.Text, msg.Bad)
		s.render()
	case interruptMsg:
		cmd = s.interrupt()
	}
	return s, cmd
}

// interruptMsg requests to quit immediately, after a signal or the end of the context.
type interruptMsg struct{}

// workDone carries the result of background work of a page; apply must be called in Update.
type workDone struct{ apply func() }

// refreshAfterKey shows the effect of a key without waiting for the next tick, at most once per
// tick, so that a key that repeats costs no more.
func (s *Shell) refreshAfterKey() {
	if s.refreshed {
		return
	}
	s.refreshed = true
	s.screen.Refresh(false)
	s.render()
}

// View implements tea.Model.
func (s *Shell) View() string { return s.view }

// Err returns why the program ended, or nil after a normal quit.
func (s *Shell) Err() error { return s.err }

// recoverPanic recovers a panic in Update, writes a crash log, and makes cmd end the program, so
// that the terminal is restored.
func (s *Shell) recoverPanic(cmd *tea.Cmd) {
	if r := recover(); r != nil {
		s.err = writeCrashLog(s.opt.CrashDir, r, debug.Stack())
		s.view = ""
		*cmd = tea.Quit
	}
}

// writeCrashLog writes a panic to a file in dir, and returns an error that names the file. If
// writing fails, the error contains the stack itself.
func writeCrashLog(dir string, cause any, stack []byte) error {
	f, err := os.CreateTemp(dir, "wirelab-crash-*.log")
	if err != nil {
		return fmt.Errorf("%w: %v\n%s", errPanic, cause, stack)
	}
	_, err = fmt.Fprintf(f, "%v\n\n%s", cause, stack)
	if closeErr := f.Close(); err != nil || closeErr != nil {
		return fmt.Errorf("%w: %v\n%s", errPanic, cause, stack)
	}
	return fmt.Errorf("%w: %v; details are in %s", errPanic, cause, f.Name())
}

// page returns the open page.
func (s *Shell) page() room.Page { return s.pages[s.open] }

// openPage opens page i.
func (s *Shell) openPage(i int) {
	s.open = i
	s.screen.Refresh(true)
}

// refreshAll updates all panes of the page and draws the screen at the next tick.
func (s *Shell) refreshAll() {
	s.screen.Refresh(true)
	s.dirty = true
}

// tick updates the screen and draws it again if anything changed.
func (s *Shell) tick() tea.Cmd {
	s.refreshed = false
	s.output.tick()
	s.notice.Tick()
	s.dirty = s.startDelay.tick() || s.dirty
	changed, cmd := s.screen.Tick()
	if s.quitting || s.err != nil {
		return cmd
	}
	if changed || s.dirty || s.notice.Stale {
		s.render()
	}
	return tea.Batch(nextTick(), cmd, startWork(s.page()))
}

// startWork returns a command that runs the background work of a page; nil if the page has none.
func startWork(p room.Page) tea.Cmd {
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

// Quit ends the program; err is the reason, or nil for a normal quit.
func (s *Shell) Quit(err error) tea.Cmd {
	s.quitting = true
	if err != nil {
		s.err = err
	}
	return tea.Quit
}

// interrupt quits immediately, with ErrInterrupted.
func (s *Shell) interrupt() tea.Cmd {
	if _, err := s.screen.Obey(command.Order{Leave: command.QuitNow}); err != nil {
		return s.Quit(err)
	}
	return s.Quit(ErrInterrupted)
}

// perform executes the request of a page or an overlay.
func (s *Shell) perform(r room.Request) tea.Cmd {
	if r.Closes {
		s.overlay = nil
	}
	cmd := r.Program
	switch {
	case r.Command != nil:
		more, err := s.screen.Obey(command.Order{Command: *r.Command})
		cmd = tea.Batch(cmd, more)
		switch {
		case err == nil && r.Accepted != nil:
			r.Accepted(s.screen.Context().Config)
		case err != nil && r.Refused != nil:
			r.Refused(err)
		case err != nil:
			s.notice.Say(err.Error(), true)
		}
		s.screen.Refresh(false)
	case r.Line != "":
		cmd = tea.Batch(cmd, s.executeLine(r.Line))
		if r.Accepted != nil {
			r.Accepted(s.screen.Context().Config)
		}
	case r.Packet != nil:
		cmd = tea.Batch(cmd, s.openPacket(*r.Packet))
	case r.Over != nil:
		s.overlay = r.Over
	case r.Edit != "":
		s.line.Show(r.Edit)
	case r.Say != "":
		s.notice.Say(r.Say, r.Bad)
	}
	if r.Renew {
		s.screen.Refresh(true)
	}
	return cmd
}

// openPacket opens the page of packets at a packet.
func (s *Shell) openPacket(id packetlog.ID) (cmd tea.Cmd) {
	for i, p := range s.pages {
		if q, ok := p.(room.PacketPage); ok {
			r := q.ShowPacket(id)
			s.openPage(i)
			cmd = s.perform(r)
		}
	}
	return cmd
}

// executeTyped executes the typed line. After an error the line stays open.
func (s *Shell) executeTyped() tea.Cmd {
	if over, ok := s.listFor(s.line.Text()); ok {
		s.line.Remember()
		s.overlay = over
		return nil
	}
	cmd, err := s.execute(s.line.Text())
	if err != nil {
		s.line.Err = err.Error()
		return cmd
	}
	s.line.Remember()
	return cmd
}

// executeLine executes a command line that a page or a list requests. Errors are shown as a
// notice.
func (s *Shell) executeLine(line string) tea.Cmd {
	if over, ok := s.listFor(line); ok {
		s.overlay = over
		return nil
	}
	cmd, err := s.execute(line)
	if err != nil {
		s.notice.Say(err.Error(), true)
	}
	return cmd
}

// execute parses a command line and executes it.
func (s *Shell) execute(line string) (cmd tea.Cmd, err error) {
	o, err := command.Parse(s.screen.Context(), line)
	if err != nil {
		return nil, err
	}
	if cmd, err = s.screen.Obey(o); err != nil {
		return cmd, err
	}
	s.screen.Refresh(false)
	switch {
	case o.Help:
		s.overlay = s.help()
	case o.Themes:
		s.overlay = controls.NewPicker("Theme", "theme", controls.ThemeChoices(), s.scheme.String())
	case o.Theme != "":
		s.scheme, _ = look.SchemeNamed(o.Theme)
		s.applyTheme()
		s.notice.Say("theme "+s.scheme.String(), false)
	}
	return cmd, nil
}

// applyTheme makes the theme again, after a change of the scheme or the background.
func (s *Shell) applyTheme() {
	s.theme = look.NewTheme(s.opt.Renderer, s.scheme, s.opt.ASCII).WithCharts(s.theme.Charts())
}

// mouse handles mouse events: a click selects, the wheel changes the value or scrolls. There are
// keys for the same actions.
func (s *Shell) mouse(msg tea.MouseMsg) tea.Cmd {
	if s.line.Open || msg.Action != tea.MouseActionPress {
		return nil
	}
	s.dirty = true
	if s.overlay != nil {
		if key, ok := map[tea.MouseButton]tea.KeyType{tea.MouseButtonWheelUp: tea.KeyUp,
			tea.MouseButtonWheelDown: tea.KeyDown}[msg.Button]; ok {
			return s.handleOverlayKey(tea.KeyMsg{Type: key})
		}
		return nil
	}
	wheel := func(up int) tea.Cmd {
		if p, ok := s.page().(room.Wheeler); ok {
			return s.perform(p.Wheel(up))
		}
		return s.perform(s.move(0, -up)())
	}
	switch msg.Button {
	case tea.MouseButtonLeft:
		if msg.Y == 0 {
			if i := s.tabAt(msg.X); i >= 0 {
				s.openPage(i)
			}
			return nil
		}
		above := 1 + len(s.screen.Header(s.w).Below)
		return s.perform(room.Ask(s.page(), func(p room.Clicker) room.Request { return p.Click(msg.X, msg.Y-above) }))
	case tea.MouseButtonWheelUp:
		return wheel(1)
	case tea.MouseButtonWheelDown:
		return wheel(-1)
	}
	return nil
}

// listFor returns the list that a command without arguments opens; false if it opens none.
func (s *Shell) listFor(line string) (room.Overlay, bool) {
	if x, ok := s.screen.(lister); ok {
		return x.List(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "/")))
	}
	return nil, false
}

// help returns the help for the open page.
func (s *Shell) help() room.Overlay {
	keys := s.activeKeys()
	if s.tour != nil {
		keys = append(s.tour.Keys(), keys...)
	}
	here := s.page().Name()
	if len(s.pages) > 1 {
		here = strconv.Itoa(s.open+1) + " " + here
	}
	return newHelp(here, helpKeys(keys, s.page()), append(s.screen.HelpParts(), commandHelp(s.screen.Context())), s.w)
}

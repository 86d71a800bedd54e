package ui

import (
	"fmt"
	"os"
	"runtime/debug"
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

// Screen is the content of a Shell: the lab, a proxy or a sweep. It may also implement listScreen and
// smallScreen.
type Screen interface {
	// Tick is called every tickEvery. It updates the screen, reports whether it must be drawn
	// again, and may return a command, such as tea.Quit.
	Tick() (changed bool, cmd tea.Cmd)
	// Refresh passes the current state to the open page. If all is set, this includes the panes
	// that change all the time, which are otherwise only updated now and then.
	Refresh(all bool)
	Header(w int) Header // for a terminal of w columns
	// Context returns the state that typed commands depend on.
	Context() command.Context
	// Execute executes the order of a key or a typed line.
	Execute(command.Order) (tea.Cmd, error)
	// Help returns further rows of the help, after the keys.
	Help() []HelpRow
}

// listScreen is a screen on which some commands without arguments open a list of values.
type listScreen interface {
	// List returns the list that a command without arguments opens; nil if it opens none.
	List(commandName string) (room.Overlay, error)
}

// guide is a guided tour. It handles keys before the page, and has a panel above the footer.
type guide interface {
	Tick() bool                           // reports whether the screen must be drawn again
	Key(tea.KeyMsg) bool                  // handles a key, and returns false if the page must handle it
	Keys() []room.Binding                 // keys of the tour, which the footer and the help list
	Panel(th *look.Theme, w int) []string // lines above the footer, of w columns each
}

// isError marks a notice as the report of an error.
const isError = true

// allPanes, as argument of Screen.Refresh, updates also the panes that change all the time.
const allPanes = true

// Shell is the frame of all screens of the program and its only tea.Model. It routes keys and
// mouse events, draws header, footer, command line, overlays and notices around the open page,
// and polls the screen at every tick. No goroutine sends it messages, except for terminal replies
// and signals.
type Shell struct {
	screen Screen
	opt    Options
	theme  *look.Theme    // colours and characters
	scheme look.Scheme    // the chosen colours, from which theme is made
	keys   []room.Binding // bindings of the screen

	programKeys []room.Binding // those of keys that concern the program

	pages []*room.Page // in the order of their keys, 1 to 9
	open  int          // index of the open page
	w, h  int          // size of the terminal; 0 if not known yet

	line    command.Line // the line in which the user types commands
	overlay room.Overlay // nil for none
	tour    guide        // nil for none
	notice  *room.Notice // the message that replaces the footer for some seconds

	quitting   bool       // whether tea.Quit was returned
	startDelay startDelay // delays the first drawing until the terminal has replied
	output     outputBudget
	sendFirst  func(string)             // sends text to the terminal before the next output; nil if there is no terminal
	startWork  func(*room.Page) tea.Cmd // starts the background work of a page
	view       string                   // the text of the whole screen, which View returns
	refreshed  bool                     // whether a key has caused a refresh since the last tick
	dirty      bool                     // whether anything outside of the page changed
	err        error                    // why the program ends; nil for a normal quit
}

// newShell returns a shell without pages.
func newShell(screen Screen, opt Options) *Shell {
	if opt.Renderer == nil {
		opt.Renderer = newRenderer(os.Stdout)
	}
	isConsole := os.Getenv("TERM") == "linux" // its fonts have no Braille patterns
	opt.ASCII = opt.ASCII || isConsole
	s := &Shell{screen: screen, opt: opt, notice: &room.Notice{}, startWork: startWork}
	s.scheme, _ = look.ParseScheme(opt.Theme)
	s.applyTheme()
	return s
}

// NewShell returns a shell for a screen with a single page.
func NewShell(screen Screen, page *room.Page, opt Options) *Shell {
	s := newShell(screen, opt)
	s.pages = []*room.Page{page}
	return s
}

// Theme returns the current theme.
func (s *Shell) Theme() *look.Theme { return s.theme }

// ShowNotice shows a notice; bad marks it as an error.
func (s *Shell) ShowNotice(text string, bad bool) { s.notice.Say(text, bad) }

// Open shows an overlay in place of the current one, if any.
func (s *Shell) Open(box room.Overlay) { s.overlay = box }

// Init implements tea.Model: it starts the ticks.
func (s *Shell) Init() tea.Cmd { return nextTick() }

// nextTick returns the command that sends the next tick.
func nextTick() tea.Cmd { return tea.Tick(tickEvery, func(time.Time) tea.Msg { return room.Tick{} }) }

// Update implements tea.Model. It never blocks.
func (s *Shell) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = s // the result also after a panic, because Bubble Tea does not accept a nil model
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
	case backgroundMsg: // the reply of the terminal, or its replacement
		s.startDelay = startDelay{}
		if msg.dark != s.opt.Renderer.HasDarkBackground() {
			s.opt.Renderer.SetHasDarkBackground(msg.dark)
			s.applyTheme()
		}
		s.render()
	case workDone:
		cmd = msg()
		s.render()
	case openedLab:
		return msg.replace(s), nil
	case room.NoticeMsg:
		s.notice.Say(msg.Text, msg.IsError)
		s.render()
	case interruptMsg:
		cmd = s.interrupt()
	}
	return s, cmd
}

// interruptMsg requests to quit immediately, after a signal or the end of the context.
type interruptMsg struct{}

// workDone stores the result of work in the background. It is called in Update, and may return a command.
type workDone func() tea.Cmd

// refreshAfterKey shows the effect of a key without waiting for the next tick, at most once per
// tick, so that a held key does not draw the screen more often than ticks do.
func (s *Shell) refreshAfterKey() {
	if s.refreshed {
		return
	}
	s.refreshed = true
	s.screen.Refresh(!allPanes)
	s.render()
}

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

// writeCrashLog stores a panic as storeStack does, and returns the error that ends the program.
func writeCrashLog(dir string, cause any, stack []byte) error {
	return fmt.Errorf("%w: %v%s", errPanic, cause, storeStack(dir, cause, stack))
}

// storeStack writes cause and stack to a new file in dir, and returns the end of a message that names the file.
// If writing fails, the returned text contains the stack itself.
func storeStack(dir string, cause any, stack []byte) string {
	f, err := os.CreateTemp(dir, "wirelab-crash-*.log")
	if err != nil {
		return "\n" + string(stack)
	}
	_, err = fmt.Fprintf(f, "%v\n\n%s", cause, stack)
	if closeErr := f.Close(); err != nil || closeErr != nil {
		return "\n" + string(stack)
	}
	return "; details are in " + f.Name()
}

// page returns the open page.
func (s *Shell) page() *room.Page { return s.pages[s.open] }

func (s *Shell) openPage(i int) {
	s.open = i
	s.screen.Refresh(allPanes)
}

// refreshAll updates all panes of the page and draws the screen at the next tick.
func (s *Shell) refreshAll() {
	s.screen.Refresh(allPanes)
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
	if changed || s.dirty || s.notice.Changed {
		s.render()
	}
	return tea.Batch(nextTick(), cmd, s.startWork(s.page()))
}

// startWork returns a command that runs the background work of a page; nil if the page has none.
func startWork(p *room.Page) tea.Cmd {
	work := p.Work()
	if work == nil {
		return nil
	}
	return func() tea.Msg { // Bubble Tea runs this in a goroutine
		storeResult := work()
		return workDone(func() tea.Cmd {
			storeResult()
			p.Redraw()
			return nil
		})
	}
}

// Quit ends the program; err is the reason, or nil for a normal quit.
func (s *Shell) Quit(err error) tea.Cmd {
	s.quitting = true
	if err != nil {
		s.err = err
	}
	return tea.Quit
}

// interrupt quits immediately, without saving. The program ends with ErrInterrupted, or with the
// error of the screen if that cannot quit.
func (s *Shell) interrupt() tea.Cmd {
	if _, err := s.screen.Execute(command.Order{Quit: command.QuitNow}); err != nil {
		return s.Quit(err)
	}
	return s.Quit(ErrInterrupted)
}

// perform executes the request of a page or an overlay. A request contains at most one action:
// a command, a command line, a packet to show, an overlay to open, a line to edit, or a notice.
// In addition it may close the overlay, run a tea.Cmd, and refresh the page.
func (s *Shell) perform(r room.Request) tea.Cmd {
	if r.Closes {
		s.overlay = nil
	}
	cmd := r.Program
	switch {
	case r.Command != nil:
		next, err := s.screen.Execute(command.Order{Command: *r.Command})
		cmd = tea.Batch(cmd, next)
		switch {
		case err == nil && r.Accepted != nil:
			r.Accepted(s.screen.Context().Config)
		case err != nil && r.Refused != nil:
			r.Refused(err)
		case err != nil:
			s.notice.Say(err.Error(), isError)
		}
		s.screen.Refresh(!allPanes)
	case r.Line != "":
		cmd = tea.Batch(cmd, s.executeLine(r.Line))
		if r.Accepted != nil {
			r.Accepted(s.screen.Context().Config)
		}
	case r.Packet != nil:
		cmd = tea.Batch(cmd, s.openPacket(*r.Packet))
	case r.Overlay != nil:
		s.overlay = r.Overlay
	case r.Edit != "":
		s.line.Show(r.Edit)
	case r.Notice != "":
		s.notice.Say(r.Notice, r.IsError)
	}
	if r.Redraw {
		s.screen.Refresh(allPanes)
	}
	return cmd
}

// findPane returns the first pane of a page that implements T, and the index of the page; false if none does.
func findPane[T any](s *Shell) (pane T, page int, ok bool) {
	for i, p := range s.pages {
		if pane, ok = room.Find[T](p); ok {
			return pane, i, true
		}
	}
	return pane, 0, false
}

// openPacket opens the page of packets at a packet. It does nothing on a screen without this page.
func (s *Shell) openPacket(id packetlog.ID) tea.Cmd {
	pane, page, ok := findPane[room.PacketLister](s)
	if !ok {
		return nil
	}
	r := pane.ShowPacket(id)
	s.openPage(page)
	return s.perform(r)
}

// executeTyped executes the typed line, whose names may be abbreviated. It then closes the line; after an error the line
// stays open and shows the error.
func (s *Shell) executeTyped() tea.Cmd {
	text, err := command.Expand(s.screen.Context(), s.line.Text())
	if err != nil {
		s.line.Err = err.Error()
		return nil
	}
	cmd, err := s.execute(text)
	if err != nil {
		s.line.Err = command.ErrorText(text, err)
		return cmd
	}
	s.line.Remember(text)
	return cmd
}

// executeLine executes a command line that a page or a list requests. Errors are shown as a notice.
func (s *Shell) executeLine(line string) tea.Cmd {
	cmd, err := s.execute(line)
	if err != nil {
		s.notice.Say(err.Error(), isError)
	}
	return cmd
}

// execute opens the list of values if a command line is a command without its argument. Otherwise it parses the line and
// executes it: the screen executes its part of the order, then the shell shows the help or the list of themes, or sets the
// theme.
func (s *Shell) execute(line string) (cmd tea.Cmd, err error) {
	if screen, ok := s.screen.(listScreen); ok {
		list, err := screen.List(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "/")))
		switch {
		case err != nil:
			return nil, err
		case list != nil:
			s.overlay = list
			return nil, nil
		}
	}
	o, err := command.Parse(s.screen.Context(), line)
	if err != nil {
		return nil, err
	}
	if cmd, err = s.screen.Execute(o); err != nil {
		return cmd, err
	}
	s.screen.Refresh(!allPanes)
	switch {
	case o.Help:
		s.overlay = s.help()
	case o.Copy:
		return s.perform(s.copySelection()), nil
	case o.Themes:
		s.overlay = controls.NewPicker("Theme", "theme", controls.ThemeChoices(), s.scheme.String())
	case o.Theme != "":
		s.scheme, _ = look.ParseScheme(o.Theme)
		s.applyTheme()
		s.notice.Say("theme "+s.scheme.String(), !isError)
	}
	return cmd, nil
}

// applyTheme makes the theme again, after a change of the scheme or the background.
func (s *Shell) applyTheme() {
	s.theme = look.NewTheme(s.opt.Renderer, s.scheme, s.opt.ASCII)
}

// mouse handles mouse events. A click selects a page or something on the page, or presses the key of the footer
// under it. The wheel acts on the pane under the pointer, or moves the cursor of the command line or of the
// overlay. All of this can also be done by keys.
func (s *Shell) mouse(msg tea.MouseMsg) (cmd tea.Cmd) {
	if msg.Action != tea.MouseActionPress || s.tooSmall() {
		return nil
	}
	s.dirty = true
	s.notice.DismissOld()
	modal := s.line.Open || s.overlay != nil
	y := msg.Y - 1 - len(s.screen.Header(s.w).Below) // row of the page
	switch {
	case msg.Button == tea.MouseButtonWheelUp:
		cmd = s.wheel(msg.X, y, 1)
	case msg.Button == tea.MouseButtonWheelDown:
		cmd = s.wheel(msg.X, y, -1)
	case msg.Button != tea.MouseButtonLeft:
	case msg.Y == s.h-1:
		cmd = s.clickFooter(msg.X)
	case modal: // only the keys in the footer can be clicked
	case msg.Y == 0: // the line with the names of the pages
		if i := s.tabAt(msg.X); i >= 0 {
			s.openPage(i)
		}
	default:
		cmd = s.perform(s.page().Click(msg.X, y))
	}
	s.refreshAfterKey()
	return cmd
}

// wheel handles the wheel over (x, y) of the page, in notches; positive is away from the user. In the command line
// and in overlays without a use of their own for it, it acts as the arrows up and down.
func (s *Shell) wheel(x, y, notches int) tea.Cmd {
	arrow := tea.KeyMsg{Type: tea.KeyUp}
	if notches < 0 {
		arrow.Type = tea.KeyDown
	}
	if overlay, ok := s.overlay.(room.Wheeler); ok && !s.line.Open {
		return s.perform(overlay.Wheel(x, y, notches))
	} else if s.line.Open || s.overlay != nil {
		return s.handleKey(arrow)
	}
	return s.perform(s.page().Wheel(x, y, notches))
}

// modalKeys returns the keys of what is over the page and receives all keys: the command line or an overlay; nil if
// there is neither.
func (s *Shell) modalKeys() []room.Binding {
	switch overlay := s.overlay.(type) {
	case room.Binder:
		return overlay.Bindings()
	case room.Overlay:
		return []room.Binding{room.OverlayKey("esc", "close", "close this box")}
	}
	if s.line.Open {
		return s.line.Bindings()
	}
	return nil
}

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

// tickEvery is the time between two ticks: the screen is redrawn at most 20 times a second.
const tickEvery = 50 * time.Millisecond

// Screen is what a Shell shows: the lab, a proxy or a sweep. A screen may also implement
// lister, packetFilter and small.
type Screen interface {
	// Tick takes up what is new, every tickEvery. It reports whether the picture changed, and may
	// return a command, tea.Quit to leave.
	Tick() (changed bool, cmd tea.Cmd)
	// Refresh lets the open page observe what there is now; all includes panes that change all the time.
	Refresh(all bool)
	Header(w int) Header // for a screen of w columns
	// Context returns what typed commands are read against.
	Context() command.Context
	// Obey carries out what a key or a typed line asks for.
	Obey(command.Order) (tea.Cmd, error)
	// HelpParts returns what the help describes besides keys and commands.
	HelpParts() []HelpPart
}

// lister is a screen on which some words open a list instead of being typed commands.
type lister interface {
	List(word string) (room.Overlay, bool)
}

// guide is a tour under way: it has the first turn at every key and takes rows above the footer.
type guide interface {
	Tick() bool
	Key(tea.KeyMsg) bool
	Keys() []room.Binding
	Panel(th *look.Theme, w int) []string
}

// Shell is the root of every screen of the program and its only tea.Model: it routes keys and
// the mouse, draws header, footer, command line, boxes and notices around the open page, and
// runs the loop that polls. Nothing sends it anything.
type Shell struct {
	screen Screen
	opt    Options
	theme  *look.Theme
	scheme look.Scheme
	keys   []room.Binding
	pages  []room.Page
	open   int // index of the page shown
	w, h   int

	line command.Line
	over room.Overlay // nil: none
	tour guide        // nil: none
	note *room.Notice

	left     bool     // the program was told to end
	patience patience // with the terminal's answer
	output   outputBudget
	picture  string // what View returns
	answered bool   // a key was answered since the last tick
	stale    bool   // something besides the page changed
	err      error  // why the program ends, nil after a normal quit
}

// newShell returns a shell without pages; set adds them.
func newShell(screen Screen, opt Options) *Shell {
	if opt.Renderer == nil {
		opt.Renderer = rendererOf(os.Stdout)
	}
	s := &Shell{screen: screen, opt: opt, note: &room.Notice{}}
	s.scheme, _ = look.SchemeNamed(opt.Theme)
	s.theme = look.NewTheme(opt.Renderer, s.scheme, opt.ASCII).WithCharts(look.ParseChartStyle(opt.Charts))
	return s
}

// NewShell returns a shell for a screen of one page.
func NewShell(screen Screen, page room.Page, opt Options) *Shell {
	s := newShell(screen, opt)
	s.pages = []room.Page{page}
	return s
}

// Bind sets the keys of every page, and adds those of single pages.
func (s *Shell) Bind(keys []room.Binding) { s.keys = append(keys, s.pageKeys()...) }

// Theme returns the colours and signs to draw with.
func (s *Shell) Theme() *look.Theme { return s.theme }

// Say shows a notice; bad marks it as a complaint.
func (s *Shell) Say(text string, bad bool) { s.note.Say(text, bad) }

// Open lays a box over the page.
func (s *Shell) Open(box room.Overlay) { s.over = box }

// Init implements tea.Model.
func (s *Shell) Init() tea.Cmd { return nextTick() }

func nextTick() tea.Cmd { return tea.Tick(tickEvery, func(time.Time) tea.Msg { return room.Tick{} }) }

// Update implements tea.Model. It only routes, and never waits.
func (s *Shell) Update(msg tea.Msg) (next tea.Model, cmd tea.Cmd) {
	next = s // also after a panic: without a model the library would crash in turn
	defer s.guard(&cmd)
	switch msg := msg.(type) {
	case room.Tick:
		return s, s.tick()
	case tea.WindowSizeMsg:
		s.w, s.h = msg.Width, msg.Height
		s.compose()
	case tea.KeyMsg:
		s.stale = true
		s.note.DismissOld()
		cmd = s.typedKeys(msg)
		s.answer()
	case tea.MouseMsg:
		cmd = s.mouse(msg)
	case groundMsg:
		s.patience = patience{}
		if msg.dark != s.opt.Renderer.HasDarkBackground() {
			s.opt.Renderer.SetHasDarkBackground(msg.dark)
			s.dress()
		}
		s.compose()
	case workDone:
		msg.take()
		s.compose()
	case room.NoticeMsg:
		s.note.Say(msg.Text, msg.Bad)
		s.compose()
	case interruptMsg:
		cmd = s.interrupt()
	}
	return s, cmd
}

// interruptMsg asks to leave at once: a signal came, or the context ended.
type interruptMsg struct{}

// workDone brings the result of a page's work.
type workDone struct{ take func() }

// answer shows what a key did without waiting for the tick; once between two of
// them, so that a key that is held costs no more than that.
func (s *Shell) answer() {
	if s.answered {
		return
	}
	s.answered = true
	s.screen.Refresh(false)
	s.compose()
}

// View implements tea.Model.
func (s *Shell) View() string { return s.picture }

// Err returns why the program ended; nil after a normal quit.
func (s *Shell) Err() error { return s.err }

// guard turns a panic into an orderly end: the terminal must be restored before
// the account of the panic can be read.
func (s *Shell) guard(cmd *tea.Cmd) {
	if r := recover(); r != nil {
		s.err = crashed(s.opt.CrashDir, r, debug.Stack())
		s.picture = ""
		*cmd = tea.Quit
	}
}

// crashed writes the account of a panic to a file and returns the error that
// names it.
func crashed(dir string, cause any, stack []byte) error {
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

// page returns the page on the screen.
func (s *Shell) page() room.Page { return s.pages[s.open] }

// openPage shows another page.
func (s *Shell) openPage(i int) {
	s.open = i
	s.screen.Refresh(true)
}

// again shows everything as it is now.
func (s *Shell) again() {
	s.screen.Refresh(true)
	s.stale = true
}

// tick lets the screen take up what is new, and redraws what that changes.
func (s *Shell) tick() tea.Cmd {
	s.answered = false
	s.output.tick()
	s.note.Tick()
	s.stale = s.patience.tick() || s.stale
	changed, cmd := s.screen.Tick()
	if s.left || s.err != nil {
		return cmd
	}
	if changed || s.stale || s.note.Stale {
		s.compose()
	}
	return tea.Batch(nextTick(), cmd, work(s.page()))
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

// Quit ends the program; err says why, nil after a normal quit.
func (s *Shell) Quit(err error) tea.Cmd {
	s.left = true
	if err != nil {
		s.err = err
	}
	return tea.Quit
}

// interrupt leaves at once, with ErrInterrupted.
func (s *Shell) interrupt() tea.Cmd {
	if _, err := s.screen.Obey(command.Order{Leave: command.QuitNow}); err != nil {
		return s.Quit(err)
	}
	return s.Quit(ErrInterrupted)
}

// perform does what a page or a box asks for.
func (s *Shell) perform(r room.Request) tea.Cmd {
	if r.Closes {
		s.over = nil
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
			s.note.Say(err.Error(), true)
		}
		s.screen.Refresh(false)
	case r.Line != "":
		cmd = tea.Batch(cmd, s.typed(r.Line))
		if r.Accepted != nil {
			r.Accepted(s.screen.Context().Config)
		}
	case r.Packet != nil:
		cmd = tea.Batch(cmd, s.openPacket(*r.Packet))
	case r.Over != nil:
		s.over = r.Over
	case r.Edit != "":
		s.line.Show(r.Edit)
	case r.Say != "":
		s.note.Say(r.Say, r.Bad)
	}
	if r.Renew {
		s.screen.Refresh(true)
	}
	return cmd
}

// openPacket shows a packet on the page of packets.
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

// run carries out the typed line; on an error it stays open to be mended.
func (s *Shell) run() tea.Cmd {
	if over, ok := s.list(s.line.Text()); ok {
		s.line.Remember()
		s.over = over
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

// typed carries out a command line that a page or a list made.
func (s *Shell) typed(line string) tea.Cmd {
	if over, ok := s.list(line); ok {
		s.over = over
		return nil
	}
	cmd, err := s.execute(line)
	if err != nil {
		s.note.Say(err.Error(), true)
	}
	return cmd
}

// execute reads a command and carries it out.
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
		s.over = s.help()
	case o.Themes:
		s.over = controls.NewPicker("Theme", "theme", controls.ThemeChoices(), s.scheme.String())
	case o.Theme != "":
		s.scheme, _ = look.SchemeNamed(o.Theme)
		s.dress()
		s.note.Say("theme "+s.scheme.String(), false)
	}
	return cmd, nil
}

// dress paints everything again, on the ground of the terminal.
func (s *Shell) dress() {
	s.theme = look.NewTheme(s.opt.Renderer, s.scheme, s.opt.ASCII).WithCharts(s.theme.Charts())
}

// mouse handles the mouse: a click selects, the wheel adjusts. Keys do the same.
func (s *Shell) mouse(msg tea.MouseMsg) tea.Cmd {
	if s.line.Open || msg.Action != tea.MouseActionPress {
		return nil
	}
	s.stale = true
	if s.over != nil {
		if key, ok := map[tea.MouseButton]tea.KeyType{tea.MouseButtonWheelUp: tea.KeyUp,
			tea.MouseButtonWheelDown: tea.KeyDown}[msg.Button]; ok {
			return s.keyInOverlay(tea.KeyMsg{Type: key})
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

// list returns the list that opens instead of a command of one word.
func (s *Shell) list(line string) (room.Overlay, bool) {
	if x, ok := s.screen.(lister); ok {
		return x.List(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "/")))
	}
	return nil, false
}

// help makes the list of keys and commands: first those of what is on the screen.
func (s *Shell) help() room.Overlay {
	keys := s.keysHere()
	if s.tour != nil {
		keys = append(s.tour.Keys(), keys...)
	}
	here := s.page().Name()
	if len(s.pages) > 1 {
		here = strconv.Itoa(s.open+1) + " " + here
	}
	return newHelp(here, helpKeys(keys, s.page()), append(s.screen.HelpParts(), commandHelp(s.screen.Context())), s.w)
}

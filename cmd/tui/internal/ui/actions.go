package ui

import (
	"strconv"
	"strings"

	"wirelab/experiment/config"

	"wirelab/experiment"

	tea "github.com/charmbracelet/bubbletea"
)

// send hands a command to the lab, after any change that still waits.
func (m *Model) send(c experiment.Command) {
	if c.Toggle || c.Step > 0 || c.Seek != nil || c.Pause != nil && !*c.Pause {
		m.present() // what is asked for begins there
	}
	m.sent++
	if !m.flush() || !m.lab.Do(c) {
		m.say("the lab has its hands full; press again", true)
		return
	}
	if c.Undo || c.Seek != nil {
		m.want.forget()
	}
}

// flush hands over the changes gathered since the last tick; false if the lab
// had no room for them, in which case they stay.
func (m *Model) flush() bool {
	if m.want.unsent.IsZero() {
		return true
	}
	ch := m.want.unsent
	if !m.lab.Do(experiment.Command{Change: &ch}) {
		return false
	}
	m.want.unsent = config.Change{}
	return true
}

// obey carries out a command, however it was given. Changes are checked here,
// against what is desired, so that a mistake is answered at once.
func (m *Model) obey(c experiment.Command) error {
	switch {
	case c == experiment.Command{}:
		return nil
	case c.Change != nil && c.Change.Input != nil:
		return m.obeyInput(c)
	case c.Change != nil && changesShadows(c.Change):
		return m.obeyShadows(c)
	case c.Change != nil && c.Change.Mark == "":
		if err := m.want.ask(m.snap.Config, *c.Change, m.ticks); err != nil {
			return err
		}
		m.accept(c)
		return nil
	case c.Speed != nil:
		m.want.askSpeed(*c.Speed, m.ticks)
	}
	m.accept(c)
	m.send(c)
	return nil
}

// obeyInput hands over an input of whoever plays. It is no change of settings, so
// nothing waits for it; and a press, of which many come, is not announced.
func (m *Model) obeyInput(c experiment.Command) error {
	if err := m.playable(); err != nil {
		return err
	}
	if c.Change.Input.Press == "" {
		m.accept(c)
	}
	m.send(c)
	return nil
}

// perform grants a page's wish.
func (m *Model) perform(w wish) {
	switch {
	case w.command != nil:
		if err := m.obey(*w.command); err != nil {
			m.say(err.Error(), true)
		}
		m.page().observe(m.sight(false))
	case w.pick != nil:
		m.over = w.pick
	case w.edit != "":
		m.line.show(w.edit)
	}
}

// enter opens the control under the cursor.
func (m *Model) enter() {
	m.perform(m.page().enter())
	m.page().observe(m.sight(false))
}

// release lets go of what is selected, and takes the notice away.
func (m *Model) release() {
	m.dismiss()
	m.present()
	m.page().release()
	m.page().observe(m.sight(false))
}

// cycleEncoder swaps to the encoder n places further on.
func (m *Model) cycleEncoder(n int) {
	if cmd, ok := m.cat.encoderControl(m.snap.Schema).step(m.want.config(m.snap), n); ok {
		m.perform(wish{command: &cmd})
	}
}

// aim has the controls set another of the links, and says which: on a small screen
// nothing else does.
func (m *Model) aim() {
	m.page().aim()
	if p, ok := m.page().(*livePage); ok {
		m.say(p.controls.aims(), false)
	}
}

// pickProfile opens the list of link profiles.
func (m *Model) pickProfile() {
	c := m.cat.profileControl()
	list := c.list(m.want.config(m.snap))
	list.title = "Link profile"
	m.over = list
}

// hurry moves the speed by n rungs.
func (m *Model) hurry(n int) {
	v := stepSpeed(m.want.pace(m.snap), n)
	m.perform(wish{command: &experiment.Command{Speed: &v}})
}

// mark notes this moment.
func (m *Model) mark() {
	m.marks++
	m.perform(wish{command: &experiment.Command{Change: &config.Change{Mark: "mark " + strconv.Itoa(m.marks)}}})
}

// save asks for a report of the run so far.
func (m *Model) save() {
	dir := m.opt.ReportsDir
	m.send(experiment.Command{Save: &dir})
}

// run carries out the typed line; on an error it stays open to be mended.
func (m *Model) run() tea.Cmd {
	if m.listed(strings.TrimSpace(m.line.input.String())) {
		m.line.remember()
		return nil
	}
	o, err := m.cat.parseLine(m.line.input.String())
	if err == nil {
		err = m.obey(o.Command)
	}
	if err != nil {
		m.line.err = err.Error()
		return nil
	}
	m.line.remember()
	m.page().observe(m.sight(false))
	return m.attend(o)
}

// listed opens the list from which a command takes its name, if none was typed.
func (m *Model) listed(word string) bool {
	switch word {
	case "encoder", "shadow":
		m.openEncoders()
	case "profile":
		m.pickProfile()
	default:
		return false
	}
	return true
}

// attend does what an order asks of the dashboard itself.
func (m *Model) attend(o order) tea.Cmd {
	switch {
	case o.help:
		m.help()
	case o.filter != nil:
		m.filterPackets(*o.filter)
	case o.themes:
		m.over = newPicker("Theme", "theme", themeSays(), m.scheme.String())
	case o.theme != "":
		m.wear(o.theme)
	case o.tour:
		m.startTour()
	case o.quit:
		return m.quit()
	}
	return nil
}

// take does with the name picked from a list what the list is for.
func (m *Model) take(p *picker, name string) {
	if p.begins {
		m.line.show(p.word + " " + name + " ")
		return
	}
	m.typed(p.word + " " + name)
}

// typed carries out a line that a list made.
func (m *Model) typed(line string) {
	o, err := m.cat.parseLine(line)
	if err == nil {
		err = m.obey(o.Command)
	}
	if err != nil {
		m.say(err.Error(), true)
	}
	m.page().observe(m.sight(false))
	m.attend(o)
}

// quit leaves; what waits is handed over first.
func (m *Model) quit() tea.Cmd {
	m.flush()
	return tea.Quit
}

// interrupt leaves because somebody insists.
func (m *Model) interrupt() tea.Cmd {
	m.flush()
	m.err = ErrInterrupted
	return tea.Quit
}

// mouse: a click selects, the wheel adjusts. Nothing needs it.
func (m *Model) mouse(msg tea.MouseMsg) {
	if m.line.open || msg.Action != tea.MouseActionPress {
		return
	}
	m.stale = true
	if m.over != nil {
		m.wheelInOverlay(msg.Button)
		return
	}
	switch msg.Button {
	case tea.MouseButtonLeft:
		if msg.Y == 0 {
			m.clickTab(msg.X)
			return
		}
		m.page().click(msg.X, msg.Y-1)
		if p, ok := m.page().(*packetsPage); ok {
			m.perform(p.look())
		}
	case tea.MouseButtonWheelUp:
		m.perform(m.page().move(1, 0))
	case tea.MouseButtonWheelDown:
		m.perform(m.page().move(-1, 0))
	}
}

// wheelInOverlay scrolls what lies over the page.
func (m *Model) wheelInOverlay(b tea.MouseButton) {
	switch b {
	case tea.MouseButtonWheelUp:
		m.keyInOverlay(tea.KeyMsg{Type: tea.KeyUp})
	case tea.MouseButtonWheelDown:
		m.keyInOverlay(tea.KeyMsg{Type: tea.KeyDown})
	}
}

// clickTab turns to the page whose name in the header is at column x.
func (m *Model) clickTab(x int) {
	tabs := m.tabs()
	if m.w < tabsWidth {
		return
	}
	from := m.w - 1 - textWidth(m.badge().text) - spansWidth(tabs)
	for i := range m.pages {
		to := from + textWidth(tabs[i].text)
		if x >= from && x < to {
			m.turn(i)
		}
		from = to
	}
}

// help opens the list of keys and commands: first those of what is on the screen.
func (m *Model) help() {
	keys := m.keysHere()
	if m.tour != nil {
		keys = append(tourKeys(), keys...)
	}
	m.over = newHelp(m.theme, keys, m.cat.verbs(), m.w)
}

// desk is what typed commands are read against now.
func (m *Model) desk() desk { return desk{m.cat, m.want.config(m.snap), m.snap.Schema} }

package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/experiment"
)

// perform does what a page or a box asks for.
func (m *Model) perform(r request) tea.Cmd {
	if r.closes {
		m.over = nil
	}
	switch {
	case r.command != nil:
		err := m.lab.do(*r.command)
		switch {
		case err == nil && r.accepted != nil:
			r.accepted(m.lab.config())
		case err != nil && r.refused != nil:
			r.refused(err)
		case err != nil:
			m.lab.say(err.Error(), true)
		}
		m.page().observe(m.sight(false))
	case r.line != "":
		m.typed(r.line)
		if r.accepted != nil {
			r.accepted(m.lab.config())
		}
	case r.packet != nil:
		m.openPacket(*r.packet)
	case r.over != nil:
		m.over = r.over
	case r.edit != "":
		m.line.show(r.edit)
	case r.say != "":
		m.lab.say(r.say, r.bad)
	}
	if r.renew {
		m.page().observe(m.sight(true))
	}
	return r.program
}

// enter opens what is under the cursor.
func (m *Model) enter() request {
	m.perform(m.page().enter())
	m.page().observe(m.sight(false))
	return request{}
}

// release lets go of what is selected, and takes the notice away.
func (m *Model) release() {
	m.lab.dismiss()
	m.lab.present()
	m.page().release()
	m.page().observe(m.sight(false))
}

// explain opens the list of troubles; of a packet that is under the cursor of a
// page it opens that packet.
func (m *Model) explain() request {
	if p, ok := m.page().(packetChooser); ok {
		if id, ok := p.chosenPacket(); ok {
			return request{packet: &id}
		}
	}
	return request{over: newWhy(m.lab.shown(), m.lab.config())}
}

// openPacket shows a packet on the page of packets.
func (m *Model) openPacket(id experiment.PacketID) {
	for i, p := range m.pages {
		if q, ok := p.(packetPage); ok {
			r := q.showPacket(id)
			m.turn(i)
			m.perform(r)
		}
	}
}

// filterPackets lists some of the packets only, on the page of packets.
func (m *Model) filterPackets(f filter) {
	for i, p := range m.pages {
		if q, ok := p.(packetPage); ok {
			q.filterPackets(f)
			m.turn(i)
		}
	}
}

// startTour begins the guided tour.
func (m *Model) startTour() {
	open := m.open
	m.lab.present()
	t, err := newTour(m.lab, m.spotlight, func() {
		m.tour = nil
		m.turn(open)
	})
	if err != nil {
		m.lab.say(err.Error(), true)
		return
	}
	m.tour = t
	t.begin()
}

// spotlight shows the place that a step of the tour is about, on its page.
func (m *Model) spotlight(s spot) {
	if s != nowhere {
		m.open = s.page()
	}
	for _, p := range m.pages {
		if lit, ok := p.(interface{ light(spot) }); ok {
			lit.light(s)
		}
	}
	m.again()
}

// tourPanel is the panel of the tour, none if there is no tour.
func (m *Model) tourPanel() []string {
	if m.tour == nil {
		return nil
	}
	return m.tour.panel(m.theme, m.w)
}

// run carries out the typed line; on an error it stays open to be mended.
func (m *Model) run() tea.Cmd {
	text := m.line.text()
	if r, ok := m.list(strings.TrimSpace(text)); ok {
		m.line.remember()
		return m.perform(r)
	}
	o, err := m.obey(text)
	if err != nil {
		m.line.err = err.Error()
		return nil
	}
	m.line.remember()
	m.page().observe(m.sight(false))
	return m.attend(o)
}

// list is the list from which a command takes its name, if none was typed.
func (m *Model) list(word string) (r request, ok bool) {
	switch word {
	case "encoder", "shadow":
		return request{over: m.cat.encoderList(m.lab.config(), m.lab.snap.Schema)}, true
	case "profile":
		return request{over: m.cat.profileList(m.lab.config())}, true
	}
	return request{}, false
}

// attend does what an order asks of the dashboard itself.
func (m *Model) attend(o order) tea.Cmd {
	switch {
	case o.help:
		return m.perform(m.help())
	case o.filter != nil:
		m.filterPackets(*o.filter)
	case o.themes:
		m.over = newPicker("Theme", "theme", themeChoices(), m.scheme.String())
	case o.theme != "":
		m.wear(o.theme)
	case o.tour:
		m.startTour()
	case o.quit:
		return m.quit()
	}
	return nil
}

// obey reads a command and hands it to the lab.
func (m *Model) obey(line string) (order, error) {
	o, err := m.cat.parseLine(line)
	if err == nil {
		err = m.lab.do(o.Command)
	}
	return o, err
}

// typed carries out a command that no person typed.
func (m *Model) typed(line string) {
	if r, ok := m.list(line); ok {
		m.perform(r)
		return
	}
	o, err := m.obey(line)
	if err != nil {
		m.lab.say(err.Error(), true)
	}
	m.page().observe(m.sight(false))
	m.attend(o)
}

// quit leaves; what waits is handed over first.
func (m *Model) quit() tea.Cmd {
	m.lab.flush()
	return tea.Quit
}

// interrupt leaves because somebody insists.
func (m *Model) interrupt() tea.Cmd {
	m.lab.flush()
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
		if key, ok := map[tea.MouseButton]tea.KeyType{tea.MouseButtonWheelUp: tea.KeyUp, tea.MouseButtonWheelDown: tea.KeyDown}[msg.Button]; ok {
			m.keyInOverlay(tea.KeyMsg{Type: key})
		}
		return
	}
	switch msg.Button {
	case tea.MouseButtonLeft:
		if msg.Y == 0 {
			if i := m.bar().tabAt(msg.X); i >= 0 {
				m.turn(i)
			}
			return
		}
		m.perform(m.page().click(msg.X, msg.Y-1))
	case tea.MouseButtonWheelUp:
		m.perform(m.page().move(1, 0))
	case tea.MouseButtonWheelDown:
		m.perform(m.page().move(-1, 0))
	}
}

// help opens the list of keys and commands: first those of what is on the screen.
func (m *Model) help() request {
	keys := m.keysHere()
	if m.tour != nil {
		keys = append(m.tour.keys(), keys...)
	}
	return request{over: newHelp(m.theme, keys, m.cat.verbs(), m.w)}
}

// desk is what typed commands are read against now.
func (m *Model) desk() desk { return desk{m.cat, m.lab.config(), m.lab.snap.Schema} }

// wear changes the colours of everything.
func (m *Model) wear(name string) {
	m.scheme, _ = schemeNamed(name)
	m.theme = newTheme(m.opt.Renderer, m.scheme, m.opt.ASCII)
	m.lab.theme = m.theme
	m.lab.say("theme "+m.scheme.String(), false)
}

package ui

import (
	"strconv"
	"strings"

	"wirelab/experiment"
	"wirelab/experiment/engine/packetlog"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/packets"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/tour"

	tea "github.com/charmbracelet/bubbletea"
)

// perform does what a page or a box asks for.
func (m *Model) perform(r room.Request) tea.Cmd {
	if r.Closes {
		m.over = nil
	}
	cmd := r.Program
	switch {
	case r.Command != nil:
		err := m.lab.Do(*r.Command)
		switch {
		case err == nil && r.Accepted != nil:
			r.Accepted(m.lab.Config())
		case err != nil && r.Refused != nil:
			r.Refused(err)
		case err != nil:
			m.lab.Say(err.Error(), true)
		}
		m.page().Observe(m.pageView(false))
	case r.Line != "":
		cmd = tea.Batch(cmd, m.typed(r.Line))
		if r.Accepted != nil {
			r.Accepted(m.lab.Config())
		}
	case r.Packet != nil:
		cmd = tea.Batch(cmd, m.openPacket(*r.Packet))
	case r.Over != nil:
		m.over = r.Over
	case r.Edit != "":
		m.line.Show(r.Edit)
	case r.Say != "":
		m.lab.Say(r.Say, r.Bad)
	}
	if r.Renew {
		m.page().Observe(m.pageView(true))
	}
	return cmd
}

// enter opens what is under the cursor.
func (m *Model) enter() room.Request {
	cmd := m.perform(m.page().Enter())
	m.page().Observe(m.pageView(false))
	return room.Request{Program: cmd}
}

// release lets go of what is selected, and takes the notice away.
func (m *Model) release() {
	m.lab.Dismiss()
	m.lab.Present()
	m.page().Release()
	m.page().Observe(m.pageView(false))
}

// explain opens the list of troubles; of a packet that is under the cursor of a
// page it opens that packet.
func (m *Model) explain() room.Request {
	if p, ok := m.page().(room.PacketChooser); ok {
		if id, ok := p.ChosenPacket(); ok {
			return room.Request{Packet: &id}
		}
	}
	return room.Request{Over: packets.NewWhy(m.lab.Shown(), m.lab.Config())}
}

// openPacket shows a packet on the page of packets.
func (m *Model) openPacket(id packetlog.ID) (cmd tea.Cmd) {
	for i, p := range m.pages {
		if q, ok := p.(room.PacketPage); ok {
			r := q.ShowPacket(id)
			m.turn(i)
			cmd = m.perform(r)
		}
	}
	return cmd
}

// filterPackets lists some of the packets only, on the page of packets.
func (m *Model) filterPackets(f room.Filter) {
	for i, p := range m.pages {
		if q, ok := p.(room.PacketPage); ok {
			q.FilterPackets(f)
			m.turn(i)
		}
	}
}

// startTour begins the guided tour.
func (m *Model) startTour() {
	open := m.open
	m.lab.Present()
	t, err := tour.New(m.lab, m.spotlight, func() {
		m.tour = nil
		m.turn(open)
	})
	if err != nil {
		m.lab.Say(err.Error(), true)
		return
	}
	m.tour = t
	t.Begin()
}

// spotlight shows the place that a step of the tour is about, on its page.
func (m *Model) spotlight(s tour.Spot) {
	if s != tour.Nowhere {
		m.open = s.Page()
	}
	for _, p := range m.pages {
		if lit, ok := p.(tour.Lighter); ok {
			lit.Light(s)
		}
	}
	m.again()
}

// tourPanel is the panel of the tour, none if there is no tour.
func (m *Model) tourPanel() []string {
	if m.tour == nil {
		return nil
	}
	return m.tour.Panel(m.theme, m.w)
}

// run carries out the typed line; on an error it stays open to be mended.
func (m *Model) run() tea.Cmd {
	text := m.line.Text()
	if r, ok := m.list(strings.TrimSpace(text)); ok {
		m.line.Remember()
		return m.perform(r)
	}
	o, err := m.execute(text)
	if err != nil {
		m.line.Err = err.Error()
		return nil
	}
	m.line.Remember()
	m.page().Observe(m.pageView(false))
	return m.attend(o)
}

// list is the list from which a command takes its name, if none was typed.
func (m *Model) list(word string) (r room.Request, ok bool) {
	switch word {
	case "encoder", "shadow":
		return room.Request{Over: m.cat.EncoderList(m.lab.Config(), m.lab.Snap.Schema)}, true
	case "profile":
		return room.Request{Over: m.cat.ProfileList(m.lab.Config())}, true
	}
	return room.Request{}, false
}

// attend does what an order asks of the dashboard itself.
func (m *Model) attend(o command.Order) tea.Cmd {
	switch {
	case o.Help:
		return m.perform(m.help())
	case o.Filter != nil:
		m.filterPackets(*o.Filter)
	case o.Themes:
		m.over = controls.NewPicker("Theme", "theme", controls.ThemeChoices(), m.scheme.String())
	case o.Theme != "":
		m.wear(o.Theme)
	case o.Tour:
		m.startTour()
	case o.Leave != command.Stay:
		return m.quit(o.Leave)
	}
	return nil
}

// execute reads a command and hands it to the lab.
func (m *Model) execute(line string) (command.Order, error) {
	o, err := command.Parse(m.context(), line)
	if err == nil {
		err = m.lab.Do(o.Command)
	}
	return o, err
}

// typed carries out a command line that a page or a list made.
func (m *Model) typed(line string) tea.Cmd {
	if r, ok := m.list(line); ok {
		return m.perform(r)
	}
	o, err := m.execute(line)
	if err != nil {
		m.lab.Say(err.Error(), true)
	}
	m.page().Observe(m.pageView(false))
	return m.attend(o)
}

// quit leaves; what waits is handed over first.
func (m *Model) quit(how command.Leave) tea.Cmd {
	m.lab.Flush()
	switch snap := m.lab.Snap; {
	case how == command.LeaveSaving:
		if m.lab.Send(experiment.Command{Save: &m.opt.ReportsDir}) {
			m.leaving.begin(snap)
		}
		return nil
	case how == command.LeaveAsking && snap.Now-snap.Saved > muchToLose:
		m.over = &leaveBox{length: snap.Now, unsaved: snap.Now - snap.Saved}
		return nil
	}
	m.left = true
	return tea.Quit
}

// interrupt leaves at once, with ErrInterrupted.
func (m *Model) interrupt() tea.Cmd {
	m.lab.Flush()
	m.err = ErrInterrupted
	m.left = true
	return tea.Quit
}

// mouse handles the mouse: a click selects, the wheel adjusts. Keys do the same.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	if m.line.Open || msg.Action != tea.MouseActionPress {
		return nil
	}
	m.stale = true
	if m.over != nil {
		if key, ok := map[tea.MouseButton]tea.KeyType{tea.MouseButtonWheelUp: tea.KeyUp,
			tea.MouseButtonWheelDown: tea.KeyDown}[msg.Button]; ok {
			return m.keyInOverlay(tea.KeyMsg{Type: key})
		}
		return nil
	}
	switch msg.Button {
	case tea.MouseButtonLeft:
		if msg.Y == 0 {
			if i := m.bar().tabAt(msg.X); i >= 0 {
				m.turn(i)
			}
			return nil
		}
		return m.perform(m.page().Click(msg.X, msg.Y-1))
	case tea.MouseButtonWheelUp:
		return m.perform(m.page().Wheel(1))
	case tea.MouseButtonWheelDown:
		return m.perform(m.page().Wheel(-1))
	}
	return nil
}

// help opens the list of keys and commands: first those of what is on the screen.
func (m *Model) help() room.Request {
	keys := m.keysHere()
	if m.tour != nil {
		keys = append(m.tour.Keys(), keys...)
	}
	here := strconv.Itoa(m.open+1) + " " + m.page().Name()
	return room.Request{Over: newHelp(m.theme, here, helpKeys(keys, m.page()), command.Verbs(m.context()), m.w)}
}

// context is what typed commands are read against now.
func (m *Model) context() command.Context {
	return command.Context{Catalog: m.cat, Config: m.lab.Config(), Schema: m.lab.Snap.Schema}
}

// wear changes the colours of everything.
func (m *Model) wear(name string) {
	m.scheme, _ = look.SchemeNamed(name)
	m.dress()
	m.lab.Say("theme "+m.scheme.String(), false)
}

// dress paints everything anew, on the ground that there is.
func (m *Model) dress() {
	m.theme = look.NewTheme(m.opt.Renderer, m.scheme, m.opt.ASCII).WithCharts(m.theme.Charts())
	m.lab.Theme = m.theme
}

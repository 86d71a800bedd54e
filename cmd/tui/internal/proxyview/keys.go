package proxyview

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/room"
)

// bigStep is how many rungs the keys for large steps move.
const bigStep = 4

// bindings are all keys, as the lab's dashboard has them, in the order of the help.
func (m *Model) bindings() []room.Binding {
	move := func(dx, dy int) func() room.Request { return func() room.Request { return m.move(dx, dy) } }
	say := func(err error) room.Request {
		if err != nil {
			return room.Request{Say: err.Error(), Bad: true}
		}
		return room.Request{}
	}
	list := []room.Binding{
		room.Bind("Moving", []string{"tab"}, "tab", "the next pane", room.Quietly(func() { m.turn(1) })).InFooter("pane"),
		room.Bind("Moving", []string{"shift+tab"}, "shift+tab", "the pane before", room.Quietly(func() { m.turn(-1) })),
		room.Bind("Moving", []string{"up", "k"}, "up down", "the control, the client or the datagram above, below", move(0, -1)),
		room.Bind("Moving", []string{"down", "j"}, "", "", move(0, 1)),
		room.Bind("Moving", []string{"pgup", "ctrl+u"}, "pgup pgdn", "ten up, ten down", move(0, -room.Screenful)),
		room.Bind("Moving", []string{"pgdown", "ctrl+d"}, "", "", move(0, room.Screenful)),
		room.Bind("Controls", []string{"left", "h"}, "left right", "less, more", move(-1, 0)).InFooter("less, more"),
		room.Bind("Controls", []string{"right", "l"}, "", "", move(1, 0)),
		room.Bind("Controls", []string{"[", "shift+left"}, "[ ]", "much less, much more", move(-bigStep, 0)),
		room.Bind("Controls", []string{"]", "shift+right"}, "", "", move(bigStep, 0)),
		room.Bind("Controls", []string{"enter"}, "enter", "type an exact value, or choose from a list; on a client: the controls set it alone; "+
			"on a datagram: what became of it", m.enter),
		room.Bind("Controls", []string{"p"}, "p", "choose a ready-made link",
			func() room.Request { return room.Request{Over: m.cat.ProfileList(m.proxy.Live.Config(m.client))} }).InFooter("profile"),
		room.Bind("Controls", []string{"d"}, "d", "which link the controls set: both, down, up", func() room.Request {
			m.controls.Aim()
			m.hear()
			return room.Request{Say: m.controls.Aims()}
		}).InFooter("direction"),
		room.Bind("Controls", []string{"c"}, "c", "whose links they set: those of all, or of the next client", func() room.Request {
			return say(m.aim(m.nextClient()))
		}).InFooter("client"),
		room.Bind("Controls", []string{"u"}, "u", "take the last change back; again, the one before",
			room.Quietly(func() { m.back(m.proxy.Live.Undo, "there is nothing to take back") })).InFooter("undo"),
		room.Bind("Controls", []string{"ctrl+r"}, "ctrl+r", "make the change again that was taken back",
			room.Quietly(func() { m.back(m.proxy.Live.Redo, "nothing was taken back") })),
		room.Bind("Display", []string{" "}, "space", "stop the display, and let it go on; the traffic goes on in any case",
			room.Quietly(m.toggle)).InFooter("stop display").Pin(),
		room.Bind("Display", []string{"x"}, "x", "what the seed did to a datagram, stage by stage: the one under the cursor, or the last that was lost",
			m.explain).InFooter("explain"),
		room.Bind("Display", []string{"m"}, "m", "mark this moment in the charts; /mark TEXT gives it a name",
			func() room.Request { return room.Request{Line: "mark"} }),
		room.Bind("Display", []string{"z"}, "z Z i", "charts: fit the axis; how much time; dots or lines", room.Quietly(func() { m.fit = !m.fit })),
		room.Bind("Display", []string{"Z"}, "", "", room.Quietly(func() { m.span = (m.span + 1) % len(spans()) })),
		room.Bind("Display", []string{"i"}, "", "", func() room.Request {
			m.theme = m.theme.NextCharts()
			return room.Request{Say: "charts: " + m.theme.Charts().String()}
		}),
		room.Bind("Proxy", []string{"/", ":"}, "/", "type a command; tab completes, the arrows recall",
			room.Quietly(func() { m.line.Show("") })).InFooter("command").Pin(),
		room.Bind("Proxy", []string{"?", "f1"}, "?", "this list", func() room.Request { return room.Request{Over: m.help()} }).InFooter("help").Pin(),
		room.Bind("Proxy", []string{"esc"}, "esc", "both links of all clients again, and the display goes on", room.Quietly(m.release)),
		room.Bind("Proxy", []string{"ctrl+l"}, "ctrl+l", "draw the screen anew", func() room.Request { return room.Request{Program: tea.ClearScreen} }),
		room.Bind("Proxy", []string{"q"}, "q", "end the proxy, and print the totals", func() room.Request { return room.Request{Program: tea.Quit} }).
			InFooter("quit").Pin(),
		room.Bind("Proxy", []string{"ctrl+c"}, "ctrl+c", "the same, as an interruption", func() room.Request {
			m.interrupted = true
			return room.Request{Program: tea.Quit}
		}),
	}
	for p := range numPanes {
		digit := strconv.Itoa(int(p) + 1)
		list = append(list, room.Bind("Panes", []string{digit}, digit, p.name(), room.Quietly(func() { m.focus = p })))
	}
	return list
}

// typedKeys handles a key message: several runes of it are keys of their own, pasted ones
// are for the line alone.
func (m *Model) typedKeys(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 {
		return m.typedKey(msg)
	}
	if msg.Paste {
		if m.line.Open {
			m.line.Edit(msg)
		}
		return nil
	}
	for _, r := range msg.Runes {
		one := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}
		if r == ' ' {
			one.Type = tea.KeySpace
		}
		if cmd := m.typedKey(one); cmd != nil {
			return cmd
		}
	}
	return nil
}

func (m *Model) typedKey(msg tea.KeyMsg) tea.Cmd {
	if msg.Type == tea.KeyCtrlC {
		m.interrupted = true
		return tea.Quit
	}
	switch {
	case m.line.Open:
		if m.line.Key(msg, m.context()) {
			return m.run()
		}
		return nil
	case m.over != nil:
		return m.perform(m.over.Key(msg))
	}
	for i := range m.keys {
		if key.Matches(msg, m.keys[i].Binding) {
			return m.perform(m.keys[i].Do())
		}
	}
	return nil
}

// turn gives the keys to another pane; those that have no use for them are passed over where
// all are in sight.
func (m *Model) turn(by int) {
	for {
		m.focus = (m.focus + pane(by) + numPanes) % numPanes
		if !m.wide() || m.focus == paneControls || m.focus == paneClients || m.focus == paneDatagrams {
			return
		}
	}
}

// move is the arrow keys. Whatever pane has the keys, left and right adjust the control.
func (m *Model) move(dx, dy int) room.Request {
	switch {
	case dx != 0 || m.focus == paneControls:
		r := m.controls.Turn(dx, dy)
		m.hear()
		return r
	case m.focus == paneClients:
		m.choose(dy)
	case m.focus == paneDatagrams:
		m.datagram = uint64(max(0, min(int(m.datagram)-dy, len(m.list())-1)))
		if m.frozen == nil {
			m.toggle() // else it would run away from the cursor
		}
	}
	return room.Request{}
}

// turns lists the clients from the first on.
func (m *Model) turns() (list []int) {
	for _, c := range m.shown().snap.Clients {
		list = append(list, c.Turn)
	}
	slices.Sort(list)
	return list
}

// choose moves the cursor on clients.
func (m *Model) choose(by int) {
	list := m.turns()
	if len(list) == 0 {
		return
	}
	at, found := slices.BinarySearch(list, m.chosen)
	if found {
		at += by
	}
	m.chosen = list[max(0, min(at, len(list)-1))]
}

// nextClient is the turn of the client after the one that the controls set; 0 after the last.
func (m *Model) nextClient() int {
	list := m.turns()
	at, found := slices.BinarySearch(list, m.client.Turn)
	if found {
		at++
	}
	if at >= len(list) {
		return 0
	}
	return list[at]
}

// enter opens what is under the cursor.
func (m *Model) enter() room.Request {
	switch m.focus {
	case paneClients:
		if m.chosen == 0 {
			m.choose(0)
		}
		turn := m.chosen
		if turn == m.client.Turn {
			turn = 0
		}
		if err := m.aim(turn); err != nil {
			return room.Request{Say: err.Error(), Bad: true}
		}
		if turn == 0 {
			return room.Request{Say: "the controls set the links of all clients"}
		}
		return room.Request{Say: fmt.Sprintf("the controls set the links of client %d alone; c or esc: of all", turn)}
	case paneDatagrams:
		return m.explain()
	}
	r := m.controls.Enter()
	m.hear()
	return r
}

// release lets go of whatever was chosen.
func (m *Model) release() {
	if m.frozen != nil {
		m.toggle()
	}
	m.controls.Release()
	m.note, m.datagram, m.chosen = "", 0, 0
	_ = m.aim(0)
}

package ui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/session"
)

// keysHere are the keys that mean something on this page, its own first.
func (m *Model) keysHere() []room.Binding {
	var own, all []room.Binding
	for _, b := range m.keys {
		if b.Page == nil {
			all = append(all, b)
		} else if b.Page == m.page() {
			own = append(own, b)
		}
	}
	return append(own, all...)
}

// keysNow are the keys that the footer names. In the tour, and while looking
// back, the keys for that take the place of all that are not pinned.
func (m *Model) keysNow() []room.Binding {
	var list []room.Binding
	switch {
	case m.lab.Past.Away:
		list = pastKeys(m.keys, m.page())
	case m.tour != nil:
		list = m.tour.Keys()
	default:
		return slices.DeleteFunc(m.keysHere(), func(b room.Binding) bool { return b.Idle != nil && b.Idle() })
	}
	for _, b := range m.keysHere() {
		if b.Pinned && b.Page == nil && b.Group == "Session" {
			list = append(list, b)
		}
	}
	return list
}

// pastKeys are the keys that the footer names while somebody looks back.
func pastKeys(all []room.Binding, p room.Page) []room.Binding {
	var list []room.Binding
	for _, k := range [][3]string{{"<", "< >", "a second"}, {",", ", .", "a tenth"}, {"b", "b B", "marks"},
		{"home", "home", "oldest"}, {"end", "end", "present"}, {"esc", "esc", "present"}, {" ", "space", "go on"}} {
		for _, b := range all {
			if b.Page == nil && b.Keys()[0] == k[0] && !owns(p, k[0]) {
				b = b.InFooter(k[2])
				b.SetHelp(k[1], k[2])
				if b.Pinned = k[0] != "home" && k[0] != ","; k[0] == "esc" && !owns(p, "end") {
					continue // one key for it is enough
				}
				list = append(list, b)
			}
		}
	}
	return list
}

// owns reports whether a key means something of its own on a page.
func owns(p room.Page, key string) bool {
	return slices.ContainsFunc(p.Bindings(), func(b room.Binding) bool { return slices.Contains(b.Keys(), key) })
}

// typedKeys handles a key message. It may hold several runes when keys come fast
// or the line is slow: each is a key of its own. Pasted text is not taken for
// keys.
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
	var cmds []tea.Cmd
	for _, r := range msg.Runes {
		one := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}
		if r == ' ' {
			one.Type = tea.KeySpace
		}
		cmds = append(cmds, m.typedKey(one))
		if m.left {
			break // what follows was not meant for us
		}
	}
	return tea.Batch(cmds...)
}

// typedKey gives one key to what has the keys: the command line, a box, the tour,
// or the page.
func (m *Model) typedKey(msg tea.KeyMsg) tea.Cmd {
	switch {
	case m.line.Open:
		return m.keyInLine(msg)
	case m.over != nil:
		return m.keyInOverlay(msg)
	case m.tour != nil && m.tour.Key(msg):
		return nil
	}
	return m.key(msg)
}

// key runs what a key is bound to.
func (m *Model) key(msg tea.KeyMsg) tea.Cmd {
	var everywhere *room.Binding
	for i := range m.keys {
		b := &m.keys[i]
		switch {
		case !key.Matches(msg, b.Binding):
		case b.Page == m.page():
			return m.press(b, msg)
		case b.Page == nil && everywhere == nil:
			everywhere = b
		}
	}
	if everywhere != nil {
		return m.press(everywhere, msg)
	}
	m.lab.UnknownKey()
	return nil
}

// keyInLine handles a key while the command line is open.
func (m *Model) keyInLine(msg tea.KeyMsg) tea.Cmd {
	switch {
	case msg.Type == tea.KeyCtrlC:
		return m.interrupt()
	case m.line.Key(msg, m.context()):
		return m.run()
	}
	return nil
}

// keyInOverlay handles a key while an overlay is open.
func (m *Model) keyInOverlay(msg tea.KeyMsg) tea.Cmd {
	if msg.Type == tea.KeyCtrlC {
		return m.interrupt()
	}
	return m.perform(m.over.Key(msg))
}

// press does what a key is for, and says so if there was nothing for it to do.
func (m *Model) press(b *room.Binding, msg tea.KeyMsg) tea.Cmd {
	if !b.SaysIdle {
		return m.perform(b.Do())
	}
	before, sent, note := m.pageText(), m.lab.Sent, m.lab.Note
	cmd := m.perform(b.Do())
	m.page().Observe(m.pageView(false))
	note.Stale = m.lab.Note.Stale
	if m.lab.Idle(sent) && m.over == nil && !m.line.Open && m.lab.Note == note && m.pageText() == before {
		m.lab.Show(msg.String()+": nothing to do here now; ? lists the keys", session.ToneDim)
	}
	return cmd
}

// pageText is what the page shows now.
func (m *Model) pageText() string {
	if m.w < minWidth || m.h < minHeight {
		return ""
	}
	return strings.Join(m.page().Lines(m.theme, m.w, m.h-2-len(m.tourPanel())), "\n")
}

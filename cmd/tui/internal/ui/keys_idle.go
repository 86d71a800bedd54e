package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// press does what a key is for, and says so if there was nothing for it to do.
func (m *Model) press(b *binding, msg tea.KeyMsg) tea.Cmd {
	if !b.tells {
		return b.do(m)
	}
	before, sent, note := m.looks(), m.sent, m.note
	cmd := b.do(m)
	m.page().observe(m.sight(false))
	if m.sent == sent && m.want.unsent.IsZero() && m.over == nil && !m.line.open && m.note == note && m.looks() == before {
		m.show(msg.String()+": nothing to do here now; ? lists the keys", toneDim)
	}
	return cmd
}

// looks is what the page shows now.
func (m *Model) looks() string {
	if m.w < minWidth || m.h < minHeight {
		return ""
	}
	return strings.Join(m.page().view(m.theme, m.w, m.h-2-len(m.tourPanel())), "\n")
}

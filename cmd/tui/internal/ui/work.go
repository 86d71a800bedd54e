package ui

import tea "github.com/charmbracelet/bubbletea"

// worker is a page with work that takes longer than a tick may.
type worker interface {
	// work returns what is to be done now, away from the screen; that returns what to
	// do with the result, back at the screen. nil: there is nothing.
	work() (read func() (take func()))
}

// workDone brings the result of a page's work.
type workDone struct{ take func() }

// work starts what the page in sight has to do in the background.
func (m *Model) work() tea.Cmd {
	p, ok := m.page().(worker)
	if !ok {
		return nil
	}
	read := p.work()
	if read == nil {
		return nil
	}
	return func() tea.Msg { return workDone{read()} }
}

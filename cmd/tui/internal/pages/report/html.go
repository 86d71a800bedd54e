package report

import (
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/room"
	htmlpage "wirelab/experiment/page"
)

// writeHTML writes the report.html of the selected report and shows its path. It runs in the
// background, because a long report takes a while to read.
func (p *reports) writeHTML() room.Request {
	s := p.selected()
	if s == nil {
		return room.Request{Notice: "select a saved report first", IsError: true}
	}
	path := s.Path
	return room.Request{Notice: "writing the HTML page of " + s.Name, Program: func() tea.Msg {
		out, err := htmlpage.SavePage(nil, path) // nil: the file system of the operating system
		if err != nil {
			return room.NoticeMsg{Text: err.Error(), IsError: true}
		}
		return room.NoticeMsg{Text: "HTML page: " + out}
	}}
}

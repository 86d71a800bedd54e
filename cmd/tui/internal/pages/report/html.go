package report

import (
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/room"
	htmlpage "wirelab/experiment/page"
)

// html writes the report.html of the report under the cursor and says where it is. A long
// report takes a while to read, so it is done in the background.
func (p *page) html() room.Request {
	s := p.saved.picked()
	if s == nil {
		return room.Request{Say: "choose a saved report first", Bad: true}
	}
	path := s.Path
	return room.Request{Say: "writing the page of " + s.Name, Program: func() tea.Msg {
		out, err := htmlpage.SavePage(nil, path)
		if err != nil {
			return room.NoticeMsg{Text: err.Error(), Bad: true}
		}
		return room.NoticeMsg{Text: "for a browser: " + out}
	}}
}

package ui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
)

// helpSearch finds a word in the help, as less does: / and the word, then n and N.
type helpSearch struct {
	typing bool
	word   controls.Editor
	at     int // the one found that is in sight
}

// key handles a key that has to do with searching. line is the line to bring into sight, -1
// if there is none.
func (s *helpSearch) key(msg tea.KeyMsg, lines [][]look.Span) (line int, ok bool) {
	switch k := msg.String(); {
	case s.typing && msg.Type == tea.KeyEnter:
		s.typing = false
	case msg.Type == tea.KeyEsc && (s.typing || s.word.String() != ""),
		s.typing && msg.Type == tea.KeyBackspace && s.word.String() == "":
		s.end()
	case s.typing:
		s.word.Key(msg)
		s.at = 0
	case k == "/":
		s.end()
		s.typing = true
	case k == "n" && s.word.String() != "":
		s.at++
	case k == "N" && s.word.String() != "":
		s.at--
	default:
		return -1, false
	}
	found := s.found(lines)
	if len(found) == 0 {
		return -1, true
	}
	s.at = (s.at%len(found) + len(found)) % len(found)
	return found[s.at], true
}

// end forgets the word.
func (s *helpSearch) end() {
	s.typing, s.at = false, 0
	s.word.Set("")
}

// found are the lines that hold the word.
func (s *helpSearch) found(lines [][]look.Span) (found []int) {
	word := strings.ToLower(s.word.String())
	if word == "" {
		return nil
	}
	for i, line := range lines {
		text := ""
		for _, p := range line {
			text += p.Text
		}
		if strings.Contains(strings.ToLower(text), word) {
			found = append(found, i)
		}
	}
	return found
}

// status returns the word that is searched for and how often it occurs; "" without a search.
func (s *helpSearch) status(lines [][]look.Span) string {
	word, found := s.word.String(), s.found(lines)
	switch {
	case s.typing && word == "":
		return "/_"
	case word == "":
		return ""
	case len(found) == 0:
		return "/" + word + ": nowhere"
	case s.typing:
		return fmt.Sprintf("/%s_ %d", word, len(found))
	}
	return fmt.Sprintf("/%s %d of %d", word, s.at+1, len(found))
}

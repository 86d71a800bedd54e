package ui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
)

// helpSearch searches the help as the program less does: "/" and a word, then n for the next match
// and N for the previous one.
type helpSearch struct {
	typing  bool            // whether the word is being typed
	word    controls.Editor // what to search for; "" for no search
	current int             // index of the current match among the matches
}

// key handles a key of the search in lines; ok is false for other keys. line is the index of the
// line to scroll to, -1 if no line matches.
func (s *helpSearch) key(msg tea.KeyMsg, lines [][]look.Span) (line int, ok bool) {
	switch k := msg.String(); {
	case s.typing && msg.Type == tea.KeyEnter:
		s.typing = false
	case msg.Type == tea.KeyEsc && (s.typing || s.word.String() != ""),
		s.typing && msg.Type == tea.KeyBackspace && s.word.String() == "": // deletes the "/"
		s.reset()
	case s.typing:
		s.word.Key(msg)
		s.current = 0
	case k == "/":
		s.reset()
		s.typing = true
	case k == "n" && s.word.String() != "":
		s.current++
	case k == "N" && s.word.String() != "":
		s.current--
	default:
		return -1, false
	}
	found := s.matches(lines)
	if len(found) == 0 {
		return -1, true
	}
	s.current = (s.current%len(found) + len(found)) % len(found) // after the last match follows the first; before the first, the last
	return found[s.current], true
}

// reset ends the search.
func (s *helpSearch) reset() {
	s.typing, s.current = false, 0
	s.word.Set("")
}

// matches returns the indices of the lines that contain the word.
func (s *helpSearch) matches(lines [][]look.Span) (found []int) {
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

// status returns the word and the number of matches, or "" without a search.
func (s *helpSearch) status(lines [][]look.Span) string {
	word, found := s.word.String(), s.matches(lines)
	switch {
	case s.typing && word == "":
		return "/_"
	case word == "":
		return ""
	case len(found) == 0:
		return fmt.Sprintf("/%s: no match", word)
	case s.typing:
		return fmt.Sprintf("/%s_ %d", word, len(found))
	}
	return fmt.Sprintf("/%s %d of %d", word, s.current+1, len(found))
}

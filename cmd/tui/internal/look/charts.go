package look

import (
	"wirelab/cmd/tui/internal/chart"
	"wirelab/experiment/engine"
)

// StyleChart sets the characters, the colours and the symbol of loop points in s to those of the
// theme. Braille patterns have no form in ASCII.
func (th *Theme) StyleChart(s *chart.Spec) {
	s.Blank, s.Axis = chart.Style(Plain), chart.Style(Border)
	s.Label, s.Tick = chart.Style(Dim), chart.Style(Faint)
	s.Fine = !th.Ascii
	s.UnscaledRune = MarkSymbol(engine.MarkLoop)
}

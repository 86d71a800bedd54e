package engine_test

import (
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
)

// totals returns the totals of a session's first lane until now.
func totals(s *engine.Session) figures.Totals { return s.View(0).Lanes[0].Totals }

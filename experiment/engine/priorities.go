package engine

import (
	"cmp"
	"slices"
	"time"

	"wirelab/experiment/view"
)

// Priorities explains what each row needs under the budget of the first lane.
type Priorities struct {
	Now    time.Duration
	Policy string          // without parameters that have their default
	Unit   string          // of errors
	Rows   []view.Reason   // by row
	Ages   []time.Duration // by row: time since the shown value was last the true one; nil if unknown, as over a real network
	Ranked []int           // the rows that should be sent, the most urgent first
}

// Priorities returns the priorities of the rows; nil without a budget. The result is not modified later.
func (s *Session) Priorities() *Priorities {
	l := s.lanes[0]
	server, filler := l.snd.View()
	if server == nil || l.views == nil {
		return nil
	}
	p := &Priorities{Now: s.Now(), Policy: view.OrDefault(l.sendBudget.Priority).Label(), Unit: view.UnitOf(s.schema), Ages: l.views.Ages()}
	for i := range s.schema.Rows {
		r := filler.Explain(server, i)
		p.Rows = append(p.Rows, r)
		if r.Standing >= view.Waiting {
			p.Ranked = append(p.Ranked, i)
		}
	}
	slices.SortStableFunc(p.Ranked, func(a, b int) int { return cmp.Compare(p.Rows[b].Priority, p.Rows[a].Priority) })
	return p
}

// Priority is the reason of the priority of a row.
type Priority struct {
	view.Reason
	Age time.Duration // since the shown value was last the true one; -1 if unknown
}

// maxUrgent is the number of rows in Result.Priorities at most.
const maxUrgent = 1000

// urgentRows returns the rows of Result.Priorities: those that the active encoder should send first. It is
// nil without a budget, and empty if no row must be sent.
func (s *Session) urgentRows() []Priority {
	p := s.Priorities()
	if p == nil {
		return nil
	}
	rows := []Priority{}
	for _, i := range p.Ranked[:min(len(p.Ranked), maxUrgent)] {
		row := Priority{p.Rows[i], -1}
		if p.Ages != nil {
			row.Age = p.Ages[i]
		}
		rows = append(rows, row)
	}
	return rows
}

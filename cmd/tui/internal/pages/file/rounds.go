package file

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// rounds lists the completed transfers of all encoders, newest first. A file is sent repeatedly; each
// transfer is a round.
type rounds struct {
	rounds []figures.Round
	table  grid.Table
}

// newRounds returns the pane.
func newRounds() *rounds {
	p := &rounds{table: grid.Table{Cursor: -1, Sort: -1}}
	for i, column := range []struct {
		title string
		width int
		text  func(*figures.Round) string
	}{
		{"start", 7, func(r *figures.Round) string { return look.FormatTime(time.Duration(r.StartS * float64(time.Second))) }},
		{"encoder", 14, func(r *figures.Round) string { return r.Encoder }},
		{"took", 10, tookText},
		{"resent", 6, func(r *figures.Round) string { return strconv.FormatInt(r.Resent, 10) }},
		{"of", 6, func(r *figures.Round) string { return strconv.Itoa(r.Blocks) }},
		{"bytes", 7, func(r *figures.Round) string { return units.Bytes(float64(r.PackedBytes)) }},
	} {
		p.table.Columns = append(p.table.Columns, grid.Column{Title: column.title, Width: column.width, Right: i >= 2, Drop: 9 - i,
			Text: func(c grid.Cell) []look.Span { return grid.Text(look.Plain, column.text(&p.rounds[c.Row])) }})
	}
	return p
}

// tookText returns how long a transfer took.
func tookText(r *figures.Round) string {
	if !r.Done {
		return "incomplete"
	}
	return formatSeconds(r.TimeS)
}

func (p *rounds) Name() string { return "Rounds" }

// Observe implements room.Observer. It collects the transfers of all lanes, newest first.
func (p *rounds) Observe(v room.View) bool {
	before := p.rounds
	p.rounds = nil
	for i := range v.Snap.Lanes {
		if x := v.Snap.Lanes[i].Totals.Transfer; x != nil {
			p.rounds = append(p.rounds, x.Rounds...)
		}
	}
	slices.SortStableFunc(p.rounds, func(a, b figures.Round) int { return cmp.Compare(b.StartS, a.StartS) })
	p.table.NumRows = len(p.rounds)
	return !slices.Equal(p.rounds, before)
}

func (p *rounds) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.FitFrame(th, focused, p.Name(), look.Labelled("the file is sent repeatedly"))
	if len(p.rounds) == 0 {
		c.Clip(2, 1, c.W-4, look.Dim, "no transfer has ended yet")
		return
	}
	p.table.Draw(c, th, 1, c.H-2)
}

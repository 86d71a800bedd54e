package file

import (
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/delivery"
)

// blocks is the pane that shows the state of each block of a file that the active encoder sends: a marker
// per block, or per group of neighbouring blocks if there are more blocks than cells.
type blocks struct {
	states    []delivery.BlockState
	emptyText string // shown while there are no blocks
}

func (p *blocks) Name() string { return "Blocks" }

func (p *blocks) Observe(v room.View) bool {
	lane := v.ActiveLane()
	before := *p
	p.states, p.emptyText = lane.Blocks, panes.NothingSentText(v.Snap, lane)
	return !slices.Equal(p.states, before.states) || len(p.states) == 0 && p.emptyText != before.emptyText
}

// Draw implements room.Pane. If there are more blocks than cells, a cell shows several blocks.
func (p *blocks) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, p.Name(), legend(look.TitleSpace(c.W, p.Name()))...)
	w, h := max(c.W-4, 0), max(c.H-2, 0)
	if len(p.states) == 0 {
		c.Clip(2, 1, w, look.Dim, p.emptyText)
		return
	}
	n := min(len(p.states), w*h)
	for i := range n {
		k := blockMarks[worstBlock(p.states[i*len(p.states)/n:(i+1)*len(p.states)/n])]
		c.Set(2+i%w, 1+i/w, k.style, k.symbol)
	}
}

// blockMarks are the markers of the states of blocks, by delivery.BlockState.
var blockMarks = [...]struct {
	name   string
	symbol rune
	style  look.Style
}{
	{"not sent", '·', look.Faint}, {"in flight", '○', look.Dim}, {"resent", '◐', look.Late}, {"delivered", '●', look.Good},
	{"delivered after a resend", '◉', look.Mark},
}

// worstBlock returns the state that represents several blocks: the least advanced state of those that are not
// delivered. If all are delivered, a block that was resent takes precedence.
func worstBlock(list []delivery.BlockState) delivery.BlockState {
	if worst := slices.Min(list); worst < delivery.BlockDelivered {
		return worst
	}
	return slices.Max(list)
}

// legend explains the markers, as many as fit into maxWidth columns.
func legend(maxWidth int) []look.Span {
	var groups [][]look.Span
	for _, k := range blockMarks {
		groups = append(groups, []look.Span{k.style.Span(string(k.symbol)), look.Dim.Span(" " + k.name + "  ")})
	}
	return look.FitGroups(maxWidth, groups)
}

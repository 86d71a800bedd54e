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
	states []delivery.BlockState

	emptyText string // shown while there are no blocks
}

func (p *blocks) Name() string { return "Blocks" }

func (p *blocks) Observe(v room.View) bool {
	lane := v.ActiveLane()
	emptyText := panes.NothingSentText(lane)
	if slices.Equal(p.states, lane.Blocks) && (len(p.states) > 0 || emptyText == p.emptyText) {
		return false
	}
	p.emptyText = emptyText
	p.states = lane.Blocks
	return true
}

// Draw implements room.Pane. If there are more blocks than cells, a cell shows several blocks.
func (p *blocks) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Blocks", p.legend(th, look.TitleSpace(c.W, "Blocks"))...)
	w, h := c.W-4, c.H-2
	if w < 1 || h < 1 {
		return
	}
	if len(p.states) == 0 {
		c.Clip(2, 1, w, look.Dim, p.emptyText)
		return
	}
	n := min(len(p.states), w*h)
	for i := range n {
		state := worstBlock(p.states[i*len(p.states)/n : (i+1)*len(p.states)/n])
		style, marker := blockStyle(th, state)
		c.Set(2+i%w, 1+i/w, style, marker)
	}
}

// worstBlock returns the state that represents several blocks: the least advanced state of those that are not
// delivered. If all are delivered, a block that was resent takes precedence.
func worstBlock(list []delivery.BlockState) delivery.BlockState {
	worst := list[0]
	for _, s := range list[1:] {
		missing := s < delivery.BlockDelivered
		if missing && s < worst || !missing && worst >= delivery.BlockDelivered && s > worst {
			worst = s
		}
	}
	return worst
}

// legend explains the markers, as many as fit into maxWidth columns.
func (p *blocks) legend(th *look.Theme, maxWidth int) []look.Span {
	var groups [][]look.Span
	for i, word := range blockStateNames() {
		style, marker := blockStyle(th, delivery.BlockState(i))
		groups = append(groups, []look.Span{style.Span(string(marker)), look.Dim.Span(" " + word + "  ")})
	}
	return look.FitGroups(maxWidth, groups)
}

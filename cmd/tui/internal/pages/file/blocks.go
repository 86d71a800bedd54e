package file

import (
	"slices"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/engine/delivery"
)

// blocks is a map of the blocks that the encoder under the keys sends: one sign
// each, or for some neighbours if they are too many.
type blocks struct {
	blocks []delivery.BlockState
	n      int // of blocks, which may be more

	nothing string // why there are none
}

func (p *blocks) Name() string { return "Blocks" }

func (p *blocks) Observe(v room.View) bool {
	lane := v.Lane()
	nothing := panes.NothingSentText(lane)
	if slices.Equal(p.blocks, lane.Blocks) && (len(p.blocks) > 0 || nothing == p.nothing) {
		return false
	}
	p.nothing = nothing
	p.blocks, p.n = lane.Blocks, 0
	if x := lane.Totals.Transfer; x != nil {
		p.n = x.Blocks
	}
	return true
}

func (p *blocks) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	c.Frame(th, focused, "Blocks", p.legend(th, look.HeadRoom(c.W, "Blocks"))...)
	w, h := c.W-4, c.H-2
	if w < 1 || h < 1 {
		return
	}
	if len(p.blocks) == 0 {
		c.Clip(2, 1, w, look.Dim, p.nothing)
		return
	}
	n := min(len(p.blocks), w*h)
	for i := range n {
		s := worstBlock(p.blocks[i*len(p.blocks)/n : (i+1)*len(p.blocks)/n])
		k, r := blockLook(th, s)
		c.Set(2+i%w, 1+i/w, k, r)
	}
}

// worstBlock stands for several blocks: what is missing counts before what is there.
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

// legend explains the signs.
func (p *blocks) legend(th *look.Theme, room int) []look.Span {
	var groups [][]look.Span
	for i, word := range blockWords() {
		k, r := blockLook(th, delivery.BlockState(i))
		groups = append(groups, []look.Span{k.Span(string(r)), look.Dim.Span(" " + word + "  ")})
	}
	return look.FitGroups(room, groups)
}

package ui

import (
	"slices"

	"wirelab/experiment/engine"
)

// blocksPane is a map of the blocks that the encoder under the keys sends: one sign
// each, or for some neighbours if they are too many.
type blocksPane struct {
	blocks []engine.BlockState
	n      int // of blocks, which may be more
}

func (p *blocksPane) name() string { return "Blocks" }

func (p *blocksPane) observe(v sight) bool {
	lane := v.lane()
	if slices.Equal(p.blocks, lane.Blocks) {
		return false
	}
	p.blocks, p.n = lane.Blocks, 0
	if x := lane.Totals.Transfer; x != nil {
		p.n = x.Blocks
	}
	return true
}

func (p *blocksPane) draw(c *canvas, th *theme, focused bool) {
	c.frame(th, focused, "Blocks", p.legend(th, headRoom(c.w, "Blocks"))...)
	w, h := c.w-4, c.h-2
	if w < 1 || h < 1 {
		return
	}
	if len(p.blocks) == 0 {
		c.clip(2, 1, w, inkDim, "nothing has been sent yet")
		return
	}
	n := min(len(p.blocks), w*h)
	for i := range n {
		s := worstBlock(p.blocks[i*len(p.blocks)/n : (i+1)*len(p.blocks)/n])
		k, r := blockLook(th, s)
		c.set(2+i%w, 1+i/w, k, r)
	}
}

// worstBlock stands for several blocks: what is missing counts before what is there.
func worstBlock(list []engine.BlockState) engine.BlockState {
	worst := list[0]
	for _, s := range list[1:] {
		missing := s < engine.BlockDelivered
		if missing && s < worst || !missing && worst >= engine.BlockDelivered && s > worst {
			worst = s
		}
	}
	return worst
}

// legend explains the signs.
func (p *blocksPane) legend(th *theme, room int) []span {
	var groups [][]span
	for i, word := range blockWords() {
		k, r := blockLook(th, engine.BlockState(i))
		groups = append(groups, []span{{k, string(r)}, {inkDim, " " + word + "  "}})
	}
	return uncut(room, groups)
}

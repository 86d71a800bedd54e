package cubes

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// orientationCoder codes an orientation relative to the baseline's, in any gear.
type orientationCoder interface {
	// begin codes what the listed cubes share.
	begin(c *coder, cur, base *frame.Frame, list []int32)
	// cost returns what the turn of the k-th cube takes in each gear. Instead it
	// can always be sent as it is, in limit bits.
	cost(k int, q, base *cube.Row) gearBits
	limit() int
	// code codes the turn of the k-th cube, whose position is known.
	code(c *coder, k int, q, base *cube.Row, gear int)
}

// motion codes a changed cube: which parts changed, the gear, and those parts relative
// to the baseline.
type motion struct {
	gearBits uint
	moves    positionCoder
	turn     orientationCoder
}

func (m *motion) begin(c *coder, cur, base *frame.Frame, list []int32) {
	m.turn.begin(c, cur, base, list)
}

func (m *motion) code(c *coder, k int, q, base *cube.Row) {
	moved, turned := parts(c, q, base)
	if !moved && !turned {
		return
	}
	var gear int
	if !c.reading {
		gear = m.choose(k, q, base, moved, turned)
	}
	gear = int(c.bits(uint64(gear), m.gearBits))
	c.charge(encoders.SlotFlags)
	if moved {
		m.moves.code(c, q, base, gear)
	}
	if turned {
		m.turn.code(c, k, q, base, gear)
	}
}

// parts codes which parts of the cube changed: one bit for the usual case, moved and
// turned, else a bit for either. A cube that is sent has changed, so "neither" and
// "both" imply that the interacting flag flipped.
func parts(c *coder, q, base *cube.Row) (moved, turned bool) {
	flipped := false
	if !c.reading {
		moved, turned = !cube.SamePosition(q, base), !cube.SameOrientation(q, base)
		flipped = q[frame.CubeInteracting] != base[frame.CubeInteracting]
	}
	if c.flag(moved && turned && !flipped) {
		moved, turned, flipped = true, true, false
		c.charge(encoders.SlotFlags)
	} else {
		moved, turned = c.flag(moved), c.flag(turned)
		c.charge(encoders.SlotFlags)
		if moved == turned {
			flipped = true
		} else {
			flipped = c.flag(flipped)
			c.charge(encoders.SlotInteracting)
		}
	}
	if flipped {
		q[frame.CubeInteracting] = base[frame.CubeInteracting] ^ 1
	}
	return moved, turned
}

// choose returns the gear with the fewest bits, the lowest of equals.
func (m *motion) choose(k int, q, base *cube.Row, moved, turned bool) int {
	var move, turn gearBits
	if moved {
		move = m.moves.cost(q, base)
	}
	if turned {
		turn = m.turn.cost(k, q, base)
	}
	limit, top := m.turn.limit(), len(m.moves.gears)-1
	gear, least := top, min(turn.in(top), limit)
	if moved { // in the highest gear even as it is
		least += 1 + min(move.in(top), cube.PositionBits)
	}
	for g := top - 1; g >= 0; g-- {
		if n := move.in(g) + min(turn.in(g), limit); move.in(g) < unreachable && n <= least {
			gear, least = g, n
		}
	}
	return gear
}

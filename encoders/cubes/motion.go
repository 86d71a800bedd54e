package cubes

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// turn codes an orientation relative to the baseline's, in any gear.
type turn interface {
	// plan looks at a turn that is to be written and returns what it takes in
	// each gear; instead it can always be sent as it is, for bits of limit.
	plan(q, base *cube) lanes
	limit() int
	// code codes it. A writer calls it after plan, for the same cube.
	code(c *coder, q, base *cube, gear int)
}

// motion codes a cube that changed: which of its parts did, its gear, and those
// parts relative to the baseline.
type motion struct {
	gearBits uint
	moves    moves
	turn     turn
}

func (m *motion) code(c *coder, q, base *cube) {
	moved, turned := parts(c, q, base)
	if !moved && !turned {
		return
	}
	var gear int
	if !c.reading {
		gear = m.choose(q, base, moved, turned)
	}
	gear = int(c.bits(uint64(gear), m.gearBits))
	c.charge(encoders.SlotFlags)
	if moved {
		m.moves.code(c, q, base, gear)
	}
	if turned {
		m.turn.code(c, q, base, gear)
	}
}

// parts codes which parts of the cube differ: one bit for the usual case, moved
// and turned. In the others a bit for either; and since a cube that is sent has
// changed, "neither" and "both" leave no doubt about interacting.
func parts(c *coder, q, base *cube) (moved, turned bool) {
	moved, turned = !samePosition(q, base), !sameOrientation(q, base)
	flipped := q[frame.CubeInteracting] != base[frame.CubeInteracting]
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

// choose returns the gear in which the cube takes the fewest bits, the lowest of
// equals.
func (m *motion) choose(q, base *cube, moved, turned bool) int {
	var move, turn lanes
	if moved {
		move = m.moves.plan(q, base)
	}
	if turned {
		turn = m.turn.plan(q, base)
	}
	top, limit := len(m.moves.gears)-1, m.turn.limit()
	gear := top
	least := min(move.in(top), positionBits) + 1 + min(turn.in(top), limit)
	if !moved {
		least = min(turn.in(top), limit)
	}
	for g := top - 1; g >= 0; g-- {
		if n := move.in(g); n < tooFar && n+min(turn.in(g), limit) <= least {
			gear, least = g, n+min(turn.in(g), limit)
		}
	}
	return gear
}

package cubes

import (
	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
)

// A cube that moves fast turns fast too, so one short number for each cube, its gear,
// sets all its widths: each gear is one bit wider than the one before. maxGears is
// what gear_bits can number, and what fits the bytes of gearBits.
const (
	maxGears = 8
	maxWidth = 14 // of a shifted width; bounds the tables
)

// shifted returns w in gear g of n: the middle gear, n/2, leaves it as it is.
func (w widths) shifted(g, n int) widths {
	shift := func(bits uint) uint { return uint(min(max(int(bits)+g-n/2, 0), maxWidth)) }
	return widths{shift(w.small), shift(w.large)}
}

// inGears returns w in each of n gears.
func (w widths) inGears(n int) []widths {
	list := make([]widths, n)
	for g := range list {
		list[g] = w.shifted(g, n)
	}
	return list
}

// gearBits holds the bits that a value takes in each gear, a byte for each, so that the
// bits of several values are added for all gears at once.
type gearBits uint64

// tooFar marks a gear that cannot express a difference. Three of them, and what
// a turn adds, stay below a byte; anything from tooFar on means "cannot".
const (
	// unreachable marks a gear that cannot express a difference. The sum of three and a turn
	// stays below a byte; any sum from unreachable on means "cannot".
	unreachable    = 64
	allUnreachable = gearBits(unreachable * 0x0101010101010101)
)

// in returns the bits in gear g.
func (l gearBits) in(g int) int { return int(l >> (8 * g) & 255) }

// add adds n bits in every gear.
func (l gearBits) add(n int) gearBits { return l + gearBits(n)*0x0101010101010101 }

// gearBitsTable holds the gearBits of every difference that some gear can express, by
// its zigzag.
type gearBitsTable []gearBits

func newGearBitsTable(gears []widths) gearBitsTable {
	size := 0
	for _, w := range gears {
		size = max(size, 1<<w.small+1<<w.large)
	}
	t := make(gearBitsTable, size)
	for z := range t {
		for g := range maxGears {
			n := unreachable
			if g < len(gears) && gears[g].fits(uint32(z)) {
				n = gears[g].bits(uint32(z))
			}
			t[z] |= gearBits(n) << (8 * g)
		}
	}
	return t
}

// of returns the gearBits of a difference.
func (t gearBitsTable) of(v int32) gearBits {
	if z := zigzag(v); int(z) < len(t) {
		return t[z]
	}
	return allUnreachable
}

// positionCoder codes positions relative to the baseline in any gear.
type positionCoder struct {
	gears []offset
	xy, z gearBitsTable
}

func newPositionCoder(xy, z widths, n int) positionCoder {
	xys, zs := xy.inGears(n), z.inGears(n)
	m := positionCoder{xy: newGearBitsTable(xys), z: newGearBitsTable(zs)}
	for g := range n {
		m.gears = append(m.gears, offset{xys[g], zs[g]})
	}
	return m
}

// cost returns the bits of the three differences in each gear.
func (m *positionCoder) cost(q, base *cube.Row) gearBits {
	return m.xy.of(q[frame.CubeX]-base[frame.CubeX]) +
		m.xy.of(q[frame.CubeY]-base[frame.CubeY]) +
		m.z.of(q[frame.CubeZ]-base[frame.CubeZ])
}

// code codes the position. Only in the highest gear a bit says whether it is relative;
// lower gears are chosen only if they can express it.
func (m *positionCoder) code(c *coder, q, base *cube.Row, gear int) {
	if gear == len(m.gears)-1 {
		m.gears[gear].positionOrAbsolute(c, q, base)
	} else {
		m.gears[gear].position(c, q, base)
	}
}

package cubes

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// positionWidths are bits of a difference of positions to the baseline, in steps of 1/512 m.
type positionWidths struct {
	XYSmall int `toml:"xy_small" help:"a small difference of x or y" unit:"bits" min:"1" max:"10"`
	XYLarge int `toml:"xy_large" help:"a large difference of x or y" unit:"bits" min:"1" max:"14"`
	ZSmall  int `toml:"z_small" help:"a small difference of z" unit:"bits" min:"1" max:"10"`
	ZLarge  int `toml:"z_large" help:"a large difference of z" unit:"bits" min:"1" max:"14"`
}

func (p *positionWidths) offset() offset {
	return offset{xy: widths{uint(p.XYSmall), uint(p.XYLarge)}, z: widths{uint(p.ZSmall), uint(p.ZLarge)}}
}

// orientationParams are the widths of relative-orientation, in the middle gear. With
// gear_bits = 0 there is only that one, as in the article.
type orientationParams struct {
	positionWidths
	OrientSmall int `toml:"orientation_small" help:"a small difference of a smallest-three component" unit:"bits" min:"1" max:"10"`
	OrientLarge int `toml:"orientation_large" help:"a large difference of a smallest-three component" unit:"bits" min:"1" max:"10"`
	GearBits    int `toml:"gear_bits" help:"a cube's gear, which shifts all its widths; 0: none, as published" unit:"bits" min:"0" max:"3"`
}

// newRelativePosition returns the rung that sends the position as a difference to the baseline:
// each component small or large, or, if one is neither, all three absolute.
func newRelativePosition(rows int, params any) rung {
	move := params.(*positionWidths).offset()
	return &delta{indices: newGaps(rows, publishedGaps...), rows: independent(func(c *coder, q, base *cube.Row) {
		absoluteOrientation(c, q)
		move.positionOrAbsolute(c, q, base)
		interacting(c, q)
	})}
}

// newRelativeOrientation returns the rung that sends the orientation as a difference too.
func newRelativeOrientation(rows int, params any) rung {
	p := params.(*orientationParams)
	n := 1 << p.GearBits
	turn := newSmallestThree(widths{uint(p.OrientSmall), uint(p.OrientLarge)}, n)
	return newMotion(rows, p.offset(), p.GearBits, turn)
}

// newMotion returns the rung of a motion with widths for the middle of 1<<gearBits gears.
func newMotion(rows int, o offset, gearBits int, turn orientationCoder) rung {
	m := &motion{gearBits: uint(gearBits), moves: newPositionCoder(o.xy, o.z, 1<<gearBits), turn: turn}
	return &delta{indices: newGaps(rows, closeGaps...), rows: m}
}

// orientationCoder codes an orientation relative to the baseline's, in any gear.
type orientationCoder interface {
	// begin codes what the listed cubes share.
	begin(c *coder, cur, base *frame.Frame, list []int32)
	// cost returns what the turn of the k-th cube takes in each gear. Instead it
	// can always be sent in full, in limit bits.
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
	if moved { // in the highest gear even in full
		least += 1 + min(move.in(top), cube.PositionBits)
	}
	for g := top - 1; g >= 0; g-- {
		if n := move.in(g) + min(turn.in(g), limit); move.in(g) < unreachable && n <= least {
			gear, least = g, n
		}
	}
	return gear
}

// offset codes a position relative to the baseline's.
type offset struct{ xy, z widths }

// fits reports whether all three differences can be expressed.
func (o offset) fits(q, base *cube.Row) bool {
	return o.xy.fits(zigzag(q[frame.CubeX]-base[frame.CubeX])) &&
		o.xy.fits(zigzag(q[frame.CubeY]-base[frame.CubeY])) &&
		o.z.fits(zigzag(q[frame.CubeZ]-base[frame.CubeZ]))
}

// positionOrAbsolute codes the position, relative if it can be; a bit says so.
func (o offset) positionOrAbsolute(c *coder, q, base *cube.Row) {
	if c.flag(!c.reading && o.fits(q, base)) {
		o.position(c, q, base)
	} else {
		unpackPosition(q, c.bits(packPosition(q), cube.PositionBits))
		c.charge(encoders.SlotPosition)
	}
}

// position codes the three differences, which must fit.
func (o offset) position(c *coder, q, base *cube.Row) {
	if c.reading {
		x := word{bits: c.r.Peek()}
		q[frame.CubeX] = base[frame.CubeX] + x.take(o.xy)
		q[frame.CubeY] = base[frame.CubeY] + x.take(o.xy)
		q[frame.CubeZ] = base[frame.CubeZ] + x.take(o.z)
		c.r.Skip(x.n)
		return
	}
	var x word
	x.put(o.xy, q[frame.CubeX]-base[frame.CubeX])
	x.put(o.xy, q[frame.CubeY]-base[frame.CubeY])
	x.put(o.z, q[frame.CubeZ]-base[frame.CubeZ])
	c.w.Bits(x.bits, x.n)
	c.charge(encoders.SlotPosition)
}

// closeGaps gives the next cube, half of all, a range of its own: 1 bit, and the
// ranges of the article behind it one bit more.
var closeGaps = []uint{0, 3, 5}

// smallestThree codes an orientation as differences of the smallest three.
type smallestThree struct {
	gears []widths
	table gearBitsTable
}

func newSmallestThree(w widths, n int) *smallestThree {
	gears := w.inGears(n)
	return &smallestThree{gears: gears, table: newGearBitsTable(gears)}
}

func (*smallestThree) begin(*coder, *frame.Frame, *frame.Frame, []int32) {}

func (t *smallestThree) cost(_ int, q, base *cube.Row) gearBits {
	if q[frame.CubeLargest] != base[frame.CubeLargest] {
		return allUnreachable
	}
	return t.table.of(q[frame.CubeA]-base[frame.CubeA]) +
		t.table.of(q[frame.CubeB]-base[frame.CubeB]) +
		t.table.of(q[frame.CubeC]-base[frame.CubeC])
}

func (*smallestThree) limit() int { return cube.OrientationBits }

func (t *smallestThree) code(c *coder, k int, q, base *cube.Row, gear int) {
	relative := c.flag(!c.reading && t.cost(k, q, base).in(gear) <= cube.OrientationBits)
	if !relative {
		absoluteOrientation(c, q)
		return
	}
	v := [3]int32{q[frame.CubeA] - base[frame.CubeA], q[frame.CubeB] - base[frame.CubeB], q[frame.CubeC] - base[frame.CubeC]}
	t.gears[gear].three(c, &v)
	q[frame.CubeLargest] = base[frame.CubeLargest]
	q[frame.CubeA], q[frame.CubeB], q[frame.CubeC] = base[frame.CubeA]+v[0], base[frame.CubeB]+v[1], base[frame.CubeC]+v[2]
	c.charge(encoders.SlotOrientation)
}

// A cube that moves fast turns fast too, so one short number for each cube, its gear,
// sets all its widths: each gear is one bit wider than the one before. maxGears is
// what gear_bits can number, and what fits the bytes of gearBits.
const (
	maxGears = 8
	maxWidth = 14 // of a shifted width; bounds the tables
)

// inGears returns w in each of n gears. The middle one, n/2, leaves it unchanged.
func (w widths) inGears(n int) []widths {
	list := make([]widths, n)
	for g := range list {
		shift := func(bits uint) uint { return uint(min(max(int(bits)+g-n/2, 0), maxWidth)) }
		list[g] = widths{shift(w.small), shift(w.large)}
	}
	return list
}

// gearBits holds the bits that a value takes in each gear, a byte for each, so that the
// bits of several values are added for all gears at once.
type gearBits uint64

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

// code codes the position. Only in the highest gear does a bit mark a relative one;
// lower gears are chosen only if they can express it.
func (m *positionCoder) code(c *coder, q, base *cube.Row, gear int) {
	if gear == len(m.gears)-1 {
		m.gears[gear].positionOrAbsolute(c, q, base)
	} else {
		m.gears[gear].position(c, q, base)
	}
}

// widths are the bits that a signed difference takes: small if it fits there,
// else large. One bit selects the range. Since a large value is known not to be small,
// the large range begins where the small one ends, on both sides.
type widths struct{ small, large uint }

// zigzag maps 0, -1, 1, -2, 2, ... to 0, 1, 2, 3, 4, ..., so that a range of n
// bits around zero, [-2^(n-1), 2^(n-1)-1], is the range below 2^n.
func zigzag(v int32) uint32 { return uint32(v<<1) ^ uint32(v>>31) }

// unzigzag is the inverse of zigzag.
func unzigzag(z uint32) int32 { return int32(z>>1) ^ -int32(z&1) }

// fits reports whether w can express the difference z, in zigzag.
func (w widths) fits(z uint32) bool { return z < 1<<w.small+1<<w.large }

// bits returns what the difference z takes, in zigzag; it must fit.
func (w widths) bits(z uint32) int {
	if z < 1<<w.small {
		return 1 + int(w.small)
	}
	return 1 + int(w.large)
}

// word is a run of up to 57 bits of a packet that are coded at once, because half of all time
// is spent on differences: a writer puts them together, a reader takes them off.
type word struct {
	bits uint64 // to be written, or left to be read; low ones first
	n    uint   // how many were put or taken
}

// put appends the difference v, which must fit.
func (x *word) put(w widths, v int32) {
	if z := zigzag(v); z < 1<<w.small {
		x.bits |= uint64(z) << (x.n + 1)
		x.n += 1 + w.small
	} else {
		x.bits |= (uint64(z-1<<w.small)<<1 | 1) << x.n
		x.n += 1 + w.large
	}
}

// take takes off a difference.
func (x *word) take(w widths) int32 {
	n, from := w.small, uint32(0)
	if x.bits&1 != 0 {
		n, from = w.large, 1<<w.small
	}
	z := uint32(x.bits>>1&(1<<n-1)) + from
	x.bits >>= n + 1
	x.n += n + 1
	return unzigzag(z)
}

// three codes three differences, which must fit. A reader replaces them by what it reads.
func (w widths) three(c *coder, v *[3]int32) {
	if c.reading {
		x := word{bits: c.r.Peek()}
		v[0], v[1], v[2] = x.take(w), x.take(w), x.take(w)
		c.r.Skip(x.n)
		return
	}
	var x word
	x.put(w, v[0])
	x.put(w, v[1])
	x.put(w, v[2])
	c.w.Bits(x.bits, x.n)
}

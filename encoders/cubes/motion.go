package cubes

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// positionWidths are parameters: the bits of a difference in position from the baseline, in units of
// 1/512 m.
type positionWidths struct {
	XYSmall int `toml:"xy_small" help:"width of a small difference in x or y" unit:"bits" min:"1" max:"10"`
	XYLarge int `toml:"xy_large" help:"width of a large difference in x or y" unit:"bits" min:"1" max:"14"`
	ZSmall  int `toml:"z_small" help:"width of a small difference in z" unit:"bits" min:"1" max:"10"`
	ZLarge  int `toml:"z_large" help:"width of a large difference in z" unit:"bits" min:"1" max:"14"`
}

func (p *positionWidths) axisWidths() axisWidths {
	return axisWidths{xy: widths{uint(p.XYSmall), uint(p.XYLarge)}, z: widths{uint(p.ZSmall), uint(p.ZLarge)}}
}

// orientationParams are the parameters of relative-orientation: the widths in the middle width class.
// With gear_bits = 0 there is only one class, as in the article.
type orientationParams struct {
	positionWidths
	OrientSmall int `toml:"orientation_small" help:"width of a small difference in a smallest-three component" unit:"bits" min:"1" max:"10"`
	OrientLarge int `toml:"orientation_large" help:"width of a large difference in a smallest-three component" unit:"bits" min:"1" max:"10"`
	GearBits    int `toml:"gear_bits" help:"bits of a cube's width class, which shifts the widths of all its differences; 0: one class, as published" unit:"bits" min:"0" max:"3"`
}

// newRelativePosition returns the rung that sends the position as a difference from the baseline. Each
// component takes the small or the large width; if one fits neither, all three are absolute.
func newRelativePosition(rows int, params any) rung {
	move := params.(*positionWidths).axisWidths()
	return &changedRung{indices: newGaps(rows, publishedGapWidths...), alone: true,
		rows: independent(func(c *coder, q, base *cube.Row) {
			codeAbsoluteOrientation(c, q)
			if c.trace != nil {
				c.traceAbsoluteOrientation()
			}
			move.codePositionOrAbsolute(c, q, base)
			codeInteracting(c, q)
			if c.trace != nil {
				c.traceInteracting()
			}
		})}
}

// newRelativeOrientation returns the rung that also sends the orientation as a difference.
func newRelativeOrientation(rows int, params any) rung {
	p := params.(*orientationParams)
	numClasses := 1 << p.GearBits
	turn := newSmallestThreeCoder(widths{uint(p.OrientSmall), uint(p.OrientLarge)}, numClasses)
	r := newMotionRung(rows, p.axisWidths(), p.GearBits, turn)
	r.alone = true
	return r
}

// newMotionRung returns a rung with a motionCoder of 1<<classBits width classes. position are the
// widths in the middle class; turns codes the orientations.
func newMotionRung(rows int, position axisWidths, classBits int, turns orientationCoder) *changedRung {
	m := &motionCoder{classBits: uint(classBits), position: newPositionCoder(position.xy, position.z, 1<<classBits),
		orientation: turns}
	return &changedRung{indices: newGaps(rows, closeGapWidths...), rows: m}
}

// orientationCoder codes the orientations of a frame's changed cubes relative to the baseline, in any
// width class.
type orientationCoder interface {
	// beginFrame codes what the listed cubes share.
	beginFrame(c *coder, cur, base *frame.Frame, list []int32)
	// costs returns the bits of the orientation of cube number k of the list relative to base in each
	// width class, without flags.
	costs(k int, q, base *cube.Row) classCosts
	// absoluteBits returns the bits of an absolute orientation, which fits any width class.
	absoluteBits() int
	// codeOrientation codes the orientation of cube number k of the list, whose position is coded.
	codeOrientation(c *coder, k int, q, base *cube.Row, class int)
}

// motionCoder is a rowCoder: it codes which parts of a cube changed (codeParts), the width class if
// position or orientation changed, and the changed parts relative to the baseline.
type motionCoder struct {
	classBits   uint             // of the width class; 0 with a single class
	position    positionCoder    // codes positions
	orientation orientationCoder // codes orientations
}

func (m *motionCoder) beginRows(c *coder, cur, base *frame.Frame, list []int32) {
	m.orientation.beginFrame(c, cur, base, list)
}

// codeRow implements rowCoder. The interacting flag is part of codeParts.
func (m *motionCoder) codeRow(c *coder, k int, q, base *cube.Row) {
	moved, turned := codeParts(c, q, base)
	if !moved && !turned {
		return
	}
	var class int
	if !c.reading {
		class = m.chooseClass(k, q, base, moved, turned)
	}
	class = int(c.codeBits(uint64(class), m.classBits))
	c.charge(encoders.SlotFlags)
	c.traceTo(encoders.SlotFlags)
	if moved {
		m.position.codePosition(c, q, base, class)
	}
	if turned {
		m.orientation.codeOrientation(c, k, q, base, class)
	}
}

// codeParts codes which parts of the cube changed and sets the interacting flag of q. A 1 is the usual
// case: position and orientation changed, the interacting flag did not. After a 0 follow a bit for the
// position and one for the orientation. If exactly one of them changed, a third bit is for the flag. Otherwise
// the flag must have changed: a cube in the list differs, and the usual case is excluded.
func codeParts(c *coder, q, base *cube.Row) (moved, turned bool) {
	flagChanged := false
	if !c.reading {
		moved, turned = !cube.SamePosition(q, base), !cube.SameOrientation(q, base)
		flagChanged = q[frame.CubeInteracting] != base[frame.CubeInteracting]
	}
	if c.codeFlag(moved && turned && !flagChanged) {
		moved, turned, flagChanged = true, true, false
		c.charge(encoders.SlotFlags)
		c.traceTo(encoders.SlotFlags)
	} else {
		moved, turned = c.codeFlag(moved), c.codeFlag(turned)
		c.charge(encoders.SlotFlags)
		c.traceTo(encoders.SlotFlags)
		if moved == turned {
			flagChanged = true
		} else {
			flagChanged = c.codeFlag(flagChanged)
			c.charge(encoders.SlotInteracting)
			if c.trace != nil {
				c.traceInteracting()
			}
		}
	}
	if flagChanged {
		q[frame.CubeInteracting] = base[frame.CubeInteracting] ^ 1
	}
	return moved, turned
}

// chooseClass returns the width class in which cube number k takes the fewest bits, the lowest such
// class. moved and turned are the parts that changed. Only in the last class may the position be
// absolute, see positionCoder.codePosition.
func (m *motionCoder) chooseClass(k int, q, base *cube.Row, moved, turned bool) int {
	var move, turn classCosts
	if moved {
		move = m.position.costs(q, base)
	}
	if turned {
		turn = m.orientation.costs(k, q, base)
	}
	// In the last class the position may be absolute, after a flag; it costs 0 if it did not change.
	absoluteBits, lastClass := m.orientation.absoluteBits(), len(m.position.classes)-1
	class, fewest := lastClass, min(turn.ofClass(lastClass), absoluteBits)
	if moved {
		fewest += 1 + min(move.ofClass(lastClass), cube.PositionBits)
	}
	for lower := lastClass - 1; lower >= 0; lower-- {
		if cost := move.ofClass(lower) + min(turn.ofClass(lower), absoluteBits); move.ofClass(lower) < doesNotFit && cost <= fewest {
			class, fewest = lower, cost
		}
	}
	return class
}

// axisWidths are the widths of a difference in x or y, and in z.
type axisWidths struct{ xy, z widths }

// fits reports whether all three differences fit the widths.
func (o axisWidths) fits(q, base *cube.Row) bool {
	return o.xy.fits(zigzag(q[frame.CubeX]-base[frame.CubeX])) &&
		o.xy.fits(zigzag(q[frame.CubeY]-base[frame.CubeY])) &&
		o.z.fits(zigzag(q[frame.CubeZ]-base[frame.CubeZ]))
}

// codePositionOrAbsolute codes a flag and the position: relative to base if it fits the widths,
// otherwise absolute.
func (o axisWidths) codePositionOrAbsolute(c *coder, q, base *cube.Row) {
	if c.codeFlag(!c.reading && o.fits(q, base)) {
		o.codePosition(c, q, base)
	} else {
		unpackPosition(q, c.codeBits(packPosition(q), cube.PositionBits))
		c.charge(encoders.SlotPosition)
		if c.trace != nil {
			c.traceFields(encoders.SlotPosition, frame.CubeX, c.w.Len(), cube.XYBits, cube.XYBits, cube.ZBits)
		}
	}
}

// codePosition codes the differences in position, which must fit the widths.
func (o axisWidths) codePosition(c *coder, q, base *cube.Row) {
	if c.reading {
		packed := word{bits: c.r.Peek()}
		q[frame.CubeX] = base[frame.CubeX] + packed.next(o.xy)
		q[frame.CubeY] = base[frame.CubeY] + packed.next(o.xy)
		q[frame.CubeZ] = base[frame.CubeZ] + packed.next(o.z)
		c.r.Skip(packed.n)
		return
	}
	var packed word
	packed.append(o.xy, q[frame.CubeX]-base[frame.CubeX])
	xEnd := packed.n
	packed.append(o.xy, q[frame.CubeY]-base[frame.CubeY])
	yEnd := packed.n
	packed.append(o.z, q[frame.CubeZ]-base[frame.CubeZ])
	c.w.Bits(packed.bits, packed.n)
	c.charge(encoders.SlotPosition)
	if c.trace != nil {
		c.traceFields(encoders.SlotPosition, frame.CubeX, c.w.Len(), xEnd, yEnd-xEnd, packed.n-yEnd)
	}
}

// closeGapWidths are the widths of gaps for rungs after the article. The distance 1, which half of all distances
// are, has a range of its own that takes one bit. The other ranges are those of the article (publishedGapWidths)
// and take one bit more.
var closeGapWidths = []uint{0, 3, 5}

// smallestThreeCoder is an orientationCoder: differences of the smallest three, or the absolute
// orientation if the largest component changed or a difference does not fit.
type smallestThreeCoder struct {
	classes   []widths       // of a difference in each width class
	costTable classCostTable // bits of a difference, in each width class
}

// newSmallestThreeCoder returns a coder of n width classes; w are the widths in the middle class.
func newSmallestThreeCoder(w widths, n int) *smallestThreeCoder {
	classes := w.inClasses(n)
	return &smallestThreeCoder{classes: classes, costTable: newClassCostTable(classes)}
}

// beginFrame implements orientationCoder: the cubes share nothing.
func (*smallestThreeCoder) beginFrame(*coder, *frame.Frame, *frame.Frame, []int32) {}

// costs implements orientationCoder. With another largest component the differences have no meaning.
func (t *smallestThreeCoder) costs(_ int, q, base *cube.Row) classCosts {
	if q[frame.CubeLargest] != base[frame.CubeLargest] {
		return allDoNotFit
	}
	return t.costTable.costs(q[frame.CubeA]-base[frame.CubeA]) +
		t.costTable.costs(q[frame.CubeB]-base[frame.CubeB]) +
		t.costTable.costs(q[frame.CubeC]-base[frame.CubeC])
}

// absoluteBits implements orientationCoder: the smallest three without a flag.
func (*smallestThreeCoder) absoluteBits() int { return cube.OrientationBits }

// codeOrientation implements orientationCoder: a flag, and then the differences or the absolute orientation.
func (t *smallestThreeCoder) codeOrientation(c *coder, k int, q, base *cube.Row, class int) {
	relative := c.codeFlag(!c.reading && t.costs(k, q, base).ofClass(class) <= cube.OrientationBits)
	if !relative {
		codeAbsoluteOrientation(c, q)
		if c.trace != nil {
			c.traceAbsoluteOrientation()
		}
		return
	}
	v := [3]int32{q[frame.CubeA] - base[frame.CubeA], q[frame.CubeB] - base[frame.CubeB], q[frame.CubeC] - base[frame.CubeC]}
	t.classes[class].codeThree(c, &v)
	q[frame.CubeLargest] = base[frame.CubeLargest]
	q[frame.CubeA], q[frame.CubeB], q[frame.CubeC] = base[frame.CubeA]+v[0], base[frame.CubeB]+v[1], base[frame.CubeC]+v[2]
	c.charge(encoders.SlotOrientation)
	c.traceTo(encoders.SlotOrientation)
}

// A cube that moves fast usually also turns fast. So one short number for each cube, its width class,
// sets the widths of all its differences: in each class they are one bit larger than in the class
// before.
const (
	maxClasses = 8  // of gear_bits = 3; also the bytes of classCosts
	maxWidth   = 14 // of a shifted width; bounds the tables
)

// inClasses returns the widths in each of n width classes. In the middle class, n/2, they are w.
func (w widths) inClasses(n int) []widths {
	list := make([]widths, n)
	for g := range list {
		shift := func(bits uint) uint { return uint(min(max(int(bits)+g-n/2, 0), maxWidth)) }
		list[g] = widths{shift(w.small), shift(w.large)}
	}
	return list
}

// classCosts holds the bits that a value takes in each width class, a byte for each class with class 0
// lowest. The costs of several values are added for all classes at once.
type classCosts uint64

const (
	// doesNotFit is the cost in a class in which a difference does not fit. A sum of at least
	// doesNotFit means the same: three differences that fit take at most 45 bits, and a sum of three fits a byte.
	doesNotFit  = 64
	allDoNotFit = classCosts(doesNotFit * 0x0101010101010101) // doesNotFit in every class
)

// ofClass returns the bits in width class g.
func (l classCosts) ofClass(g int) int { return int(l >> (8 * g) & 255) }

// addToAll adds n bits in every class.
func (l classCosts) addToAll(n int) classCosts { return l + classCosts(n)*0x0101010101010101 }

// classCostTable holds the costs of every difference that fits some width class, by its zigzag code.
type classCostTable []classCosts

// newClassCostTable returns the table for the given widths of each class: for every difference, by its zigzag code,
// a byte of costs for each class.
func newClassCostTable(classes []widths) classCostTable {
	size := 0
	for _, w := range classes {
		size = max(size, 1<<w.small+1<<w.large)
	}
	t := make(classCostTable, size)
	for z := range t {
		for g := range maxClasses {
			n := doesNotFit // also of the unused bytes, if there are fewer than maxClasses classes
			if g < len(classes) && classes[g].fits(uint32(z)) {
				n = classes[g].bits(uint32(z))
			}
			t[z] |= classCosts(n) << (8 * g)
		}
	}
	return t
}

// costs returns the bits of a difference in each class.
func (t classCostTable) costs(v int32) classCosts {
	if z := zigzag(v); int(z) < len(t) {
		return t[z]
	}
	return allDoNotFit
}

// positionCoder codes positions relative to the baseline in any width class.
type positionCoder struct {
	classes []axisWidths   // widths in each class
	xy, z   classCostTable // bits of a difference in x or y, and in z, in each class
}

// newPositionCoder returns a positionCoder of n width classes; xy and z are the widths in the middle class.
func newPositionCoder(xy, z widths, n int) positionCoder {
	xys, zs := xy.inClasses(n), z.inClasses(n)
	m := positionCoder{xy: newClassCostTable(xys), z: newClassCostTable(zs)}
	for g := range n {
		m.classes = append(m.classes, axisWidths{xys[g], zs[g]})
	}
	return m
}

// costs returns the bits of the three differences in each class.
func (m *positionCoder) costs(q, base *cube.Row) classCosts {
	return m.xy.costs(q[frame.CubeX]-base[frame.CubeX]) +
		m.xy.costs(q[frame.CubeY]-base[frame.CubeY]) +
		m.z.costs(q[frame.CubeZ]-base[frame.CubeZ])
}

// codePosition codes the position. In the last class a flag marks a relative position, and others are
// absolute. Lower classes are chosen only for positions that fit, so they need no flag.
func (m *positionCoder) codePosition(c *coder, q, base *cube.Row, class int) {
	if class == len(m.classes)-1 {
		m.classes[class].codePositionOrAbsolute(c, q, base)
	} else {
		m.classes[class].codePosition(c, q, base)
	}
}

// widths are the bits of a signed difference: small if it fits there, otherwise large. One bit selects
// the range. A large difference is known not to fit the small range, so the large range begins where
// the small one ends, on both sides of zero.
type widths struct{ small, large uint }

// zigzag maps 0, -1, 1, -2, 2, ... to 0, 1, 2, 3, 4, ..., so that a range of n
// bits around zero, [-2^(n-1), 2^(n-1)-1], is the range below 2^n.
func zigzag(v int32) uint32 { return uint32(v<<1) ^ uint32(v>>31) }

// unzigzag is the inverse of zigzag.
func unzigzag(z uint32) int32 { return int32(z>>1) ^ -int32(z&1) }

// fits reports whether the difference with zigzag code z fits w.
func (w widths) fits(z uint32) bool { return z < 1<<w.small+1<<w.large }

// bits returns the number of bits of the difference with zigzag code z, which must fit: one that selects the small
// or the large range, and the bits of the range.
func (w widths) bits(z uint32) int {
	if z < 1<<w.small {
		return 1 + int(w.small)
	}
	return 1 + int(w.large)
}

// word collects up to 57 bits of a packet, so that several differences are written or read at once.
// Half of the time of these encoders is spent on differences.
type word struct {
	bits uint64 // bits to be written, or bits not read yet; the lowest bit is the first
	n    uint   // number of bits appended or read so far
}

// append appends the difference v, which must fit w. The lowest bit selects the range: 0 small, 1 large.
func (x *word) append(w widths, v int32) {
	if z := zigzag(v); z < 1<<w.small {
		x.bits |= uint64(z) << (x.n + 1)
		x.n += 1 + w.small
	} else {
		x.bits |= (uint64(z-1<<w.small)<<1 | 1) << x.n
		x.n += 1 + w.large
	}
}

// next removes the first difference from the bits and returns it: one bit selects the small or the large range of w,
// the others are the zigzag code, counted from the start of the range.
func (x *word) next(w widths) int32 {
	n, start := w.small, uint32(0)
	if x.bits&1 != 0 {
		n, start = w.large, 1<<w.small
	}
	z := uint32(x.bits>>1&(1<<n-1)) + start
	x.bits >>= n + 1
	x.n += n + 1
	return unzigzag(z)
}

// codeThree writes three differences, which must fit, or replaces them with those that it reads.
func (w widths) codeThree(c *coder, differences *[3]int32) {
	if c.reading {
		packed := word{bits: c.r.Peek()}
		differences[0], differences[1], differences[2] = packed.next(w), packed.next(w), packed.next(w)
		c.r.Skip(packed.n)
		return
	}
	var packed word
	packed.append(w, differences[0])
	aEnd := packed.n
	packed.append(w, differences[1])
	bEnd := packed.n
	packed.append(w, differences[2])
	c.w.Bits(packed.bits, packed.n)
	if c.trace != nil {
		c.traceFields(encoders.SlotOrientation, frame.CubeA, c.w.Len(), aEnd, bEnd-aEnd, packed.n-bEnd)
	}
}

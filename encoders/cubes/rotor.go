package cubes

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rotation"
)

// rotorParams are the parameters of rotor; widths are those in the middle width class.
type rotorParams struct {
	positionWidths
	RotorSmall int `toml:"rotor_small" help:"width of a small component of the rotation" unit:"bits" min:"1" max:"12"`
	RotorLarge int `toml:"rotor_large" help:"width of a large component of the rotation" unit:"bits" min:"1" max:"12"`
	RotorSteps int `toml:"rotor_steps" help:"steps of a rotation's component from no rotation to half a turn" unit:"steps" min:"128" max:"4096"`
	RollBits   int `toml:"roll_bits" help:"bits of the roll, the turn of a cube per distance moved, which each packet contains once; 0: no roll" unit:"bits" min:"0" max:"4"`
	GearBits   int `toml:"gear_bits" help:"bits of a cube's width class, which shifts the widths of all its differences; 0: one class" unit:"bits" min:"0" max:"3"`
}

// newRotor returns the rung that sends an orientation as the rotation from the baseline's orientation.
func newRotor(rows int, params any) rung {
	p := params.(*rotorParams)
	classes := widths{uint(p.RotorSmall), uint(p.RotorLarge)}.inClasses(1 << p.GearBits) // a class for each value of GearBits bits
	return newMotionRung(rows, p.axisWidths(), p.GearBits, &rotor{steps: int32(p.RotorSteps),
		rollBits: uint(p.RollBits), classes: classes,
		costTable: newClassCostTable(classes), plans: make([]rotorPlan, rows)})
}

// rotor is an orientationCoder: the rotation since the baseline as a bivector (Doran, "Quaternions,
// Rotations and Compression", 2015), minus the bivector of a cube that rolls as far as it moved. Most
// bivectors, applied to the baseline and quantised, give the orientation exactly; otherwise a
// correction of at most a step in each component follows.
//
// Once per packet: the roll. Then for each cube, in order: a flag "exact"; if it is 0, a flag
// "relative"; if both are 0, the absolute orientation; otherwise three differences of the bivector and,
// unless exact, the correction.
type rotor struct {
	steps     int32          // number of steps into which the length of a bivector is quantised, from no rotation to half a turn
	rollBits  uint           // number of bits of the roll in a packet
	classes   []widths       // by width class: the two sizes of a difference of a component
	costTable classCostTable // bits of a difference of a component, in each width class
	roll      int32          // of this packet, see predictRoll
	plans     []rotorPlan    // when encoding: of each cube of the list that turned
}

// rotorPlan is how an encoder sends one rotation.
type rotorPlan struct {
	bivector   bivector // the rotation since the baseline
	correction int      // noCorrection if the bivector is exact
	absolute   bool     // no bivector is close enough: the orientation is sent absolute
}

// beginFrame implements orientationCoder: it codes the roll, unless no cube changed.
func (t *rotor) beginFrame(c *coder, cur, base *frame.Frame, list []int32) {
	if len(list) == 0 {
		return
	}
	if !c.reading {
		t.roll = t.planAll(cur, base, list)
	}
	t.roll = int32(c.codeBits(uint64(t.roll), t.rollBits))
	c.charge(encoders.SlotOrientation)
	c.traceTo(encoders.SlotOrientation)
}

// planAll sets t.plans to the plans for the cubes of the list that turned, and returns the roll that gives the
// shortest differences, or the smallest of several such rolls.
func (t *rotor) planAll(cur, base *frame.Frame, list []int32) int32 {
	var length [16]int // of each roll, at most 1<<4: sum of the bit lengths of the differences; z has no roll
	for k, i := range list {
		q, old := cube.At(cur.Table, int(i)), cube.At(base.Table, int(i))
		if cube.SameOrientation(q, old) {
			continue
		}
		plan := t.planTurn(q, old)
		t.plans[k] = plan
		for roll := range 1 << t.rollBits {
			rolled := predictRoll(q, old, int32(roll))
			length[roll] += bits.Len32(zigzag(plan.bivector[0]-rolled[0])) + bits.Len32(zigzag(plan.bivector[1]-rolled[1]))
		}
	}
	best := 0 // the first of equal lengths
	for roll := range 1 << t.rollBits {
		if length[roll] < length[best] {
			best = roll
		}
	}
	return int32(best)
}

// planTurn returns how to send the rotation from base to q. It tries the nearest bivector and its 26
// neighbours, and otherwise corrects the nearest one.
func (t *rotor) planTurn(q, base *cube.Row) rotorPlan {
	from := orientation(base)
	nearest := bivectorBetween(from, orientation(q), t.steps)
	decoded := nearest.applyTo(from, t.steps) // what a decoder would compute
	if cube.SameOrientation(&decoded, q) {
		return rotorPlan{bivector: nearest, correction: noCorrection}
	}
	for i := range numCorrections { // correctionDigit enumerates the neighbours
		near := bivector{nearest[0] + correctionDigit(i, 0), nearest[1] + correctionDigit(i, 1), nearest[2] + correctionDigit(i, 2)}
		if decoded := near.applyTo(from, t.steps); cube.SameOrientation(&decoded, q) {
			return rotorPlan{bivector: near, correction: noCorrection}
		}
	}
	correction, ok := findCorrection(&decoded, q)
	return rotorPlan{bivector: nearest, correction: correction, absolute: !ok}
}

// predictRoll returns the bivector, in steps, of a cube that rolls from base to q: about the horizontal
// axis perpendicular to its motion, by roll/8 steps for each unit of position.
func predictRoll(q, base *cube.Row, roll int32) bivector {
	dx, dy := q[frame.CubeX]-base[frame.CubeX], q[frame.CubeY]-base[frame.CubeY]
	return bivector{-dy * roll >> 3, dx * roll >> 3, 0}
}

// A correction is -1, 0 or 1 for each of the smallest three, as three base-3 digits of 0, 1 or 2.
const (
	noCorrection   = 1 + 3 + 9 // 0 for each component
	numCorrections = 27
	correctionBits = 5
)

// errCorrection marks a decoded correction that no encoder writes.
var errCorrection = errors.New("rotor correction is invalid")

// correctionDigit returns the correction, -1 to 1, of component k.
func correctionDigit(correction, k int) int32 {
	for range k {
		correction /= 3
	}
	return int32(correction%3 - 1)
}

// findCorrection returns the correction from got to want. It returns false if a
// component differs by more than a step or another component is the largest: then no correction exists.
func findCorrection(got, want *cube.Row) (int, bool) {
	if got[frame.CubeLargest] != want[frame.CubeLargest] {
		return noCorrection, false
	}
	correction := 0
	for k := frame.CubeC; k >= frame.CubeA; k-- {
		d := want[k] - got[k]
		if d < -1 || d > 1 {
			return noCorrection, false
		}
		correction = correction*3 + int(d+1)
	}
	return correction, true
}

// absoluteBits implements orientationCoder: the second flag and the smallest three.
func (t *rotor) absoluteBits() int { return 1 + cube.OrientationBits }

// costs implements orientationCoder: the bits of the three differences from the predicted roll, and of the
// correction, if any. A correction has the flag "relative" before it, which counts as one more bit.
func (t *rotor) costs(k int, q, base *cube.Row) classCosts {
	plan := &t.plans[k]
	if plan.absolute {
		return allDoNotFit
	}
	rolled := predictRoll(q, base, t.roll)
	cost := t.costTable.costs(plan.bivector[0]-rolled[0]) + t.costTable.costs(plan.bivector[1]-rolled[1]) +
		t.costTable.costs(plan.bivector[2]-rolled[2])
	if plan.correction != noCorrection {
		cost = cost.addToAll(1 + correctionBits)
	}
	return cost
}

// codeOrientation implements orientationCoder: a flag "exact"; if it is 0, a flag "relative"; if both are 0, the
// absolute orientation; otherwise three differences from the predicted roll and, unless exact, a correction.
func (t *rotor) codeOrientation(c *coder, k int, q, base *cube.Row, class int) {
	var plan rotorPlan
	relative := false
	if !c.reading {
		plan = t.plans[k]
		relative = t.costs(k, q, base).ofClass(class) <= t.absoluteBits()
	}
	exact := c.codeFlag(relative && plan.correction == noCorrection) // true: relative, and no correction follows
	if !exact && !c.codeFlag(relative) {
		codeAbsoluteOrientation(c, q)
		if c.trace != nil {
			c.traceAbsoluteOrientation()
		}
		return
	}
	rolled := predictRoll(q, base, t.roll)
	diff := [3]int32{plan.bivector[0] - rolled[0], plan.bivector[1] - rolled[1], plan.bivector[2] - rolled[2]}
	t.classes[class].codeThree(c, &diff) // when decoding it replaces diff by the differences of the packet
	turn := bivector{rolled[0] + diff[0], rolled[1] + diff[1], rolled[2] + diff[2]}
	correction := noCorrection
	if !exact {
		correction = int(c.codeBits(uint64(plan.correction), correctionBits))
		if correction >= numCorrections || correction == noCorrection { // no encoder writes these
			c.fail(fmt.Errorf("%w: %d, expected 0 to %d except %d", errCorrection, correction, numCorrections-1, noCorrection))
		}
	}
	if c.reading {
		decoded := turn.applyTo(orientation(base), t.steps)
		q[frame.CubeLargest] = decoded[frame.CubeLargest]
		for i := range 3 {
			q[frame.CubeA+i] = decoded[frame.CubeA+i] + correctionDigit(correction, i)
		}
	}
	c.charge(encoders.SlotOrientation)
	c.traceTo(encoders.SlotOrientation)
}

// orientationGrid is the grid of the smallest three: 511 steps from -1/sqrt(2) to 1/sqrt(2), which is
// 361.33 steps to 1. Step 256 stands for zero, so that the orientation of a cube that lies flat, 0 0 0 1,
// is exact.
var orientationGrid = rotation.SmallestThree{Scale: smallScale, Zero: smallZero}

const (
	smallScale = 361.33
	smallZero  = 256
)

func orientation(q *cube.Row) rotation.Quaternion {
	return orientationGrid.Decode(q[frame.CubeLargest], q[frame.CubeA:frame.CubeX])
}

// quantise returns a row with the smallest three of f and zeros elsewhere.
func quantise(f rotation.Quaternion) cube.Row {
	largest, _ := f.Largest()
	scale := math.Copysign(smallScale, f[largest]) // negates f if needed: the largest component, not stored, is positive
	q := cube.Row{frame.CubeLargest: int32(largest)}
	k := frame.CubeA
	for i := range f {
		if i != largest {
			step := math.Floor(float64(f[i]*scale) + (smallZero + 0.5))
			q[k] = int32(min(max(step, 0), 1<<cube.SmallBits-1))
			k++
		}
	}
	return q
}

// bivector is b = v/(1+w) for the quaternion with vector part v and scalar part w, in integer steps:
// the axis of a rotation times tan(angle/4). The length of half a turn is 1, given in steps by the
// parameter rotor_steps.
type bivector [3]int32

// bivectorBetween returns the bivector of the shorter rotation from one orientation to another. steps is the
// length of half a turn.
func bivectorBetween(from, to rotation.Quaternion, steps int32) bivector {
	r := to.Times(from.Conjugate())
	if r[3] < 0 {
		r = r.Negative()
	}
	scale := float64(steps) / (1 + r[3])
	return bivector{int32(math.Round(r[0] * scale)), int32(math.Round(r[1] * scale)), int32(math.Round(r[2] * scale))}
}

// applyTo returns a row with the orientation from after the rotation b, quantised. Its other fields are 0. steps is
// the length of half a turn in units of b.
func (b bivector) applyTo(from rotation.Quaternion, steps int32) cube.Row {
	// w = (1-b*b)/(1+b*b) and v = 2b/(1+b*b). With b in steps, numerators and denominators are
	// integers, so each component takes a single rounding before the product.
	s, x, y, z := int64(steps), int64(b[0]), int64(b[1]), int64(b[2])
	bb := x*x + y*y + z*z
	scale := 1 / float64(s*s+bb)
	r := rotation.Quaternion{float64(2*s*x) * scale, float64(2*s*y) * scale, float64(2*s*z) * scale, float64(s*s-bb) * scale}
	return quantise(r.Times(from))
}

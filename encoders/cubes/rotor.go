package cubes

import (
	"errors"
	"math"
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rotation"
)

// rotorParams are the widths of rotor, in the middle gear.
type rotorParams struct {
	positionWidths
	RotorSmall int `toml:"rotor_small" help:"a small component of the rotor" unit:"bits" min:"1" max:"12"`
	RotorLarge int `toml:"rotor_large" help:"a large component of the rotor" unit:"bits" min:"1" max:"12"`
	RotorSteps int `toml:"rotor_steps" help:"steps of a rotor's component from none to half a turn" unit:"steps" min:"128" max:"4096"`
	RollBits   int `toml:"roll_bits" help:"how far cubes roll for what they move, once a packet; 0: they do not" unit:"bits" min:"0" max:"4"`
	GearBits   int `toml:"gear_bits" help:"a cube's gear, which shifts all its widths; 0: none" unit:"bits" min:"0" max:"3"`
}

// newRotor returns the rung that sends an orientation as the turn that leads there from the
// baseline's.
func newRotor(rows int, params any) rung {
	p := params.(*rotorParams)
	gears := widths{uint(p.RotorSmall), uint(p.RotorLarge)}.inGears(1 << p.GearBits)
	return newMotion(rows, p.offset(), p.GearBits, &rotor{steps: int32(p.RotorSteps), rollBits: uint(p.RollBits), gears: gears,
		table: newGearBitsTable(gears), plans: make([]rotorPlan, rows)})
}

// rotor codes a turn as its bivector in steps. Most such bivectors, applied to the
// baseline and quantised, give the orientation exactly; otherwise a correction of at
// most a step in each component follows.
type rotor struct {
	steps    int32
	rollBits uint
	gears    []widths
	table    gearBitsTable
	roll     int32       // of this packet, see rolled
	plans    []rotorPlan // of a writer, for each of the list
}

// rotorPlan is how a writer will send one turn.
type rotorPlan struct {
	b       bivector
	miss    int  // the correction; noMiss if none
	useless bool // no rotor will do: the orientation is sent in full
}

func (t *rotor) begin(c *coder, cur, base *frame.Frame, list []int32) {
	if len(list) == 0 {
		return
	}
	if !c.reading {
		t.roll = t.planAll(cur, base, list)
	}
	t.roll = int32(c.bits(uint64(t.roll), t.rollBits))
	c.charge(encoders.SlotOrientation)
}

// planAll plans the turns of a packet and returns the roll that leaves the shortest
// residuals, the smallest of equals.
func (t *rotor) planAll(cur, base *frame.Frame, list []int32) int32 {
	var length [16]int // bits that are left, by roll
	for k, i := range list {
		q, p := cube.At(cur.Table, int(i)), cube.At(base.Table, int(i))
		if cube.SameOrientation(q, p) {
			continue
		}
		plan := t.plan(q, p)
		t.plans[k] = plan
		for roll := range 1 << t.rollBits {
			r := rollPrediction(q, p, int32(roll))
			length[roll] += bits.Len32(zigzag(plan.b[0]-r[0])) + bits.Len32(zigzag(plan.b[1]-r[1]))
		}
	}
	best := 0
	for roll := range 1 << t.rollBits {
		if length[roll] < length[best] {
			best = roll
		}
	}
	return int32(best)
}

// plan finds the bivector and the correction of one turn.
func (t *rotor) plan(q, base *cube.Row) rotorPlan {
	from := orientation(base)
	b := between(from, orientation(q), t.steps)
	got := b.turn(from, t.steps)
	if cube.SameOrientation(&got, q) {
		return rotorPlan{b: b, miss: noMiss}
	}
	for i := range misses { // neighbouring bivectors are exact for most of the rest
		near := bivector{b[0] + digit(i, 0), b[1] + digit(i, 1), b[2] + digit(i, 2)}
		if got := near.turn(from, t.steps); cube.SameOrientation(&got, q) {
			return rotorPlan{b: near, miss: noMiss}
		}
	}
	miss, ok := missOf(&got, q)
	return rotorPlan{b: b, miss: miss, useless: !ok}
}

// rollPrediction is the turn, in steps, of a cube that rolls: about the horizontal axis
// across its motion, by roll/8 steps for each step of position.
func rollPrediction(q, base *cube.Row, roll int32) bivector {
	dx, dy := q[frame.CubeX]-base[frame.CubeX], q[frame.CubeY]-base[frame.CubeY]
	return bivector{-dy * roll >> 3, dx * roll >> 3, 0}
}

// A miss is a correction of -1, 0 or 1 for each component, as three digits of base 3.
const (
	noMiss   = 1 + 3 + 9
	misses   = 27
	missBits = 5
)

var errMiss = errors.New("rotor correction is invalid")

// digit returns digit k of a miss.
func digit(miss, k int) int32 {
	for range k {
		miss /= 3
	}
	return int32(miss%3 - 1)
}

// missOf returns the correction from got to want, and whether there is one.
func missOf(got, want *cube.Row) (int, bool) {
	if got[frame.CubeLargest] != want[frame.CubeLargest] {
		return noMiss, false
	}
	miss := 0
	for k := frame.CubeC; k >= frame.CubeA; k-- {
		d := want[k] - got[k]
		if d < -1 || d > 1 {
			return noMiss, false
		}
		miss = miss*3 + int(d+1)
	}
	return miss, true
}

// limit is the second flag and the smallest three.
func (t *rotor) limit() int { return 1 + cube.OrientationBits }

func (t *rotor) cost(k int, q, base *cube.Row) gearBits {
	plan := &t.plans[k]
	if plan.useless {
		return allUnreachable
	}
	r := rollPrediction(q, base, t.roll)
	cost := t.table.of(plan.b[0]-r[0]) + t.table.of(plan.b[1]-r[1]) + t.table.of(plan.b[2]-r[2])
	if plan.miss != noMiss {
		cost = cost.add(1 + missBits)
	}
	return cost
}

func (t *rotor) code(c *coder, k int, q, base *cube.Row, gear int) {
	var plan rotorPlan
	relative := false
	if !c.reading {
		plan = t.plans[k]
		relative = t.cost(k, q, base).in(gear) <= t.limit()
	}
	hit := c.flag(relative && plan.miss == noMiss)
	if !hit && !c.flag(relative) {
		absoluteOrientation(c, q)
		return
	}
	r := rollPrediction(q, base, t.roll)
	v := [3]int32{plan.b[0] - r[0], plan.b[1] - r[1], plan.b[2] - r[2]}
	t.gears[gear].three(c, &v)
	r = bivector{r[0] + v[0], r[1] + v[1], r[2] + v[2]}
	miss := noMiss
	if !hit {
		miss = int(c.bits(uint64(plan.miss), missBits))
		if miss >= misses || miss == noMiss {
			c.fail(errMiss)
		}
	}
	if c.reading {
		got := r.turn(orientation(base), t.steps)
		q[frame.CubeLargest] = got[frame.CubeLargest]
		for i := range 3 {
			q[frame.CubeA+i] = got[frame.CubeA+i] + digit(miss, i)
		}
	}
	c.charge(encoders.SlotOrientation)
}

// orientationGrid is the grid of the smallest three: 511 steps span -1/sqrt(2) to +1/sqrt(2),
// which makes 361.33 steps to 1. Step 256 stands for zero, so that a cube that lies
// flat has orientation 0 0 0 1 exactly.
var orientationGrid = rotation.SmallestThree{Scale: smallScale, Zero: smallZero}

const (
	smallScale = 361.33
	smallZero  = 256
)

// orientation returns the orientation of a cube.
func orientation(q *cube.Row) rotation.Quaternion {
	return orientationGrid.Decode(q[frame.CubeLargest], q[frame.CubeA:frame.CubeX])
}

// quantise returns a cube that has only the smallest three of f.
func quantise(f rotation.Quaternion) cube.Row {
	largest, _ := f.Largest()
	scale := math.Copysign(smallScale, f[largest])
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

// bivector is b = v/(1+w) of a rotor w+v, in whole steps: the axis of a turn
// times tan(angle/4), so that half a turn has length one.
type bivector [3]int32

// between returns the bivector of the shorter turn from one orientation to
// another.
func between(from, to rotation.Quaternion, steps int32) bivector {
	r := to.Times(from.Conjugate())
	if r[3] < 0 {
		r = r.Negative()
	}
	scale := float64(steps) / (1 + r[3])
	return bivector{int32(math.Round(r[0] * scale)), int32(math.Round(r[1] * scale)), int32(math.Round(r[2] * scale))}
}

// turn applies b to an orientation and quantises the outcome: its smallest three
// are what matters of the cube it returns.
func (b bivector) turn(from rotation.Quaternion, steps int32) cube.Row {
	// w = (1-bb)/(1+bb) and v = 2b/(1+bb); with b in steps both fractions are of
	// integers.
	s, x, y, z := int64(steps), int64(b[0]), int64(b[1]), int64(b[2])
	bb := x*x + y*y + z*z
	scale := 1 / float64(s*s+bb)
	r := rotation.Quaternion{float64(2*s*x) * scale, float64(2*s*y) * scale, float64(2*s*z) * scale, float64(s*s-bb) * scale}
	return quantise(r.Times(from))
}

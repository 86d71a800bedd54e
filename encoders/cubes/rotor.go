package cubes

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// RotorParams are the widths of rotor, as they are in the middle gear.
type RotorParams struct {
	XYSmall    int `toml:"xy_small" help:"a small difference of x or y" unit:"bits" min:"1" max:"10"`
	XYLarge    int `toml:"xy_large" help:"a large difference of x or y" unit:"bits" min:"1" max:"14"`
	ZSmall     int `toml:"z_small" help:"a small difference of z" unit:"bits" min:"1" max:"10"`
	ZLarge     int `toml:"z_large" help:"a large difference of z" unit:"bits" min:"1" max:"14"`
	RotorSmall int `toml:"rotor_small" help:"a small component of the rotor" unit:"bits" min:"1" max:"12"`
	RotorLarge int `toml:"rotor_large" help:"a large component of the rotor" unit:"bits" min:"1" max:"12"`
	RotorSteps int `toml:"rotor_steps" help:"steps of a rotor's component from 0 to 1; 1 is half a turn" unit:"steps" min:"128" max:"4096"`
	GearBits   int `toml:"gear_bits" help:"a cube's gear, which shifts all its widths; 0: none" unit:"bits" min:"0" max:"3"`
}

// Rotor sends an orientation as the turn that leads there from the baseline's.
// A turn knows nothing of which component is the largest, nor of signs, and it
// is near zero whenever the cube hardly turned.
func Rotor() encoders.Codec {
	return encoders.Codec{
		ID: 9, Name: "rotor", Refs: 1, Suits: frame.IsCubes,
		Summary: "orientation as the rotor from the baseline to now, in bivector form: no largest index, no signs",
		Source:  "Quaternions, Rotations and Compression, Chris Doran, 2015",
		Params:  &RotorParams{XYSmall: 6, XYLarge: 7, ZSmall: 6, ZLarge: 7, RotorSmall: 5, RotorLarge: 7, RotorSteps: 690, GearBits: 3},
		New: climb(func(rows int, params any) rung {
			p := params.(*RotorParams)
			n := 1 << p.GearBits
			m := &motion{
				gearBits: uint(p.GearBits),
				moves:    newMoves(widths{uint(p.XYSmall), uint(p.XYLarge)}, widths{uint(p.ZSmall), uint(p.ZLarge)}, n),
				turn:     newRotor(widths{uint(p.RotorSmall), uint(p.RotorLarge)}, p.RotorSteps, n),
			}
			return &delta{which: newGaps(rows, closeGaps...), one: m.code}
		}),
	}
}

// rotor codes an orientation as the bivector b = v/(1+w) of the rotor w+v that
// turns the baseline's into it, each component in steps. Applied to the baseline
// and quantised, most rotors hit the very orientation that was meant; what they
// miss it by, at most one step of a component, follows if they do not.
type rotor struct {
	steps int32
	gears []widths
	table laneTable

	// The plan for the orientation that is to be written.
	b     bivector
	miss  int   // 0..26: what is to be added, three digits of base 3; noMiss if nothing
	lanes lanes // what it takes
}

const (
	noMiss   = 13 // the digits 1 1 1, each standing for 0
	missBits = 5
)

func newRotor(w widths, steps, n int) *rotor {
	gears := w.inGears(n)
	return &rotor{steps: int32(steps), gears: gears, table: newLaneTable(gears)}
}

func (t *rotor) limit() int { return 1 + orientationBits }

func (t *rotor) plan(q, base *cube) lanes {
	from := quaternion(base)
	t.b = between(from, quaternion(q), t.steps)
	t.miss = noMiss
	got := t.b.apply(from, t.steps)
	if !sameOrientation(&got, q) {
		if b, ok := t.near(from, q); ok {
			t.b = b
		} else if t.miss, ok = missOf(&got, q); !ok {
			t.lanes = allTooFar
			return t.lanes
		}
	}
	t.lanes = t.table.of(t.b[0]) + t.table.of(t.b[1]) + t.table.of(t.b[2])
	if t.miss != noMiss {
		t.lanes = t.lanes.plus(1 + missBits)
	}
	return t.lanes
}

// near looks for a rotor next to the planned one that hits q.
func (t *rotor) near(from [4]float64, q *cube) (bivector, bool) {
	for i := range 27 {
		b := t.b
		for k := range b {
			b[k] += digit(i, k)
		}
		if got := b.apply(from, t.steps); sameOrientation(&got, q) {
			return b, true
		}
	}
	return t.b, false
}

// digit returns digit k, in base 3, of a miss: -1, 0 or 1.
func digit(miss, k int) int32 {
	for range k {
		miss /= 3
	}
	return int32(miss%3 - 1)
}

// missOf returns what is to be added to got so that it becomes want, and whether
// that can be said.
func missOf(got, want *cube) (int, bool) {
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

func (t *rotor) code(c *coder, q, base *cube, gear int) {
	relative := t.lanes.in(gear) <= t.limit() // only a writer knows
	hit := c.flag(relative && t.miss == noMiss)
	if !hit && !c.flag(relative) {
		absoluteOrientation(c, q)
		return
	}
	w := t.gears[gear]
	for k := range t.b {
		t.b[k] = w.difference(c, t.b[k])
	}
	miss := noMiss
	if !hit {
		miss = int(c.bits(uint64(t.miss), missBits))
	}
	if c.reading {
		turned := t.b.apply(quaternion(base), t.steps)
		for k := frame.CubeLargest; k <= frame.CubeC; k++ {
			q[k] = turned[k]
			if k != frame.CubeLargest {
				q[k] += digit(miss, k-frame.CubeA)
			}
		}
	}
	c.charge(encoders.SlotOrientation)
}

// bivector is b = v/(1+w) of a rotor w+v, that is axis times tan(angle/4), in
// steps. It ranges over a ball of radius one, half a turn.
type bivector [3]int32

// between returns the bivector of the shorter turn from one orientation to
// another, rounded to steps.
//
// Both ends compute with it and apply. Every product that is added is converted,
// so that no compiler fuses it, and only + - * / and the square root are used,
// which IEEE 754 rounds the same everywhere.
func between(from, to [4]float64, steps int32) bivector {
	x, y, z, w := multiply(to, [4]float64{-from[0], -from[1], -from[2], from[3]})
	if w < 0 {
		x, y, z, w = -x, -y, -z, -w
	}
	scale := float64(steps) / (1 + w)
	return bivector{int32(math.Round(x * scale)), int32(math.Round(y * scale)), int32(math.Round(z * scale))}
}

// apply turns an orientation and quantises it as the smallest three.
func (b bivector) apply(from [4]float64, steps int32) cube {
	// w = (1-bb)/(1+bb), v = 2b/(1+bb), all of it times steps squared: integers.
	s, x, y, z := int64(steps), int64(b[0]), int64(b[1]), int64(b[2])
	bb := x*x + y*y + z*z
	scale := 1 / float64(s*s+bb)
	r := [4]float64{float64(2*s*x) * scale, float64(2*s*y) * scale, float64(2*s*z) * scale, float64(s*s-bb) * scale}
	var to [4]float64
	to[0], to[1], to[2], to[3] = multiply(r, from)
	return quantise(to)
}

// multiply returns the product of two quaternions x y z w.
func multiply(p, q [4]float64) (x, y, z, w float64) {
	x = float64(p[3]*q[0]) + float64(p[0]*q[3]) + float64(p[1]*q[2]) - float64(p[2]*q[1])
	y = float64(p[3]*q[1]) - float64(p[0]*q[2]) + float64(p[1]*q[3]) + float64(p[2]*q[0])
	z = float64(p[3]*q[2]) + float64(p[0]*q[1]) - float64(p[1]*q[0]) + float64(p[2]*q[3])
	w = float64(p[3]*q[3]) - float64(p[0]*q[0]) - float64(p[1]*q[1]) - float64(p[2]*q[2])
	return x, y, z, w
}

// quantise returns a cube with the smallest three of a quaternion.
func quantise(f [4]float64) cube {
	largest := 0
	for i := range f {
		if math.Abs(f[i]) > math.Abs(f[largest]) {
			largest = i
		}
	}
	scale := float64(smallScale)
	if f[largest] < 0 {
		scale = -smallScale
	}
	q := cube{frame.CubeLargest: int32(largest)}
	k := frame.CubeA
	for i := range f {
		if i != largest {
			v := math.Floor(float64(f[i]*scale) + (smallZero + 0.5))
			q[k] = int32(min(max(v, 0), 1<<smallBits-1))
			k++
		}
	}
	return q
}

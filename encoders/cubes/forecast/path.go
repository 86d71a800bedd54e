package forecast

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// Mode is the force that the player exerts on the cubes around it.
type Mode uint8

// The modes. Infer derives the mode from the snapshot: a player among many cubes
// pulls, one that hovers pushes. What follows the snapshot says more: see Simulator.Mode.
const (
	Infer Mode = iota
	none
	Push
	Pull
)

const (
	hoverUnits = 640 // a player above this does not roll
	pullCrowd  = 12  // cubes around a player who pulls; under one that pushes there are fewer
)

// Path is the motion of the player, cube 0: its rows at the baseline, before it, and at
// the end of the run.
type Path struct {
	Before, From, To []int32 // rows of cube 0; Before may be nil
	Lead             int     // ticks between Before and From
	Ticks            int     // ticks between From and To
	Mode             Mode

	from, to, bend vec // metres; bend is the acceleration times the time squared
	spin           vec
}

// steps returns the number of steps of a run and their length.
func (p *Path) steps() (n int, dt float64) {
	ticks := max(1, min(p.Ticks, math.MaxUint8))
	n, dt = min(ticks, maxSteps), tickSeconds
	if ticks > maxSteps {
		dt = min(float64(float64(ticks)*tickSeconds)/maxSteps, maxStep)
	}
	p.prepare(float64(float64(n) * dt))
	return n, dt
}

// prepare fits a parabola to the three positions and a constant spin to the two
// orientations.
func (p *Path) prepare(seconds float64) {
	p.from, p.to = PositionOf(p.From).Scale(metre), PositionOf(p.To).Scale(metre)
	p.bend = vec{}
	if p.Before != nil && p.Lead > 0 && p.Ticks > 0 {
		// With u the time over Ticks: f(-g) = before, f(0) = from, f(1) = to.
		g := float64(min(p.Lead, math.MaxUint8)) / float64(min(p.Ticks, math.MaxUint8))
		ahead, behind := p.to.Sub(p.from), p.from.Sub(PositionOf(p.Before).Scale(metre))
		p.bend = ahead.Sub(behind.Scale(1 / g)).Scale(2 / (1 + g))
	}
	p.spin = Log(Mul(RotationOf(p.To), Conj(RotationOf(p.From)))).Scale(1 / seconds).Limit(4 * maxSpin)
}

// inferMode replaces Infer by the mode that suits the snapshot.
func (p *Path) inferMode(table []int32) {
	if p.Mode != Infer {
		return
	}
	const reach = pullReach * frame.UnitsPerMetre
	near := 0
	x, y, z := int64(p.From[frame.CubeX]), int64(p.From[frame.CubeY]), int64(p.From[frame.CubeZ])
	for at := frame.CubeFields; at < len(table); at += frame.CubeFields {
		row := (*[frame.CubeFields]int32)(table[at:])
		dx := int64(row[frame.CubeX]) - x
		if uint64(dx+1024) > 2*1024 {
			continue // as most are
		}
		dy, dz := int64(row[frame.CubeY])-y, int64(row[frame.CubeZ])-z
		if float64(dx*dx+dy*dy+dz*dz) < reach*reach {
			near++
		}
	}
	switch {
	case near >= pullCrowd:
		p.Mode = Pull
	case p.From[frame.CubeZ] > hoverUnits:
		p.Mode = Push
	default:
		p.Mode = none
	}
}

// at returns the position of the player after share u of the time.
func (p *Path) at(u float64) vec {
	return p.from.AddScaled(p.to.Sub(p.from), u).AddScaled(p.bend, float64(0.5*(float64(u*u)-u)))
}

// movePlayer moves the player along during step k of n.
func (p *Path) movePlayer(s *physics.Scene, k, n int, dt float64) {
	b := s.Body(0)
	here, next := p.at(float64(k)/float64(n)), p.at(float64(k+1)/float64(n))
	b.Pos, b.Vel, b.Spin = here, next.Sub(here).Scale(1/dt), p.spin
}

// The forces of the player, as accelerations.
const (
	pushReach  = 2.0
	pushOrigin = -0.1 // the height from which cubes are blown away
	pushMost   = 500.0
	pullReach  = 1.8
	pullNear   = 0.2
	pullMost   = 2000.0
	strength   = 200.0 // at a metre
)

// applyForces applies the player's forces to the cubes around it.
func (p *Path) applyForces(s *physics.Scene) {
	pos := s.Body(0).Pos
	if p.Mode == Push {
		origin := vec{X: pos.X, Y: pos.Y, Z: pushOrigin}
		s.Around(origin, pushReach, func(i int, away vec, square float64) {
			if i != 0 && square > 1e-4 {
				s.Pull(i, away.Scale(min(strength/square, pushMost)/math.Sqrt(square)))
			}
		})
	}
	if p.Mode == Pull {
		s.Around(pos, pullReach, func(i int, away vec, square float64) {
			if i != 0 && square > pullNear*pullNear {
				s.Pull(i, away.Scale(-min(strength/square, pullMost)/math.Sqrt(square)))
			}
		})
	}
}

package forecast

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// Mode is the force that the player exerts on the cubes around it. A snapshot does not contain it.
type Mode uint8

// The modes. Infer derives the mode from the snapshot: a player among many cubes pulls, one that hovers
// pushes, any other exerts no force. The next snapshot shows the mode more reliably, see Simulator.Mode.
const (
	Infer Mode = iota
	noForce
	Push
	Pull
)

const (
	hoverHeight       = 640 // height in units above which the player hovers; a rolling player is lower
	minPullNeighbours = 12  // number of cubes within pullRadius that a pulling player has at least; a pushing player has fewer
)

// Path is the motion of the player, cube 0: its rows before the baseline, at the baseline, and at the end
// of the run.
type Path struct {
	Before, From, To []int32 // Before is nil if unknown
	BeforeTicks      int     // ticks between Before and From; 0 if unknown
	Ticks            int     // ticks between From and To
	Mode             Mode

	// Set by prepare.
	from, to  vec // positions of the player at the start and at the end of the run, in metres
	curvature vec // acceleration times the square of the time of the run, in metres
	spin      vec // of the player, in rad/s
}

// steps returns into how many simulation steps a run is divided, and their length dt in seconds. A step is a
// tick, but in runs of more than maxSteps ticks it is longer, up to maxStep. steps also prepares the path for
// positionAt.
func (p *Path) steps() (n int, dt float64) {
	ticks := max(1, min(p.Ticks, math.MaxUint8))
	n, dt = min(ticks, maxSteps), tickSeconds
	if ticks > maxSteps {
		dt = min(float64(float64(ticks)*tickSeconds)/maxSteps, maxStep)
	}
	p.prepare(float64(float64(n) * dt))
	return n, dt
}

// prepare fits a parabola to the three positions and a constant spin to the last two orientations.
// Without Before the path is straight. seconds is the time of the run.
func (p *Path) prepare(seconds float64) {
	p.from, p.to = Position(p.From).Scale(metre), Position(p.To).Scale(metre)
	p.curvature = vec{}
	if p.Before != nil && p.BeforeTicks > 0 && p.Ticks > 0 {
		// With the time u in units of Ticks and g = beforeRatio, the parabola f has f(-g) = before, f(0) = from,
		// f(1) = to. More than 255 ticks count as 255, as in steps.
		beforeRatio := float64(min(p.BeforeTicks, math.MaxUint8)) / float64(min(p.Ticks, math.MaxUint8))
		ahead, behind := p.to.Sub(p.from), p.from.Sub(Position(p.Before).Scale(metre))
		p.curvature = ahead.Sub(behind.Scale(1 / beforeRatio)).Scale(2 / (1 + beforeRatio))
	}
	// The limit is four times that of cubes.
	p.spin = Log(Mul(Orientation(p.To), Conj(Orientation(p.From)))).Scale(1 / seconds).Limit(4 * maxSpin)
}

// inferMode replaces the mode Infer by the one that the snapshot with the given table suggests: see Mode.
func (p *Path) inferMode(table []int32) {
	if p.Mode != Infer {
		return
	}
	const reach = pullRadius * frame.UnitsPerMetre
	neighbours := 0
	x, y, z := int64(p.From[frame.CubeX]), int64(p.From[frame.CubeY]), int64(p.From[frame.CubeZ])
	for offset := frame.CubeFields; offset < len(table); offset += frame.CubeFields {
		row := (*[frame.CubeFields]int32)(table[offset:])
		dx := int64(row[frame.CubeX]) - x
		if uint64(dx+1024) > 2*1024 { // |dx| > 1024, in one comparison; reach is 921.6
			continue // too far away, as most cubes are
		}
		dy, dz := int64(row[frame.CubeY])-y, int64(row[frame.CubeZ])-z
		if float64(dx*dx+dy*dy+dz*dz) < reach*reach {
			neighbours++
		}
	}
	switch {
	case neighbours >= minPullNeighbours:
		p.Mode = Pull
	case p.From[frame.CubeZ] > hoverHeight:
		p.Mode = Push
	default:
		p.Mode = noForce
	}
}

// positionAt returns the position of the player in metres at time u, 0 at the start and 1 at the end of
// the run.
func (p *Path) positionAt(u float64) vec {
	return p.from.AddScaled(p.to.Sub(p.from), u).AddScaled(p.curvature, float64(0.5*(float64(u*u)-u)))
}

// movePlayer puts the player at its position at the start of step k of n, with the speed that takes it to its
// position at the end of the step. dt is the length of a step in seconds.
func (p *Path) movePlayer(s *physics.Scene, k, n int, dt float64) {
	b := s.Body(0)
	position, next := p.positionAt(float64(k)/float64(n)), p.positionAt(float64(k+1)/float64(n))
	b.Pos, b.Vel, b.Spin = position, next.Sub(position).Scale(1/dt), p.spin
}

// The forces of the player, as accelerations in m/s2 and distances in m. A force falls with the square of
// the distance. The values are those of the program that made the recordings.
const (
	pushRadius       = 2.0
	pushOriginHeight = -0.1 // cubes are pushed away from this height under the player
	maxPush          = 500.0
	pullRadius       = 1.8
	minPullDistance  = 0.2
	maxPull          = 2000.0
	forceAtMetre     = 200.0 // at a distance of 1 m
)

// applyForces applies the player's force to the cubes around it, for the next step. A pushing player pushes from a
// point under the floor, a pulling one pulls to its centre. The force falls with the square of the distance. away is
// the vector from that point to a cube, square its squared length in m2.
func (p *Path) applyForces(s *physics.Scene) {
	pos := s.Body(0).Pos
	if p.Mode == Push {
		origin := vec{X: pos.X, Y: pos.Y, Z: pushOriginHeight}
		s.ForEachNear(origin, pushRadius, func(i int, away vec, square float64) {
			if i != 0 && square > 1e-4 { // not the player itself; the direction of a very near cube is undefined
				s.Accelerate(i, away.Scale(min(forceAtMetre/square, maxPush)/math.Sqrt(square)))
			}
		})
	}
	if p.Mode == Pull {
		s.ForEachNear(pos, pullRadius, func(i int, away vec, square float64) {
			if i != 0 && square > minPullDistance*minPullDistance {
				s.Accelerate(i, away.Scale(-min(forceAtMetre/square, maxPull)/math.Sqrt(square)))
			}
		})
	}
}

package world

import (
	"wirelab/dataset/physics"
)

// The push and the pull fall off with the square of the distance d (metres).
// Strength over d squared is an acceleration (m/s^2), up to a limit.
const (
	strength = 200.0

	pushReach = 2.0
	pushLimit = 500.0
	pushDepth = 0.1  // the push comes from this far below the floor under the player
	ownNearer = 0.7  // the player's own distance from there counts as so much less
	laden     = 20.0 // factor on the push of a player that also pulls: it lifts the cubes it holds
	pullFrom  = 0.2
	pullTo    = 1.8
	pullLimit = 2000.0
	nowhere   = 1e-6 // below this there is no direction to push in
)

// push blows everything away from the point under the player, the player
// included: that is what it hovers on.
func (s *sim) push(pulling bool) {
	at := s.Player().Pos
	origin := physics.Vec{X: at.X, Y: at.Y, Z: -pushDepth}
	s.liftPlayer(at.Sub(origin).Length()-ownNearer, pulling)
	for i := player + 1; i < cubes; i++ {
		away := s.scene.Body(i).Pos.Sub(origin)
		d := away.Length()
		if d >= pushReach || d < nowhere {
			continue
		}
		s.scene.Pull(i, away.Scale(fallOff(d, pushLimit)/d))
		s.touch(i)
	}
}

// liftPlayer pushes the player straight up, d metres above what pushes it. Here
// the strength is a force, not an acceleration.
func (s *sim) liftPlayer(d float64, pulling bool) {
	if d >= pushReach {
		return
	}
	force := fallOff(max(d, nowhere), pushLimit)
	if pulling {
		force = float64(force * laden)
	}
	s.shove(physics.Vec{Z: force})
}

// pull draws everything around towards the player's centre.
func (s *sim) pull() {
	centre := s.Player().Pos
	for i := player + 1; i < cubes; i++ {
		in := centre.Sub(s.scene.Body(i).Pos)
		d := in.Length()
		if d < pullFrom || d > pullTo {
			continue
		}
		s.scene.Pull(i, in.Scale(fallOff(d, pullLimit)/d))
		s.touch(i)
	}
}

// fallOff returns strength over d squared, at most limit.
func fallOff(d, limit float64) float64 { return min(limit, strength/(d*d)) }

package world

import (
	"wirelab/dataset/physics"
)

// Constants of the push and the pull. Their acceleration is strength / d^2 at a distance of d metres,
// up to a limit (m/s^2).
const (
	strength = 200.0

	pushReach      = 2.0    // metres; the push has no effect from this distance on
	pushLimit      = 500.0  // limit of the push in m/s^2
	pushDepth      = 0.1    // metres; the origin of the push is this far below the floor, under the player
	playerOffset   = 0.7    // metres, subtracted from the player's own distance to the origin
	carryingFactor = 20.0   // factor on the push of a player that also pulls, since it lifts the cubes it holds
	pullFrom       = 0.2    // metres; the pull has no effect on cubes that are nearer
	pullTo         = 1.8    // metres; the pull has no effect on cubes that are farther away
	pullLimit      = 2000.0 // limit of the pull in m/s^2
	minDistance    = 1e-6   // metres; shorter distances have no direction
)

// push accelerates all cubes within reach away from the origin under the player. It lifts the player
// too: that is how it hovers. pulling reports whether the player also pulls.
func (s *sim) push(pulling bool) {
	playerPos := s.Player().Pos
	origin := physics.Vec{X: playerPos.X, Y: playerPos.Y, Z: -pushDepth}
	s.liftPlayer(playerPos.Sub(origin).Length()-playerOffset, pulling)
	for i := player + 1; i < cubes; i++ {
		away := s.scene.Body(i).Pos.Sub(origin)
		d := away.Length()
		if d >= pushReach || d < minDistance {
			continue
		}
		s.scene.Accelerate(i, away.Scale(inverseSquare(d, pushLimit)/d))
		s.markInteracting(i)
	}
}

// liftPlayer pushes the player up, at a distance of d metres from the origin of the push. Here
// strength / d^2 is a force in newtons, not an acceleration. pulling reports whether the player also
// pulls: then the force is larger by carryingFactor.
func (s *sim) liftPlayer(d float64, pulling bool) {
	if d >= pushReach {
		return
	}
	force := inverseSquare(max(d, minDistance), pushLimit)
	if pulling {
		force = float64(force * carryingFactor)
	}
	s.pushPlayer(physics.Vec{Z: force})
}

// pull accelerates all cubes within reach towards the player's centre.
func (s *sim) pull() {
	centre := s.Player().Pos
	for i := player + 1; i < cubes; i++ {
		inwards := centre.Sub(s.scene.Body(i).Pos)
		d := inwards.Length()
		if d < pullFrom || d > pullTo {
			continue
		}
		s.scene.Accelerate(i, inwards.Scale(inverseSquare(d, pullLimit)/d))
		s.markInteracting(i)
	}
}

// inverseSquare returns strength / d^2, but at most limit.
func inverseSquare(d, limit float64) float64 { return min(limit, strength/(d*d)) }

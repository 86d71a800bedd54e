package world

import "math"

// Constants of chasing. The pilot steers towards a target position until the player's position,
// extrapolated by lookAhead, is near it.
const (
	lookAhead  = 0.4 // time of the extrapolation in seconds
	nearTarget = 0.8 // metres; a nearer target counts as reached
	maxTarget  = 24  // metres; limit of the coordinates of targets
)

// chase sets the direction keys of in towards the target (p.x, p.y), and chooses a new target when it
// is reached or given up.
func (p *pilot) chase(s *sim, in *Input) {
	playerCube := s.Player()
	dx := p.x - (playerCube.Pos.X + float64(playerCube.Vel.X*lookAhead))
	dy := p.y - (playerCube.Pos.Y + float64(playerCube.Vel.Y*lookAhead))
	if p.targetSteps == 0 || math.Abs(dx)+math.Abs(dy) < nearTarget {
		p.chooseTarget(s)
	}
	p.targetSteps--
	if p.act.maxSpeed > 0 && playerCube.Vel.Dot(playerCube.Vel) > float64(p.act.maxSpeed*p.act.maxSpeed) {
		return // too fast: hold no direction key
	}
	in.Left, in.Right = dx < -nearTarget/2, dx > nearTarget/2
	in.Down, in.Up = dy < -nearTarget/2, dy > nearTarget/2
}

// chooseTarget sets the target to the position of a random cube, limited to maxTarget, and the time
// after which it is given up. Random positions would soon have no cubes, since the player pushes
// them away.
func (p *pilot) chooseTarget(s *sim) {
	cube := s.scene.Body(1 + p.rng.IntN(cubes-1)).Pos
	p.x, p.y = max(-maxTarget, min(cube.X, maxTarget)), max(-maxTarget, min(cube.Y, maxTarget))
	p.targetSteps = 60 + p.rng.IntN(3*60) // 1 to 4 s
}

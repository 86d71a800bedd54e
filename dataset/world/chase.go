package world

import "math"

// Chasing: keys are pressed towards the place where the player would be in
// lookAhead seconds if it went on as it does, but for the last nearby metres.
const (
	lookAhead = 0.4
	nearby    = 0.8
	roam      = 24 // places lie within so many metres of the middle
)

func (p *pilot) chase(s *sim, in *Input) {
	me := s.Player()
	dx := p.x - (me.Pos.X + float64(me.Vel.X*lookAhead))
	dy := p.y - (me.Pos.Y + float64(me.Vel.Y*lookAhead))
	if p.patience == 0 || math.Abs(dx)+math.Abs(dy) < nearby {
		p.choosePlace(s)
	}
	p.patience--
	if p.act.pace > 0 && me.Vel.Dot(me.Vel) > float64(p.act.pace*p.act.pace) {
		return
	}
	in.Left, in.Right = dx < -nearby/2, dx > nearby/2
	in.Down, in.Up = dy < -nearby/2, dy > nearby/2
}

// choosePlace picks the place of some cube as the next one to go to, and for how long
// to try. Places at random would soon hold no cubes any more. It never goes farther
// out than roam.
func (p *pilot) choosePlace(s *sim) {
	at := s.scene.Body(1 + p.rng.IntN(cubes-1)).Pos
	p.x, p.y = max(-roam, min(at.X, roam)), max(-roam, min(at.Y, roam))
	p.patience = 60 + p.rng.IntN(3*60)
}

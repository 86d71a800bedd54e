package world

import "math"

// Chasing: keys are pressed towards the place where the player would be in
// lookAhead seconds if it went on as it does, but for the last nearby metres.
const (
	lookAhead = 0.4
	nearby    = 0.8
	roam      = 24 // places lie within so many metres of the middle
)

func (p *pilot) chase(s *Sim, in *Input) {
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

// choosePlace picks where to go next, which is where some cube lies, and for how
// long to try. A player who went anywhere at random would soon have swept the
// middle clean and find nothing to do; this one goes where something is left, and
// comes at the outer cubes from all sides, but never farther out than roam.
func (p *pilot) choosePlace(s *Sim) {
	at := s.scene.Body(1 + p.rng.IntN(Cubes-1)).Pos
	p.x, p.y = max(-roam, min(at.X, roam)), max(-roam, min(at.Y, roam))
	p.patience = 60 + p.rng.IntN(3*60)
}

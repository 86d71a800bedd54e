package kinetic

// setPositionBases sets the bases of the position's components: motions in units over the whole
// step.
func (s *scene) setPositionBases(g *mixtureBases, c *cubeState) {
	g.reach = s.reach
	g.rows = [3]vec{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	move := c.move.times(s.reach)
	g.base[0] = vec{}
	if s.forecast != nil && c.i > 0 {
		ahead := c.forecastMove.times(s.reach)
		g.base[1], g.base[2], g.base[4] = ahead, ahead, ahead
		g.base[3] = move
		return
	}
	fall := c.move.times(0.96)
	fall[2] = float64(c.move[2]*0.95) - 98 // gravity over six frames
	g.base[1], g.base[2], g.base[4] = move, fall.times(s.reach), move
	g.base[3] = move
	if c.i > 0 {
		g.base[3] = s.rigid(c, s.player.spin, s.player.move.times(s.reach))
	}
}

// orientationBases returns the orientation that each component starts from.
func (s *scene) orientationBases(c *cubeState) (p [components]quat) {
	p[0] = c.as
	p[1] = c.turn.times(s.reach).rotation().Times(c.as)
	p[2], p[3], p[4] = p[1], p[1], p[1]
	switch {
	case c.i == 0:
	case s.forecast != nil:
		as := s.predicted(c.i).as
		p[1], p[2], p[4] = as, as, as
	default:
		p[2] = c.turn.times(0.95 * s.reach).rotation().Times(c.as)
		p[3] = s.player.spin.Times(c.as)
	}
	return p
}

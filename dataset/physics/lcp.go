package physics

// lcp is the solver of Scene: a linear complementarity problem over all contacts,
// by successive over-relaxation (projected Gauss-Seidel). Each contact pushes
// with an impulse along its normal and grips with one along each tangent; each
// is corrected in turn, as if the others were right, many times over.
type lcp struct {
	motion []motion
	rows   []row3
	law    *Rigid
	soft   float64 // how much a contact gives
	push   float64 // overlap to speed
	most   float64 // what friction holds
}

// motion is a body as the solver sees it.
type motion struct {
	vel, spin           Vec
	invMass, invInertia float64
}

// row3 is one contact point.
type row3 struct {
	a, b int32 // in motion; b is -1 for the floor
	want float64
	line [3]line // normal, two tangents
}

// line is one direction in which an impulse may act.
type line struct {
	dir            Vec // from B to A
	twistA, twistB Vec // arm x direction
	gain           float64
	impulse        float64
}

func (s *lcp) init(n int) {
	s.motion = make([]motion, 0, n)
	s.rows = make([]row3, 0, 8*n)
}

func (s *lcp) begin(law *Rigid, dt float64) {
	s.motion, s.rows = s.motion[:0], s.rows[:0]
	s.law = law
	s.soft = law.CFM / dt
	s.push = law.ERP / dt
	s.most = float64(law.Grip * dt)
}

// join adds the contact points of m, as far as there is room.
func (s *lcp) join(a, b int32, x, y *Body, m *manifold) {
	for k := range m.points[:m.n] {
		if len(s.rows) == cap(s.rows) {
			return
		}
		s.rows = s.rows[:len(s.rows)+1]
		r := &s.rows[len(s.rows)-1]
		p := &m.points[k]
		r.a, r.b = a, b
		r.want = min(float64(s.push*max(-p.gap-s.law.Layer, 0)), s.law.Correcting)
		for d, dir := range [3]Vec{m.normal, m.tangent[0], m.tangent[1]} {
			l := &r.line[d]
			*l = line{dir: dir.Neg()}
			l.twistA, l.twistB = p.armA.Cross(l.dir), p.armB.Cross(l.dir)
			weight := x.invMass + float64(x.invInertia*l.twistA.Dot(l.twistA))
			if b >= 0 {
				weight += y.invMass + float64(y.invInertia*l.twistB.Dot(l.twistB))
			}
			l.gain = s.law.Relaxation / (weight + s.soft)
		}
	}
}

// solve goes over all contacts.
func (s *lcp) solve(iterations int) {
	for range iterations {
		for k := range s.rows {
			r := &s.rows[k]
			a := &s.motion[r.a]
			if r.b < 0 {
				s.floorRow(r, a)
				continue
			}
			b := &s.motion[r.b]
			for d := range r.line {
				l := &r.line[d]
				speed := l.dir.Dot(a.vel.Sub(b.vel)) + l.twistA.Dot(a.spin) - l.twistB.Dot(b.spin)
				j := s.limit(d, r, l, speed)
				a.vel = a.vel.AddScaled(l.dir, float64(j*a.invMass))
				a.spin = a.spin.AddScaled(l.twistA, float64(j*a.invInertia))
				b.vel = b.vel.AddScaled(l.dir, -float64(j*b.invMass))
				b.spin = b.spin.AddScaled(l.twistB, -float64(j*b.invInertia))
			}
		}
	}
}

func (s *lcp) limit(d int, r *row3, l *line, speed float64) float64 {
	want, low, high := 0.0, -s.most, s.most
	if d == 0 {
		want, low, high = r.want, 0, 1e9
	}
	j := l.impulse + float64(l.gain*(want-speed-float64(s.soft*l.impulse)))
	j = max(low, min(j, high))
	change := j - l.impulse
	l.impulse = j
	return change
}

func (s *lcp) floorRow(r *row3, a *motion) {
	for d := range r.line {
		l := &r.line[d]
		speed := l.dir.Dot(a.vel) + l.twistA.Dot(a.spin)
		j := s.limit(d, r, l, speed)
		a.vel = a.vel.AddScaled(l.dir, float64(j*a.invMass))
		a.spin = a.spin.AddScaled(l.twistA, float64(j*a.invInertia))
	}
}

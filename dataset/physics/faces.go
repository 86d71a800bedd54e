package physics

// spot is a point seen from a face: u and v along it, w above the cube's centre.
type spot struct{ u, v, w float64 }

// polygon is a convex polygon in the coordinates of a face. Clipping a square by
// a square adds at most one corner a side: eight.
type polygon struct {
	spots [8]spot
	n     int
}

func (p *polygon) add(s spot) {
	if p.n < len(p.spots) {
		p.spots[p.n] = s
		p.n++
	}
}

// touchOver makes the contact points of a face: the corners of the other cube's
// nearest face, cut to what lies over this one, that are inside of it.
func (m *manifold) touchOver(a, b *Body, x *axis) {
	ref, other, n := a, b, x.normal
	if x.kind == faceOfB {
		ref, other, n = b, a, x.normal.Neg()
	}
	u, v := ref.axes[(x.i+1)%3], ref.axes[(x.i+2)%3]
	over := other.facing(n, ref.Pos, u, v)
	over.cut(ref.half)
	over.keepUpTo(ref.half)
	over.reduce()
	for _, s := range over.spots[:over.n] {
		m.add(a, b, ref.Pos.AddScaled(u, s.u).AddScaled(v, s.v).AddScaled(n, s.w), s.w-ref.half)
	}
}

// facing returns the face of b that looks most against n, in coordinates u, v, n
// around origin.
func (b *Body) facing(n, origin, u, v Vec) (p polygon) {
	face, most := 0, 0.0
	for k := range 3 {
		if d := b.axes[k].Dot(n); abs(d) > abs(most) {
			face, most = k, d
		}
	}
	c := b.Pos.AddScaled(b.axes[face], -float64(sign(most)*b.half)).Sub(origin)
	e1, e2 := b.axes[(face+1)%3].Scale(b.half), b.axes[(face+2)%3].Scale(b.half)
	for _, q := range [4]Vec{c.Add(e1).Add(e2), c.Sub(e1).Add(e2), c.Sub(e1).Sub(e2), c.Add(e1).Sub(e2)} {
		p.add(spot{q.Dot(u), q.Dot(v), q.Dot(n)})
	}
	return p
}

// cut clips p to the square of the given half side (Sutherland and Hodgman).
func (p *polygon) cut(half float64) {
	for side := range 4 {
		var outside [len(p.spots)]float64
		all := true // within
		for k := range p.n {
			s := &p.spots[k]
			outside[k] = [4]float64{s.u, -s.u, s.v, -s.v}[side] - half
			all = all && outside[k] <= 0
		}
		if all {
			continue
		}
		var kept polygon
		for k := range p.n {
			next := (k + 1) % p.n
			s, ds, dt := p.spots[k], outside[k], outside[next]
			if ds <= 0 {
				kept.add(s)
			}
			if (ds < 0 && dt > 0) || (ds > 0 && dt < 0) {
				kept.add(s.towards(p.spots[next], ds/(ds-dt)))
			}
		}
		*p = kept
	}
}

// towards returns the point at share f of the way from s to t.
func (s spot) towards(t spot, f float64) spot {
	return spot{s.u + float64(f*(t.u-s.u)), s.v + float64(f*(t.v-s.v)), s.w + float64(f*(t.w-s.w))}
}

// keepUpTo keeps the points up to height w.
func (p *polygon) keepUpTo(w float64) {
	n := 0
	for _, s := range p.spots[:p.n] {
		if s.w <= w {
			p.spots[n] = s
			n++
		}
	}
	p.n = n
}

// reduce keeps the four points that carry most: the deepest, the one farthest
// from it, and on either side of the line between them the one that spans the
// largest triangle.
func (p *polygon) reduce() {
	if p.n <= maxPoints {
		return
	}
	s := p.spots[:p.n]
	deepest := 0
	for i := range s {
		if s[i].w < s[deepest].w-1e-6 {
			deepest = i
		}
	}
	s[0], s[deepest] = s[deepest], s[0]
	far, most := 1, -1.0
	for i := 1; i < len(s); i++ {
		du, dv := s[i].u-s[0].u, s[i].v-s[0].v
		if d := float64(du*du) + float64(dv*dv); d > most {
			far, most = i, d
		}
	}
	s[1], s[far] = s[far], s[1]
	left, right := 2, 2
	for i := 3; i < len(s); i++ {
		if spans(s[0], s[1], s[i]) > spans(s[0], s[1], s[left]) {
			left = i
		}
		if spans(s[0], s[1], s[i]) < spans(s[0], s[1], s[right]) {
			right = i
		}
	}
	if left == right { // all equal: any two do
		right = 2 + (left-1)%(len(s)-2)
	}
	s[2], s[3] = s[left], s[right]
	p.n = maxPoints
}

// spans returns twice the signed area of the triangle a, b, c.
func spans(a, b, c spot) float64 {
	return float64((b.u-a.u)*(c.v-a.v)) - float64((b.v-a.v)*(c.u-a.u))
}

package physics

// facePoint is a point in the coordinates of a face: u and v along the face, w along its normal
// from the centre of the cube.
type facePoint struct{ u, v, w float64 }

// polygon is a convex polygon in the coordinates of a face. Clipping a square by the four sides of a
// square adds at most one corner for each side, so that it has at most eight.
type polygon struct {
	points [8]facePoint
	n      int
}

// add appends a corner. Corners beyond eight, which only rounding could produce, are dropped.
func (p *polygon) add(s facePoint) {
	if p.n < len(p.points) {
		p.points[p.n] = s
		p.n++
	}
}

// addFaceContact adds the contact points of a face contact. The reference face is the face of the
// axis x, the incident face that of the other cube which is most antiparallel to it. The contact
// points are the corners of the incident face, clipped to the sides of the reference face, that are
// below it.
func (m *manifold) addFaceContact(a, b *Body, x *axis) {
	ref, other, n := a, b, x.normal
	if x.kind == faceOfB {
		ref, other, n = b, a, x.normal.Neg()
	}
	u, v := ref.axes[(x.i+1)%3], ref.axes[(x.i+2)%3]
	incident := other.incidentFace(n, ref.Pos, u, v)
	incident.clipToSquare(ref.half)
	incident.removeAbove(ref.half)
	incident.reduce()
	// The centre of ref is the origin of the points' coordinates, so s.w - ref.half is the gap to the reference face.
	for _, s := range incident.points[:incident.n] {
		m.addPoint(a, b, ref.Pos.AddScaled(u, s.u).AddScaled(v, s.v).AddScaled(n, s.w), s.w-ref.half)
	}
}

// incidentFace returns the face of b whose normal is most opposite to n, in coordinates u, v, n
// relative to origin.
func (b *Body) incidentFace(n, origin, u, v Vec) (p polygon) {
	face, mostAligned := 0, 0.0
	for k := range 3 {
		if d := b.axes[k].Dot(n); abs(d) > abs(mostAligned) {
			face, mostAligned = k, d
		}
	}
	c := b.Pos.AddScaled(b.axes[face], -float64(sign(mostAligned)*b.half)).Sub(origin)
	e1, e2 := b.axes[(face+1)%3].Scale(b.half), b.axes[(face+2)%3].Scale(b.half)
	for _, q := range [4]Vec{c.Add(e1).Add(e2), c.Sub(e1).Add(e2), c.Sub(e1).Sub(e2), c.Add(e1).Sub(e2)} {
		p.add(facePoint{q.Dot(u), q.Dot(v), q.Dot(n)})
	}
	return p
}

// clipToSquare clips p to the square |u|, |v| <= half (Sutherland and Hodgman).
func (p *polygon) clipToSquare(half float64) {
	for side := range 4 {
		var outside [len(p.points)]float64 // distance of each corner from the side; negative inside
		allInside := true
		for k := range p.n {
			s := &p.points[k]
			outside[k] = [4]float64{s.u, -s.u, s.v, -s.v}[side] - half
			allInside = allInside && outside[k] <= 0
		}
		if allInside {
			continue
		}
		var clipped polygon
		for k := range p.n {
			next := (k + 1) % p.n
			s, ds, dt := p.points[k], outside[k], outside[next]
			if ds <= 0 {
				clipped.add(s)
			}
			if (ds < 0 && dt > 0) || (ds > 0 && dt < 0) { // the edge to the next corner crosses the side
				clipped.add(s.lerp(p.points[next], ds/(ds-dt)))
			}
		}
		*p = clipped
	}
}

// lerp interpolates linearly from s (f = 0) to t (f = 1).
func (s facePoint) lerp(t facePoint, f float64) facePoint {
	return facePoint{s.u + float64(f*(t.u-s.u)), s.v + float64(f*(t.v-s.v)), s.w + float64(f*(t.w-s.w))}
}

// removeAbove removes the points whose w, the distance along the normal of the face, exceeds the given w.
func (p *polygon) removeAbove(w float64) {
	n := 0
	for _, s := range p.points[:p.n] {
		if s.w <= w {
			p.points[n] = s
			n++
		}
	}
	p.n = n
}

// reduce reduces the polygon to the four points that support the most: the deepest, the one farthest
// from it, and on either side of the line through these two the one that spans the largest triangle.
func (p *polygon) reduce() {
	if p.n <= maxPoints {
		return
	}
	candidates := p.points[:p.n]
	deepest := 0
	for i := range candidates {
		if candidates[i].w < candidates[deepest].w-1e-6 { // the margin exceeds rounding errors
			deepest = i
		}
	}
	candidates[0], candidates[deepest] = candidates[deepest], candidates[0]
	farthest, farthestSquared := 1, -1.0 // index of the farthest corner, and its squared distance
	for i := 1; i < len(candidates); i++ {
		du, dv := candidates[i].u-candidates[0].u, candidates[i].v-candidates[0].v
		if d := float64(du*du) + float64(dv*dv); d > farthestSquared {
			farthest, farthestSquared = i, d
		}
	}
	candidates[1], candidates[farthest] = candidates[farthest], candidates[1]
	left, right := 2, 2 // left and right of the line from point 0 to 1: the points with the largest and the smallest signed area
	for i := 3; i < len(candidates); i++ {
		if signedArea2(candidates[0], candidates[1], candidates[i]) > signedArea2(candidates[0], candidates[1], candidates[left]) {
			left = i
		}
		if signedArea2(candidates[0], candidates[1], candidates[i]) < signedArea2(candidates[0], candidates[1], candidates[right]) {
			right = i
		}
	}
	if left == right { // all areas are equal: take any two points
		right = 2 + (left-1)%(len(candidates)-2)
	}
	candidates[2], candidates[3] = candidates[left], candidates[right]
	p.n = maxPoints
}

// signedArea2 returns twice the signed area of the triangle a, b, c.
func signedArea2(a, b, c facePoint) float64 {
	return float64((b.u-a.u)*(c.v-a.v)) - float64((b.v-a.v)*(c.u-a.u))
}

package physics

const maxPoints = 4

// point is one point of contact.
type point struct {
	armA, armB Vec     // from the centres of A and B
	gap        float64 // between the surfaces; negative: they overlap
}

// manifold is the contact of two bodies in one step.
type manifold struct {
	normal  Vec    // unit, from A to B
	tangent [2]Vec // unit, across the normal
	n       int
	points  [maxPoints]point
}

// An edge makes a contact only if it separates better than any face by this
// factor: faces give four points, edges one.
const edgeFactor = 1.05

// find finds the points at which A and B touch; none if they do not.
func (m *manifold) find(a, b *Body) {
	var best [3]axis
	if !separations(a, b, &best) {
		return
	}
	x := &best[0]
	if best[1].gap > x.gap {
		x = &best[1]
	}
	if float64(best[2].gap*edgeFactor) > x.gap {
		x = &best[2]
	}
	x.aim(a, b)
	m.aim(x.normal)
	if x.kind == edgeOnEdge {
		m.touchEdges(a, b, x)
	} else {
		m.touchOver(a, b, x)
	}
}

// aim sets the normal and two directions across it.
func (m *manifold) aim(n Vec) {
	t := Vec{0, n.Z, -n.Y}
	if abs(n.X) >= 0.57735 {
		t = Vec{n.Y, -n.X, 0}
	}
	t = t.Scale(1 / t.Length())
	m.normal, m.tangent = n, [2]Vec{t, n.Cross(t)}
}

// add adds a contact point at pos.
func (m *manifold) add(a, b *Body, pos Vec, gap float64) {
	m.points[m.n] = point{armA: pos.Sub(a.Pos), armB: pos.Sub(b.Pos), gap: gap}
	m.n++
}

// turn exchanges A and B.
func (m *manifold) turn() {
	m.normal = m.normal.Neg()
	for k := range m.points[:m.n] {
		p := &m.points[k]
		p.armA, p.armB = p.armB, p.armA
	}
}

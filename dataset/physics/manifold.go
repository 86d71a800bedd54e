package physics

// maxPoints is the maximum number of contact points of a pair; four support a face.
const maxPoints = 4

// point is one point at which two bodies touch.
type point struct {
	armA, armB Vec     // vectors from the centres of A and B to the point
	gap        float64 // distance between the surfaces; negative if they overlap
}

// manifold is the contact of two bodies in one step.
type manifold struct {
	normal  Vec    // unit vector from A to B
	tangent [2]Vec // unit vectors perpendicular to the normal and to each other
	n       int
	points  [maxPoints]point
}

// edgeFactor favours face contacts: edges are chosen only if their overlap is smaller than that of
// every face by this factor. Faces give up to four points, edges one.
const edgeFactor = 1.05

// find computes the contact points of A and B along the axis of least overlap. m.n is 0 if they do not
// touch.
func (m *manifold) find(a, b *Body) {
	var best [3]axis
	if !separations(a, b, &best) {
		return
	}
	chosen := &best[0]
	if best[1].gap > chosen.gap {
		chosen = &best[1]
	}
	if float64(best[2].gap*edgeFactor) > chosen.gap { // the gaps are negative here: the bodies overlap
		chosen = &best[2]
	}
	chosen.computeNormal(a, b)
	m.setNormal(chosen.normal)
	if chosen.kind == edgeOnEdge {
		m.addEdgeContact(a, b, chosen)
	} else {
		m.addFaceContact(a, b, chosen)
	}
}

// setNormal sets the normal and two tangents. The tangents are computed from the components of n
// that are not both small: one component of a unit vector is at least 1/sqrt(3) = 0.57735.
func (m *manifold) setNormal(n Vec) {
	t := Vec{0, n.Z, -n.Y}
	if abs(n.X) >= 0.57735 {
		t = Vec{n.Y, -n.X, 0}
	}
	t = t.Scale(1 / t.Length())
	m.normal, m.tangent = n, [2]Vec{t, n.Cross(t)}
}

// addPoint adds a contact point at pos.
func (m *manifold) addPoint(a, b *Body, pos Vec, gap float64) {
	m.points[m.n] = point{armA: pos.Sub(a.Pos), armB: pos.Sub(b.Pos), gap: gap}
	m.n++
}

// swap exchanges the roles of the bodies A and B in the contact.
func (m *manifold) swap() {
	m.normal = m.normal.Neg()
	for k := range m.points[:m.n] {
		p := &m.points[k]
		p.armA, p.armB = p.armB, p.armA
	}
}

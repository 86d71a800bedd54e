package physics

// addEdgeContact adds the contact point of two crossing edges: the middle between the closest points of
// the two lines.
func (m *manifold) addEdgeContact(a, b *Body, x *axis) {
	onA, onB := a.edgeMiddle(x.i, x.normal), b.edgeMiddle(x.j, x.normal.Neg())
	u, v, d := a.axes[x.i], b.axes[x.j], onB.Sub(onA)
	uv, du, dv := u.Dot(v), d.Dot(u), d.Dot(v)
	sine2 := 1 - float64(uv*uv) // squared sine of the angle between the edges; not 0, because edgeAxis skips parallel edges
	onA = onA.AddScaled(u, (du-float64(uv*dv))/sine2)
	onB = onB.AddScaled(v, (float64(uv*du)-dv)/sine2)
	m.addPoint(a, b, onA.Add(onB).Scale(0.5), x.normal.Dot(onB.Sub(onA)))
}

// edgeMiddle returns the middle of the edge that is parallel to axis i and farthest in direction n.
func (b *Body) edgeMiddle(i int, n Vec) Vec {
	p := b.Pos
	for k := range 3 {
		if k != i {
			p = p.AddScaled(b.axes[k], float64(b.half*sign(n.Dot(b.axes[k]))))
		}
	}
	return p
}

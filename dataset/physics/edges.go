package physics

// touchEdges makes the one contact point of two crossing edges: halfway between
// the closest points of the two lines.
func (m *manifold) touchEdges(a, b *Body, x *axis) {
	onA, onB := a.edge(x.i, x.normal), b.edge(x.j, x.normal.Neg())
	u, v, d := a.axes[x.i], b.axes[x.j], onB.Sub(onA)
	uv, du, dv := u.Dot(v), d.Dot(u), d.Dot(v)
	sine2 := 1 - float64(uv*uv) // not zero: parallel edges give no axis
	onA = onA.AddScaled(u, (du-float64(uv*dv))/sine2)
	onB = onB.AddScaled(v, (float64(uv*du)-dv)/sine2)
	m.add(a, b, onA.Add(onB).Scale(0.5), x.normal.Dot(onB.Sub(onA)))
}

// edge returns the middle of the edge along axis i that lies farthest in
// direction n.
func (b *Body) edge(i int, n Vec) Vec {
	p := b.Pos
	for k := range 3 {
		if k != i {
			p = p.AddScaled(b.axes[k], float64(b.half*sign(n.Dot(b.axes[k]))))
		}
	}
	return p
}

package physics

import "slices"

const (
	maxPoints = 4
	touchGap  = 0.005 // surfaces this near count as touching
	sameSpot  = 0.1   // a point this near to one of the last step is the same one
)

// point is one point of contact.
type point struct {
	armA, armB Vec     // from the centres of A and B
	gap        float64 // between the surfaces when the step began
	home       Vec     // armA in A's own axes: where on A it is, whichever way A turns
	normal     row
	tangent    [2]row
}

// manifold is the contact of two bodies. It lives as long as they stay near,
// and remembers the impulses that held them apart: the solver starts from
// those, which is what makes stacks stand.
type manifold struct {
	pair    pair
	normal  Vec     // unit, from A to B
	nearing float64 // how much the gap closes in this step if nothing stops it
	tangent [2]Vec  // unit, across the normal
	n       int
	points  [maxPoints]point
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
	p := &m.points[m.n]
	*p = point{armA: pos.Sub(a.Pos), armB: pos.Sub(b.Pos), gap: gap}
	p.home = Vec{p.armA.Dot(a.axes[0]), p.armA.Dot(a.axes[1]), p.armA.Dot(a.axes[2])}
	m.n++
}

// touches reports whether the surfaces meet in this step.
func (m *manifold) touches() bool {
	for _, p := range m.points[:m.n] {
		if p.gap-m.nearing < touchGap {
			return true
		}
	}
	return false
}

// find computes the contact points of m's pair.
func (m *manifold) find(w *World) {
	i, j := m.pair.split()
	a := &w.bodies[i]
	if m.pair.floor() {
		m.touchFloor(a, &w.floor, w.floorReach(a))
		return
	}
	b := &w.bodies[j]
	reach := w.reach(a, b)
	x, ok := separate(a, b, reach)
	if !ok {
		return
	}
	m.aim(x.normal)
	m.nearing = max(0, float64(a.Vel.Sub(b.Vel).Dot(m.normal)*w.cfg.Step))
	if x.kind == edgeOnEdge {
		m.touchEdges(a, b, x)
	} else {
		m.touchFaces(a, b, x, reach)
	}
}

// touchFloor makes a contact point of each corner that is lower than reach; if
// more than four are, of the lowest four.
func (m *manifold) touchFloor(a, floor *Body, reach float64) {
	m.aim(Vec{0, 0, -1})
	for c := range 8 {
		arm := Vec{}
		for k := range 3 {
			side := a.half
			if c>>k&1 == 0 {
				side = -side
			}
			arm = arm.AddScaled(a.axes[k], side)
		}
		corner := a.Pos.Add(arm)
		if corner.Z > reach {
			continue
		}
		if m.n == maxPoints {
			m.dropHigherThan(corner.Z)
		}
		if m.n < maxPoints {
			m.add(a, floor, corner, corner.Z)
		}
	}
}

// dropHigherThan removes the point with the widest gap if that is wider than
// gap.
func (m *manifold) dropHigherThan(gap float64) {
	worst := 0
	for k := range m.points[:m.n] {
		if m.points[k].gap > m.points[worst].gap {
			worst = k
		}
	}
	if m.points[worst].gap > gap {
		m.n--
		m.points[worst] = m.points[m.n]
	}
}

// inherit takes over the impulses of the points that were there a step ago.
// Those of friction are carried over in space, since the tangents may have
// turned.
func (m *manifold) inherit(old *manifold) {
	var taken [maxPoints]bool
	for i := range m.points[:m.n] {
		p := &m.points[i]
		best, nearest := -1, float64(sameSpot*sameSpot)
		for j := range old.points[:old.n] {
			d := old.points[j].home.Sub(p.home)
			if l := d.Dot(d); !taken[j] && l < nearest {
				best, nearest = j, l
			}
		}
		if best < 0 {
			continue
		}
		taken[best] = true
		o := &old.points[best]
		p.normal.impulse = o.normal.impulse
		grip := old.tangent[0].Scale(o.tangent[0].impulse).AddScaled(old.tangent[1], o.tangent[1].impulse)
		p.tangent[0].impulse, p.tangent[1].impulse = grip.Dot(m.tangent[0]), grip.Dot(m.tangent[1])
	}
}

// findContacts renews the manifolds of all listed pairs. Those between sleepers
// are kept as they were, so that an island wakes whole and with the impulses
// that held it. Both lists are in order, so one walk along them merges them.
func (w *World) findContacts() {
	w.manifolds, w.previous = w.previous[:0], w.manifolds
	old := w.previous
	for _, p := range w.pairs {
		old = w.keepSleepers(old, p)
		w.manifolds = slices.Grow(w.manifolds, 1)[:len(w.manifolds)+1]
		m := &w.manifolds[len(w.manifolds)-1]
		m.pair, m.n = p, 0
		m.find(w)
		if len(old) > 0 && old[0].pair == p {
			m.inherit(&old[0])
			old = old[1:]
		}
		if m.n == 0 {
			w.manifolds = w.manifolds[:len(w.manifolds)-1]
		}
	}
	w.keepSleepers(old, ^pair(0))
}

// keepSleepers copies the manifolds before pair p whose bodies both sleep, and
// returns the rest from p on.
func (w *World) keepSleepers(old []manifold, p pair) []manifold {
	for len(old) > 0 && old[0].pair < p {
		if w.bothAsleep(old[0].pair) {
			w.manifolds = append(w.manifolds, old[0])
		}
		old = old[1:]
	}
	return old
}

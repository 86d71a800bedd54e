package physics

import "math"

// axisKind tells what gave the axis along which two cubes are closest.
type axisKind uint8

const (
	faceOfA axisKind = iota
	faceOfB
	edgeOnEdge
)

// axis is the direction of least overlap of two cubes A and B.
type axis struct {
	kind   axisKind
	i, j   int     // which axis of A (or of B for faceOfB); for edges: i of A, j of B
	gap    float64 // negative when they overlap
	normal Vec     // unit, from A to B
}

// Edges whose squared sine is below are parallel: they give no axis.
const parallelSine = 1e-4

// alignment is the geometry of two cubes relative to each other.
type alignment struct {
	offset   Vec           // from A's centre to B's
	cos, abs [3][3]float64 // of the angles between A's axes and B's
	da, db   [3]float64    // the offset along A's axes and along B's
}

func align(a, b *Body) (g alignment) {
	const eps = 1e-9 // keeps near-parallel edges from looking separated
	g.offset = b.Pos.Sub(a.Pos)
	for i := range 3 {
		g.da[i] = g.offset.Dot(a.axes[i])
		g.db[i] = g.offset.Dot(b.axes[i])
		for j := range 3 {
			g.cos[i][j] = a.axes[i].Dot(b.axes[j])
			g.abs[i][j] = abs(g.cos[i][j]) + eps
		}
	}
	return g
}

// separations finds the best axis of each kind. Two convex bodies are disjoint
// exactly if some axis has a gap; for boxes the three face normals of each and
// the nine cross products of their edges suffice. ok is false when A and B are
// apart. The normals are yet to be found: see aimed.
func separations(a, b *Body) (fa, fb, e axis, ok bool) {
	g := align(a, b)
	r := &g.abs
	fa, ok = faceAxis(&g.da, a.half, b.half, [3]float64{r[0][0] + r[0][1] + r[0][2], r[1][0] + r[1][1] + r[1][2], r[2][0] + r[2][1] + r[2][2]})
	if !ok {
		return fa, fb, e, false
	}
	fb, ok = faceAxis(&g.db, b.half, a.half, [3]float64{r[0][0] + r[1][0] + r[2][0], r[0][1] + r[1][1] + r[2][1], r[0][2] + r[1][2] + r[2][2]})
	if !ok {
		return fa, fb, e, false
	}
	fb.kind = faceOfB
	e, ok = g.edgeAxis(a.half, b.half)
	return fa, fb, e, ok
}

// aimed returns x with its normal, from A to B.
func (x axis) aimed(a, b *Body) axis {
	offset := b.Pos.Sub(a.Pos)
	switch x.kind {
	case faceOfA:
		x.normal = a.axes[x.i].Scale(sign(offset.Dot(a.axes[x.i])))
	case faceOfB:
		x.normal = b.axes[x.i].Scale(sign(offset.Dot(b.axes[x.i])))
	default:
		n := a.axes[x.i].Cross(b.axes[x.j])
		n = n.Scale(1 / n.Length())
		if n.Dot(offset) < 0 {
			n = n.Neg()
		}
		x.normal = n
	}
	return x
}

// faceAxis finds the best of one cube's three face normals. d is the offset
// along them; spread[i] times the other's half side is how far the other reaches
// along normal i.
func faceAxis(d *[3]float64, half, other float64, spread [3]float64) (best axis, ok bool) {
	best.gap = math.Inf(-1)
	for i := range 3 {
		gap := abs(d[i]) - half - float64(other*spread[i])
		if gap > 0 {
			return best, false
		}
		if gap > best.gap {
			best.gap, best.i = gap, i
		}
	}
	return best, true
}

// edgeAxis finds the best of the nine cross products of edges; its gap is minus
// infinity if all edges are parallel.
func (g *alignment) edgeAxis(ha, hb float64) (best axis, ok bool) {
	best.kind, best.gap = edgeOnEdge, math.Inf(-1)
	for i := range 3 {
		i1, i2 := (i+1)%3, (i+2)%3
		for j := range 3 {
			sine2 := 1 - float64(g.cos[i][j]*g.cos[i][j])
			if sine2 < parallelSine {
				continue
			}
			j1, j2 := (j+1)%3, (j+2)%3
			along := float64(g.da[i2]*g.cos[i1][j]) - float64(g.da[i1]*g.cos[i2][j])
			extent := float64(ha*(g.abs[i1][j]+g.abs[i2][j])) + float64(hb*(g.abs[i][j1]+g.abs[i][j2]))
			gap := (abs(along) - extent) / math.Sqrt(sine2)
			if gap > 0 {
				return best, false
			}
			if gap > best.gap {
				best.gap, best.i, best.j = gap, i, j
			}
		}
	}
	return best, true
}

func abs(x float64) float64 { return math.Abs(x) }

func sign(x float64) float64 {
	if x < 0 {
		return -1
	}
	return 1
}

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
	da       [3]float64    // the offset along A's axes
}

// separations finds the best axis of each kind, faces of A, faces of B and edges. Two convex
// bodies are disjoint exactly if some axis has a gap; for boxes the three face normals of each
// and the nine cross products of their edges suffice. It returns false when A and B are apart.
// The normals are yet to be found: see aim.
func separations(a, b *Body, best *[3]axis) bool {
	const eps = 1e-9 // keeps near-parallel edges from looking separated
	var g alignment
	g.offset = b.Pos.Sub(a.Pos)
	best[0] = axis{kind: faceOfA, gap: math.Inf(-1)}
	for i := range 3 {
		u := &a.axes[i]
		g.da[i] = g.offset.Dot(*u)
		for j := range 3 {
			g.cos[i][j] = u.Dot(b.axes[j])
			g.abs[i][j] = abs(g.cos[i][j]) + eps
		}
		if !best[0].offer(i, g.da[i], a.half, b.half, g.abs[i][0]+g.abs[i][1]+g.abs[i][2]) {
			return false
		}
	}
	best[1] = axis{kind: faceOfB, gap: math.Inf(-1)}
	for j := range 3 {
		if !best[1].offer(j, g.offset.Dot(b.axes[j]), b.half, a.half, g.abs[0][j]+g.abs[1][j]+g.abs[2][j]) {
			return false
		}
	}
	return g.edgeAxis(a.half, b.half, &best[2])
}

// offer makes x the i-th face normal of a cube if that has a larger gap, and returns false if
// the cubes are apart there. d is the offset along it; spread times the other's half side is
// how far the other reaches along it.
func (x *axis) offer(i int, d, half, other, spread float64) bool {
	gap := abs(d) - half - float64(other*spread)
	if gap > x.gap {
		x.gap, x.i = gap, i
	}
	return !(gap > 0)
}

// aim sets the normal of x, from A to B.
func (x *axis) aim(a, b *Body) {
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
}

// edgeAxis finds the best of the nine cross products of edges; its gap is minus
// infinity if all edges are parallel.
func (g *alignment) edgeAxis(ha, hb float64, best *axis) bool {
	*best = axis{kind: edgeOnEdge, gap: math.Inf(-1)}
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
				return false
			}
			if gap > best.gap {
				best.gap, best.i, best.j = gap, i, j
			}
		}
	}
	return true
}

func abs(x float64) float64 { return math.Abs(x) }

func sign(x float64) float64 {
	if x < 0 {
		return -1
	}
	return 1
}

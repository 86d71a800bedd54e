package physics

import "math"

// axisKind is the origin of a separating axis.
type axisKind uint8

const (
	faceOfA axisKind = iota
	faceOfB
	edgeOnEdge
)

// axis is the axis of least overlap of two cubes A and B.
type axis struct {
	kind   axisKind
	i, j   int     // face: i is the axis of the cube of kind; edges: axis i of A and j of B
	gap    float64 // distance of the cubes along the axis; negative if they overlap
	normal Vec     // unit vector from A to B; set by computeNormal
}

// parallelSine is the squared sine below which two edges count as parallel and give no axis.
const parallelSine = 1e-4

// alignment is the geometry of two cubes relative to each other.
type alignment struct {
	offset   Vec           // vector from A's centre to B's
	cos, abs [3][3]float64 // cosines of the angles between A's axes and B's, and their magnitudes plus eps
	da       [3]float64    // components of offset along A's axes
}

// separations finds the axis of least overlap of each kind: faces of A, faces of B and edges. Two
// convex bodies are disjoint exactly if there is an axis along which they do not overlap. For boxes
// it suffices to test the three face normals of each and the nine cross products of their edges.
// It returns false if A and B are disjoint. It does not set the normals: see computeNormal.
func separations(a, b *Body, axes *[3]axis) bool {
	const eps = 1e-9 // keeps near-parallel edges from looking separated
	var g alignment
	g.offset = b.Pos.Sub(a.Pos)
	axes[0] = axis{kind: faceOfA, gap: math.Inf(-1)}
	for i := range 3 {
		u := &a.axes[i]
		g.da[i] = g.offset.Dot(*u)
		for j := range 3 {
			g.cos[i][j] = u.Dot(b.axes[j])
			g.abs[i][j] = abs(g.cos[i][j]) + eps
		}
		if !axes[0].updateForFace(i, g.da[i], a.half, b.half, g.abs[i][0]+g.abs[i][1]+g.abs[i][2]) {
			return false
		}
	}
	axes[1] = axis{kind: faceOfB, gap: math.Inf(-1)}
	for j := range 3 {
		if !axes[1].updateForFace(j, g.offset.Dot(b.axes[j]), b.half, a.half, g.abs[0][j]+g.abs[1][j]+g.abs[2][j]) {
			return false
		}
	}
	return g.edgeAxis(a.half, b.half, &axes[2])
}

// updateForFace tests face normal i of one of two cubes, and replaces axis x by this normal if the gap
// along the normal is larger. It returns false if the cubes are disjoint along the normal. d is the
// component along the normal of the offset between the centres. half is the half side of the cube with
// the face, other the half side of the other cube, whose half extent along the normal is other*spread.
func (x *axis) updateForFace(i int, d, half, other, spread float64) bool {
	gap := abs(d) - half - float64(other*spread)
	if gap > x.gap {
		x.gap, x.i = gap, i
	}
	return !(gap > 0) // not gap <= 0, which is false for NaN: cubes at broken positions count as touching
}

// computeNormal sets the normal of x, from A to B.
func (x *axis) computeNormal(a, b *Body) {
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

// edgeAxis finds the axis of least overlap among the nine cross products of edges of A and B, with
// half sides ha and hb. It returns false if the cubes are disjoint along one. The gap is minus
// infinity if all edges are parallel.
func (g *alignment) edgeAxis(ha, hb float64, best *axis) bool {
	*best = axis{kind: edgeOnEdge, gap: math.Inf(-1)}
	for i := range 3 {
		i1, i2 := (i+1)%3, (i+2)%3
		for j := range 3 {
			sine2 := 1 - float64(g.cos[i][j]*g.cos[i][j]) // squared length of the cross product
			if sine2 < parallelSine {
				continue
			}
			j1, j2 := (j+1)%3, (j+2)%3
			// The offset along the cross product, and half the extent of both cubes along it
			// (Ericson, 4.4.1).
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

// sign returns -1 for negative numbers, otherwise 1.
func sign(x float64) float64 {
	if x < 0 {
		return -1
	}
	return 1
}

package worldview

import "math"

// outline is the projection of a cube, around its centre: all points p with |n.p| <= maxDistance for
// each normal n. The projection is the Minkowski sum of the three projected edges at a corner, a
// zonogon, so that its sides are parallel to these edges.
type outline struct {
	normal      [3][2]float32
	maxDistance [3]float32
	extent      [2]float32 // half the width and half the height of the bounding box
}

// newOutline returns the projection of a thing, a cube. The distance of a side along the normal of an edge is the sum of the
// projections of all edges on that normal. The normals are as long as their edges, not unit vectors, which
// scales all distances along a normal equally.
func newOutline(t *Thing) (o outline) {
	edges := t.edges()
	for i, e := range edges {
		o.extent[0] += abs(e[0])
		o.extent[1] += abs(e[1])
		o.normal[i] = [2]float32{-e[1], e[0]}
		for _, other := range edges {
			o.maxDistance[i] += abs(o.normal[i][0]*other[0] + o.normal[i][1]*other[1])
		}
	}
	return o
}

// covers reports whether the point (x, y), relative to the centre, is covered. The normal of an edge
// that points straight up is zero and excludes nothing.
func (o *outline) covers(x, y float32) bool {
	for i, n := range o.normal {
		if abs(n[0]*x+n[1]*y) > o.maxDistance[i] {
			return false
		}
	}
	return true
}

// edges returns half of the projected edges: the columns of the rotation matrix without z, times Half.
func (t *Thing) edges() [3][2]float32 {
	x, y, z, w := t.Rot[0], t.Rot[1], t.Rot[2], t.Rot[3]
	h := t.Half
	return [3][2]float32{
		{h * (1 - 2*(y*y+z*z)), h * 2 * (x*y + z*w)},
		{h * 2 * (x*y - z*w), h * (1 - 2*(x*x+z*z))},
		{h * 2 * (x*z + y*w), h * 2 * (y*z - x*w)},
	}
}

// abs clears the sign bit.
func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

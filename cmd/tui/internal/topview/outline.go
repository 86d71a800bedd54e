package topview

import "math"

// Cube is one cube to draw: lengths in metres, z up, the orientation a unit
// quaternion x y z w.
type Cube struct {
	X, Y, Z float32
	Rot     [4]float32
	Half    float32 // of the side
}

// outline is what a cube covers of the ground, around its centre: all points p
// for which |n.p| is at most reach for each of the normals n. The three edges of
// a cube that meet in a corner, seen from above, are three vectors; what the cube
// covers is their sum in the sense of Minkowski, which has no sides but theirs.
type outline struct {
	normal [3][2]float32
	reach  [3]float32
	extent [2]float32 // half the width and half the height of the box around it
}

// outlineOf returns what c covers.
func outlineOf(c *Cube) (o outline) {
	edges := c.edges()
	for i, e := range edges {
		o.extent[0] += abs(e[0])
		o.extent[1] += abs(e[1])
		o.normal[i] = [2]float32{-e[1], e[0]}
		for _, other := range edges {
			o.reach[i] += abs(o.normal[i][0]*other[0] + o.normal[i][1]*other[1])
		}
	}
	return o
}

// covers reports whether the point (x, y) from the centre is covered. An edge
// that points straight up has no direction from above; its normal is zero and
// forbids nothing.
func (o *outline) covers(x, y float32) bool {
	for i, n := range o.normal {
		if abs(n[0]*x+n[1]*y) > o.reach[i] {
			return false
		}
	}
	return true
}

// edges returns half the cube's edges as they look from above: the columns of its
// rotation without their heights.
func (c *Cube) edges() [3][2]float32 {
	x, y, z, w := c.Rot[0], c.Rot[1], c.Rot[2], c.Rot[3]
	h := c.Half
	return [3][2]float32{
		{h * (1 - 2*(y*y+z*z)), h * 2 * (x*y + z*w)},
		{h * 2 * (x*y - z*w), h * (1 - 2*(x*x+z*z))},
		{h * 2 * (x*z + y*w), h * 2 * (y*z - x*w)},
	}
}

func abs(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

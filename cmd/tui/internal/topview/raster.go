package topview

import "math"

// View is the part of the ground that a raster shows.
type View struct {
	X, Y    float64 // the centre of the raster, in metres
	DotSize float64 // metres per dot
}

// Raster is a grid of dots, each of which shows a cube or the ground. The zero value is empty; Reset
// sets its size.
type Raster struct {
	W, H   int
	view   View
	cube   []int32   // index of the visible cube at each dot, row by row from the top; Ground if none exists
	height []float32 // height of the centre of that cube, in metres
}

// Ground is the index of dots without a cube.
const Ground = -1

// Reset clears the raster and sets its view and its size in dots. It allocates only if the raster was always
// smaller before.
func (r *Raster) Reset(v View, w, h int) {
	r.W, r.H, r.view = max(w, 0), max(h, 0), v
	n := r.W * r.H
	if cap(r.cube) < n {
		r.cube, r.height = make([]int32, n), make([]float32, n)
	}
	r.cube, r.height = r.cube[:n], r.height[:n]
	for i := range r.cube {
		r.cube[i] = Ground
	}
}

// DotSize returns the metres per dot.
func (r *Raster) DotSize() float64 { return r.view.DotSize }

// CubeAt returns the index of the cube visible at a dot, Ground if none exists, or if the dot is outside
// the raster.
func (r *Raster) CubeAt(x, y int) int {
	if x < 0 || x >= r.W || y < 0 || y >= r.H {
		return Ground
	}
	return int(r.cube[y*r.W+x])
}

// DotAt returns the dot of the point (x, y) of the ground, which may be outside the raster.
func (r *Raster) DotAt(x, y float64) (col, row int) {
	return clampedFloor((x-r.view.X)/r.view.DotSize + float64(r.W)/2), clampedFloor((r.view.Y-y)/r.view.DotSize + float64(r.H)/2)
}

// clampedFloor rounds down to an int. Values outside the range of rasters, and NaN, become a value far
// outside, because decoders can produce any position.
func clampedFloor(v float64) int {
	const far = 1 << 30
	if !(math.Abs(v) < far) {
		return far
	}
	return int(math.Floor(v))
}

// Draw draws cube c with index i: all dots whose centre it covers or, if none exist, the dot of the
// cube's centre. Dots of higher cubes are unchanged.
func (r *Raster) Draw(i int, c *Cube) {
	col, row := r.DotAt(float64(c.X), float64(c.Y))
	o := newOutline(c)
	dot := float32(r.view.DotSize)
	// The dots that the cube can cover are at most dx columns and dy rows from the dot of its centre.
	dx, dy := clampedFloor(float64(o.extent[0]/dot))+1, clampedFloor(float64(o.extent[1]/dot))+1
	// The centre of dot (col, row) relative to the cube's centre.
	x0 := float32(r.view.X + (float64(col)+0.5-float64(r.W)/2)*r.view.DotSize - float64(c.X))
	y0 := float32(r.view.Y - (float64(row)+0.5-float64(r.H)/2)*r.view.DotSize - float64(c.Y))
	drawn := false
	for y := max(-dy, -row); y <= dy && row+y < r.H; y++ {
		for x := max(-dx, -col); x <= dx && col+x < r.W; x++ {
			if o.covers(x0+float32(x)*dot, y0-float32(y)*dot) {
				r.setDot(col+x, row+y, i, c.Z)
				drawn = true
			}
		}
	}
	if !drawn && o.extent[0] < dot && o.extent[1] < dot {
		r.setDot(col, row, i, c.Z)
	}
}

// setDot sets a dot to cube i at height z, unless the dot is outside or shows a higher cube.
func (r *Raster) setDot(x, y, i int, z float32) {
	if x < 0 || x >= r.W || y < 0 || y >= r.H {
		return
	}
	if at := y*r.W + x; r.cube[at] == Ground || r.height[at] <= z {
		r.cube[at], r.height[at] = int32(i), z
	}
}

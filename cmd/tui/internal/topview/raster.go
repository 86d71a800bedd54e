package topview

import "math"

// View is the part of the ground that a raster shows.
type View struct {
	X, Y float64 // the middle of the raster, metres
	Dot  float64 // metres from one dot to the next
}

// Raster is a grid of dots, of which each shows one cube or the ground. The zero
// value is an empty one; Reset gives it its size.
type Raster struct {
	W, H int
	view View
	cube []int32 // index of the cube seen, -1 for the ground
	top  []float32
}

// Ground is what stands for no cube.
const Ground = -1

// Reset clears the raster for a picture of w x h dots. It allocates only if the
// raster was never as large.
func (r *Raster) Reset(v View, w, h int) {
	r.W, r.H, r.view = max(w, 0), max(h, 0), v
	n := r.W * r.H
	if cap(r.cube) < n {
		r.cube, r.top = make([]int32, n), make([]float32, n)
	}
	r.cube, r.top = r.cube[:n], r.top[:n]
	for i := range r.cube {
		r.cube[i] = Ground
	}
}

// Dot returns how many metres lie between two dots.
func (r *Raster) Dot() float64 { return r.view.Dot }

// At returns the index of the cube seen at a dot, Ground if there is none; dots
// beyond the edges show the ground.
func (r *Raster) At(x, y int) int {
	if x < 0 || x >= r.W || y < 0 || y >= r.H {
		return Ground
	}
	return int(r.cube[y*r.W+x])
}

// Place returns the dot that shows the point (x, y) of the ground, which may lie
// beyond the raster's edges.
func (r *Raster) Place(x, y float64) (col, row int) {
	return floor((x-r.view.X)/r.view.Dot + float64(r.W)/2), floor((r.view.Y-y)/r.view.Dot + float64(r.H)/2)
}

// floor rounds down, and stops far beyond any raster: a cube may be anywhere, and
// what is no number is farthest away.
func floor(v float64) int {
	const far = 1 << 30
	if !(math.Abs(v) < far) {
		return far
	}
	return int(math.Floor(v))
}

// Draw draws c under the index i: all dots whose middle it covers, or the one
// that its centre lies in if it covers no middle. Where another cube is higher
// there, that one stays.
func (r *Raster) Draw(i int, c *Cube) {
	col, row := r.Place(float64(c.X), float64(c.Y))
	o := outlineOf(c)
	dot := float32(r.view.Dot)
	dx, dy := floor(float64(o.extent[0]/dot))+1, floor(float64(o.extent[1]/dot))+1
	// Of the middle of dot (col, row) from the cube's centre.
	x0 := float32(r.view.X + (float64(col)+0.5-float64(r.W)/2)*r.view.Dot - float64(c.X))
	y0 := float32(r.view.Y - (float64(row)+0.5-float64(r.H)/2)*r.view.Dot - float64(c.Y))
	drawn := false
	for y := max(-dy, -row); y <= dy && row+y < r.H; y++ {
		for x := max(-dx, -col); x <= dx && col+x < r.W; x++ {
			if o.covers(x0+float32(x)*dot, y0-float32(y)*dot) {
				r.put(col+x, row+y, i, c.Z)
				drawn = true
			}
		}
	}
	if !drawn && o.extent[0] < dot && o.extent[1] < dot {
		r.put(col, row, i, c.Z)
	}
}

func (r *Raster) put(x, y, i int, z float32) {
	if x < 0 || x >= r.W || y < 0 || y >= r.H {
		return
	}
	if at := y*r.W + x; r.cube[at] == Ground || r.top[at] <= z {
		r.cube[at], r.top[at] = int32(i), z
	}
}

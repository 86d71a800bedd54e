package worldview

import "math"

// view is the part of the ground that a raster shows, in units of the schema.
type view struct {
	x, y    float64 // the centre of the raster
	dotSize float64 // units per dot
}

// raster is a grid of dots, each of which shows a thing with an outline or the ground. The zero value is empty;
// reset sets its size.
type raster struct {
	view
	w, h   int
	thing  []int32   // index of the visible thing at each dot, row by row from the top; ground if none exists
	height []float64 // height of the centre of that thing
}

// ground is the index of dots without a thing.
const ground = -1

// reset clears the raster and sets its view and its size in dots. It allocates only if the raster was always
// smaller before.
func (r *raster) reset(v view, w, h int) {
	r.w, r.h, r.view = max(w, 0), max(h, 0), v
	n := r.w * r.h
	if cap(r.thing) < n {
		r.thing = make([]int32, n)
		r.height = make([]float64, n)
	}
	r.thing, r.height = r.thing[:n], r.height[:n]
	for i := range r.thing {
		r.thing[i] = ground
	}
}

// contains reports whether a dot is within the raster.
func (r *raster) contains(x, y int) bool { return x >= 0 && x < r.w && y >= 0 && y < r.h }

// thingAt returns the index of the thing visible at a dot, ground if none exists, or if the dot is outside the
// raster.
func (r *raster) thingAt(x, y int) int {
	if !r.contains(x, y) {
		return ground
	}
	return int(r.thing[y*r.w+x])
}

// dotAt returns the dot of the point (x, y) of the ground, which may be outside the raster.
func (r *raster) dotAt(x, y float64) (col, row int) {
	return clampedFloor((x-r.x)/r.dotSize + float64(r.w)/2), clampedFloor((r.y-y)/r.dotSize + float64(r.h)/2)
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

// draw draws thing t with index i: all dots whose centre it covers or, if none exist, the dot of the thing's centre.
// Dots of higher things are unchanged.
func (r *raster) draw(i int, t *Thing) {
	col, row := r.dotAt(t.X, t.Y)
	o := newOutline(t)
	dot := float32(r.dotSize)
	// The dots that the thing can cover are at most dx columns and dy rows from the dot of its centre.
	dx := clampedFloor(float64(o.extent[0]/dot)) + 1
	dy := clampedFloor(float64(o.extent[1]/dot)) + 1
	// The centre of dot (col, row) relative to the thing's centre.
	x0 := float32(r.x + (float64(col)+0.5-float64(r.w)/2)*r.dotSize - t.X)
	y0 := float32(r.y - (float64(row)+0.5-float64(r.h)/2)*r.dotSize - t.Y)
	drawn := false
	for y := max(-dy, -row); y <= dy && row+y < r.h; y++ {
		for x := max(-dx, -col); x <= dx && col+x < r.w; x++ {
			if o.covers(x0+float32(x)*dot, y0-float32(y)*dot) {
				r.setDot(col+x, row+y, i, t.Z)
				drawn = true
			}
		}
	}
	if !drawn && o.extent[0] < dot && o.extent[1] < dot {
		r.setDot(col, row, i, t.Z)
	}
}

// setDot sets a dot to thing i at height z, unless the dot is outside or shows a higher thing.
func (r *raster) setDot(x, y, i int, z float64) {
	if !r.contains(x, y) {
		return
	}
	if at := y*r.w + x; r.thing[at] == ground || r.height[at] <= z {
		r.thing[at] = int32(i)
		r.height[at] = z
	}
}

// cell returns the dots of a cell that show things, bit 0 at the top left, row by row, and the mark with the highest
// layer among these things. If leaveGaps is set, dots at the boundary between two things are left empty, so that each
// thing is visible by itself.
func (r *raster) cell(col, row int, leaveGaps bool, marks []mark) (mask uint8, visible *mark) {
	for dy := range dotsDown {
		for dx := range dotsAcross {
			x, y := col*dotsAcross+dx, row*dotsDown+dy
			i := r.thingAt(x, y)
			if i == ground || leaveGaps && r.isBoundary(x, y, i) {
				continue
			}
			if visible == nil || marks[i].layer > visible.layer {
				visible = &marks[i]
			}
			mask |= 1 << (dy*dotsAcross + dx)
		}
	}
	return mask, visible
}

// isBoundary reports whether another thing adjoins thing i at dot (x, y), at the right or below.
func (r *raster) isBoundary(x, y, i int) bool {
	isOther := func(j int) bool { return j != i && j != ground }
	return isOther(r.thingAt(x+1, y)) || isOther(r.thingAt(x, y+1))
}

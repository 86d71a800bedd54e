package ui

import (
	"math"

	"wirelab/cmd/tui/internal/topview"
)

// camera is where the page of the world looks, the same for all its views.
type camera struct {
	x, y   float64 // metres
	rung   int     // of zooms
	follow bool    // the player
	width  float64 // metres that the narrower side of the last picture showed
}

// zooms are the metres that the narrower side of a view shows at least.
func zooms() []float64 { return []float64{4, 6, 9, 12, 17, 24, 34, 50, 75, 110, 160, 260, 520} }

// firstZoom shows the whole grid, which is 30 m wide.
const firstZoom = 6

// span is how many metres the narrower side shows at least.
func (k *camera) span() float64 { return zooms()[k.rung] }

// zoom looks closer by so many rungs, or from farther away.
func (k *camera) zoom(n int) { k.rung = min(max(k.rung-n, 0), len(zooms())-1) }

// pan moves the view by eighths of its span.
func (k *camera) pan(dx, dy int) {
	k.follow = false
	k.x += float64(dx) * k.span() / 8
	k.y += float64(dy) * k.span() / 8
}

// lens is the camera without its place, which changes all the time.
func (k *camera) lens() camera { return camera{width: k.width, follow: k.follow} }

// deadZone is the part of a view, from its middle, in which the player may move
// without the camera: while that stands still most of the screen does, which is
// what the terminal can keep up with.
const deadZone = 0.36

// track brings the player at (x, y) back into the middle once it has left the
// dead zone.
func (k *camera) track(x, y float64) {
	if !k.follow {
		return
	}
	reach := deadZone * k.span()
	if dx, dy := x-k.x, y-k.y; dx > reach || dx < -reach || dy > reach || dy < -reach {
		k.x, k.y = x, y
	}
}

// view returns what a raster of w x h dots shows. A metre takes a whole number of
// dots, or a dot a whole number of metres: the grid, in which cubes lie a metre
// apart, looks like one. The middle lies on a corner of a cell, so that a camera
// that moves leaves what rests in the same shape.
func (k *camera) view(w, h int) topview.View {
	side := float64(max(min(w, h), 1))
	dot := math.Ceil(k.span() / side)
	if k.span() < side {
		dot = 1 / math.Floor(side/k.span())
	}
	k.width = dot * side
	snap := func(v float64, dots int) float64 {
		step := dot * float64(dots)
		return math.Round(v/step) * step
	}
	return topview.View{X: snap(k.x, dotsAcross), Y: snap(k.y, dotsDown), Dot: dot}
}

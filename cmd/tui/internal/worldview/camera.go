package worldview

import (
	"math"

	"wirelab/cmd/tui/internal/topview"
)

// Camera is where the page of the world looks, the same for all its views.
type Camera struct {
	X, Y   float64 // metres
	Rung   int     // of zooms
	Follow bool    // the player
	Width  float64 // metres that the narrower side of the last picture showed
}

// zooms are the metres that the narrower side of a view shows at least.
func zooms() []float64 { return []float64{4, 6, 9, 12, 17, 24, 34, 50, 75, 110, 160, 260, 520} }

// FirstZoom shows the whole grid, which is 30 m wide.
const FirstZoom = 6

// Span is how many metres the narrower side shows at least.
func (k *Camera) Span() float64 { return zooms()[k.Rung] }

// Zoom looks closer by so many rungs, or from farther away.
func (k *Camera) Zoom(n int) { k.Rung = min(max(k.Rung-n, 0), len(zooms())-1) }

// Pan moves the view by eighths of its span.
func (k *Camera) Pan(dx, dy int) {
	k.Follow = false
	k.X += float64(dx) * k.Span() / 8
	k.Y += float64(dy) * k.Span() / 8
}

// Lens is the camera without its place, which changes all the time.
func (k *Camera) Lens() Camera { return Camera{Width: k.Width, Follow: k.Follow} }

// deadZone is the part of a view, from its middle, in which the player may move
// without the camera. While the camera stands still most of the screen does, so
// the terminal has less to draw.
const deadZone = 0.36

// Track brings the player at (x, y) back into the middle once it has left the
// dead zone.
func (k *Camera) Track(x, y float64) {
	if !k.Follow {
		return
	}
	reach := deadZone * k.Span()
	if dx, dy := x-k.X, y-k.Y; dx > reach || dx < -reach || dy > reach || dy < -reach {
		k.X, k.Y = x, y
	}
}

// View returns what a raster of w x h dots shows. A metre takes a whole number of
// dots, or a dot a whole number of metres: the grid, in which cubes lie a metre
// apart, looks like one. The middle lies on a corner of a cell, so that a camera
// that moves leaves what rests in the same shape.
func (k *Camera) View(w, h int) topview.View {
	side := float64(max(min(w, h), 1))
	dot := math.Ceil(k.Span() / side)
	if k.Span() < side {
		dot = 1 / math.Floor(side/k.Span())
	}
	k.Width = dot * side
	snap := func(v float64, dots int) float64 {
		step := dot * float64(dots)
		return math.Round(v/step) * step
	}
	return topview.View{X: snap(k.X, DotsAcross), Y: snap(k.Y, DotsDown), Dot: dot}
}

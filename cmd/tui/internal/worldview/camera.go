package worldview

import (
	"math"

	"wirelab/cmd/tui/internal/topview"
)

// Camera is the position and zoom that all views of the world share.
type Camera struct {
	X, Y      float64 // metres
	ZoomLevel int     // index of zooms
	Follow    bool    // keep the player in view
	Width     float64 // metres on the narrower side, as last drawn
}

// zooms returns the zoom levels: the minimum metres on the narrower side of a view.
func zooms() []float64 { return []float64{4, 6, 9, 12, 17, 24, 34, 50, 75, 110, 160, 260, 520} }

// FirstZoom is the initial zoom level; it shows the whole grid, which is 30 m wide.
const FirstZoom = 6

// Span returns the minimum metres on the narrower side.
func (k *Camera) Span() float64 { return zooms()[k.ZoomLevel] }

// Zoom zooms in by n levels, or out if n is negative.
func (k *Camera) Zoom(n int) { k.ZoomLevel = min(max(k.ZoomLevel-n, 0), len(zooms())-1) }

// Pan moves the view by eighths of its span and stops following the player.
func (k *Camera) Pan(dx, dy int) {
	k.Follow = false
	k.X += float64(dx) * k.Span() / 8
	k.Y += float64(dy) * k.Span() / 8
}

// WithoutPosition returns a camera with only Width and Follow, which the line below the world shows.
func (k *Camera) WithoutPosition() Camera { return Camera{Width: k.Width, Follow: k.Follow} }

// deadZone is the distance from the centre, as a fraction of the span, within which the player moves
// without the camera. While the camera stands still, most of the screen is unchanged, which saves
// output.
const deadZone = 0.36

// Track centres the view on the player at (x, y) if the player has left the dead zone.
func (k *Camera) Track(x, y float64) {
	if !k.Follow {
		return
	}
	reach := deadZone * k.Span()
	if dx, dy := x-k.X, y-k.Y; dx > reach || dx < -reach || dy > reach || dy < -reach {
		k.X, k.Y = x, y
	}
}

// View returns the view for a raster of w x h dots. A metre is a whole number of dots, or a dot a whole
// number of metres, so that the grid of cubes, which are a metre apart, looks regular. The centre is
// snapped to the corner of a cell, so that resting cubes keep their shape while the camera moves.
func (k *Camera) View(w, h int) topview.View {
	side := float64(max(min(w, h), 1)) // dots on the narrower side
	dot := math.Ceil(k.Span() / side)  // metres per dot
	if k.Span() < side {
		dot = 1 / math.Floor(side/k.Span())
	}
	k.Width = dot * side
	// snap rounds a coordinate to a multiple of the given number of dots.
	snap := func(v float64, dots int) float64 {
		step := dot * float64(dots)
		return math.Round(v/step) * step
	}
	return topview.View{X: snap(k.X, DotsAcross), Y: snap(k.Y, DotsDown), DotSize: dot}
}

package worldview

import (
	"math"
	"slices"
	"time"
)

// A cell of the screen has two by four dots, as braille characters have.
const (
	dotsAcross = 2
	dotsDown   = 4
)

// Camera is the part of the world that all views show. It contains a whole extent or, after Zoom, a part of it.
type Camera struct {
	X, Y  float64 // the centre
	fixed bool    // the user has panned: the camera does not follow the player
	zoom  int     // steps closer than the extent
	cubes bool    // the extent is the grid of cubes; otherwise it contains the things
	Cols  int     // columns of the narrowest view, by which all views are scaled
	extent
}

// Steps of the zoom.
const (
	zoomStep = 1.5
	maxZoom  = 7 // steps closer than the extent, or farther
)

// gridSide is the side of the square that the camera shows of cubes. Their grid is 30 m wide.
const gridSide = 32

// Reset shows the extent of all things, or the grid of cubes.
func (k *Camera) Reset() {
	*k = Camera{cubes: k.cubes, Cols: k.Cols}
	if k.cubes {
		k.extent = extent{left: -gridSide / 2, right: gridSide / 2, bottom: -gridSide / 2, top: gridSide / 2, known: true}
	}
}

// Zoom zooms in by n steps, or out if n is negative.
func (k *Camera) Zoom(n int) { k.zoom = min(max(k.zoom+n, -maxZoom), maxZoom) }

// scale returns the size of the view as a multiple of that of the extent.
func (k *Camera) scale() float64 { return math.Pow(zoomStep, -float64(k.zoom)) }

// span returns the narrower side of the view.
func (k *Camera) span() float64 { return k.scale() * math.Min(k.right-k.left, k.top-k.bottom) }

// Pan moves the view by eighths of its span and stops following the player.
func (k *Camera) Pan(dx, dy int) {
	k.fixed = true
	k.X += float64(dx) * k.span() / 8
	k.Y += float64(dy) * k.span() / 8
}

// Track shows the things at virtual time now: the whole extent or, if that would not contain the player, the
// player. The camera stands still while the player is near the centre, because most of the screen is then
// unchanged, which saves output.
func (k *Camera) Track(now time.Duration, things []Thing) {
	const deadZone = 0.36 // the distance from the centre, as a fraction of the span
	if !k.cubes {
		k.extent.follow(now, things)
	}
	if k.fixed {
		return
	}
	if !k.cubes && k.zoom <= 0 {
		k.X, k.Y = (k.left+k.right)/2, (k.bottom+k.top)/2
		return
	}
	player := slices.IndexFunc(things, func(t Thing) bool { return t.State == Player })
	if player < 0 {
		return
	}
	at, reach := &things[player], deadZone*k.span()
	if math.Max(math.Abs(at.X-k.X), math.Abs(at.Y-k.Y)) > reach {
		k.X, k.Y = at.X, at.Y
	}
}

// view returns the view for a raster of w x h cells. A unit is a whole number of dots, or a dot a whole number of
// units, so that a regular grid looks regular. The centre is the corner of a cell, so that things at rest keep
// their shape while the camera moves.
func (k *Camera) view(w, h int) view {
	across, down := float64(max(w-1, 1)*dotsAcross), float64(max(h-1, 1)*dotsDown)
	dot := k.scale() * math.Max((k.right-k.left)/across, (k.top-k.bottom)/down)
	switch {
	case !(dot > 0): // all things are at one position
		dot = 1
	case dot > 1:
		dot = math.Ceil(dot)
	default:
		dot = 1 / math.Floor(1/dot)
	}
	// snap rounds a coordinate to a multiple of the given number of dots.
	snap := func(v float64, dots int) float64 {
		step := dot * float64(dots)
		return math.Round(v/step) * step
	}
	return view{x: snap(k.X, dotsAcross), y: snap(k.Y, dotsDown), dotSize: dot}
}

// extent is a part of the world, in units of the schema.
type extent struct {
	left, right, bottom, top float64
	known                    bool
	lastFit                  time.Duration // when at least minUse of the extent was needed last; see follow
}

// follow changes the extent so that it shows the things. It grows at once, but shrinks only after shrinkDelay, so
// that the map rarely moves.
func (e *extent) follow(now time.Duration, things []Thing) {
	const (
		margin      = 0.05 // of the size, added on each side when the extent grows
		minUse      = 0.6  // of the width and the height; with less in use, the extent shrinks
		shrinkDelay = 2 * time.Second
	)
	need := neededExtent(things)
	need.lastFit = now
	switch {
	case !need.known:
		return
	case !e.known || now < e.lastFit:
		*e = need
		return
	}
	if need.left < e.left || need.right > e.right || need.bottom < e.bottom || need.top > e.top {
		e.include(need.left, need.bottom)
		e.include(need.right, need.top)
		e.grow(margin)
	}
	if need.right-need.left > minUse*(e.right-e.left) && need.top-need.bottom > minUse*(e.top-e.bottom) {
		e.lastFit = now
	} else if now-e.lastFit > shrinkDelay {
		*e = need
	}
}

// include extends the extent to a point.
func (e *extent) include(x, y float64) {
	e.left, e.right = math.Min(e.left, x), math.Max(e.right, x)
	e.bottom, e.top = math.Min(e.bottom, y), math.Max(e.top, y)
}

// grow extends all sides by a fraction of the size.
func (e *extent) grow(fraction float64) {
	dx, dy := (e.right-e.left)*fraction, (e.top-e.bottom)*fraction
	e.include(e.left-dx, e.bottom-dy)
	e.include(e.right+dx, e.top+dy)
}

// neededExtent returns the extent of all moving things, and of the things at rest without the outermost twentieth at
// each side, which may be far away.
func neededExtent(things []Thing) (e extent) {
	const (
		outermost = 0.05
		margin    = 0.15
	)
	if len(things) == 0 {
		return e
	}
	xs, ys := make([]float64, len(things)), make([]float64, len(things))
	for i := range things {
		xs[i], ys[i] = things[i].X, things[i].Y
	}
	slices.Sort(xs)
	slices.Sort(ys)
	first := int(outermost * float64(len(things)))
	last := len(things) - 1 - first
	e = extent{left: xs[first], right: xs[last], bottom: ys[first], top: ys[last], known: true}
	e.grow(margin)
	for i := range things {
		if t := &things[i]; t.State != Resting {
			e.include(t.X, t.Y)
		}
	}
	return e
}

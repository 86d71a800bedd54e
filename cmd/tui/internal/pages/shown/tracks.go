package shown

import (
	"math"
	"slices"
	"time"
)

// Spans of virtual time.
const (
	trailSpan = time.Second     // a trail shows the places of this last span
	restSpan  = time.Second / 2 // a point that keeps its place for this span is at rest
)

// tracks are the recent places of all points of a map.
type tracks struct {
	now    time.Duration
	places map[placeKey][]pastPlace // oldest first, at least one
}

// placeKey identifies a point in all frames: its row, and the index of its position in the row.
type placeKey struct{ row, group int }

// pastPlace is a place that a point reached.
type pastPlace struct {
	at   time.Duration // virtual time
	x, y float64
}

// add records the points at virtual time now, and marks those as moving whose place changed within restSpan. Points
// that are not in the list lose their tracks.
func (t *tracks) add(now time.Duration, points []point) {
	if now < t.now || t.places == nil { // the session was restarted
		t.places = map[placeKey][]pastPlace{}
	}
	t.now = now
	places := make(map[placeKey][]pastPlace, len(points))
	for i := range points {
		pt := &points[i]
		track := t.places[pt.key()]
		if n := len(track); n == 0 || track[n-1].x != pt.x || track[n-1].y != pt.y {
			track = append(track, pastPlace{now, pt.x, pt.y})
		}
		// The place before the oldest change within the span stays: the trail begins there.
		for len(track) > 1 && track[1].at < now-trailSpan {
			track = track[1:]
		}
		if last := track[len(track)-1]; pt.state == resting && len(track) > 1 && last.at > now-restSpan {
			pt.state = moving
		}
		places[pt.key()] = track
	}
	t.places = places
}

// extent is the part of the world that the map shows, in units of the schema.
type extent struct {
	left, right, bottom, top float64
	known                    bool
	lastFit                  time.Duration // when at least minUse of the extent was needed last; see follow
}

// follow changes the extent so that it shows the points. It grows at once, but shrinks only after shrinkDelay, so that
// the map rarely moves.
func (e *extent) follow(now time.Duration, points []point) {
	const (
		margin      = 0.05 // of the size, added on each side when the extent grows
		minUse      = 0.6  // of the width and the height; with less in use, the extent shrinks
		shrinkDelay = 2 * time.Second
	)
	need := neededExtent(points)
	switch {
	case !need.known:
		return
	case !e.known || now < e.lastFit:
		need.lastFit = now
		*e = need
		return
	}
	if need.left < e.left || need.right > e.right || need.bottom < e.bottom || need.top > e.top {
		e.left, e.right = math.Min(e.left, need.left), math.Max(e.right, need.right)
		e.bottom, e.top = math.Min(e.bottom, need.bottom), math.Max(e.top, need.top)
		e.grow(margin)
	}
	if need.right-need.left > minUse*(e.right-e.left) && need.top-need.bottom > minUse*(e.top-e.bottom) {
		e.lastFit = now
	} else if now-e.lastFit > shrinkDelay {
		*e = need
		e.lastFit = now
	}
}

// grow extends all sides by a fraction of the size.
func (e *extent) grow(fraction float64) {
	dx, dy := (e.right-e.left)*fraction, (e.top-e.bottom)*fraction
	e.left, e.right, e.bottom, e.top = e.left-dx, e.right+dx, e.bottom-dy, e.top+dy
}

// neededExtent returns the extent of all moving points, and of the points at rest without the outermost twentieth at each
// side, which may be far away.
func neededExtent(points []point) (e extent) {
	const (
		outermost = 0.05
		margin    = 0.15
	)
	if len(points) == 0 {
		return e
	}
	xs, ys := make([]float64, len(points)), make([]float64, len(points))
	for i, pt := range points {
		xs[i], ys[i] = pt.x, pt.y
	}
	slices.Sort(xs)
	slices.Sort(ys)
	skip := int(outermost * float64(len(points)))
	last := len(points) - 1 - skip
	e = extent{left: xs[skip], right: xs[last], bottom: ys[skip], top: ys[last], known: true}
	e.grow(margin)
	for _, pt := range points {
		if pt.state != resting {
			e.left, e.right = math.Min(e.left, pt.x), math.Max(e.right, pt.x)
			e.bottom, e.top = math.Min(e.bottom, pt.y), math.Max(e.top, pt.y)
		}
	}
	return e
}

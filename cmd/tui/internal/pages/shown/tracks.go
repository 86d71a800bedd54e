package shown

import (
	"math"
	"slices"
	"time"
)

// Spans of virtual time: trails show the places of the last trailSpan, and what changed its place within the last
// restSpan moves.
const (
	trailSpan = time.Second
	restSpan  = time.Second / 2
)

// tracks are the recent places of everything on a map.
type tracks struct {
	now    time.Duration
	places map[placeKey][]pastPlace // oldest first
}

// placeKey identifies a position: its row, and its index in the row.
type placeKey struct{ row, group int }

// pastPlace is where something came to at an instant.
type pastPlace struct {
	at   time.Duration
	x, y float64
}

// add records the points displayed at virtual time now, and marks those as moving whose place changed recently. What
// is no longer displayed has no track.
func (t *tracks) add(now time.Duration, points []point) {
	if now < t.now || t.places == nil { // the session began anew
		t.places = map[placeKey][]pastPlace{}
	}
	t.now = now
	seen := make(map[placeKey][]pastPlace, len(points))
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
		if last := track[len(track)-1]; pt.kind == resting && len(track) > 1 && last.at > now-restSpan {
			pt.kind = moving
		}
		seen[pt.key()] = track
	}
	t.places = seen
}

// extent is the part of the world that the map shows, in units of the schema.
type extent struct {
	left, right, bottom, top float64
	known                    bool
	largeSince               time.Duration // since when the extent has been much larger than needed; see follow
}

// follow changes the extent so that it shows the points: at once where it is too small, but only after a while where
// it is too large, so that the map rarely moves.
func (e *extent) follow(now time.Duration, points []point) {
	const (
		margin   = 0.05 // of the size, around what the map grows to
		muchLess = 0.6  // of the width or the height
		patience = 2 * time.Second
	)
	need := neededExtent(points)
	switch {
	case !need.known:
		return
	case !e.known || now < e.largeSince:
		need.largeSince = now
		*e = need
		return
	}
	if need.left < e.left || need.right > e.right || need.bottom < e.bottom || need.top > e.top {
		e.left, e.right = math.Min(e.left, need.left), math.Max(e.right, need.right)
		e.bottom, e.top = math.Min(e.bottom, need.bottom), math.Max(e.top, need.top)
		e.grow(margin)
	}
	if need.right-need.left > muchLess*(e.right-e.left) && need.top-need.bottom > muchLess*(e.top-e.bottom) {
		e.largeSince = now
	} else if now-e.largeSince > patience {
		*e = need
		e.largeSince = now
	}
}

// grow extends all sides by a fraction of the size.
func (e *extent) grow(fraction float64) {
	dx, dy := (e.right-e.left)*fraction, (e.top-e.bottom)*fraction
	e.left, e.right, e.bottom, e.top = e.left-dx, e.right+dx, e.bottom-dy, e.top+dy
}

// neededExtent returns the extent of the points without the outermost twentieth at each side, which may be far away,
// but with all that move.
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
		if pt.kind != resting {
			e.left, e.right = math.Min(e.left, pt.x), math.Max(e.right, pt.x)
			e.bottom, e.top = math.Min(e.bottom, pt.y), math.Max(e.top, pt.y)
		}
	}
	return e
}

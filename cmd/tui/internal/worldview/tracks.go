package worldview

import "time"

// Spans of virtual time.
const (
	trailSpan = time.Second     // a trail shows the places of this last span
	restSpan  = time.Second / 2 // a thing that keeps its place for this span is at rest
)

// tracks are the recent places of all things of a map.
type tracks struct {
	now    time.Duration
	places map[thingKey][]pastPlace // oldest first, at least one
}

// thingKey identifies a thing in all frames.
type thingKey struct{ row, group int }

// pastPlace is a place that a thing reached.
type pastPlace struct {
	at   time.Duration // virtual time
	x, y float64
}

// add records the things at virtual time now, and marks those as moving whose place changed within restSpan. Things
// that are not in the list lose their tracks.
func (t *tracks) add(now time.Duration, things []Thing) {
	if now < t.now || t.places == nil { // the session was restarted
		t.places = map[thingKey][]pastPlace{}
	}
	t.now = now
	places := make(map[thingKey][]pastPlace, len(things))
	for i := range things {
		thing := &things[i]
		key := thingKey{thing.Row, thing.Group}
		track := t.places[key]
		if n := len(track); n == 0 || track[n-1].x != thing.X || track[n-1].y != thing.Y {
			track = append(track, pastPlace{now, thing.X, thing.Y})
		}
		// The place before the oldest change within the span stays: the trail begins there.
		for len(track) > 1 && track[1].at < now-trailSpan {
			track = track[1:]
		}
		changedAt := track[len(track)-1].at
		if thing.State == Resting && len(track) > 1 && changedAt > now-restSpan {
			thing.State = Moving
		}
		places[key] = track
	}
	t.places = places
}

package worldview

import (
	"math"
	"strconv"
	"time"

	"wirelab/cmd/tui/internal/look"
	"wirelab/dataset/frame"
	"wirelab/experiment/engine/playout"
	"wirelab/internal/escape"
	"wirelab/internal/words"
)

// Map is a world as the sender knows it and as the receiver displays it.
type Map struct {
	Sent, Shown   []Thing // Shown is empty before the display begins
	Displaced     int     // number of things displayed at another place than the sender's
	Worst         Thing   // the displaced thing that is farthest from the sender's place
	WorstDistance float64 // of Worst, in units of the schema; 0 if no thing is displaced
	Camera        Camera

	schema                  *frame.Schema
	parts                   []part // nil for cubes
	kinds                   []Kind
	keys                    []string // the user's ids of the rows; nil if they have none
	now                     time.Duration
	sentTracks, shownTracks tracks
	next                    []Thing
	plots                   [3]plot // of the views, from left to right
}

// NewMap returns an empty map of data with a schema that has positions; nil means cubes.
func NewMap(s *frame.Schema) *Map {
	m := &Map{schema: s}
	if s == nil || frame.IsCubes(s) {
		m.schema = frame.Cubes(1 + 900)
		m.Camera.cubes = true
		m.Camera.Reset()
		return m
	}
	m.parts = findParts(s)
	m.kinds = findKinds(s, m.parts)
	return m
}

// ShowsCubes reports whether the things are cubes.
func (m *Map) ShowsCubes() bool { return m.Camera.cubes }

// Reset shows the initial part of the world.
func (m *Map) Reset() {
	m.Camera.Reset()
	m.Camera.Track(m.now, m.Sent)
}

// SetCubes shows cubes at virtual time now.
func (m *Map) SetCubes(now time.Duration, pic *playout.Picture) {
	m.Sent = findCubes(m.Sent[:0], pic.Sent)
	m.Shown = findCubes(m.Shown[:0], pic.Shown)
	m.update(now)
}

// SetFrames shows the rows of tables at virtual time now.
func (m *Map) SetFrames(now time.Duration, f *playout.Frames) {
	m.keys = f.Keys
	m.Sent = findThings(m.Sent[:0], m.schema, m.parts, f.Sent.Table)
	m.Shown = m.Shown[:0]
	if f.Shown != nil {
		m.Shown = findThings(m.Shown, m.schema, m.parts, f.Shown.Table)
	}
	if f.Next != nil {
		m.next = findThings(m.next[:0], m.schema, m.parts, f.Next.Table)
		blend(m.Shown, m.next, f.Weight)
	}
	m.sentTracks.add(now, m.Sent)
	m.shownTracks.add(now, m.Shown)
	m.update(now)
}

// update moves the camera, and compares the places at sender and receiver.
func (m *Map) update(now time.Duration) {
	m.now = now
	m.Camera.Track(now, m.Sent)
	join(m.Shown, m.Sent, func(shown, sent *Thing) { shown.SentX, shown.SentY = sent.X, sent.Y })
	m.Displaced = 0
	m.WorstDistance = 0
	for i := range m.Shown {
		t := &m.Shown[i]
		distance := math.Hypot(t.X-t.SentX, t.Y-t.SentY)
		if distance != 0 { // NaN if the sender does not have it
			m.Displaced++
		}
		if distance > m.WorstDistance {
			m.WorstDistance = distance
			m.Worst = *t
		}
	}
}

// ThingName returns the name of a thing: its kind, and the number of its row in its part or the user's id.
func (m *Map) ThingName(t *Thing) string {
	part := m.schema.PartForRow(t.Row)
	name := part.Name
	if t.Kind != noKind {
		name = m.kinds[t.Kind].name
	}
	if part.Rows == 1 {
		return name
	}
	return name + " " + RowName(m.keys, t.Row, part.Row)
}

// RowName returns the user's id of a row, or the number of the row, counted from first, if keys has none.
func RowName(keys []string, row, first int) string {
	if row < len(keys) && keys[row] != "" {
		return escape.Line(keys[row])
	}
	return strconv.Itoa(row - first)
}

// Counts returns the number of things at the sender for each part of the schema that has any, such as "2 flags", and
// the number of those that move.
func (m *Map) Counts() (parts []string, numMoving int) {
	for i := 0; i < len(m.Sent); {
		part := m.schema.PartForRow(m.Sent[i].Row)
		n := 0
		for ; i < len(m.Sent) && m.Sent[i].Row < part.Row+part.Rows; i++ {
			if m.Sent[i].Group > 0 {
				continue
			}
			n++
			if m.Sent[i].State == Moving {
				numMoving++
			}
		}
		parts = append(parts, words.Count(n, part.Name))
	}
	return parts, numMoving
}

// Unit returns the unit of the coordinates; "units" if it is unknown.
func (m *Map) Unit() string {
	if m.ShowsCubes() {
		return "m"
	}
	for _, p := range m.parts {
		for _, at := range p.places {
			if u := m.schema.Fields[at.x].Unit; u != "" {
				return u
			}
		}
	}
	return "units"
}

// legend returns the kinds of things with their letters and counts; nil if the data have at most one kind.
func (m *Map) legend(things []Thing) (groups [][]look.Span) {
	if len(m.kinds) < 2 {
		return nil
	}
	count := make([]int, len(m.kinds))
	for i := range things {
		if t := &things[i]; t.Kind != noKind && t.Group == 0 {
			count[t.Kind]++
		}
	}
	for i, k := range m.kinds {
		if count[i] > 0 {
			groups = append(groups, []look.Span{k.style.Span(" " + string(k.letter)), look.Dim.Span(" " + k.name + " "),
				look.Value.Span(strconv.Itoa(count[i])), look.Dim.Span(" ")})
		}
	}
	return groups
}

package worldview

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/forecast"
	"wirelab/experiment/engine/playout"
)

// Thing is an object of the world. Coordinates are in units of the schema.
type Thing struct {
	X, Y, Z float64 // Z is the height of the centre of an outline
	Row     int
	Group   int // index of its position in the row
	State   State
	Kind    int // index in Map.kinds; noKind for the player and cubes

	Half float32    // half the side of its outline, a cube; 0 if only the position is known
	Rot  [4]float32 // orientation of the outline: a unit quaternion x y z w

	SentX, SentY float64 // where the sender has it; NaN if the sender does not have it
}

// State selects the marker of a thing. Markers of higher states cover those of lower states.
type State uint8

const (
	Resting State = iota
	Moving
	Player // in a row that is always present
)

// Kind is a value of the field with role Type or, without such a field, a part of the schema.
type Kind struct {
	name   string
	letter rune // marks things at rest; its upper case marks those that move
	style  look.Style
}

// noKind is the Kind of rows that are always present, such as the player: they have a marker of their own.
const noKind = -1

// part is a part of a schema with the columns of its positions.
type part struct {
	frame.Part
	places     []place
	firstKind  int // index of the first kind of the rows; noKind if they have none
	numKinds   int
	kindColumn int // column whose value is added to firstKind; -1 if all rows are of that kind
}

// place names the columns of the position of a row, seen from above (axes 0 and 1) or, without axis 1, from the
// side (axes 0 and 2).
type place struct {
	x, y       int
	velocities []int
	present    int  // column that is not 0 if the row is present; -1 if it always is
	yDown      bool // y grows downwards as on a screen: in schemas with two axes
}

// HasPositions reports whether the rows of a schema, which may be nil, can be shown on a map.
func HasPositions(s *frame.Schema) bool {
	return s != nil && (frame.IsCubes(s) || slices.ContainsFunc(findParts(s), func(p part) bool { return len(p.places) > 0 }))
}

// findParts returns the parts of a schema with the columns of their positions.
func findParts(s *frame.Schema) (list []part) {
	parts := s.Parts
	if len(parts) == 0 {
		parts = []frame.Part{s.PartForRow(0)}
	}
	for _, p := range parts {
		list = append(list, part{Part: p, places: findPlaces(s, p), firstKind: noKind, kindColumn: -1})
	}
	return list
}

// findPlaces returns the positions in part p, one for each group of fields with enough axes.
func findPlaces(s *frame.Schema, p frame.Part) (list []place) {
	present := -1                   // see place
	var groups []uint8              // in the order of their first fields
	columns := map[[2]uint8]int{}   // of coordinates, by group and axis
	velocities := map[uint8][]int{} // columns by group
	for i := p.Field; i < p.Field+p.Size; i++ {
		switch h := &s.Fields[i].Hint; h.Role {
		case frame.Present:
			present = i
		case frame.Position:
			columns[[2]uint8{h.Group, h.Axis}] = i
			if !slices.Contains(groups, h.Group) {
				groups = append(groups, h.Group)
			}
		case frame.Velocity:
			velocities[h.Group] = append(velocities[h.Group], i)
		}
	}
	for _, g := range groups {
		x, hasX := columns[[2]uint8{g, 0}] // axes 0, 1 and 2 are x, y and z
		y, hasY := columns[[2]uint8{g, 1}]
		z, hasZ := columns[[2]uint8{g, 2}]
		if !hasY { // seen from the side
			y = z
		}
		if hasX && (hasY || hasZ) {
			list = append(list, place{x: x, y: y, velocities: velocities[g], present: present, yDown: !(hasY && hasZ)})
		}
	}
	return list
}

// findKinds returns all kinds of things on the map, and sets the kinds of the parts.
func findKinds(s *frame.Schema, parts []part) (kinds []Kind) {
	for i := range parts {
		p := &parts[i]
		if len(p.places) == 0 || p.places[0].present < 0 && len(s.Parts) > 0 {
			continue
		}
		names := []string{p.Name}
		for f := p.Field; f < p.Field+p.Size; f++ {
			if list := kindNames(&s.Fields[f]); list != nil {
				names, p.kindColumn = list, f
			}
		}
		p.firstKind, p.numKinds = len(kinds), len(names)
		for _, name := range names {
			kinds = append(kinds, Kind{name: name, letter: unusedLetter(name, kinds), style: look.SlotStyle(len(kinds))})
		}
	}
	return kinds
}

// kindNames returns the names of the values of a field with role Type; nil for other fields, and for those with
// many values without names.
func kindNames(f *frame.Field) (names []string) {
	const maxUnnamed = 32
	switch {
	case f.Hint.Role != frame.Type || f.Min != 0:
	case len(f.Values) > 0:
		return append(slices.Clone(f.Values), "other")
	case f.Max < maxUnnamed:
		for v := range int(f.Max) + 1 {
			names = append(names, f.Name+" "+strconv.Itoa(v))
		}
	}
	return names
}

// unusedLetter returns the first letter of name that none of the kinds has, otherwise the first such letter of the
// alphabet, and '?' if all letters are used.
func unusedLetter(name string, kinds []Kind) rune {
	for _, r := range strings.ToLower(name) + "abcdefghijklmnopqrstuvwxyz" {
		if r >= 'a' && r <= 'z' && !slices.ContainsFunc(kinds, func(k Kind) bool { return k.letter == r }) {
			return r
		}
	}
	return '?'
}

// kindOf returns the kind of a row with these values. Values beyond the last kind have the last kind.
func (p *part) kindOf(values []int32) int {
	if p.kindColumn < 0 {
		return p.firstKind
	}
	value := uint32(values[p.kindColumn]) // negative values become large ones
	return p.firstKind + int(min(value, uint32(p.numKinds-1)))
}

// findThings appends the things of a table to list, in the order of rows. Things with NaN or huge coordinates are
// omitted.
func findThings(list []Thing, s *frame.Schema, parts []part, table []int32) []Thing {
	numFields := len(s.Fields)
	for i := range parts {
		p := &parts[i]
		for row := p.Row; row < p.Row+p.Rows && (row+1)*numFields <= len(table); row++ {
			values := table[row*numFields:][:numFields]
			for g := range p.places {
				if t, ok := p.places[g].thing(s, values); ok {
					t.Row, t.Group, t.Kind = row, g, p.kindOf(values)
					list = append(list, t)
				}
			}
		}
	}
	return list
}

// thing returns the thing at a position of a row; false if there is none.
func (at *place) thing(s *frame.Schema, values []int32) (t Thing, ok bool) {
	const maxCoordinate = 1e9
	inUnits := func(column int) float64 { return s.Fields[column].InUnits(values[column]) }
	if at.present >= 0 && values[at.present] == 0 {
		return t, false
	}
	t = Thing{X: inUnits(at.x), Y: inUnits(at.y), SentX: math.NaN()}
	if at.yDown {
		t.Y = -t.Y
	}
	switch {
	case at.present < 0 && len(s.Parts) > 0: // its part has no field that marks it as absent
		t.State = Player
	case slices.ContainsFunc(at.velocities, func(v int) bool { return inUnits(v) != 0 }):
		t.State = Moving
	}
	return t, math.Abs(t.X) < maxCoordinate && math.Abs(t.Y) < maxCoordinate // false for NaN
}

// findCubes appends cubes to list. The first one is the player, which is larger.
func findCubes(list []Thing, poses []playout.Pose) []Thing {
	for i := range poses {
		at := &poses[i]
		t := Thing{X: float64(at.X), Y: float64(at.Y), Z: float64(at.Z), Row: i, Kind: noKind, SentX: math.NaN(), Half: forecast.CubeHalf, Rot: at.Rot}
		switch {
		case i == 0:
			t.State, t.Half = Player, forecast.PlayerHalf
		case at.Interacting:
			t.State = Moving
		}
		list = append(list, t)
	}
	return list
}

// join calls do for each pair of things in a and b that are the same thing. Both lists are in the order of rows.
func join(a, b []Thing, do func(a, b *Thing)) {
	for i := range a {
		x := &a[i]
		for len(b) > 0 && (b[0].Row < x.Row || b[0].Row == x.Row && b[0].Group < x.Group) {
			b = b[1:]
		}
		if len(b) > 0 && b[0].Row == x.Row && b[0].Group == x.Group {
			do(x, &b[0])
		}
	}
}

// blend moves each thing the fraction weight of the way to the same thing in next, unless that is of another kind.
func blend(things, next []Thing, weight float64) {
	join(things, next, func(t, to *Thing) {
		if t.Kind == to.Kind {
			t.X, t.Y = t.X+(to.X-t.X)*weight, t.Y+(to.Y-t.Y)*weight
		}
	})
}

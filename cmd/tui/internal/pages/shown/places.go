package shown

import (
	"math"
	"slices"

	"wirelab/dataset/frame"
)

// placeFields are the columns of a schema that hold the position of a row, seen from above (axes 0 and
// 1) or, without axis 1, from the side (axes 0 and 2).
type placeFields struct {
	x, y       int   // columns of the coordinates
	velocities []int // columns of the velocity
	present    int   // column that is not 0 if the row is present; -1 if it always is
	yDown      bool  // y grows downwards as on a screen: in schemas with two axes
}

// findPlaces returns the parts of a schema and the positions in each; nil, nil if none exist.
func findPlaces(s *frame.Schema) (parts []frame.Part, places [][]placeFields) {
	if s == nil {
		return nil, nil
	}
	parts = s.Parts
	if len(parts) == 0 {
		parts = []frame.Part{s.PartForRow(0)}
	}
	found := false
	for _, p := range parts {
		list := findPartPlaces(s, p)
		places = append(places, list)
		found = found || len(list) > 0
	}
	if !found {
		return nil, nil
	}
	return parts, places
}

// findPartPlaces returns the positions in part p, one for each group of fields with enough axes.
func findPartPlaces(s *frame.Schema, p frame.Part) (list []placeFields) {
	present := -1                   // see placeFields
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
			list = append(list, placeFields{x: x, y: y, velocities: velocities[g], present: present, yDown: !(hasY && hasZ)})
		}
	}
	return list
}

// point is an object on the map.
type point struct {
	x, y       float64
	row        int
	group      int // index of its position in the row
	state      pointState
	entityKind int // index of its entityKind, or noKind
}

// key identifies the point among those of other frames.
func (p *point) key() placeKey { return placeKey{p.row, p.group} }

// pointState selects the marker of a point. Markers of higher states cover those of lower states.
type pointState uint8

const (
	resting pointState = iota
	moving
	alwaysPresent // in a row that is always present: the player
)

// findPoints returns the points of a table, in the order of rows. places and kinds are by part. Points with NaN or huge
// coordinates are omitted.
func findPoints(s *frame.Schema, parts []frame.Part, places [][]placeFields, kinds []partKinds, table []int32) (list []point) {
	const maxCoordinate = 1e9
	numFields := len(s.Fields)
	for partIndex, p := range parts {
		for row := p.Row; row < p.Row+p.Rows && (row+1)*numFields <= len(table); row++ {
			values := table[row*numFields : (row+1)*numFields]
			for g, place := range places[partIndex] {
				if place.present >= 0 && values[place.present] == 0 {
					continue
				}
				pt := point{x: s.Fields[place.x].InUnits(values[place.x]), y: s.Fields[place.y].InUnits(values[place.y]), row: row, group: g,
					entityKind: kinds[partIndex].kindOf(values)}
				if place.yDown {
					pt.y = -pt.y
				}
				if !(math.Abs(pt.x) < maxCoordinate && math.Abs(pt.y) < maxCoordinate) { // true for NaN too
					continue
				}
				switch {
				case place.present < 0 && len(s.Parts) > 0: // the player: its part has no field that marks it as absent
					pt.state = alwaysPresent
				case slices.ContainsFunc(place.velocities, func(v int) bool { return s.Fields[v].InUnits(values[v]) != 0 }):
					pt.state = moving
				}
				list = append(list, pt)
			}
		}
	}
	return list
}

// blend moves each point the fraction weight of the way to the point with the same key in next. A point without one, or
// whose kind is another one in next, keeps its place.
func blend(points, next []point, weight float64) {
	nextByKey := make(map[placeKey]*point, len(next))
	for i := range next {
		nextByKey[next[i].key()] = &next[i]
	}
	for i := range points {
		pt := &points[i]
		if to := nextByKey[pt.key()]; to != nil && to.entityKind == pt.entityKind {
			pt.x, pt.y = pt.x+(to.x-pt.x)*weight, pt.y+(to.y-pt.y)*weight
		}
	}
}

package shown

import (
	"math"
	"slices"

	"wirelab/dataset/frame"
)

// place is where some fields of a schema say that a row is, seen from above; of axes 0 and 2, from
// the side.
type place struct {
	x, y       int   // columns
	velocities []int // of its coordinates
	present    int   // the column that says whether the row is there; -1: it always is
	down       bool  // y grows downwards, as on a screen: there are two axes only
}

// placesOf lists the places of each part of a schema.
func placesOf(s *frame.Schema) (parts []frame.Part, places [][]place) {
	if s == nil {
		return nil, nil
	}
	parts = s.Parts
	if len(parts) == 0 {
		parts = []frame.Part{s.PartOf(0)}
	}
	any := false
	for _, p := range parts {
		list := placesIn(s, p)
		places = append(places, list)
		any = any || len(list) > 0
	}
	if !any {
		return nil, nil
	}
	return parts, places
}

// placesIn lists the places that the fields of a part speak of, by their group.
func placesIn(s *frame.Schema, p frame.Part) (list []place) {
	present := -1
	var groups []uint8
	at := map[[2]uint8]int{}
	speeds := map[uint8][]int{}
	for i := p.Field; i < p.Field+p.Size; i++ {
		switch h := &s.Fields[i].Hint; h.Role {
		case frame.Present:
			present = i
		case frame.Place:
			at[[2]uint8{h.Group, h.Axis}] = i
			if !slices.Contains(groups, h.Group) {
				groups = append(groups, h.Group)
			}
		case frame.Velocity:
			speeds[h.Group] = append(speeds[h.Group], i)
		}
	}
	for _, g := range groups {
		x, okX := at[[2]uint8{g, 0}]
		y, flat := at[[2]uint8{g, 1}]
		up, high := at[[2]uint8{g, 2}]
		if !flat { // it is seen from the side
			y = up
		}
		if okX && (flat || high) {
			list = append(list, place{x: x, y: y, velocities: speeds[g], present: present, down: !(flat && high)})
		}
	}
	return list
}

// point is something on the map.
type point struct {
	x, y  float64
	row   int
	group int // number of its place in the row
	kind  kind
}

// kind is what a point is drawn as; the higher ones cover the others.
type kind uint8

const (
	resting kind = iota
	moving
	always // in a row that is always there: the player who sees the others
)

// pointsOf lists what is where in a table. What is nowhere near, or no number, is left out.
func pointsOf(s *frame.Schema, parts []frame.Part, places [][]place, table []int32) (list []point) {
	const far = 1e9
	n := len(s.Fields)
	for k, p := range parts {
		for row := p.Row; row < p.Row+p.Rows && (row+1)*n <= len(table); row++ {
			values := table[row*n : (row+1)*n]
			for g, at := range places[k] {
				if at.present >= 0 && values[at.present] == 0 {
					continue
				}
				pt := point{x: inUnits(&s.Fields[at.x], values[at.x]), y: inUnits(&s.Fields[at.y], values[at.y]), row: row, group: g}
				if at.down {
					pt.y = -pt.y
				}
				if !(math.Abs(pt.x) < far && math.Abs(pt.y) < far) {
					continue
				}
				switch {
				case at.present < 0 && len(s.Parts) > 0:
					pt.kind = always
				case slices.ContainsFunc(at.velocities, func(v int) bool { return inUnits(&s.Fields[v], values[v]) != 0 }):
					pt.kind = moving
				}
				list = append(list, pt)
			}
		}
	}
	return list
}

// inUnits returns v, a value of field f, in the units of f.
func inUnits(f *frame.Field, v int32) float64 {
	if f.Kind == frame.Float32 {
		return float64(math.Float32frombits(uint32(v)))
	}
	return float64(v) * f.Step()
}

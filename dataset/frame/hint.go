package frame

import (
	"fmt"
	"slices"
)

// Role is the meaning of a field in the game, in addition to its Kind.
type Role uint8

// Roles of fields.
const (
	// NoRole means that the role is unknown.
	NoRole Role = iota
	// Position is a coordinate of a position.
	Position
	// Velocity is the rate of change of the coordinate with the same Group and Axis.
	Velocity
	// Type is the type of the row's entity. Entities of one type behave alike.
	Type
	// Present is 1 if the row is in use. If it is 0, all fields of the row are 0.
	Present
	// Clock is an absolute time in the units of Now.
	Clock
	// Now is the time of the frame. It is in a row that is always present.
	Now
)

// String returns the role's name in TOML schemas, which call a Position "place", or "" for NoRole.
func (r Role) String() string {
	names := [...]string{"", "place", "velocity", "type", "present", "clock", "now"}
	if int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("role(%d)", uint8(r))
}

// Hint describes the role of a field, so that encoders can predict it better. Hints are optional. An
// encoder must be correct with any hints; wrong ones only make packets larger.
type Hint struct {
	Role Role
	// Group is the number of a position, from 1. The coordinates of a position (role Position) and of its
	// velocity have the same Group. A Clock with a Group is the time at which that position was valid;
	// without such a clock it is valid at Now.
	Group uint8
	// Axis is the axis of a coordinate: 0 and 1 for the horizontal plane, 2 for the vertical axis,
	// which points up. A game seen from the side has only 0 and 2, and may have 2 point down.
	Axis uint8
	// Rate is, for a Velocity, the distance that a velocity of one unit covers in one unit of Now,
	// or in one tick if there is no field Now. Units are those of the fields: steps times Scale. 0
	// means that the encoder has to learn it.
	Rate float64
	// Drag is, for a Velocity, the fraction that is lost to friction in one unit of Now. 0 means no
	// friction. Velocities below StopSpeed lose as much as StopSpeed does.
	Drag, StopSpeed float64
	// Turn is, for a Float32, the period of values that wrap, such as 360 for degrees. 0 means that
	// they do not wrap.
	Turn float64
	// Step is, for a Float32, a number of which most values are multiples. 0 means that it is unknown.
	Step float64
	// Rides is, for a Position, the Group of the position to which this one is attached. 0 means none.
	Rides uint8
}

// Part lists the fields that a range of rows uses. All other fields of these rows are 0. Parts let
// entities with different fields share a table.
type Part struct {
	Name string
	// Row is the first row, Rows the number of rows.
	Row, Rows int
	// Field is the index of the first field, Size the number of fields.
	Field, Size int
}

// FieldOf returns the index of the first field with a role, or -1 if no field has it.
func (s *Schema) FieldOf(role Role) int {
	return slices.IndexFunc(s.Fields, func(f Field) bool { return f.Hint.Role == role })
}

func (s *Schema) Names(columns []int) (names []string) {
	for _, i := range columns {
		names = append(names, s.Fields[i].Name)
	}
	return names
}

// Points returns columns in groups: the coordinates of a position that have one unit, and every other column alone.
func (s *Schema) Points(columns []int) (points [][]int) {
	part := func(i int) int {
		return slices.IndexFunc(s.Parts, func(p Part) bool { return i >= p.Field && i < p.Field+p.Size })
	}
	for _, i := range columns {
		f := &s.Fields[i]
		k := slices.IndexFunc(points, func(axes []int) bool {
			g := &s.Fields[axes[0]]
			return f.Hint.Role == Position && g.Hint.Role == Position && f.Hint.Group == g.Hint.Group && f.Unit == g.Unit && part(i) == part(axes[0])
		})
		if k < 0 {
			points = append(points, []int{i})
		} else {
			points[k] = append(points[k], i)
		}
	}
	return points
}

// PartForRow returns the part that contains a row. If no part does, the result has all fields.
func (s *Schema) PartForRow(row int) Part {
	for _, p := range s.Parts {
		if row-p.Row < p.Rows && row >= p.Row {
			return p
		}
	}
	return Part{Name: s.Item, Rows: s.Rows, Size: len(s.Fields)}
}

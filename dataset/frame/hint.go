package frame

import "fmt"

// Role is what a field is to a game, beyond its kind.
type Role uint8

// The roles of fields.
const (
	NoRole   Role = iota
	Place         // a coordinate of where something is
	Velocity      // how fast that coordinate changes
	Type          // what sort of thing the row is: rows of one type behave alike
	Present       // 0: there is no such thing now, and all the row's fields are 0
	Clock         // an absolute time, in the same units as Now
	Now           // the time of the frame, in a row that is always there
)

// String returns the role's name as schemas spell it; "" for NoRole.
func (r Role) String() string {
	names := [...]string{"", "place", "velocity", "type", "present", "clock", "now"}
	if int(r) < len(names) {
		return names[r]
	}
	return fmt.Sprintf("role(%d)", uint8(r))
}

// Hint is what a game can say of a field to help an encoder predict it. No encoder needs
// hints, and none may rely on them for correctness: with wrong ones packets are larger. The
// zero value says nothing.
type Hint struct {
	Role Role
	// Group and Axis tie the coordinates of one place, and of its velocity, together: they
	// have the same Group, from 1; Axis is 0, 1, or 2. Axes 0 and 1 are alike (a plane on
	// which things turn); 2 is up, or down in a game that is seen from the side and has 0 and 2
	// only. A Clock of a Group says when that place was there; without one it is there Now.
	Group, Axis uint8
	// Rate, of a velocity: how many units of the place a velocity of one unit covers in one
	// unit of Now, or in one tick where there is no Now. Units are the field's: steps times
	// Scale. 0 means that it is to be learnt.
	Rate float64
	// Drag, of a velocity: the share of it that friction takes in one unit of Now, and of at
	// least StopSpeed. 0: none.
	Drag, StopSpeed float64
	// Turn, of a Float32: values wrap after so much (360 for degrees); 0: they do not.
	Turn float64
	// Step, of a Float32: values are mostly multiples of it; 0: nobody knows.
	Step float64
	// Rides, of a place: the group of the place that it hangs on, 0 for none.
	Rides uint8
}

// Part says that some rows use only some of the fields; the others are 0 in them. So things of
// different sorts, each with its own fields, share one table.
type Part struct {
	Name        string
	Row, Rows   int // the first row, and how many
	Field, Size int // the first field, and how many
}

// PartOf returns the part of a row: all the fields where the schema has no parts.
func (s *Schema) PartOf(row int) Part {
	for _, p := range s.Parts {
		if row-p.Row < p.Rows && row >= p.Row {
			return p
		}
	}
	return Part{Name: s.Item, Rows: s.Rows, Size: len(s.Fields)}
}

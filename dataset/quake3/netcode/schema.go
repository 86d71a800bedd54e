package netcode

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"wirelab/dataset/frame"
)

// schemaName is the name of the schema.
const schemaName = "quake3"

// MaxEntities is how many numbers entities can have; the last one ends a list of them.
const MaxEntities = 1023

// Columns of rows of entities. The player's values come right after the server's time.
const (
	Present = 0 // whether there is an entity of this number
	Fields  = 1 // the first of its fields
)

// Layout says where things are in a frame.
type Layout struct {
	Entities []Field // fields of an entity
	Rows     int     // of entities; the player's row follows
	Columns  int
	Time     int // the column of the server's time, in the player's row
	Player   int // the column of the player's first value
}

// NewLayout returns the layout of frames for entities of so many numbers.
func NewLayout(protocol, rows int) Layout {
	l := Layout{Entities: EntityFields(protocol), Rows: rows}
	l.Time = Fields + len(l.Entities)
	l.Player = l.Time + 1
	l.Columns = l.Player + PlayerValues
	return l
}

// Schema describes frames of that layout.
func (l *Layout) Schema(hz int) *frame.Schema {
	return &frame.Schema{Name: schemaName, Item: "entity", Rows: l.Rows + 1, TickHz: hz, Fields: l.fields(), Parts: []frame.Part{
		{Name: "entity", Rows: l.Rows, Size: l.Time},
		{Name: "player", Row: l.Rows, Rows: 1, Field: l.Time, Size: l.Columns - l.Time},
	}}
}

// LayoutOf returns the layout of frames of schema s, and whether they are of this game. The kinds
// and ranges count, hints do not.
func LayoutOf(s *frame.Schema) (Layout, bool) {
	if s.Name != schemaName || s.Rows < 2 || s.Rows > MaxEntities+1 {
		return Layout{}, false
	}
	for _, protocol := range []int{0, QuakeLive} {
		l := NewLayout(protocol, s.Rows-1)
		if slices.EqualFunc(s.Fields, l.fields(), func(a, b frame.Field) bool {
			return a.Name == b.Name && a.Kind == b.Kind && a.Min == b.Min && a.Max == b.Max
		}) {
			return l, true
		}
	}
	return Layout{}, false
}

// fields describes the columns.
func (l *Layout) fields() []frame.Field {
	list := []frame.Field{{Name: "present", Kind: frame.Flag, Max: 1, Hint: frame.Hint{Role: frame.Present}}}
	for _, f := range l.Entities {
		list = append(list, entityField(f))
	}
	list = append(list, frame.Field{Name: "player.server_time", Unit: "ms", Kind: frame.Quantity,
		Min: math.MinInt32, Max: math.MaxInt32, Hint: frame.Hint{Role: frame.Now}})
	for _, f := range playerFields {
		list = append(list, playerField(f))
	}
	for a, name := range arrayNames {
		for i := range arraySize {
			f := integer(Field{fmt.Sprintf("player.%s[%d]", name, i), arrayBits[a]}, frame.Quantity)
			if name == "powerups" {
				f.Hint.Role = frame.Clock // when each ends
			}
			list = append(list, f)
		}
	}
	return list
}

func entityField(f Field) frame.Field {
	switch {
	case f.Bits == 0:
		return float(f.Name, f.Name, 1, "pos.trBase", "pos.trDelta")
	case strings.HasSuffix(strings.ToLower(f.Name), "time") || f.Name == "time2":
		return clock(f.Name)
	case f.Bits == 32:
		return integer(f, frame.Quantity)
	case f.Name == "eFlags" || f.Name == "powerups":
		return integer(f, frame.Bits)
	}
	out := integer(f, frame.Enum)
	if f.Name == "eType" {
		out.Hint.Role = frame.Type
	}
	return out
}

func playerField(f Field) frame.Field {
	name := "player." + f.Name
	switch base, _, _ := strings.Cut(f.Name, "["); {
	case f.Bits == 0:
		out := float(f.Name, name, 2, "origin", "velocity")
		if base == "viewangles" {
			out.Hint.Step = turn / 65536
		}
		return out
	case base == "commandTime": // when the player was where it says
		out := clock(name)
		out.Hint.Group = 2
		return out
	case base == "pm_flags" || base == "eFlags":
		return integer(Field{name, f.Bits}, frame.Bits)
	case base == "delta_angles" || base == "bobCycle":
		return integer(Field{name, f.Bits}, frame.Angle)
	case base == "torsoAnim" || base == "legsAnim" || base == "events" || base == "groundEntityNum" || base == "externalEvent" ||
		base == "weapon" || base == "weaponstate" || base == "pm_type" || base == "clientNum" || base == "movementDir" || base == "jumppad_ent":
		return integer(Field{name, f.Bits}, frame.Enum)
	}
	return integer(Field{"player." + f.Name, f.Bits}, frame.Quantity)
}

const turn = 360.0 // degrees

// What pmove does to who walks: pm_friction and pm_stopspeed of the game, a second.
const (
	friction  = 6.0
	stopSpeed = 100
)

// float describes a float, of which some are a place and its velocity, and others angles. Now is
// in milliseconds.
func float(name, column string, group uint8, place, velocity string) frame.Field {
	f := frame.Field{Name: column, Kind: frame.Float32}
	base, axis, indexed := strings.Cut(name, "[")
	switch {
	case indexed && base == place:
		f.Hint = frame.Hint{Role: frame.Place, Group: group, Axis: axis[0] - '0'}
	case indexed && base == velocity:
		f.Hint = frame.Hint{Role: frame.Velocity, Group: group, Axis: axis[0] - '0', Rate: 1.0 / 1000, Drag: friction / 1000, StopSpeed: stopSpeed}
		f.Unit = "1/s"
	case base == "angles" || base == "viewangles" || base == "apos.trBase" || name == "angles2[0]" || name == "angles2[2]":
		f.Hint.Turn, f.Unit = turn, "deg"
	}
	return f
}

func clock(name string) frame.Field {
	return frame.Field{Name: name, Unit: "ms", Kind: frame.Quantity, Min: math.MinInt32, Max: math.MaxInt32,
		Hint: frame.Hint{Role: frame.Clock}}
}

// integer describes an integer by the bits that it is sent in.
func integer(f Field, kind frame.Kind) frame.Field {
	out := frame.Field{Name: f.Name, Kind: kind}
	switch {
	case !kind.Bounded():
	case f.Bits == 32:
		out.Min, out.Max = math.MinInt32, math.MaxInt32
	case f.Bits < 0:
		out.Min, out.Max = -1<<(-f.Bits-1), 1<<(-f.Bits-1)-1
	default:
		out.Max = 1<<f.Bits - 1
	}
	return out
}

package netcode

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"wirelab/dataset/frame"
)

// schemaName is the name of all schemas of this package.
const schemaName = "quake3"

// MaxEntities is the number of entity numbers, 0 to 1022. The number 1023 ends a list of entities.
const MaxEntities = 1023

// Columns of rows of entities. The columns of the player's row follow them: the server's time and the
// player's values.
const (
	PresentColumn    = 0 // 1 if there is an entity with the number of the row
	FirstFieldColumn = 1 // the first field of the entity
)

// Layout is the layout of the table of a frame.
type Layout struct {
	Entities []Field // fields of an entity
	Rows     int     // number of rows for entities; the player's row follows
	Columns  int     // number of columns
	Time     int     // column of the server's time, in the player's row
	Player   int     // column of the player's first value
}

// NewLayout returns the layout for a protocol with the given number of rows for entities.
func NewLayout(protocol, rows int) Layout {
	l := Layout{Entities: EntityFields(protocol), Rows: rows}
	l.Time = FirstFieldColumn + len(l.Entities)
	l.Player = l.Time + 1
	l.Columns = l.Player + PlayerValues
	return l
}

func (l *Layout) Schema(hz int) *frame.Schema {
	return &frame.Schema{Name: schemaName, Item: "entity", Rows: l.Rows + 1, TickHz: hz, Fields: l.frameFields(), Parts: []frame.Part{
		{Name: "entity", Rows: l.Rows, Size: l.Time},
		{Name: "player", Row: l.Rows, Rows: 1, Field: l.Time, Size: l.Columns - l.Time},
	}}
}

// LayoutFromSchema returns the layout of frames with schema s, and whether s is a schema of this package: one
// of a protocol with the usual fields, or of Quake Live. It compares names, kinds and ranges of all
// fields, but not their hints.
func LayoutFromSchema(s *frame.Schema) (Layout, bool) {
	if s.Name != schemaName || s.Rows < 2 || s.Rows > MaxEntities+1 {
		return Layout{}, false
	}
	for _, protocol := range []int{0, QuakeLive} { // protocol 0 stands for all others, whose fields are equal
		l := NewLayout(protocol, s.Rows-1)
		if slices.EqualFunc(s.Fields, l.frameFields(), func(a, b frame.Field) bool {
			return a.Name == b.Name && a.Kind == b.Kind && a.Min == b.Min && a.Max == b.Max
		}) {
			return l, true
		}
	}
	return Layout{}, false
}

// frameFields returns the fields of the schema, one for each column.
func (l *Layout) frameFields() []frame.Field {
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
			f := integerField(Field{fmt.Sprintf("player.%s[%d]", name, i), arrayBits[a]}, frame.Quantity)
			if name == "powerups" {
				f.Hint.Role = frame.Clock // the time at which each powerup ends
			}
			list = append(list, f)
		}
	}
	return list
}

// Numbers of the two positions in a row, which tie a position to its velocity in frame.Hint.Group.
const (
	entityPosition = 1
	playerPosition = 2
)

// entityField returns the column for a field of an entity. By default an integer is an enum, because
// most integers are indices, such as those of models, weapons and clients. Bits is 0 for floats.
func entityField(f Field) frame.Field {
	switch {
	case f.Bits == 0:
		return floatField(f.Name, f.Name, entityPosition, "pos.trBase", "pos.trDelta")
	case strings.HasSuffix(strings.ToLower(f.Name), "time") || f.Name == "time2":
		return clockField(f.Name)
	case f.Bits == 32:
		return integerField(f, frame.Quantity)
	case f.Name == "eFlags" || f.Name == "powerups":
		return integerField(f, frame.Bits)
	}
	out := integerField(f, frame.Enum)
	if f.Name == "eType" {
		out.Hint.Role, out.Values = frame.Type, entityTypes[:]
	}
	return out
}

// entityTypes are the names of the values of eType (entityType_t in bg_public.h). Higher values are events.
var entityTypes = [...]string{"general", "player", "item", "missile", "mover", "beam", "portal", "speaker", "jump pad", "teleporter",
	"invisible", "grapple", "team", "event"}

// playerField returns the column for a field of the player.
func playerField(f Field) frame.Field {
	name := "player." + f.Name
	switch base, _, _ := strings.Cut(f.Name, "["); {
	case f.Bits == 0:
		out := floatField(f.Name, name, playerPosition, "origin", "velocity")
		if base == "viewangles" {
			out.Hint.Step = fullTurn / 65536 // the client sends angles in 16 bits
		}
		return out
	case base == "commandTime": // the time of the player's position
		out := clockField(name)
		out.Hint.Group = playerPosition
		return out
	case base == "pm_flags" || base == "eFlags":
		return integerField(Field{name, f.Bits}, frame.Bits)
	case base == "delta_angles" || base == "bobCycle":
		return integerField(Field{name, f.Bits}, frame.Angle)
	case base == "torsoAnim" || base == "legsAnim" || base == "events" || base == "groundEntityNum" || base == "externalEvent" ||
		base == "weapon" || base == "weaponstate" || base == "pm_type" || base == "clientNum" || base == "movementDir" || base == "jumppad_ent":
		return integerField(Field{name, f.Bits}, frame.Enum)
	}
	return integerField(Field{name, f.Bits}, frame.Quantity)
}

// fullTurn is a full turn in the unit of the game's angles, degrees.
const fullTurn = 360.0

// Friction of a walking player (pm_friction and pm_stopspeed in bg_pmove.c).
const (
	friction  = 6.0 // fraction of its speed that a walking player loses per second
	stopSpeed = 100 // units per second; a slower player loses as much speed per second as one with this speed
)

// farthestMove is the largest change of a coordinate between two displayed snapshots that is a movement. In the match
// oa-ctf players move by up to 108 from one snapshot to the next, and most respawns are farther than 500.
const farthestMove = 500

// floatField returns the column for the float field called name. position and velocity are the names, without an
// index, of the fields that hold a position and its velocity; group is the number of this position in the schema.
// Rates are per millisecond, the unit of time.
func floatField(name, column string, group uint8, position, velocity string) frame.Field {
	f := frame.Field{Name: column, Kind: frame.Float32}
	base, axis, indexed := strings.Cut(name, "[") // "origin[1]" is on axis 1
	switch {
	case indexed && base == position:
		f.Hint, f.Jump = frame.Hint{Role: frame.Position, Group: group, Axis: axis[0] - '0'}, farthestMove
	case indexed && base == velocity:
		f.Hint = frame.Hint{Role: frame.Velocity, Group: group, Axis: axis[0] - '0', Rate: 1.0 / 1000, Drag: friction / 1000, StopSpeed: stopSpeed}
		f.Unit = "1/s"
	case base == "angles" || base == "viewangles" || base == "apos.trBase" || name == "angles2[0]" || name == "angles2[2]":
		f.Hint.Turn, f.Unit = fullTurn, "deg"
	}
	return f
}

// clockField returns a column with a time in milliseconds.
func clockField(name string) frame.Field {
	return frame.Field{Name: name, Unit: "ms", Kind: frame.Quantity, Min: math.MinInt32, Max: math.MaxInt32,
		Hint: frame.Hint{Role: frame.Clock}}
}

// integerField returns the column for an integer field. Its range follows from the number of bits.
func integerField(f Field, kind frame.Kind) frame.Field {
	out := frame.Field{Name: f.Name, Kind: kind}
	switch {
	case !kind.Bounded(): // the kind has no range
	case f.Bits == 32:
		out.Min, out.Max = math.MinInt32, math.MaxInt32
	case f.Bits < 0: // the value is signed
		out.Min, out.Max = -1<<(-f.Bits-1), 1<<(-f.Bits-1)-1
	default:
		out.Max = 1<<f.Bits - 1
	}
	return out
}

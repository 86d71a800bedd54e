package protocol

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/dataset/frame"
)

// itemType describes the items of one type: their name and their values.
type itemType struct {
	name string
	size int // number of values
	// columns are the columns of the table that hold the values, separated by spaces, in the order of
	// the protocol. A name that begins with a dot is a column of this type alone; the others are shared
	// with other types. [n] stands for n columns.
	columns    string
	sizeVaries bool // the number of values may differ and is sent with each item
}

// Columns of a player's character: coreColumns is the part that moves, with position and hook;
// characterColumns are the other values of a Character.
const (
	coreColumns      = "Tick X Y VelX VelY Angle Direction Jumped HookedPlayer HookState HookTick HookX HookY HookDx HookDy"
	characterColumns = " Health Armor AmmoCount Weapon Emote AttackTick TriggeredEvents"
)

// types are the types of items, by their number in the protocol; 0 is unused.
var types = [...]itemType{
	1:  {name: "PlayerInput", size: 10, columns: ".Direction .TargetX .TargetY .Jump .Fire .Hook .PlayerFlags .WantedWeapon .NextWeapon .PrevWeapon"},
	2:  {name: "Projectile", size: 6, columns: "X Y Projectile.VelX Projectile.VelY Which StartTick"},
	3:  {name: "Laser", size: 5, columns: "X Y Laser.FromX Laser.FromY StartTick"},
	4:  {name: "Pickup", size: 3, columns: "X Y Which"},
	5:  {name: "Flag", size: 3, columns: "X Y Which"},
	6:  {name: "GameData", size: 3, columns: ".GameStartTick .GameStateFlags .GameStateEndTick"},
	7:  {name: "GameDataTeam", size: 2, columns: ".TeamscoreRed .TeamscoreBlue"},
	8:  {name: "GameDataFlag", size: 4, columns: ".FlagCarrierRed .FlagCarrierBlue .FlagDropTickRed .FlagDropTickBlue"},
	9:  {name: "CharacterCore", size: 15, columns: coreColumns},
	10: {name: "Character", size: 22, columns: coreColumns + characterColumns},
	11: {name: "PlayerInfo", size: 3, columns: ".PlayerFlags .Score .Latency"},
	12: {name: "SpectatorInfo", size: 4, columns: ".SpecMode .SpectatorID .X .Y"},
	13: {name: "ClientInfo", size: 58, columns: ".Local .Team .Name[4] .Clan[3] .Country .SkinPartNames[36] .UseCustomColors[6] .SkinPartColors[6]"},
	14: {name: "GameInfo", size: 5, columns: ".GameFlags .ScoreLimit .TimeLimit .MatchNum .MatchCurrent"},
	15: {name: "TuneParams", size: 32, columns: ".TuneParams[32]"},
	16: {name: "EventCommon", size: 2, columns: "X Y"},
	17: {name: "Explosion", size: 2, columns: "X Y"},
	18: {name: "Spawn", size: 2, columns: "X Y"},
	19: {name: "HammerHit", size: 2, columns: "X Y"},
	20: {name: "Death", size: 3, columns: "X Y Which"},
	21: {name: "SoundWorld", size: 3, columns: "X Y Which"},
	22: {name: "Damage", size: 7, columns: "X Y Which Damage.Angle Damage.HealthAmount Damage.ArmorAmount Damage.Self"},
	23: {name: "PlayerInfoRace", size: 1, columns: ".RaceStartTick", sizeVaries: true},
	24: {name: "GameDataRace", size: 3, columns: ".BestTime .Precision .RaceFlags", sizeVaries: true},
}

// sharedColumns lists the columns that several types use. A part of a table is a range of columns,
// so the order keeps the columns of each type close together: Present, X and Y are in the middle,
// on their left what the small types use, on their right what characters use.
const sharedColumns = "Damage.Self Damage.ArmorAmount Damage.HealthAmount Damage.Angle Laser.FromY Laser.FromX " +
	"Projectile.VelY Projectile.VelX StartTick Which Present X Y VelX VelY Tick Angle Direction Jumped " +
	"HookedPlayer HookState HookTick HookX HookY HookDx HookDy Health Armor AmmoCount Weapon Emote AttackTick TriggeredEvents"

// FixedSize returns the number of values of an item of type typ. fixed is false if the type is not
// known or its size varies; then the size is sent with each item.
func FixedSize(typ int) (size int, fixed bool) {
	if typ < 1 || typ >= len(types) || types[typ].sizeVaries {
		return 0, false
	}
	return types[typ].size, true
}

// columnNames returns the names of the type's columns, one for each value. Columns of this type
// alone get the name of the type as a prefix.
func (t *itemType) columnNames() []string {
	var list []string
	for _, c := range strings.Fields(t.columns) {
		if c[0] == '.' {
			c = t.name + c
		}
		name, n, _ := strings.Cut(c, "[") // Name[4] stands for four columns
		if n == "" {
			list = append(list, c)
			continue
		}
		count, _ := strconv.Atoi(strings.TrimSuffix(n, "]"))
		for i := range count {
			list = append(list, fmt.Sprintf("%s[%d]", name, i))
		}
	}
	return list
}

// fullTurn is a full turn in the game's unit of angles, 1/256 rad: 2 pi * 256, rounded up.
const fullTurn = 1609

// ranges describes the columns whose name, without type and index, is in names. The ranges are those
// of the game's datasrc/network.py. Columns that are not listed are quantities of 16 bits.
var ranges = [...]struct {
	kind     frame.Kind
	min, max int32
	unit     string
	role     frame.Role
	names    string
}{
	// kind, lowest and highest value, unit, role, names
	{frame.Quantity, 0, math.MaxInt32, "tick", frame.Now, "Now"},
	{frame.Quantity, 0, math.MaxInt32, "tick", frame.Clock, "Tick AttackTick StartTick GameStartTick GameStateEndTick RaceStartTick " +
		"FlagDropTickRed FlagDropTickBlue"},
	{frame.Flag, 0, 1, "", frame.Present, "Present"},
	{frame.Flag, 0, 1, "", 0, "Local UseCustomColors Self Jump Hook"},
	{frame.Angle, -fullTurn / 2, fullTurn / 2, "1/256 rad", 0, "Angle"},
	{frame.Enum, -1, 1, "", 0, "Direction"},
	{frame.Enum, 0, 3, "", 0, "Jumped"},
	{frame.Enum, -1, 5, "", 0, "HookState Weapon Emote"},
	{frame.Enum, -3, 63, "", 0, "Which HookedPlayer FlagCarrierRed FlagCarrierBlue SpecMode SpectatorID Team"},
	{frame.Quantity, -1, 10, "", 0, "Health Armor AmmoCount HealthAmount ArmorAmount"},
	{frame.Quantity, 0, 127, "", 0, "HookTick"},
	{frame.Bits, 0, 0, "", 0, "TriggeredEvents PlayerFlags GameStateFlags GameFlags RaceFlags Name Clan SkinPartNames SkinPartColors"},
	{frame.Quantity, math.MinInt32, math.MaxInt32, "", 0, "BestTime TuneParams TargetX TargetY"},
}

// hints returns the hints of the shared columns that have one. The game is seen from the side, so
// its axes are 0 (X) and 2 (Y). Positions are in pixels, 32 to a tile. Velocities are in 1/256
// pixel a tick; those of hooks are directions of length 256, and a hook flies 80 pixels a tick. The
// position of the hook (group 2) is attached to that of the character (group 1), which is valid at
// Tick.
func hints() map[string]frame.Hint {
	position := func(group, axis, attachedTo uint8) frame.Hint {
		return frame.Hint{Role: frame.Position, Group: group, Axis: axis, Rides: attachedTo}
	}
	velocity := func(group, axis uint8, rate float64) frame.Hint {
		return frame.Hint{Role: frame.Velocity, Group: group, Axis: axis, Rate: rate / 256}
	}
	return map[string]frame.Hint{
		"X": position(1, 0, 0), "Y": position(1, 2, 0), "VelX": velocity(1, 0, 1), "VelY": velocity(1, 2, 1),
		"HookX": position(2, 0, 1), "HookY": position(2, 2, 1), "HookDx": velocity(2, 0, 80), "HookDy": velocity(2, 2, 80),
		"Laser.FromX": position(3, 0, 0), "Laser.FromY": position(3, 2, 0), "Tick": {Group: 1},
	}
}

// newField returns the field of the schema for the column called name, such as "X" or "Laser.FromX". Kind,
// range and unit are those of the table ranges, or 16 bits if the table does not list the column.
func newField(name string) frame.Field {
	f := frame.Field{Name: name, Min: math.MinInt16, Max: math.MaxInt16, Hint: hints()[name]}
	switch f.Hint.Role {
	case frame.Position:
		f.Unit = "px"
	case frame.Velocity:
		f.Unit = "px/256 a tick"
	}
	base, _, _ := strings.Cut(name[strings.LastIndexByte(name, '.')+1:], "[")
	for _, r := range ranges {
		if slices.Contains(strings.Fields(r.names), base) {
			f.Kind, f.Min, f.Max, f.Unit = r.kind, r.min, r.max, r.unit
			f.Hint.Role = r.role
		}
	}
	return f
}

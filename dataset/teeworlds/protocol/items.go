package protocol

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/dataset/frame"
)

// itemType is a type of item: its values in the order in which they travel, as the columns that
// hold them. A name that begins with a dot belongs to the type alone, [n] stands for n columns.
type itemType struct {
	name    string
	size    int // values
	columns string
	varies  bool // the game writes how many values there are
}

// character is where a player is, what its hook does, and what else is seen of it.
const (
	core = "Tick X Y VelX VelY Angle Direction Jumped HookedPlayer HookState HookTick HookX HookY HookDx HookDy"
	rest = " Health Armor AmmoCount Weapon Emote AttackTick TriggeredEvents"
)

// types are the types of items by number, from 1.
var types = [...]itemType{
	1:  {name: "PlayerInput", size: 10, columns: ".Direction .TargetX .TargetY .Jump .Fire .Hook .PlayerFlags .WantedWeapon .NextWeapon .PrevWeapon"},
	2:  {name: "Projectile", size: 6, columns: "X Y Projectile.VelX Projectile.VelY Which StartTick"},
	3:  {name: "Laser", size: 5, columns: "X Y Laser.FromX Laser.FromY StartTick"},
	4:  {name: "Pickup", size: 3, columns: "X Y Which"},
	5:  {name: "Flag", size: 3, columns: "X Y Which"},
	6:  {name: "GameData", size: 3, columns: ".GameStartTick .GameStateFlags .GameStateEndTick"},
	7:  {name: "GameDataTeam", size: 2, columns: ".TeamscoreRed .TeamscoreBlue"},
	8:  {name: "GameDataFlag", size: 4, columns: ".FlagCarrierRed .FlagCarrierBlue .FlagDropTickRed .FlagDropTickBlue"},
	9:  {name: "CharacterCore", size: 15, columns: core},
	10: {name: "Character", size: 22, columns: core + rest},
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
	23: {name: "PlayerInfoRace", size: 1, columns: ".RaceStartTick", varies: true},
	24: {name: "GameDataRace", size: 3, columns: ".BestTime .Precision .RaceFlags", varies: true},
}

// shared are the columns that several types use, in an order in which those of each type are
// near each other: "Present" and a place in the middle, what few have to the left of them.
const shared = "Damage.Self Damage.ArmorAmount Damage.HealthAmount Damage.Angle Laser.FromY Laser.FromX " +
	"Projectile.VelY Projectile.VelX StartTick Which Present X Y VelX VelY Tick Angle Direction Jumped " +
	"HookedPlayer HookState HookTick HookX HookY HookDx HookDy Health Armor AmmoCount Weapon Emote AttackTick TriggeredEvents"

// FixedSize returns how many values items of a type have, if the game does not send it.
func FixedSize(typ int) (size int, fixed bool) {
	if typ < 1 || typ >= len(types) || types[typ].varies {
		return 0, false
	}
	return types[typ].size, true
}

// list is the type's columns, those of its own with its name in front.
func (t *itemType) list() []string {
	var list []string
	for _, c := range strings.Fields(t.columns) {
		if c[0] == '.' {
			c = t.name + c
		}
		name, n, _ := strings.Cut(c, "[")
		if n == "" {
			list = append(list, c)
			continue
		}
		times, _ := strconv.Atoi(strings.TrimSuffix(n, "]"))
		for i := range times {
			list = append(list, fmt.Sprintf("%s[%d]", name, i))
		}
	}
	return list
}

// period is a whole turn in the game's angles, 1/256 of a radian each.
const period = 1609

// ranges describes columns by their names without the type and the index: the range is what the
// game's own rules allow. Others are quantities of 16 bits.
var ranges = [...]struct {
	kind     frame.Kind
	min, max int32
	unit     string
	role     frame.Role
	names    string
}{
	{frame.Quantity, 0, math.MaxInt32, "tick", frame.Now, "Now"},
	{frame.Quantity, 0, math.MaxInt32, "tick", frame.Clock, "Tick AttackTick StartTick GameStartTick GameStateEndTick RaceStartTick " +
		"FlagDropTickRed FlagDropTickBlue"},
	{frame.Flag, 0, 1, "", frame.Present, "Present"},
	{frame.Flag, 0, 1, "", 0, "Local UseCustomColors Self Jump Hook"},
	{frame.Angle, -period / 2, period / 2, "1/256 rad", 0, "Angle"},
	{frame.Enum, -1, 1, "", 0, "Direction"},
	{frame.Enum, 0, 3, "", 0, "Jumped"},
	{frame.Enum, -1, 5, "", 0, "HookState Weapon Emote"},
	{frame.Enum, -3, 63, "", 0, "Which HookedPlayer FlagCarrierRed FlagCarrierBlue SpecMode SpectatorID Team"},
	{frame.Quantity, -1, 10, "", 0, "Health Armor AmmoCount HealthAmount ArmorAmount"},
	{frame.Quantity, 0, 127, "", 0, "HookTick"},
	{frame.Bits, 0, 0, "", 0, "TriggeredEvents PlayerFlags GameStateFlags GameFlags RaceFlags Name Clan SkinPartNames SkinPartColors"},
	{frame.Quantity, math.MinInt32, math.MaxInt32, "", 0, "BestTime TuneParams TargetX TargetY"},
}

// hints are those of shared columns. The game is seen from the side: its axes are 0 and 2. Units of
// velocities are 1/256 pixel a tick; a hook flies 80 steps a tick. 32 pixels make a tile.
func hints() map[string]frame.Hint {
	place := func(group, axis, rides uint8) frame.Hint {
		return frame.Hint{Role: frame.Place, Group: group, Axis: axis, Rides: rides}
	}
	velocity := func(group, axis uint8, rate float64) frame.Hint {
		return frame.Hint{Role: frame.Velocity, Group: group, Axis: axis, Rate: rate / 256}
	}
	return map[string]frame.Hint{
		"X": place(1, 0, 0), "Y": place(1, 2, 0), "VelX": velocity(1, 0, 1), "VelY": velocity(1, 2, 1),
		"HookX": place(2, 0, 1), "HookY": place(2, 2, 1), "HookDx": velocity(2, 0, 80), "HookDy": velocity(2, 2, 80),
		"Laser.FromX": place(3, 0, 0), "Laser.FromY": place(3, 2, 0), "Tick": {Group: 1},
	}
}

// fieldOf describes a column.
func fieldOf(name string) frame.Field {
	f := frame.Field{Name: name, Min: math.MinInt16, Max: math.MaxInt16, Hint: hints()[name]}
	switch f.Hint.Role {
	case frame.Place:
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

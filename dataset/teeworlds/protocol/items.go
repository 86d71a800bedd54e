package protocol

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"wirelab/dataset/frame"
)

// itemType is a type of item: its values in the order in which they travel, as the columns that
// hold them. A name that begins with a dot belongs to the type alone, [n] stands for n columns.
type itemType struct {
	name    string
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
	1:  {name: "PlayerInput", columns: ".Direction .TargetX .TargetY .Jump .Fire .Hook .PlayerFlags .WantedWeapon .NextWeapon .PrevWeapon"},
	2:  {name: "Projectile", columns: "X Y Projectile.VelX Projectile.VelY Which StartTick"},
	3:  {name: "Laser", columns: "X Y Laser.FromX Laser.FromY StartTick"},
	4:  {name: "Pickup", columns: "X Y Which"},
	5:  {name: "Flag", columns: "X Y Which"},
	6:  {name: "GameData", columns: ".GameStartTick .GameStateFlags .GameStateEndTick"},
	7:  {name: "GameDataTeam", columns: ".TeamscoreRed .TeamscoreBlue"},
	8:  {name: "GameDataFlag", columns: ".FlagCarrierRed .FlagCarrierBlue .FlagDropTickRed .FlagDropTickBlue"},
	9:  {name: "CharacterCore", columns: core},
	10: {name: "Character", columns: core + rest},
	11: {name: "PlayerInfo", columns: ".PlayerFlags .Score .Latency"},
	12: {name: "SpectatorInfo", columns: ".SpecMode .SpectatorID .X .Y"},
	13: {name: "ClientInfo", columns: ".Local .Team .Name[4] .Clan[3] .Country .SkinPartNames[36] .UseCustomColors[6] .SkinPartColors[6]"},
	14: {name: "GameInfo", columns: ".GameFlags .ScoreLimit .TimeLimit .MatchNum .MatchCurrent"},
	15: {name: "TuneParams", columns: ".TuneParams[32]"},
	16: {name: "EventCommon", columns: "X Y"},
	17: {name: "Explosion", columns: "X Y"},
	18: {name: "Spawn", columns: "X Y"},
	19: {name: "HammerHit", columns: "X Y"},
	20: {name: "Death", columns: "X Y Which"},
	21: {name: "SoundWorld", columns: "X Y Which"},
	22: {name: "Damage", columns: "X Y Which Damage.Angle Damage.HealthAmount Damage.ArmorAmount Damage.Self"},
	23: {name: "PlayerInfoRace", columns: ".RaceStartTick", varies: true},
	24: {name: "GameDataRace", columns: ".BestTime .Precision .RaceFlags", varies: true},
}

// shared are the columns that several types use, in an order in which those of each type are
// near each other: "Present" and a place in the middle, what few have to the left of them.
const shared = "Damage.Self Damage.ArmorAmount Damage.HealthAmount Damage.Angle Laser.FromY Laser.FromX " +
	"Projectile.VelY Projectile.VelX StartTick Which Present X Y VelX VelY Tick Angle Direction Jumped " +
	"HookedPlayer HookState HookTick HookX HookY HookDx HookDy Health Armor AmmoCount Weapon Emote AttackTick TriggeredEvents"

// FixedSize returns how many values items of a type have, if the game takes both ends to know.
func FixedSize(typ int) (size int, fixed bool) {
	if typ < 1 || typ >= len(types) || types[typ].varies {
		return 0, false
	}
	return sizes[typ], true
}

// sizes are how many columns each type has.
var sizes = func() (n [len(types)]int) {
	for i := 1; i < len(types); i++ {
		n[i] = len(types[i].list())
	}
	return n
}()

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

// Units of places, of which 32 make a tile, and of what moves them.
const (
	length = "px"
	speed  = "px/256 a tick"
)

// period is a whole turn in the game's angles, 1/256 of a radian each.
const period = 1609

// fieldOf describes a column. Its range is what the game's own rules allow.
func fieldOf(name string) frame.Field {
	f := frame.Field{Name: name, Min: math.MinInt16, Max: math.MaxInt16}
	bounded := func(kind frame.Kind, lowest, highest int32) { f.Kind, f.Min, f.Max = kind, lowest, highest }
	place := func(group, axis uint8) {
		f.Unit, f.Hint = length, frame.Hint{Role: frame.Place, Group: group, Axis: axis}
	}
	velocity := func(group, axis uint8, rate float64) {
		f.Unit, f.Hint = speed, frame.Hint{Role: frame.Velocity, Group: group, Axis: axis, Rate: rate}
	}
	switch name { // of those that are shared
	case "X":
		place(1, 0)
	case "Y":
		place(1, 2) // it is seen from the side: the axes are not alike
	case "VelX":
		velocity(1, 0, 1./256)
	case "VelY":
		velocity(1, 2, 1./256)
	case "HookX":
		place(2, 0)
		f.Hint.Rides = 1
	case "HookY":
		place(2, 2)
		f.Hint.Rides = 1
	case "HookDx":
		velocity(2, 0, 80./256) // a hook flies 80 steps a tick
	case "HookDy":
		velocity(2, 2, 80./256)
	case "Laser.FromX":
		place(3, 0)
	case "Laser.FromY":
		place(3, 2)
	}
	base, _, _ := strings.Cut(name[strings.LastIndexByte(name, '.')+1:], "[")
	switch base {
	case "Now":
		bounded(frame.Quantity, 0, math.MaxInt32)
		f.Hint.Role, f.Unit = frame.Now, "tick"
	case "Present":
		bounded(frame.Flag, 0, 1)
		f.Hint.Role = frame.Present
	case "Tick", "AttackTick", "StartTick", "GameStartTick", "GameStateEndTick", "RaceStartTick", "FlagDropTickRed", "FlagDropTickBlue":
		bounded(frame.Quantity, 0, math.MaxInt32)
		f.Hint.Role, f.Unit = frame.Clock, "tick"
		if name == "Tick" {
			f.Hint.Group = 1
		}
	case "Angle":
		bounded(frame.Angle, -period/2, period/2)
		f.Unit = "1/256 rad"
	case "Direction":
		bounded(frame.Enum, -1, 1)
	case "Jumped":
		bounded(frame.Enum, 0, 3)
	case "HookState", "Weapon", "Emote":
		bounded(frame.Enum, -1, 5)
	case "Which", "HookedPlayer", "FlagCarrierRed", "FlagCarrierBlue", "SpecMode", "SpectatorID", "Team":
		bounded(frame.Enum, -3, 63)
	case "Local", "UseCustomColors", "Self", "Jump", "Hook":
		bounded(frame.Flag, 0, 1)
	case "Health", "Armor", "AmmoCount", "HealthAmount", "ArmorAmount":
		bounded(frame.Quantity, -1, 10)
	case "HookTick":
		bounded(frame.Quantity, 0, 127)
	case "TriggeredEvents", "PlayerFlags", "GameStateFlags", "GameFlags", "RaceFlags", "Name", "Clan", "SkinPartNames", "SkinPartColors":
		f.Kind, f.Min, f.Max = frame.Bits, 0, 0
	case "BestTime", "TuneParams", "TargetX", "TargetY":
		bounded(frame.Quantity, math.MinInt32, math.MaxInt32)
	}
	return f
}

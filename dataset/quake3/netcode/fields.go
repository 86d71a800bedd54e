// Package netcode is what Quake III Arena and the games made of it send of their state: the
// Huffman code, the tables of fields, and how an entity or a player is written as a difference
// to another one (ioquake3, qcommon/msg.c and huffman.c). Readers of demos need it, and the
// encoder that codes frames as the game would.
package netcode

import "slices"

// Field is a field as it is sent.
type Field struct {
	Name string
	Bits int // 0: a float; below 0: with a sign
}

// entityFields are in the order in which they are sent: those that change often come first.
var entityFields = [...]Field{
	{"pos.trTime", 32}, {"pos.trBase[0]", 0}, {"pos.trBase[1]", 0}, {"pos.trDelta[0]", 0}, {"pos.trDelta[1]", 0},
	{"pos.trBase[2]", 0}, {"apos.trBase[1]", 0}, {"pos.trDelta[2]", 0}, {"apos.trBase[0]", 0}, {"event", 10},
	{"angles2[1]", 0}, {"eType", 8}, {"torsoAnim", 8}, {"eventParm", 8}, {"legsAnim", 8}, {"groundEntityNum", 10},
	{"pos.trType", 8}, {"eFlags", 19}, {"otherEntityNum", 10}, {"weapon", 8}, {"clientNum", 8}, {"angles[1]", 0},
	{"pos.trDuration", 32}, {"apos.trType", 8}, {"origin[0]", 0}, {"origin[1]", 0}, {"origin[2]", 0}, {"solid", 24},
	{"powerups", 16}, {"modelindex", 8}, {"otherEntityNum2", 10}, {"loopSound", 8}, {"generic1", 8},
	{"origin2[2]", 0}, {"origin2[0]", 0}, {"origin2[1]", 0}, {"modelindex2", 8}, {"angles[0]", 0}, {"time", 32},
	{"apos.trTime", 32}, {"apos.trDuration", 32}, {"apos.trBase[2]", 0}, {"apos.trDelta[0]", 0}, {"apos.trDelta[1]", 0},
	{"apos.trDelta[2]", 0}, {"time2", 32}, {"angles[2]", 0}, {"angles2[0]", 0}, {"angles2[2]", 0},
	{"constantLight", 32}, {"frame", 16},
}

// playerFields are likewise; 4 arrays of 16 come after them.
var playerFields = [...]Field{
	{"commandTime", 32}, {"origin[0]", 0}, {"origin[1]", 0}, {"bobCycle", 8}, {"velocity[0]", 0}, {"velocity[1]", 0},
	{"viewangles[1]", 0}, {"viewangles[0]", 0}, {"weaponTime", -16}, {"origin[2]", 0}, {"velocity[2]", 0},
	{"legsTimer", 8}, {"pm_time", -16}, {"eventSequence", 16}, {"torsoAnim", 8}, {"movementDir", 4}, {"events[0]", 8},
	{"legsAnim", 8}, {"events[1]", 8}, {"pm_flags", 16}, {"groundEntityNum", 10}, {"weaponstate", 4}, {"eFlags", 16},
	{"externalEvent", 10}, {"gravity", 16}, {"speed", 16}, {"delta_angles[1]", 16}, {"externalEventParm", 8},
	{"viewheight", -8}, {"damageEvent", 8}, {"damageYaw", 8}, {"damagePitch", 8}, {"damageCount", 8}, {"generic1", 8},
	{"pm_type", 8}, {"delta_angles[0]", 16}, {"delta_angles[2]", 16}, {"torsoTimer", 12}, {"eventParms[0]", 8},
	{"eventParms[1]", 8}, {"clientNum", 8}, {"weapon", 5}, {"viewangles[2]", 0}, {"grapplePoint[0]", 0},
	{"grapplePoint[1]", 0}, {"grapplePoint[2]", 0}, {"jumppad_ent", 10}, {"loopSound", 16},
}

const arraySize = 16

// The player's arrays, and how wide their values are.
var (
	arrayNames = [...]string{"stats", "persistant", "ammo", "powerups"}
	arrayBits  = [...]int{-16, -16, -16, 32}
)

// PlayerValues is how many values a player's state has.
const PlayerValues = len(playerFields) + len(arrayNames)*arraySize

// QuakeLive is the protocol with two fields more than the others.
const QuakeLive = 73

// EntityFields returns the fields of an entity in a protocol, in the order in which they are sent.
func EntityFields(protocol int) []Field {
	fields := entityFields[:]
	if protocol == QuakeLive {
		fields = after(fields, "apos.trBase[0]", Field{"pos_gravity", 32})
		fields = after(fields, "apos.trDelta[2]", Field{"apos_gravity", 32})
	}
	return fields
}

// PlayerFields returns the fields of a player, of which the arrays are no part. They are not to be
// changed.
func PlayerFields() []Field { return playerFields[:] }

// after returns fields with one more behind that of a name.
func after(fields []Field, name string, f Field) []Field {
	at := slices.IndexFunc(fields, func(g Field) bool { return g.Name == name })
	return slices.Insert(slices.Clone(fields), at+1, f)
}

// Package netcode implements the coding of game state in Quake III Arena and games based on it: the
// Huffman code, the tables of fields, and deltas of entities and players (ioquake3, qcommon/msg.c and
// huffman.c). The reader of demos and the encoder "quake3" use it.
package netcode

import "slices"

// Field is a field of an entity or a player in the protocol.
type Field struct {
	Name string
	Bits int // number of bits; 0 means a float, a negative number a signed value of -Bits bits
}

// entityFields are the fields of an entity in the order of the protocol: fields that change often come
// first (entityStateFields in msg.c).
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

// playerFields are the fields of a player in the order of the protocol, before its four arrays
// (playerStateFields in msg.c).
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

// arraySize is the number of elements of each of the player's arrays.
const arraySize = 16

// The player's arrays, with the Field.Bits of their elements.
var (
	arrayNames = [...]string{"stats", "persistant", "ammo", "powerups"}
	arrayBits  = [...]int{-16, -16, -16, 32}
)

// PlayerValues is the number of values of a player's state: fields, then arrays.
const PlayerValues = len(playerFields) + len(arrayNames)*arraySize

// QuakeLive is the protocol of Quake Live, whose entities have two more fields.
const QuakeLive = 73

// EntityFields returns the fields of an entity in the order of the protocol; entities of Quake Live have
// two more. The caller must not modify them.
func EntityFields(protocol int) []Field {
	fields := entityFields[:]
	if protocol == QuakeLive {
		fields = insertAfter(fields, "apos.trBase[0]", Field{"pos_gravity", 32})
		fields = insertAfter(fields, "apos.trDelta[2]", Field{"apos_gravity", 32})
	}
	return fields
}

// PlayerFields returns the fields of a player, without its arrays. The caller must not modify them.
func PlayerFields() []Field { return playerFields[:] }

// insertAfter returns a copy of fields with f inserted after the field called name.
func insertAfter(fields []Field, name string, f Field) []Field {
	at := slices.IndexFunc(fields, func(g Field) bool { return g.Name == name })
	return slices.Insert(slices.Clone(fields), at+1, f)
}

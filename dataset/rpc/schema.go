// Package rpc generates the remote procedure calls with which a game client reports the movement of its
// player to the server: one row per frame, 60 per second. The simulated player idles, walks, runs,
// strafes, looks around, jumps, drives and teleports (the workload of "High-frequency upstream RPC",
// 2023). The same seed gives the same calls on every machine.
package rpc

import "wirelab/dataset/frame"

// Columns of a call. Vectors use three columns of float32.
const (
	colTime         = 0  // microseconds, wraps
	colPosition     = 1  // cm
	colVelocity     = 4  // cm/s
	colAcceleration = 7  // cm/s^2, as requested by the keys
	colRotation     = 10 // rotation: pitch, yaw, roll in degrees
	colSpin         = 13 // rate of change of rotation, degrees/s
	colMode         = 16 // movement mode, 4 bits
	colButtons      = 17 // eight flags
	colBase         = 25 // the actor on which the player stands, 16 bits
	numFields       = 26
)

// Movement modes, the values of column colMode.
const (
	walking = 1
	falling = 3
	driving = 5
)

// tickHz is the number of calls per second.
const tickHz = 60

// newSchema returns the schema of a call: 540 bits in 26 fields.
func newSchema() *frame.Schema {
	fields := []frame.Field{{Name: "time", Unit: "us", Kind: frame.Angle, Min: -1 << 31, Max: 1<<31 - 1}}
	for _, v := range []struct{ name, unit, parts string }{
		{"position", "cm", "xyz"}, {"velocity", "cm/s", "xyz"}, {"acceleration", "cm/s/s", "xyz"},
		{"rotation", "deg", "pyr"}, {"spin", "deg/s", "pyr"},
	} {
		for _, part := range v.parts {
			fields = append(fields, frame.Field{Name: v.name + "-" + string(part), Unit: v.unit, Kind: frame.Float32})
		}
	}
	fields = append(fields, frame.Field{Name: "mode", Kind: frame.Enum, Max: 15})
	for _, name := range []string{"jump", "crouch", "sprint", "fire", "aim", "reload", "use", "melee"} {
		fields = append(fields, frame.Field{Name: name, Kind: frame.Flag, Max: 1})
	}
	fields = append(fields, frame.Field{Name: "base", Kind: frame.Enum, Max: 1<<16 - 1})
	return &frame.Schema{Name: "rpc", Item: "call", Rows: 1, Fields: fields, TickHz: tickHz}
}

// Package table lists every encoder there is: one line each, in the order in
// which a person should climb them.
//
// Numbers travel in packet headers and are never given twice. 1 to 15 are rungs
// of the snapshot ladder, 16 to 23 what goes beyond it, 24 to 63 encoders of calls,
// messages and tables, 64 to 111 encoders that see frames as bytes, 112 to 127 encoders
// from outside, in the order in which they were loaded.
package table

import (
	"fmt"

	"wirelab/encoders"
	"wirelab/encoders/adaptive"
	"wirelab/encoders/cubes"
	"wirelab/encoders/cubes/entropy"
	"wirelab/encoders/cubes/kinetic"
	"wirelab/encoders/datagram"
	"wirelab/encoders/files"
	"wirelab/encoders/generic"
	"wirelab/encoders/quake3"
	"wirelab/encoders/rows"
	"wirelab/encoders/rpc"
	"wirelab/encoders/states"
	"wirelab/encoders/teeworlds"
)

// All returns the encoders in the order to climb them: the ladder of cube
// snapshots, the encoders of calls, of tables, of messages and of files, then those
// that suit any schema, then those from outside. The slice is the caller's.
func All() []encoders.Codec { return append(builtIn(), Outside()...) }

// builtIn returns those that are part of the program. The slice is the caller's.
func builtIn() []encoders.Codec {
	return append(cubes.Ladder(), []encoders.Codec{
		entropy.Static(),
		entropy.Adaptive(),
		entropy.Predictive(),
		kinetic.Lite(),
		kinetic.Kinetic(),
		rpc.Full(),
		rpc.Delta(),
		rpc.Adaptive(),
		rows.DeltaAdaptive(),
		states.DeltaTrained(),
		quake3.Codec(),
		teeworlds.Codec(),
		adaptive.ReceiverAdaptive(),
		datagram.Datagram(),
		datagram.Acked(),
		files.Patch(),
		files.PatchFast(),
		files.WholeZstd(),
		files.WholeRaw(),
		generic.XorRLE(),
		generic.Deflate(),
		generic.Zstd(),
		generic.ZstdDict(),
		generic.ZstdBaseline(),
	}...)
}

// unknownError is the answer to a name that no encoder has.
type unknownError struct {
	Name  string
	Known []string // the names there are, in the order of All
}

// Error implements error.
func (e *unknownError) Error() string {
	return fmt.Sprintf("no encoder is called %q", e.Name)
}

// Unknown returns the name and the names there are, so that a caller can
// suggest a near one.
func (e *unknownError) Unknown() (name string, known []string) { return e.Name, e.Known }

// ByName returns the encoder of that name. The error is an *unknownError.
func ByName(name string) (*encoders.Codec, error) {
	all := All()
	known := make([]string, len(all))
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
		known[i] = all[i].Name
	}
	return nil, &unknownError{Name: name, Known: known}
}

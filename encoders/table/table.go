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
	"slices"
	"sync/atomic"
	"time"

	"wirelab/dataset/frame"
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
	"wirelab/encoders/train"
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

// FirstPluginID is the ID of the first encoder from outside; the last is 127.
const FirstPluginID = 112

// registered are the encoders from outside.
var registered atomic.Pointer[[]encoders.Codec]

// Outside returns the encoders from outside. The slice is not to be altered.
func Outside() []encoders.Codec {
	if list := registered.Load(); list != nil {
		return *list
	}
	return nil
}

// SetOutside makes these the encoders from outside, after all others, with IDs in their
// order. A name that is taken is an error, and nothing changes. What was made of the table
// before does not know of it.
func SetOutside(list []encoders.Codec) error {
	list = slices.Clone(list)
	all := builtIn()
	for i := range list {
		c := &list[i]
		if FirstPluginID+i > 127 {
			return fmt.Errorf("encoder %s is one too many from outside, expected at most %d", c.Name, 128-FirstPluginID)
		}
		c.ID = uint8(FirstPluginID + i)
		if k := slices.IndexFunc(all, func(x encoders.Codec) bool { return x.Name == c.Name }); k >= 0 {
			return fmt.Errorf("an encoder is called %s already: %s, beside %s", c.Name, owner(&all[k]), owner(c))
		}
		all = append(all, *c)
	}
	registered.Store(&list)
	return nil
}

// owner describes where an encoder is from.
func owner(c *encoders.Codec) string {
	if c.Plugin == nil {
		return "one that is built in"
	}
	return "that of " + c.Plugin.Path
}

// Wanted is a plugin that a configuration or a report names.
type Wanted struct {
	Path    string        // of a module, or exec:COMMAND
	SHA256  string        // of what is there; empty: whatever is
	Memory  int64         // bytes that each end may take; 0: as the program has it
	Timeout time.Duration // of a call; 0: as the program has it; negative: it is trusted
}

// loader brings plugins into the table.
var loader atomic.Pointer[func(list []Wanted) (at int, err error)]

// SetLoader sets how Load brings plugins into the table: before all others and in this order, unless
// they are there already. at is the one that the error is about. nil means that none are loaded.
func SetLoader(load func(list []Wanted) (at int, err error)) { loader.Store(&load) }

// Load brings plugins that a configuration names into the table.
func Load(list []Wanted) (at int, err error) {
	load := loader.Load()
	if load == nil || *load == nil {
		return 0, fmt.Errorf("this program loads no plugins")
	}
	return (*load)(list)
}

// Default returns the name of the encoder to begin with on frames of schema s, for
// those who have not chosen one: half-way up the ladder of cubes, else the one that
// was made for such frames.
func Default(s *frame.Schema) string {
	switch {
	case frame.IsCubes(s):
		return "relative-orientation"
	case s.Name == "rpc":
		return "rpc-adaptive"
	case s.Rows > 0:
		return "delta-adaptive"
	case s.Delivery == frame.Every:
		return "patch"
	}
	return "receiver-adaptive"
}

// Suiting lists the names of those of the codecs that take frames of schema s: the
// default first, if it is among them, then in the order given.
func Suiting(codecs []encoders.Codec, s *frame.Schema) []string {
	var names []string
	for i := range codecs {
		if codecs[i].Suits(s) {
			names = append(names, codecs[i].Name)
		}
	}
	if at := slices.Index(names, Default(s)); at > 0 {
		copy(names[1:], names[:at])
		names[0] = Default(s)
	}
	return names
}

// Trainers returns how each encoder that learns is trained, in the order of All.
// The slice is the caller's.
func Trainers() []train.Trainer {
	return slices.Concat(entropy.Trainers(), kinetic.Trainers(), adaptive.Trainers(), datagram.Trainers(), generic.Trainers(), states.Trainers())
}

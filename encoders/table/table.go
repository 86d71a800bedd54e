// Package table lists all encoders, in the order in which a reader should study them.
//
// IDs are part of packet headers and are never reused. 1 to 15 are the ladder of cube snapshots, 16 to 23
// other encoders of cubes, 24 to 63 encoders of calls, messages, tables and files, 64 to 111 encoders that
// treat frames as bytes, and 112 to 127 plugins in the order in which they were loaded.
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
	"wirelab/encoders/train"
)

// All returns all encoders: those of cube snapshots, of calls, of tables, of messages and of files, then
// those that suit any schema, then plugins. The caller may modify the slice.
func All() []encoders.Codec { return append(builtIn(), Plugins()...) }

// builtIn returns the encoders that are part of the program. The caller may modify the slice.
func builtIn() []encoders.Codec {
	return append(cubes.Ladder(), []encoders.Codec{
		entropy.Adaptive(),
		kinetic.Lite(),
		kinetic.Kinetic(),
		rpc.Full(),
		rpc.Delta(),
		rpc.Adaptive(),
		rows.DeltaAdaptive(),
		quake3.Codec(),
		adaptive.ReceiverAdaptive(),
		datagram.Datagram(),
		datagram.Acked(),
		files.Patch(),
		files.WholeZstd(),
		files.WholeRaw(),
		generic.XorRLE(),
		generic.Deflate(),
		generic.Zstd(),
		generic.ZstdDict(),
		generic.ZstdBaseline(),
	}...)
}

// UnknownError is the error for a name that no encoder has.
type UnknownError struct {
	Name  string
	Known []string // the names of all encoders, in the order of All
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown encoder %q", e.Name)
}

// Unknown returns the unknown name and the names of all encoders, so that a caller can suggest a similar
// one.
func (e *UnknownError) Unknown() (name string, known []string) { return e.Name, e.Known }

// ByName returns the encoder with the given name. The error is an *UnknownError.
func ByName(name string) (*encoders.Codec, error) {
	all := All()
	known := make([]string, len(all))
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
		known[i] = all[i].Name
	}
	return nil, &UnknownError{Name: name, Known: known}
}

// FirstPluginID is the ID of the first plugin; the last is 127.
const FirstPluginID = 112

// registered holds the plugins.
var registered atomic.Pointer[[]encoders.Codec]

// Plugins returns the plugins. The caller must not modify the slice.
func Plugins() []encoders.Codec {
	if list := registered.Load(); list != nil {
		return *list
	}
	return nil
}

// SetPlugins replaces the plugins. They follow the built-in encoders and get IDs in their order. If a name is
// already used or there are too many, SetPlugins returns an error and changes nothing. Slices that All
// returned before are not affected.
func SetPlugins(list []encoders.Codec) error {
	list = slices.Clone(list)
	all := builtIn()
	for i := range list {
		c := &list[i]
		if FirstPluginID+i > 127 { // the largest ID
			return fmt.Errorf("encoder %s exceeds the number of plugin encoders, expected at most %d", c.Name, 128-FirstPluginID)
		}
		c.ID = uint8(FirstPluginID + i)
		if k := slices.IndexFunc(all, func(x encoders.Codec) bool { return x.Name == c.Name }); k >= 0 {
			return fmt.Errorf("two encoders are called %s: %s and %s", c.Name, origin(&all[k]), origin(c))
		}
		all = append(all, *c)
	}
	registered.Store(&list)
	return nil
}

// origin describes where an encoder comes from, for errors.
func origin(c *encoders.Codec) string {
	if c.Plugin == nil {
		return "the built-in one"
	}
	return "that of " + c.Plugin.Path
}

// Wanted is a plugin that a configuration or a report names.
type Wanted struct {
	Path    string        // path of a module, or exec:COMMAND
	SHA256  string        // the expected hash of the file; empty means any
	Memory  int64         // bytes that the encoder and the decoder each may use; 0 means the program's default
	Timeout time.Duration // maximum duration of a call; 0 means the program's default, negative that the plugin is trusted
}

// loader is the function that SetLoader set.
var loader atomic.Pointer[func(list []Wanted) (at int, err error)]

// SetLoader sets the function that Load calls. load must put the plugins of the list into the table, before
// all other plugins and in this order, unless they are there already. If it fails, at is the index of the
// plugin that caused the error. With nil, Load returns an error.
func SetLoader(load func(list []Wanted) (at int, err error)) { loader.Store(&load) }

// Load puts the plugins that a configuration names into the table, see SetLoader. If it fails, at is the index of
// the plugin that caused the error.
func Load(list []Wanted) (at int, err error) {
	load := loader.Load()
	if load == nil || *load == nil {
		return 0, fmt.Errorf("this program loads no plugins")
	}
	return (*load)(list)
}

// Default returns the name of the default encoder for frames of schema s: for cubes one in the middle of the
// ladder, otherwise the one designed for such frames.
func Default(s *frame.Schema) string {
	switch {
	case frame.IsCubes(s):
		return "relative-orientation"
	case s.Name == "rpc":
		return "rpc-adaptive"
	case s.Rows > 0:
		return "delta-adaptive"
	case s.Delivery == frame.Reliable:
		return "patch"
	case s.Name == "packets":
		return "datagram"
	}
	return "receiver-adaptive"
}

// SuitableNames returns the names of the codecs that can encode frames of schema s: the default first, if it is
// one of them, then the others in their order.
func SuitableNames(codecs []encoders.Codec, s *frame.Schema) []string {
	var names []string
	for i := range codecs {
		if codecs[i].Suits(s) {
			names = append(names, codecs[i].Name)
		}
	}
	if defaultIndex := slices.Index(names, Default(s)); defaultIndex > 0 { // the default suits and is not first yet
		copy(names[1:], names[:defaultIndex])
		names[0] = Default(s)
	}
	return names
}

// Trainers returns the trainers of models for a user's data, in the order of All. The caller may modify the
// slice.
func Trainers() []train.Trainer {
	return slices.Concat(entropy.Trainers(), datagram.Trainers(), generic.Trainers())
}

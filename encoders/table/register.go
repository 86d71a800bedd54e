package table

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"wirelab/encoders"
)

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

// owner says where an encoder is from.
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

// Loader brings plugins into the table, before all others and in this order, unless they are
// there already. at is the one that the error is about.
type Loader func(list []Wanted) (at int, err error)

// loader is how this program does it.
var loader atomic.Pointer[Loader]

// SetLoader says how Load is done; nil: not at all.
func SetLoader(load Loader) {
	if load == nil {
		loader.Store(nil)
		return
	}
	loader.Store(&load)
}

// Load brings plugins that a configuration names into the table.
func Load(list []Wanted) (at int, err error) {
	load := loader.Load()
	if load == nil {
		return 0, fmt.Errorf("this program loads no plugins")
	}
	return (*load)(list)
}

package table

import (
	"fmt"
	"slices"
	"sync/atomic"

	"wirelab/encoders"
)

// FirstPluginID is the ID of the first encoder from outside; the last is 127.
const FirstPluginID = 112

// registered are the encoders from outside.
var registered atomic.Pointer[[]encoders.Codec]

// Outside returns the encoders that were registered. The slice is not to be altered.
func Outside() []encoders.Codec {
	if list := registered.Load(); list != nil {
		return *list
	}
	return nil
}

// Register adds encoders from outside to the table, after all others; remove takes them out
// again. A name or an ID that is taken is an error, and nothing is added. It is for the start
// of a program: what was made of the table before does not know them.
func Register(list []encoders.Codec) (remove func(), err error) {
	was := Outside()
	all := All()
	for i := range list {
		c := &list[i]
		if c.ID < FirstPluginID || c.ID > 127 {
			return nil, fmt.Errorf("encoder %s has ID %d, expected %d to 127: there is no room for more", c.Name, c.ID, FirstPluginID)
		}
		for j := range all {
			if all[j].Name == c.Name {
				return nil, fmt.Errorf("an encoder is called %s already", c.Name)
			}
			if all[j].ID == c.ID {
				return nil, fmt.Errorf("encoder %s has the ID %d of %s", c.Name, c.ID, all[j].Name)
			}
		}
		all = append(all, *c)
	}
	now := append(slices.Clone(was), list...)
	registered.Store(&now)
	return func() {
		left := slices.DeleteFunc(slices.Clone(Outside()), func(c encoders.Codec) bool {
			return slices.ContainsFunc(list, func(x encoders.Codec) bool { return x.Name == c.Name })
		})
		registered.Store(&left)
	}, nil
}

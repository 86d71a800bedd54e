package protocol

import (
	"cmp"
	"fmt"
	"slices"
)

// The game's limits of a snapshot.
const (
	MaxItems = 1024
	MaxType  = 0x7fff
	MaxCells = 1 << 14 // values of all items together
	// MaxNumbers is the number of integers in the largest coded snapshot: the values, and for each
	// item its type, identity, size and offset, and the keys of as many removed items.
	MaxNumbers = MaxCells + 5*MaxItems
)

// Key identifies an item of a snapshot: the type in the upper 16 bits, the identity among the items
// of that type in the lower 16.
type Key uint32

// NewKey returns the key of the item with a type and an identity.
func NewKey(typ, id int) Key { return Key(typ<<16 | id) }

// Type returns the type of the item.
func (k Key) Type() int { return int(k >> 16) }

// ID returns the identity of the item among the items of its type.
func (k Key) ID() int { return int(k & 0xffff) }

// String returns the key as "type.id".
func (k Key) String() string { return fmt.Sprintf("%d.%d", k.Type(), k.ID()) }

// Item is an item with its values, in the order of the protocol.
type Item struct {
	Key    Key
	Values []int32
}

// Delta is the difference between two snapshots.
type Delta struct {
	Removed []Key  // keys of removed items, sorted
	Updated []Item // items sorted by key; Values are differences if the older snapshot has the item
}

// Parse reads a delta: the number of removed items, the number of updated items, a third number
// that is always 0, the keys of removed items, and the updated items. The slices of the result
// refer to ints.
func (d *Delta) Parse(ints []int32) error {
	d.Removed, d.Updated = d.Removed[:0], d.Updated[:0]
	if len(ints) < 3 {
		return fmt.Errorf("%w: a delta of %d integers, expected at least 3", ErrShort, len(ints))
	}
	removed, updated := ints[0], ints[1]
	if removed < 0 || removed > MaxItems || updated < 0 || updated > MaxItems || ints[2] != 0 {
		return fmt.Errorf("%w: a delta removes %d items, updates %d and has the third number %d; expected at most %d, at most %d and 0", ErrCorrupt,
			removed, updated, ints[2], MaxItems, MaxItems)
	}
	ints = ints[3:]
	if len(ints) < int(removed) {
		return fmt.Errorf("%w: %d items removed, but %d integers left", ErrShort, removed, len(ints))
	}
	for _, k := range ints[:removed] {
		d.Removed = append(d.Removed, Key(k))
	}
	ints = ints[removed:]
	for range updated {
		item, rest, err := parseItem(ints)
		if err != nil {
			return err
		}
		d.Updated, ints = append(d.Updated, item), rest
	}
	if len(ints) > 0 {
		return fmt.Errorf("%w: %d integers after the last item", ErrCorrupt, len(ints))
	}
	return d.sortKeys()
}

// parseItem reads an updated item: type, identity, the number of values unless the type has a fixed
// size, and the values. It returns the integers that follow as rest.
func parseItem(ints []int32) (item Item, rest []int32, err error) {
	if len(ints) < 3 {
		return item, ints, fmt.Errorf("%w: an item is missing", ErrShort)
	}
	typ, id := ints[0], ints[1]
	if typ < 0 || typ > MaxType || id < 0 || id > 0xffff {
		return item, ints, fmt.Errorf("%w: item %d of type %d, expected at most item 65535 and type %d", ErrCorrupt, id, typ, MaxType)
	}
	item.Key, ints = NewKey(int(typ), int(id)), ints[2:]
	size, fixed := FixedSize(int(typ))
	if !fixed {
		size, ints = int(ints[0]), ints[1:]
		if size < 0 || size > MaxCells {
			return item, ints, fmt.Errorf("%w: item %v has %d values, expected at most %d", ErrCorrupt, item.Key, size, MaxCells)
		}
	}
	if len(ints) < size {
		return item, ints, fmt.Errorf("%w: item %v has %d values, but %d integers are left", ErrShort, item.Key, size, len(ints))
	}
	item.Values = ints[:size:size]
	return item, ints[size:], nil
}

// sortKeys sorts both lists by key. It is an error if a list contains a key twice.
func (d *Delta) sortKeys() error {
	slices.Sort(d.Removed)
	for i := 1; i < len(d.Removed); i++ {
		if d.Removed[i] == d.Removed[i-1] {
			return fmt.Errorf("%w: item %v is removed twice", ErrCorrupt, d.Removed[i])
		}
	}
	return SortItems(d.Updated)
}

// SortItems sorts items by key. It is an error if a key occurs twice.
func SortItems(items []Item) error {
	slices.SortFunc(items, func(a, b Item) int { return cmp.Compare(a.Key, b.Key) })
	for i := 1; i < len(items); i++ {
		if items[i].Key == items[i-1].Key {
			return fmt.Errorf("%w: item %v occurs twice", ErrCorrupt, items[i].Key)
		}
	}
	return nil
}

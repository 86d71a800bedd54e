package protocol

import (
	"cmp"
	"fmt"
	"slices"
)

// The game's bounds of a snapshot.
const (
	MaxItems = 1024
	MaxType  = 0x7fff
	MaxCells = 1 << 14 // numbers in all its items
	// MaxNumbers is how many numbers a coded snapshot has at most: of every item also type, identity
	// and size, and where it begins, and as many removed ones.
	MaxNumbers = MaxCells + 5*MaxItems
)

// Key names an item: its type in the upper half, its identity among those in the lower.
type Key uint32

// KeyOf returns the key of an item.
func KeyOf(typ, id int) Key { return Key(typ<<16 | id) }

// Type returns the type of the item.
func (k Key) Type() int { return int(k >> 16) }

// ID returns which of the items of its type it is.
func (k Key) ID() int { return int(k & 0xffff) }

// String writes a key as people do.
func (k Key) String() string { return fmt.Sprintf("%d.%d", k.Type(), k.ID()) }

// Item is an item with its values.
type Item struct {
	Key    Key
	Values []int32
}

// Delta is what became of a snapshot.
type Delta struct {
	Removed []Key  // in ascending order
	Updated []Item // by key; Values are differences for items that were there before
}

// Parse reads a delta. The values are part of ints.
func (d *Delta) Parse(ints []int32) error {
	d.Removed, d.Updated = d.Removed[:0], d.Updated[:0]
	if len(ints) < 3 {
		return fmt.Errorf("%w: a delta of %d numbers", ErrShort, len(ints))
	}
	removed, updated := ints[0], ints[1]
	if removed < 0 || removed > MaxItems || updated < 0 || updated > MaxItems || ints[2] != 0 {
		return fmt.Errorf("%w: a delta removes %d items and updates %d, and has %d of a third sort", ErrCorrupt, removed, updated, ints[2])
	}
	ints = ints[3:]
	if len(ints) < int(removed) {
		return fmt.Errorf("%w: %d items removed, and %d numbers left", ErrShort, removed, len(ints))
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
		return fmt.Errorf("%w: %d numbers behind the last item", ErrCorrupt, len(ints))
	}
	return d.sort()
}

// parseItem reads type, identity, size where the type does not tell it, and values.
func parseItem(ints []int32) (item Item, rest []int32, err error) {
	if len(ints) < 3 {
		return item, ints, fmt.Errorf("%w: an item is missing", ErrShort)
	}
	typ, id := ints[0], ints[1]
	if typ < 0 || typ > MaxType || id < 0 || id > 0xffff {
		return item, ints, fmt.Errorf("%w: item %d of type %d", ErrCorrupt, id, typ)
	}
	item.Key, ints = KeyOf(int(typ), int(id)), ints[2:]
	size, fixed := FixedSize(int(typ))
	if !fixed {
		size, ints = int(ints[0]), ints[1:]
		if size < 0 || size > MaxCells {
			return item, ints, fmt.Errorf("%w: item %v has %d values", ErrCorrupt, item.Key, size)
		}
	}
	if len(ints) < size {
		return item, ints, fmt.Errorf("%w: item %v has %d values, and %d numbers are left", ErrShort, item.Key, size, len(ints))
	}
	item.Values = ints[:size:size]
	return item, ints[size:], nil
}

// sort brings the keys in order and refuses those that come twice.
func (d *Delta) sort() error {
	slices.Sort(d.Removed)
	for i := 1; i < len(d.Removed); i++ {
		if d.Removed[i] == d.Removed[i-1] {
			return fmt.Errorf("%w: item %v is removed twice", ErrCorrupt, d.Removed[i])
		}
	}
	return SortItems(d.Updated)
}

// SortItems sorts items by key. It is an error if one comes twice.
func SortItems(items []Item) error {
	slices.SortFunc(items, func(a, b Item) int { return cmp.Compare(a.Key, b.Key) })
	for i := 1; i < len(items); i++ {
		if items[i].Key == items[i-1].Key {
			return fmt.Errorf("%w: item %v comes twice", ErrCorrupt, items[i].Key)
		}
	}
	return nil
}

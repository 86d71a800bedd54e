package teeworlds

import (
	"fmt"
	"slices"

	"wirelab/dataset/teeworlds/protocol"
)

// snapshot is the state of the world at a tick: its items in the order of their keys. Their
// values lie one behind another in memory of the snapshot's own.
type snapshot struct {
	items  []protocol.Item
	values []int32
}

// reset empties it and makes room for so many values, so that none of them moves.
func (s *snapshot) reset(room int) {
	s.items, s.values = s.items[:0], slices.Grow(s.values[:0], room)
}

// add adds an item with a copy of the values, which may then be altered. The items are to be
// sorted in the end.
func (s *snapshot) add(k protocol.Key, values []int32) []int32 {
	at := len(s.values)
	s.values = append(s.values, values...)
	own := s.values[at:len(s.values):len(s.values)]
	s.items = append(s.items, protocol.Item{Key: k, Values: own})
	return own
}

// reader decodes what demos hold of snapshots.
type reader struct {
	bytes []byte
	ints  []int32
	delta protocol.Delta
	news  []protocol.Item // what was told in the last chunk, as it is now
}

// numbers unpacks a chunk.
func (r *reader) numbers(payload []byte) (err error) {
	r.bytes, err = protocol.Huffman().Decode(r.bytes[:0], payload, protocol.MaxInt*protocol.MaxNumbers)
	if err == nil {
		r.ints, err = protocol.Ints(r.ints[:0], r.bytes, protocol.MaxNumbers)
	}
	return err
}

// whole makes s what a chunk of a whole snapshot says.
func (r *reader) whole(s *snapshot, payload []byte) error {
	if err := r.numbers(payload); err != nil {
		return err
	}
	if len(r.ints) < 2 {
		return fmt.Errorf("%w: a snapshot of %d numbers", protocol.ErrShort, len(r.ints))
	}
	size, n, rest := r.ints[0], r.ints[1], r.ints[2:]
	if n < 0 || n > protocol.MaxItems || int(n) > len(rest) || size < 0 || size%4 != 0 || int(size/4) != len(rest)-int(n) ||
		size/4 > protocol.MaxCells {
		return fmt.Errorf("%w: a snapshot of %d items in %d bytes, and %d numbers of them", protocol.ErrCorrupt, n, size, len(rest))
	}
	offsets, data := rest[:n], rest[n:]
	s.reset(len(data))
	for i, from := range offsets {
		to := size
		if i+1 < len(offsets) {
			to = offsets[i+1]
		}
		if from < 0 || to > size || to-from < 4 || from%4 != 0 || to%4 != 0 || i == 0 && from != 0 {
			return fmt.Errorf("%w: item %d lies from byte %d to %d of %d", protocol.ErrCorrupt, i, from, to, size)
		}
		k, values := protocol.Key(data[from/4]), data[from/4+1:to/4]
		if want, fixed := protocol.FixedSize(k.Type()); k.Type() > protocol.MaxType || fixed && want != len(values) {
			return fmt.Errorf("%w: item %v has %d values, expected %d", protocol.ErrCorrupt, k, len(values), want)
		}
		s.add(k, values)
	}
	r.news = append(r.news[:0], s.items...)
	return protocol.SortItems(s.items)
}

// next makes s what a chunk says of the changes since the snapshot before.
func (r *reader) next(s, before *snapshot, payload []byte) error {
	if err := r.numbers(payload); err != nil {
		return err
	}
	if err := r.delta.Parse(r.ints); err != nil {
		return err
	}
	s.reset(len(before.values) + len(r.ints))
	r.news = r.news[:0]
	removed, updated := r.delta.Removed, r.delta.Updated
	for _, item := range before.items {
		switch {
		case len(removed) > 0 && removed[0] == item.Key:
			removed = removed[1:]
			continue
		case len(removed) > 0 && removed[0] < item.Key:
			return fmt.Errorf("%w: item %v is removed, and was not there", protocol.ErrCorrupt, removed[0])
		}
		for len(updated) > 0 && updated[0].Key < item.Key {
			r.add(s, updated[0])
			updated = updated[1:]
		}
		values := s.add(item.Key, item.Values)
		if len(updated) == 0 || updated[0].Key != item.Key {
			continue
		}
		if len(updated[0].Values) != len(values) {
			return fmt.Errorf("%w: item %v had %d values, and has %d", protocol.ErrCorrupt, item.Key, len(values), len(updated[0].Values))
		}
		for i, v := range updated[0].Values {
			values[i] += v
		}
		r.news = append(r.news, s.items[len(s.items)-1])
		updated = updated[1:]
	}
	for _, item := range updated {
		r.add(s, item)
	}
	if len(removed) > 0 {
		return fmt.Errorf("%w: item %v is removed, and was not there", protocol.ErrCorrupt, removed[0])
	}
	if len(s.items) > protocol.MaxItems || len(s.values) > protocol.MaxCells {
		return fmt.Errorf("%w: %d items with %d values", protocol.ErrCorrupt, len(s.items), len(s.values))
	}
	return nil
}

// add adds an item that is new.
func (r *reader) add(s *snapshot, item protocol.Item) {
	s.add(item.Key, item.Values)
	r.news = append(r.news, s.items[len(s.items)-1])
}

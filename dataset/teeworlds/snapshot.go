package teeworlds

import (
	"fmt"
	"slices"

	"wirelab/dataset/teeworlds/protocol"
)

// snapshot is the state of the world at a tick: its items, sorted by key. The values of all items
// share one slice, which the snapshot owns.
type snapshot struct {
	items  []protocol.Item
	values []int32
}

// reset empties the snapshot and reserves memory for nValues values. add must not exceed it, or the
// values of items added before would stay in the old slice.
func (s *snapshot) reset(nValues int) {
	s.items, s.values = s.items[:0], slices.Grow(s.values[:0], nValues)
}

// add adds an item with a copy of values. It returns the copy, which the caller may modify.
func (s *snapshot) add(k protocol.Key, values []int32) []int32 {
	at := len(s.values)
	s.values = append(s.values, values...)
	stored := s.values[at:len(s.values):len(s.values)]
	s.items = append(s.items, protocol.Item{Key: k, Values: stored})
	return stored
}

// snapshotReader decodes the snapshots of a demo, in order. After read, next is the new snapshot and
// current the one before; advance makes next the current one.
type snapshotReader struct {
	current, next snapshot
	changed       []protocol.Item // the items of next that the chunk contained

	bytes []byte // buffers for the stages of decoding
	ints  []int32
	delta protocol.Delta
}

// read decodes the payload of a chunk, which is of kindFull or kindDelta, into r.next. The payload is a
// Huffman code of bytes, the bytes are integers of variable length.
func (r *snapshotReader) read(kind kind, payload []byte) (err error) {
	r.changed = r.changed[:0]
	r.bytes, err = protocol.Huffman().Decode(r.bytes[:0], payload, protocol.MaxIntBytes*protocol.MaxNumbers)
	if err == nil {
		r.ints, err = protocol.ReadInts(r.ints[:0], r.bytes, protocol.MaxNumbers)
	}
	switch {
	case err != nil:
		return err
	case kind == kindFull:
		return r.readFull()
	}
	if err := r.delta.Parse(r.ints); err != nil {
		return err
	}
	return r.applyDelta()
}

// advance makes the snapshot that was read last the current one, to which the next delta applies.
func (r *snapshotReader) advance() { r.current, r.next = r.next, r.current }

// readFull decodes r.ints as a full snapshot: the size of the data in bytes, the number of items,
// the offset of each item in the data in bytes, then the data, in which each item is its key and
// its values.
func (r *snapshotReader) readFull() error {
	if len(r.ints) < 2 {
		return fmt.Errorf("%w: a snapshot of %d integers, expected at least 2", protocol.ErrShort, len(r.ints))
	}
	size, n, rest := r.ints[0], r.ints[1], r.ints[2:]
	if n < 0 || n > protocol.MaxItems || int(n) > len(rest) || size < 0 || size%4 != 0 || int(size/4) != len(rest)-int(n) ||
		size/4 > protocol.MaxCells {
		return fmt.Errorf("%w: a snapshot of %d items in %d bytes, with %d integers", protocol.ErrCorrupt, n, size, len(rest))
	}
	offsets, data := rest[:n], rest[n:]
	r.next.reset(len(data))
	for i, from := range offsets {
		to := size
		if i+1 < len(offsets) {
			to = offsets[i+1]
		}
		if from < 0 || to > size || to-from < 4 || from%4 != 0 || to%4 != 0 || i == 0 && from != 0 {
			return fmt.Errorf("%w: item %d extends from byte %d to %d of %d", protocol.ErrCorrupt, i, from, to, size)
		}
		k, values := protocol.Key(data[from/4]), data[from/4+1:to/4]
		if want, fixed := protocol.FixedSize(k.Type()); k.Type() > protocol.MaxType || fixed && want != len(values) {
			return fmt.Errorf("%w: item %v has %d values, expected %d", protocol.ErrCorrupt, k, len(values), want)
		}
		r.next.add(k, values)
	}
	r.changed = append(r.changed, r.next.items...)
	return protocol.SortItems(r.next.items)
}

// applyDelta sets r.next to r.current with r.delta applied. It merges three lists that are sorted by
// key: the current items, the removed keys and the updated items. An updated item that is in
// r.current adds its values to the current ones; others are new.
func (r *snapshotReader) applyDelta() error {
	s := &r.next
	s.reset(len(r.current.values) + len(r.ints))
	removed, updated := r.delta.Removed, r.delta.Updated
	for _, item := range r.current.items {
		if len(removed) > 0 && removed[0] <= item.Key {
			if removed[0] < item.Key {
				break // the delta removes an item that the snapshot lacks: the loop ends, and the error follows below
			}
			removed = removed[1:]
			continue
		}
		for len(updated) > 0 && updated[0].Key < item.Key {
			r.addNew(updated[0])
			updated = updated[1:]
		}
		values := s.add(item.Key, item.Values)
		if len(updated) == 0 || updated[0].Key != item.Key {
			continue
		}
		if len(updated[0].Values) != len(values) {
			return fmt.Errorf("%w: item %v changes from %d values to %d", protocol.ErrCorrupt, item.Key, len(values), len(updated[0].Values))
		}
		for i, v := range updated[0].Values {
			values[i] += v
		}
		r.changed = append(r.changed, s.items[len(s.items)-1])
		updated = updated[1:]
	}
	if len(removed) > 0 {
		return fmt.Errorf("%w: item %v is removed but was not present", protocol.ErrCorrupt, removed[0])
	}
	for _, item := range updated {
		r.addNew(item)
	}
	if len(s.items) > protocol.MaxItems || len(s.values) > protocol.MaxCells {
		return fmt.Errorf("%w: %d items with %d values, expected at most %d and %d", protocol.ErrCorrupt, len(s.items), len(s.values),
			protocol.MaxItems, protocol.MaxCells)
	}
	return nil
}

// addNew adds to r.next an item that r.current does not contain.
func (r *snapshotReader) addNew(item protocol.Item) {
	r.next.add(item.Key, item.Values)
	r.changed = append(r.changed, r.next.items[len(r.next.items)-1])
}

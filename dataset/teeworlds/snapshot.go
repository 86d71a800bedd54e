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

// reset empties the snapshot and makes room for that many values, so that none of them moves.
func (s *snapshot) reset(room int) {
	s.items, s.values = s.items[:0], slices.Grow(s.values[:0], room)
}

// add adds an item with a copy of the values, which may then be altered.
func (s *snapshot) add(k protocol.Key, values []int32) []int32 {
	at := len(s.values)
	s.values = append(s.values, values...)
	own := s.values[at:len(s.values):len(s.values)]
	s.items = append(s.items, protocol.Item{Key: k, Values: own})
	return own
}

// reader decodes the states of a demo.
type reader struct {
	now, next snapshot        // before and after the last chunk
	news      []protocol.Item // of next, those that the last chunk has

	bytes []byte
	ints  []int32
	delta protocol.Delta
}

// read decodes the state in a chunk of that kind into r.next.
func (r *reader) read(kind kind, payload []byte) (err error) {
	r.news = r.news[:0]
	r.bytes, err = protocol.Huffman().Decode(r.bytes[:0], payload, protocol.MaxInt*protocol.MaxNumbers)
	if err == nil {
		r.ints, err = protocol.Ints(r.ints[:0], r.bytes, protocol.MaxNumbers)
	}
	switch {
	case err != nil:
		return err
	case kind == whole:
		return r.readWhole()
	}
	if err := r.delta.Parse(r.ints); err != nil {
		return err
	}
	return r.applyDelta()
}

// advance makes the state of the last chunk the one before the next.
func (r *reader) advance() { r.now, r.next = r.next, r.now }

// readWhole decodes all items of a snapshot.
func (r *reader) readWhole() error {
	if len(r.ints) < 2 {
		return fmt.Errorf("%w: a snapshot of %d numbers", protocol.ErrShort, len(r.ints))
	}
	size, n, rest := r.ints[0], r.ints[1], r.ints[2:]
	if n < 0 || n > protocol.MaxItems || int(n) > len(rest) || size < 0 || size%4 != 0 || int(size/4) != len(rest)-int(n) ||
		size/4 > protocol.MaxCells {
		return fmt.Errorf("%w: a snapshot of %d items in %d bytes, and %d numbers of them", protocol.ErrCorrupt, n, size, len(rest))
	}
	offsets, data := rest[:n], rest[n:]
	r.next.reset(len(data))
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
		r.next.add(k, values)
	}
	r.news = append(r.news, r.next.items...)
	return protocol.SortItems(r.next.items)
}

// applyDelta makes r.next what the delta makes of r.now.
func (r *reader) applyDelta() error {
	s := &r.next
	s.reset(len(r.now.values) + len(r.ints))
	removed, updated := r.delta.Removed, r.delta.Updated
	for _, item := range r.now.items {
		if len(removed) > 0 && removed[0] <= item.Key {
			if removed[0] < item.Key {
				break // an item that was not there
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
			return fmt.Errorf("%w: item %v had %d values, and has %d", protocol.ErrCorrupt, item.Key, len(values), len(updated[0].Values))
		}
		for i, v := range updated[0].Values {
			values[i] += v
		}
		r.news = append(r.news, s.items[len(s.items)-1])
		updated = updated[1:]
	}
	if len(removed) > 0 {
		return fmt.Errorf("%w: item %v is removed, and was not there", protocol.ErrCorrupt, removed[0])
	}
	for _, item := range updated {
		r.addNew(item)
	}
	if len(s.items) > protocol.MaxItems || len(s.values) > protocol.MaxCells {
		return fmt.Errorf("%w: %d items with %d values", protocol.ErrCorrupt, len(s.items), len(s.values))
	}
	return nil
}

// addNew adds an item that was not there.
func (r *reader) addNew(item protocol.Item) {
	r.next.add(item.Key, item.Values)
	r.news = append(r.news, r.next.items[len(r.next.items)-1])
}

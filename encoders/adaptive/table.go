package adaptive

// table is a tally made ready to be asked: how often did any of a range of bytes
// follow a context? A running sum answers that with two look-ups, whatever the
// range, so a table needs no tree of its own.
type table struct {
	order int
	keys  tally    // context and byte, sorted
	sums  []uint32 // sums[i]: how often any of keys[:i] came
	rows  []uint32 // where the keys of each latest byte begin; none at order 0
}

// ready turns the tally that stands in t.keys into a table.
func (t *table) ready(p packing) {
	n := p.entries(t.keys)
	t.order, t.sums = p.order, room(t.sums[:0], n+1)
	sum := uint32(0)
	for i := range n {
		key, count := p.key(t.keys, i), p.count(t.keys, i)
		t.keys[i], t.sums[i] = key, sum // no entry is shorter than its key
		sum += count
	}
	t.keys, t.sums[n] = t.keys[:n], sum
	t.index()
}

// fold fills the table with the sums of one that is an order higher, over the oldest
// byte of each context.
func (t *table) fold(from *table) {
	t.order, t.keys, t.sums = from.order-1, t.keys[:0], room(t.sums[:0], 1)
	t.sums[0] = 0
	var row [256]uint32
	for at := 0; at < len(from.keys); {
		context := from.keys[at] >> 16 // all but the oldest byte
		for ; at < len(from.keys) && from.keys[at]>>16 == context; at++ {
			row[from.keys[at]&0xff] += from.sums[at+1] - from.sums[at]
		}
		for b, count := range row {
			if count > 0 {
				t.put(context<<8|uint32(b), count)
			}
		}
		clear(row[:])
	}
	t.index()
}

func (t *table) put(key, n uint32) {
	t.keys, t.sums = room(t.keys, 1), room(t.sums, 1)
	last := len(t.keys) - 1
	t.keys[last], t.sums[last+1] = key, t.sums[last]+n
}

// index notes where the keys of each latest byte begin.
func (t *table) index() {
	if t.order == 0 {
		return
	}
	if t.rows == nil {
		t.rows = make([]uint32, 257)
	}
	at := 0
	for c := range t.rows {
		for at < len(t.keys) && int(t.keys[at]>>(8*t.order)) < c {
			at++
		}
		t.rows[c] = uint32(at)
	}
}

// cursor is a context, and what is left of its bytes while one is spelt out.
type cursor struct{ lo, hi uint32 }

// find returns the bytes that followed the context.
func (t *table) find(last uint32) cursor {
	switch {
	case len(t.keys) == 0:
		return cursor{}
	case t.order == 0:
		return cursor{0, uint32(len(t.keys))}
	}
	c := last >> 16
	row := cursor{t.rows[c], t.rows[c+1]}
	if t.order == 1 {
		return row
	}
	first := contextKey(t.order, last, 0)
	lo := t.search(row, first)
	hi := t.search(cursor{lo, row.hi}, first|0xff)
	if hi < row.hi && t.keys[hi] == first|0xff {
		hi++
	}
	return cursor{lo, hi}
}

// search returns the first place at which the key is no less.
func (t *table) search(in cursor, key uint32) uint32 {
	lo, hi := in.lo, in.hi
	for lo < hi {
		mid := (lo + hi) / 2
		if t.keys[mid] < key {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// split returns where the bytes from middle on begin, and how many there were on
// either side.
func (t *table) split(c cursor, middle byte) (at, below, above uint32) {
	if c.lo == c.hi {
		return c.lo, 0, 0
	}
	at = t.search(c, t.keys[c.lo]&^0xff|uint32(middle))
	return at, t.sums[at] - t.sums[c.lo], t.sums[c.hi] - t.sums[at]
}

// bytes is what the table takes in memory.
func (t *table) bytes() int { return 4 * (cap(t.keys) + cap(t.sums) + cap(t.rows)) }

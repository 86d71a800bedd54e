package adaptive

// table is a tally made ready to be asked: how often did any of a range of bytes
// follow a context? A running sum answers that with two look-ups, whatever the
// range, so a table needs no tree of its own.
type table struct {
	order int
	keys  tally       // context and byte, sorted
	sums  []uint32    // sums[i]: how often any of keys[:i] came
	rows  [257]uint16 // where the keys of each latest byte begin
}

// ready turns the tally that stands in t.keys into a table.
func (t *table) ready(p packing) {
	t.order, t.sums = p.order, room(t.sums[:0], len(t.keys)+1)
	sum := uint32(0)
	for i, e := range t.keys {
		t.keys[i], t.sums[i] = p.key(e), sum
		sum += p.count(e)
	}
	t.sums[len(t.keys)] = sum
	t.index()
}

// fold fills the table with the sums of one that is an order higher, over the oldest
// byte of each context.
func (t *table) fold(from *table) {
	t.order, t.keys, t.sums = from.order-1, t.keys[:0], append(t.sums[:0], 0)
	var row [256]uint32
	for at := 0; at < len(from.keys); {
		top := from.keys[at] >> 16 // the latest byte, where the oldest is another
		for ; at < len(from.keys) && (t.order == 0 || from.keys[at]>>16 == top); at++ {
			row[from.keys[at]&0xff] += from.sums[at+1] - from.sums[at]
		}
		for b, count := range row {
			if count > 0 {
				t.put(top<<8|uint32(b), count)
			}
		}
		clear(row[:])
	}
	t.index()
}

func (t *table) put(key, n uint32) {
	t.keys = append(t.keys, key)
	t.sums = append(t.sums, t.sums[len(t.sums)-1]+n)
}

// index notes where the keys of each latest byte begin.
func (t *table) index() {
	at := 0
	for c := range t.rows {
		for at < len(t.keys) && int(t.keys[at]>>t.topShift()) < c {
			at++
		}
		t.rows[c] = uint16(at)
	}
}

// topShift is where in a key the latest byte of the context lies.
func (t *table) topShift() uint {
	if t.order == 2 {
		return 16
	}
	return 8
}

// cursor is a context, and what is left of its bytes while one is spelt out.
type cursor struct{ lo, hi uint32 }

// find returns the bytes that followed the context.
func (t *table) find(last uint32) cursor {
	if t.order == 0 {
		return cursor{0, uint32(len(t.keys))}
	}
	c := last >> 8 & 0xff
	all := cursor{uint32(t.rows[c]), uint32(t.rows[c+1])}
	if t.order == 1 {
		return all
	}
	first := contextKey(2, last, 0)
	return cursor{t.search(all, first), t.search(all, first+256)}
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
func (t *table) bytes() int { return 4*(cap(t.keys)+cap(t.sums)) + len(t.rows)*2 }

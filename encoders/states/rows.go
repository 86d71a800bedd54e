package states

import (
	"fmt"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Marks separate the contexts of different kinds of decisions.
const (
	markNow = iota + 1
	markBody
	markStray
	markRow
	markPresent
	markSource
	markSame
	markFresh
	markSymbol
	markSwitch
	markClass
	markNumber
)

// row is the state of the row being coded.
type row struct {
	*coder
	index     int
	part      *part
	cur, base []int32 // its fields, by their numbers in the schema
	cells     []cellMemo
	slot      int
	owner     *slotMemo
	info      *rowMemo
	fresh     bool    // it was not there before
	kind      uint32  // what sort of thing it is
	mask      uint32  // which fields changed so far, the last one lowest
	sym       uint32  // a hash of symbols that changed so far
	lastSym   uint32  // the last one of those
	miss      uint32  // half octaves of the last two residuals
	best      uint32  // the expert that was nearest in the field of a place before
	lapse     int64   // time since base, by the clock of the group
	source    []int32 // the row that a new one is made from, and what it was in base
	before    []int32
	misses    uint32 // which fields were not as the source's, the last one lowest
}

// ages returns the class of a number of frames.
func ages(n uint8) uint32 {
	switch {
	case n < 12:
		return uint32(n)
	case n < 15:
		return 12
	case n < 20:
		return 13
	case n < 30:
		return 14
	case n < 60:
		return 15
	case n < 120:
		return 16
	case n < forever:
		return 17
	}
	return 18
}

// codeRow codes a row.
func (e *coder) codeRow(i int) {
	r := &e.row
	q := &e.parts[e.partOf[i]]
	n := e.fields
	r.index, r.part = i, q
	r.cur, r.base = e.cur[i*n:][:n], e.base[i*n:][:n]
	r.info = &e.m.rows[i]
	r.kind = uint32(e.partOf[i]) << 24
	there := !r.empty(r.base)
	if q.kind >= 0 && there {
		r.kind += uint32(r.base[q.kind]) + 1
	}
	changed := r.codeChanged(there)
	e.c.Charge(encoders.SlotFlags)
	f := r.info
	f.moved = f.moved<<1 | uint8(changed)
	if f.since < forever {
		f.since++
	}
	if changed == 0 {
		if f.idle < forever {
			f.idle++
		}
		return
	}
	f.idle = 0
	if e.err = e.c.Err(); e.err != nil { // rows that a packet has no bits for cost nothing
		return
	}
	if e.err = r.code(there); e.err != nil {
		e.err = fmt.Errorf("%s %d: %w", e.schema.Item, i, e.err)
	}
}

// empty reports whether a row is not there: all its fields are 0.
func (r *row) empty(values []int32) bool {
	q := r.part
	if q.present >= 0 && values[q.present] != 0 {
		return false
	}
	for _, v := range values[q.field : q.field+q.fields] {
		if v != 0 {
			return false
		}
	}
	return true
}

// codeChanged codes whether a row changed.
func (r *row) codeChanged(there bool) uint32 {
	e, f := r.coder, r.info
	differ := false
	if !e.c.Reading() {
		differ = e.changed.Has(r.index)
		if differ && r.index == e.now.row { // it may be only the time
			differ = false
			for k, v := range r.cur {
				if v != r.base[k] && k != e.now.field {
					differ = true
				}
			}
		}
	}
	x := &e.x
	x.begin()
	x.quiet()
	t := flag(there)
	x.see(markRow, r.kind, uint32(f.moved)&15, t)
	x.see(markRow, uint32(r.index), t, uint32(f.moved)&1)
	x.see(markRow, r.kind, ages(f.since), t<<8|uint32(f.moved)&1)
	x.see(markRow, r.kind, ages(f.idle), t<<8|e.recent&3)
	x.see(markRow, uint32(r.index), uint32(f.moved), t)
	x.see(markRow, r.kind, ages(f.since)<<8|ages(f.life), t)
	v := uint32(x.bit(int(flag(differ)), 0, markRow<<8|t, 6))
	e.recent = e.recent<<1 | v
	return v
}

// code codes a row that changed.
func (r *row) code(there bool) error {
	e, q := r.coder, r.part
	f := r.info
	if there {
		x := &e.x
		x.begin()
		x.quiet()
		x.see(markPresent, r.kind, uint32(f.moved>>1)&15, 0)
		x.see(markPresent, r.kind, ages(f.since), uint32(f.moved>>1)&1)
		x.see(markPresent, uint32(r.index), 0, 0)
		if x.bit(int(flag(r.empty(r.cur))), 0, markPresent<<8, 3) != 0 {
			e.c.Charge(encoders.SlotIndex)
			return r.vanish()
		}
	}
	r.slot = e.m.find(r.index)
	known := r.slot >= 0
	r.slot = e.m.claim(r.index, q, r.base[q.field:q.field+q.fields])
	r.owner, r.cells = &e.m.owner[r.slot], e.m.of(r.slot, q)
	r.mask, r.sym, r.lastSym, r.miss, r.best, r.misses = 0, 0, 0, 0, 0, 0
	r.fresh = !there
	r.lapse = e.m.lapse
	order := q.order
	if r.fresh {
		f.life, f.since = f.since, 0
		if err := r.codeSource(known); err != nil {
			return err
		}
		order = q.fresh
	}
	for _, k := range order {
		c := &e.cols[k]
		var err error
		if r.fresh {
			err = r.newField(k, c)
		} else {
			err = r.oldField(k, c)
		}
		if err != nil {
			return err
		}
		if k == q.kind {
			r.kind = uint32(e.partOf[r.index])<<24 + uint32(r.cur[k]) + 1
		}
		if c.clock {
			r.readClock(k)
		}
		e.c.Charge(encoders.FieldSlot(k))
	}
	r.close()
	return nil
}

// vanish makes a row disappear; its history keeps what it was.
func (r *row) vanish() error {
	q, e := r.part, r.coder
	for k := q.field; k < q.field+q.fields; k++ {
		if -uint32(r.cols[k].min) > r.cols[k].span {
			return r.outside(k, 0)
		}
	}
	slot := e.m.claim(r.index, q, r.base[q.field:q.field+q.fields])
	cells := e.m.of(slot, q)
	for k := range cells {
		cells[k] = cellMemo{old: r.base[q.field+k], idle: forever}
	}
	e.m.owner[slot].drive = [2]drive{}
	clear(r.cur[q.field : q.field+q.fields])
	r.info.life, r.info.since = r.info.since, 0
	return nil
}

// readClock takes the time of a place from its clock.
func (r *row) readClock(k int) {
	for _, n := range r.part.groups {
		if r.groups[n].clock == k && !r.fresh {
			r.lapse = int64(r.cur[k]) - int64(r.base[k])
			if r.base[k] == 0 || r.cur[k] == 0 || magnitude(r.lapse) > 1<<20 {
				r.lapse = r.m.lapse
			}
		}
	}
}

// codeSource codes which row a new one is made from: one that is there, or itself as nothing.
func (r *row) codeSource(known bool) error {
	e, q := r.coder, r.part
	pick := r.index
	if !e.c.Reading() {
		pick = r.chooseSource()
	}
	x := &e.x
	at, v := uint32(1), uint32(pick-q.row)
	for b := int(q.bits) - 1; b >= 0; b-- {
		x.begin()
		x.quiet()
		x.see(markSource, at, uint32(q.row), 0)
		x.see(markSource, at, e.m.source, 1)
		x.see(markSource, at, uint32(r.index), 2)
		at = at<<1 | uint32(x.bit(int(v>>b&1), 0, markSource<<8|uint32(b), 3))
	}
	v = at - 1<<q.bits
	if int(v) >= q.rows {
		return fmt.Errorf("row %d of %d as source", v, q.rows)
	}
	r.source = r.state(q.row + int(v))
	r.before = r.coder.base[(q.row+int(v))*r.fields:][:r.fields]
	e.m.source = v + 1
	e.c.Charge(encoders.SlotIndex)
	return nil
}

// state returns the newest state of a row that both ends know.
func (r *row) state(i int) []int32 {
	if i < r.index {
		return r.coder.cur[i*r.fields:][:r.fields]
	}
	return r.coder.base[i*r.fields:][:r.fields]
}

// What chooseSource looks at, at most: rows that are there, and how far off they are. No game has
// as many, and the first frame of a large table takes no longer than its coding.
const (
	mostSources = 256
	farthest    = 1024
)

// chooseSource returns the row that agrees in most of the fields, of those that are near it.
func (r *row) chooseSource() int {
	q := r.part
	best, most, looked := r.index, r.agree(r.index), 0
	for d := 1; d <= farthest && looked < mostSources; d++ {
		for _, i := range [2]int{r.index - d, r.index + d} {
			if i < q.row || i >= q.row+q.rows {
				continue
			}
			if r.empty(r.state(i)) {
				continue
			}
			looked++
			if n := r.agree(i); n > most || n == most && i < best {
				best, most = i, n
			}
		}
	}
	return best
}

// agree returns how well a row agrees with the new one.
func (r *row) agree(i int) int {
	s := r.state(i)
	n := r.near(s)
	if uint32(i-r.part.row)+1 == r.m.source {
		n++
	}
	for k := r.part.field; k < r.part.field+r.part.fields; k++ {
		if v := r.cur[k]; v == s[k] {
			if v != 0 {
				n += 4
			} else {
				n++
			}
		}
	}
	return n
}

// near returns how near a row is to the new one, in half octaves.
func (r *row) near(s []int32) int {
	n := 0
	for _, g := range r.part.groups {
		for _, k := range r.groups[g].at {
			if k >= 0 && r.groups[g].slot == 0 {
				d := uint64(magnitude(r.fixed(k, r.cur[k])-r.fixed(k, s[k]))) >> uint(max(r.unit(k), 0))
				n += max(nearby-halves(d+1), 0) / 2
			}
		}
	}
	return n
}

const nearby = 20 // half octaves

// oldField codes a field of a row that was there.
func (r *row) oldField(k int, c *column) error {
	e := r.coder
	cell := &r.cells[k-r.part.field]
	old := r.base[k]
	h := uint32(cell.moved)
	id := uint32(k) << 8
	x := &e.x
	x.begin()
	x.quiet()
	comp := r.company(k, c)
	x.see(id|markSame, r.kind, h&7, 0)
	x.see(id|markSame, r.kind, r.mask&15, 0)
	x.see(id|markSame, comp, r.kind, h&1)
	x.see(id|markSame, uint32(old), r.kind, 0)
	b := x.bit(int(flag(r.cur[k] != old)), 0, id|markSame, 4)
	r.mask = r.mask<<1 | uint32(b)
	cell.moved = cell.moved<<1 | uint8(b)
	if b == 0 {
		r.cur[k] = old
		if cell.idle < forever {
			cell.idle++
		}
		return nil
	}
	err := r.value(k, c, old, true)
	cell.old, cell.idle = old, 0
	return err
}

// newField codes a field of a row that was not there.
func (r *row) newField(k int, c *column) error {
	e := r.coder
	cell := &r.cells[k-r.part.field]
	id := uint32(k) << 8
	src, last := r.source[k], cell.old
	same := flag(src == 0) | flag(last == 0)<<1 | flag(src == last)<<2
	v := r.cur[k]
	x := &e.x
	x.quiet()
	guesses := [4]int32{src, 0, last, r.before[k]}
	for n, g := range guesses {
		if n > 0 && slices.Contains(guesses[:n], g) {
			continue
		}
		x.begin()
		m := id | markFresh
		x.see(m, r.kind, same, uint32(n))
		x.see(m, r.kind, r.misses&7, same<<2|uint32(n))
		x.see(m, r.kind, uint32(g), uint32(n))
		x.see(m, r.sym, same, uint32(n))
		b := x.bit(int(flag(v == g)), 0, m<<2|uint32(n), 4)
		if n == 0 {
			r.misses = r.misses<<1 | uint32(1-b)
		}
		if b != 0 {
			if uint32(g)-uint32(c.min) > c.span {
				return r.outside(k, g)
			}
			r.cur[k] = g
			if c.sort != numbers {
				r.sym = hash(r.sym, uint32(k), uint32(g), 0)
			}
			*cell = cellMemo{idle: forever, old: g}
			return nil
		}
	}
	err := r.value(k, c, src, false)
	*cell = cellMemo{idle: forever, old: r.cur[k]}
	return err
}

// value codes what a field is, given that it is not old (if skip).
func (r *row) value(k int, c *column, old int32, skip bool) error {
	if err := r.c.Err(); err != nil {
		return err
	}
	switch c.sort {
	case symbols:
		r.symbol(k, c, old)
	case switches:
		r.switches(k, c, old)
	default:
		r.numeric(k, c, old, skip)
	}
	if uint32(r.cur[k])-uint32(c.min) > c.span {
		return r.outside(k, r.cur[k])
	}
	return nil
}

// outside returns the error of a value that its field cannot have.
func (r *row) outside(k int, v int32) error {
	return fmt.Errorf("field %s: %w: %d", r.schema.Fields[k].Name, frame.ErrRange, v)
}

const symbolBits = 12 // that are learnt

// symbol codes one of several.
func (r *row) symbol(k int, c *column, old int32) {
	e := r.coder
	id := uint32(k)<<8 | markSymbol | flag(r.fresh)<<31
	was := uint32(old) - uint32(c.min)
	v, left, at := uint32(r.cur[k])-uint32(c.min), c.width, uint32(1)
	x := &e.x
	x.begin()
	x.quiet()
	x.see(id, 0, 0, 0)
	x.see(id, r.kind, was, 0)
	x.see(id, r.kind, r.lastSym, 0)
	x.see(id, r.sym, 0, 0)
	if c.width == 1 && !r.fresh {
		v, left = 1-was, 0
		at = 2 | v
	}
	learnt := min(left, symbolBits)
	for range learnt {
		left--
		at = at<<1 | uint32(x.bit(int(v>>left&1), at, id<<4|uint32(left&15), 4))
	}
	if c.width == 1 && !r.fresh {
		at = v
	} else {
		at -= 1 << learnt
		if left > 0 {
			at = at<<left | uint32(e.c.Direct(uint64(v&(1<<left-1)), left))
		}
	}
	r.cur[k] = int32(at + uint32(c.min))
	r.sym = hash(r.sym, uint32(k), at, 0)
	r.lastSym = hash(uint32(k), at, 1, 0)
}

// switches codes which bits of a field changed.
func (r *row) switches(k int, c *column, old int32) {
	e := r.coder
	id := uint32(k)<<8 | markSwitch | flag(r.fresh)<<31
	d := uint32(r.cur[k]) ^ uint32(old)
	x := &e.x
	var out, n uint32
	for i := range uint32(32) {
		o := uint32(old) >> i & 1
		x.begin()
		x.quiet()
		x.see(id, i, o, r.kind)
		x.see(id, i, uint32(old), 0)
		x.see(id, i, n<<1|o, r.kind)
		x.see(id, i, r.sym, o)
		b := uint32(x.bit(int(d>>i&1), 0, id<<5|i, 4))
		out |= b << i
		n = min(n+b, 3)
	}
	r.cur[k] = int32(out ^ uint32(old))
	r.sym = hash(r.sym, uint32(k), out, 0)
	r.lastSym = hash(uint32(k), uint32(r.cur[k]), 1, 0)
}

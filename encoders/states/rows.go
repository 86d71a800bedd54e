package states

import (
	"fmt"
	"slices"

	"wirelab/encoders"
	"wirelab/encoders/column"
	"wirelab/encoders/rangecoder"
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

// row is the state of the row being coded. A row is coded in this order: whether it changed; whether
// it vanished; for a new row, its source row; and then its fields. A field of an old row is a flag
// whether it changed, then its value if so. A field of a new row is the number of one of four
// guesses, or its value if it equals none of them.
type row struct {
	*coder
	index     int
	part      *part
	cur, base []int32 // the row's fields, by their numbers in the schema
	cells     []cellMemo
	owner     *slotMemo
	info      *rowMemo
	fresh     bool    // the row was empty in base
	kind      uint32  // the part and the value of the field of role Type
	mask      uint32  // flags: which fields changed so far, the last in the lowest bit
	sym       uint32  // a hash of the symbols that changed so far
	lastSym   uint32  // hash of the last of those symbols
	miss      uint32  // half octaves of the last two residuals
	best      uint32  // 1 + the predictor that was nearest in the last coordinate; 0 if none
	lapse     int64   // time since base, by the clock of the group
	source    []int32 // newest state of the row that a new row is predicted from
	before    []int32 // the source row in base
	misses    uint32  // flags: which fields differ from the source's, the last in the lowest bit
}

// ageClass returns the class of a number of frames.
func ageClass(n uint8) uint32 {
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

// increment adds 1 to n, up to forever.
func increment(n *uint8) {
	if *n < forever {
		*n++
	}
}

// codeRow codes row i.
func (e *coder) codeRow(i int) error {
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
	e.Charge(encoders.SlotFlags)
	f := r.info
	f.moved = f.moved<<1 | uint8(changed)
	increment(&f.since)
	if changed == 0 {
		increment(&f.idle)
		return nil
	}
	f.idle = 0
	if err := e.Err(); err != nil { // a packet without bits for its rows must cost nothing
		return err
	}
	if err := r.code(there); err != nil {
		return fmt.Errorf("%s %d: %w", e.schema.Item, i, err)
	}
	return nil
}

// empty reports whether a row is empty: all fields of its part are 0. An empty row has no object.
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

// codeChanged codes whether a row changed, apart from the field that holds the time of the frame. It
// returns 1 if so.
func (r *row) codeChanged(there bool) int {
	e, f, x := r.coder, r.info, &r.x
	differs := !e.Reading() && e.changed.Has(r.index)
	if differs && r.index == e.now.row {
		k := e.now.field
		differs = !slices.Equal(r.cur[:k], r.base[:k]) || !slices.Equal(r.cur[k+1:], r.base[k+1:])
	}
	x.Begin()
	t := flag(there)
	x.AddContext(markRow, r.kind, uint32(f.moved)&15, t)
	x.AddContext(markRow, uint32(r.index), t, uint32(f.moved)&1)
	x.AddContext(markRow, r.kind, ageClass(f.since), t<<8|uint32(f.moved)&1)
	x.AddContext(markRow, r.kind, ageClass(f.idle), t<<8|e.recent&3)
	x.AddContext(markRow, uint32(r.index), uint32(f.moved), t)
	x.AddContext(markRow, r.kind, ageClass(f.since)<<8|ageClass(f.life), t)
	v := x.CodeBit(rangecoder.Flag(differs), 0, markRow<<8|t, 6)
	e.recent = e.recent<<1 | uint32(v)
	return v
}

// code codes a row that changed. there reports whether the row was not empty in base.
func (r *row) code(there bool) error {
	e, q, f := r.coder, r.part, r.info
	if there {
		x := &e.x
		x.Begin()
		x.AddContext(markPresent, r.kind, uint32(f.moved>>1)&15, 0)
		x.AddContext(markPresent, r.kind, ageClass(f.since), uint32(f.moved>>1)&1)
		x.AddContext(markPresent, uint32(r.index), 0, 0)
		if x.CodeFlag(r.empty(r.cur), 0, markPresent<<8, 3) {
			e.Charge(encoders.SlotIndex)
			return r.vanish()
		}
	}
	slot := e.m.claim(r.index, q, r.base[q.field:q.field+q.fields])
	r.owner, r.cells = &e.m.owner[slot], e.m.of(slot, q)
	r.mask, r.sym, r.lastSym, r.miss, r.best, r.misses = 0, 0, 0, 0, 0, 0
	r.fresh = !there
	r.lapse = e.m.lapse
	order := q.order
	if r.fresh {
		f.life, f.since = f.since, 0
		if err := r.codeSource(); err != nil {
			return err
		}
		order = q.fresh
	}
	for _, k := range order {
		if err := r.codeField(k, &e.cols[k]); err != nil {
			return err
		}
		e.Charge(encoders.FieldSlot(k))
	}
	r.learnMotion()
	return nil
}

// codeField codes a field of a row that changed.
func (r *row) codeField(k int, c *fieldPlan) error {
	var err error
	if r.fresh {
		err = r.newField(k, c)
	} else {
		err = r.oldField(k, c)
	}
	if err != nil {
		return err
	}
	if k == r.part.kind {
		r.kind = uint32(r.partOf[r.index])<<24 + uint32(r.cur[k]) + 1
	}
	if c.clock {
		r.readClock(k)
	}
	return nil
}

// vanish empties a row; its cells keep the old values as history.
func (r *row) vanish() error {
	q, e := r.part, r.coder
	for k := q.field; k < q.field+q.fields; k++ {
		if !r.cols[k].Admits(0) {
			return column.Error(r.schema, k, 0)
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

// readClock sets lapse from field k if k is the clock of a group. A lapse that is not plausible is
// replaced by that of the frame.
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

// codeSource codes the row that a new row is predicted from: a row that is not empty, or the new row
// itself, which is empty.
func (r *row) codeSource() error {
	e, q, x := r.coder, r.part, &r.x
	pick := r.index
	if !e.Reading() {
		pick = r.chooseSource()
	}
	node, v := uint32(1), uint32(pick-q.row)
	for b := int(q.bits) - 1; b >= 0; b-- {
		x.Begin()
		x.AddContext(markSource, node, uint32(q.row), 0)
		x.AddContext(markSource, node, e.m.source, 1)
		x.AddContext(markSource, node, uint32(r.index), 2)
		node = node<<1 | uint32(x.CodeBit(int(v>>b&1), 0, markSource<<8|uint32(b), 3))
	}
	v = node - 1<<q.bits
	if int(v) >= q.rows {
		return fmt.Errorf("row %d of %d as source", v, q.rows)
	}
	r.source = r.state(q.row + int(v))
	r.before = e.base[(q.row+int(v))*r.fields:][:r.fields]
	e.m.source = v + 1
	e.Charge(encoders.SlotIndex)
	return nil
}

// state returns the newest state of a row that both ends know.
func (r *row) state(i int) []int32 {
	table := r.coder.base
	if i < r.index {
		table = r.coder.cur
	}
	return table[i*r.fields:][:r.fields]
}

// Bounds of chooseSource: the number of rows compared, and how far away they are. Games have fewer
// rows; the bounds keep the first frame of a large table from taking longer than its coding.
const (
	maxSources     = 256
	sourceDistance = 1024
)

// chooseSource returns the row near the new row in the table with the greatest similarity; the new row
// itself if none has more.
func (r *row) chooseSource() int {
	q := r.part
	best, most, tried := r.index, r.similarity(r.index), 0
	for d := 1; d <= sourceDistance && tried < maxSources; d++ {
		for _, i := range [2]int{r.index - d, r.index + d} {
			if i < q.row || i >= q.row+q.rows || r.empty(r.state(i)) {
				continue
			}
			tried++
			if n := r.similarity(i); n > most || n == most && i < best {
				best, most = i, n
			}
		}
	}
	return best
}

// similarity scores row i as the source of the new row. It adds the nearness of the positions, 1 if
// row i was the source of the last new row, and for each equal field 4, or 1 if the value is 0.
func (r *row) similarity(i int) int {
	s := r.state(i)
	n := r.nearness(s)
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

const nearby = 20 // distance at which nearness becomes 0, in half octaves

// nearness returns how near the row with fields s is to the new row: for each coordinate, half the
// number of half octaves by which the distance is below nearby.
func (r *row) nearness(s []int32) int {
	n := 0
	for _, g := range r.part.groups {
		for _, k := range r.groups[g].at {
			if k >= 0 && r.groups[g].slot == 0 {
				d := uint64(magnitude(r.fixed(k, r.cur[k])-r.fixed(k, s[k]))) >> uint(max(r.unit(&r.cols[k]), 0))
				n += max(nearby-halfOctaves(d+1), 0) / 2
			}
		}
	}
	return n
}

// oldField codes a field of a row that was not empty in base.
func (r *row) oldField(k int, c *fieldPlan) error {
	x, cell, old := &r.x, &r.cells[k-r.part.field], r.base[k]
	h, id := uint32(cell.moved), uint32(k)<<8|markSame
	x.Begin()
	x.AddContext(id, r.kind, h&7, 0)
	x.AddContext(id, r.kind, r.mask&15, 0)
	x.AddContext(id, r.motionContext(k, c), r.kind, h&1)
	x.AddContext(id, uint32(old), r.kind, 0)
	b := x.CodeBit(rangecoder.Flag(r.cur[k] != old), 0, id, 4)
	r.mask = r.mask<<1 | uint32(b)
	cell.moved = cell.moved<<1 | uint8(b)
	if b == 0 {
		r.cur[k] = old
		increment(&cell.idle)
		return nil
	}
	err := r.value(k, c, old, true)
	cell.old, cell.idle = old, 0
	return err
}

// newField codes a field of a new row: whether it equals the source's value, 0, the row's own value
// when it vanished, or the source's value in base; and its value if it equals none of them.
func (r *row) newField(k int, c *fieldPlan) error {
	x, cell := &r.x, &r.cells[k-r.part.field]
	src, last := r.source[k], cell.old
	same := flag(src == 0) | flag(last == 0)<<1 | flag(src == last)<<2
	id := uint32(k)<<8 | markFresh
	guesses := [4]int32{src, 0, last, r.before[k]}
	for n, g := range guesses {
		if n > 0 && slices.Contains(guesses[:n], g) {
			continue
		}
		x.Begin()
		x.AddContext(id, r.kind, same, uint32(n))
		x.AddContext(id, r.kind, r.misses&7, same<<2|uint32(n))
		x.AddContext(id, r.kind, uint32(g), uint32(n))
		x.AddContext(id, r.sym, same, uint32(n))
		right := x.CodeFlag(r.cur[k] == g, 0, id<<2|uint32(n), 4)
		if n == 0 {
			r.misses = r.misses<<1 | flag(!right)
		}
		if right {
			if !c.Admits(g) {
				return column.Error(r.schema, k, int64(g))
			}
			r.cur[k] = g
			if c.sort != numbers {
				r.sym = rangecoder.Hash(r.sym, uint32(k), uint32(g), 0)
			}
			*cell = cellMemo{idle: forever, old: g}
			return nil
		}
	}
	err := r.value(k, c, src, false)
	*cell = cellMemo{idle: forever, old: r.cur[k]}
	return err
}

// value codes the value of a field. skip means that the value is known to differ from old.
func (r *row) value(k int, c *fieldPlan, old int32, skip bool) error {
	if err := r.Err(); err != nil {
		return err
	}
	switch c.sort {
	case symbols:
		r.symbol(k, c, old)
	case switches:
		r.switches(k, old)
	default:
		if err := r.numeric(k, c, old, skip); err != nil {
			return err
		}
	}
	if !c.Admits(r.cur[k]) {
		return column.Error(r.schema, k, int64(r.cur[k]))
	}
	return nil
}

const symbolBits = 12 // upper bits of a symbol that have counters; the lower bits are coded directly

// symbol codes an enum or a flag as a binary tree. A flag that changed needs no bit.
func (r *row) symbol(k int, c *fieldPlan, old int32) {
	x := &r.x
	id := uint32(k)<<8 | markSymbol | flag(r.fresh)<<31
	was, v := c.Raw(old), c.Raw(r.cur[k])
	if c.Width == 1 && !r.fresh {
		v = 1 - was
	} else {
		x.Begin()
		x.AddContext(id, 0, 0, 0)
		x.AddContext(id, r.kind, was, 0)
		x.AddContext(id, r.kind, r.lastSym, 0)
		x.AddContext(id, r.sym, 0, 0)
		learnt := min(c.Width, symbolBits)
		left, node := c.Width, uint32(1)
		for range learnt {
			left--
			node = node<<1 | uint32(x.CodeBit(int(v>>left&1), node, id<<4|uint32(left&15), 4))
		}
		v = (node-1<<learnt)<<left | uint32(r.Direct(uint64(v&(1<<left-1)), left))
	}
	r.cur[k] = c.Value(v)
	r.sym = rangecoder.Hash(r.sym, uint32(k), v, 0)
	r.lastSym = rangecoder.Hash(uint32(k), v, 1, 0)
}

// switches codes which bits of a field changed.
func (r *row) switches(k int, old int32) {
	x := &r.x
	id := uint32(k)<<8 | markSwitch | flag(r.fresh)<<31
	d := uint32(r.cur[k]) ^ uint32(old)
	var out, n uint32 // the bits so far, and the number of ones among them
	for i := range uint32(32) {
		was := uint32(old) >> i & 1
		x.Begin()
		x.AddContext(id, i, was, r.kind)
		x.AddContext(id, i, uint32(old), 0)
		x.AddContext(id, i, n<<1|was, r.kind)
		x.AddContext(id, i, r.sym, was)
		b := uint32(x.CodeBit(int(d>>i&1), 0, id<<5|i, 4))
		out |= b << i
		n = min(n+b, 3)
	}
	r.cur[k] = int32(out ^ uint32(old))
	r.sym = rangecoder.Hash(r.sym, uint32(k), out, 0)
	r.lastSym = rangecoder.Hash(uint32(k), uint32(r.cur[k]), 1, 0)
}

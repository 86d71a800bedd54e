package states

import (
	"fmt"
	"slices"

	"wirelab/encoders"
	"wirelab/encoders/column"
	"wirelab/encoders/rangecoder"
)

// The kinds of decisions. They are hashed into contexts, so that each kind has its own counters and
// weights.
const (
	decisionTime     = iota + 1 // is the frame's time as predicted?
	decisionBody                // is the body the baseline's?
	decisionStray               // is there a stray value? See coder.codeStrays
	decisionRow                 // did the row change?
	decisionVanished            // did the row become empty?
	decisionSource              // bits of the index of the source row
	decisionChanged             // did the field of an old row change?
	decisionGuess               // does the field of a new row equal a guess?
	decisionSymbol              // bits of a symbol
	decisionBits                // did the bit change?
	decisionClass               // is the float of this class?
	decisionNumber              // decisions of a number; see numberCoder
)

// A row is the state of the row being coded. A row of which it is already coded that it changed is
// coded in this order: whether it vanished, that is, became empty; for a new row, its source row;
// and then its fields in the order of the plan. A field of an old row is a flag whether it changed,
// and its value if so. A field of a new row is a flag for each of up to four guesses, and its value
// if none is right.
type row struct {
	*coder
	index         int // index of the row in the table
	part          *part
	cur, base     []int32       // the row's fields, by their numbers in the schema
	cells         []cellHistory // histories of the part's fields, in the order of the schema
	slot          *slotHistory  // history of a row that has a slot
	history       *rowHistory   // history that every row has
	isNew         bool          // the row is empty in base
	typeContext   uint32        // the row's part and its value of the field of role Type, as a context
	changedFields uint32        // flags: whether each of the previous fields changed, the last in bit 0
	symbolHash    uint32        // hash of all symbols and bits of the row that were coded so far
	lastSymbol    uint32        // hash of the last of them
	axisBest      uint32        // 1 + cellHistory.bestInput of the last number coded, if that is a coordinate; otherwise 0
	elapsed       int64         // time since base: by the clock of the group, or else memo.elapsed
	source        []int32       // newest state of the source row of a new row
	sourceBase    []int32       // state of the source row in base
	sourceMisses  uint32        // flags: whether each of the previous fields differs from the source's, the last in bit 0
}

// ageClass quantises a number of frames into 19 classes: exact up to 11, then increasingly coarse;
// 18 means maxAge or unknown.
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
	case n < maxAge:
		return 17
	}
	return 18
}

// increment adds 1 to n, unless n is maxAge.
func increment(n *uint8) {
	if *n < maxAge {
		*n++
	}
}

// codeRow codes row i of the table, a flag whether it changed and its new contents if so, and updates its history.
// An error names the row.
func (e *coder) codeRow(i int) error {
	r := &e.row
	q := &e.parts[e.partOf[i]]
	n := e.fields
	r.index, r.part = i, q
	e.TraceRow(i)
	r.cur, r.base = e.cur[i*n:][:n], e.base[i*n:][:n]
	r.history = &e.memo.rows[i]
	r.typeContext = uint32(e.partOf[i]) << 24
	existed := !r.empty(r.base)
	// Until the type field is coded, the context uses the old type.
	if q.typeField >= 0 && existed {
		r.typeContext += uint32(r.base[q.typeField]) + 1
	}
	changed := r.codeChanged(existed)
	e.Charge(encoders.SlotFlags)
	history := r.history
	history.changes = history.changes<<1 | uint8(changed)
	increment(&history.presenceAge)
	if changed == 0 {
		increment(&history.unchangedFor)
		return nil
	}
	history.unchangedFor = 0
	if err := e.Err(); err != nil { // stop early at the end of a truncated packet
		return err
	}
	if err := r.codeContents(existed); err != nil {
		return fmt.Errorf("%s %d: %w", e.schema.Item, i, err)
	}
	return nil
}

// empty reports whether a row is empty: all fields of its part are 0. An empty row has no object.
func (r *row) empty(values []int32) bool {
	q := r.part
	if q.presentField >= 0 && values[q.presentField] != 0 {
		return false
	}
	for _, v := range values[q.firstField : q.firstField+q.fields] {
		if v != 0 {
			return false
		}
	}
	return true
}

// codeChanged codes whether a row changed, apart from the field that holds the time of the frame,
// which codeTime has coded. It returns 1 if so. existed reports whether the row is not empty in base.
func (r *row) codeChanged(existed bool) int {
	e, history, mixer := r.coder, r.history, &r.mixer
	differs := !e.Reading() && e.changed.Has(r.index)
	if differs && r.index == e.timeCell.row {
		k := e.timeCell.field
		differs = !slices.Equal(r.cur[:k], r.base[:k]) || !slices.Equal(r.cur[k+1:], r.base[k+1:])
	}
	mixer.Begin()
	existedBit := flag(existed)
	mixer.AddContext(decisionRow, r.typeContext, uint32(history.changes)&15, existedBit)
	mixer.AddContext(decisionRow, uint32(r.index), existedBit, uint32(history.changes)&1)
	mixer.AddContext(decisionRow, r.typeContext, ageClass(history.presenceAge), existedBit<<8|uint32(history.changes)&1)
	mixer.AddContext(decisionRow, r.typeContext, ageClass(history.unchangedFor), existedBit<<8|e.recentChanges&3)
	mixer.AddContext(decisionRow, uint32(r.index), uint32(history.changes), existedBit)
	mixer.AddContext(decisionRow, r.typeContext, ageClass(history.presenceAge)<<8|ageClass(history.lastPresenceAge), existedBit)
	v := mixer.CodeBit(rangecoder.Flag(differs), 0, decisionRow<<8|existedBit, 6) // six contexts
	e.recentChanges = e.recentChanges<<1 | uint32(v)
	return v
}

// codeContents codes the new contents of a row that changed. existed reports whether the row was
// not empty in base.
func (r *row) codeContents(existed bool) error {
	e, q, history := r.coder, r.part, r.history
	if existed {
		mixer := &e.mixer
		mixer.Begin()
		// Bit 0 of history.changes is the current change.
		mixer.AddContext(decisionVanished, r.typeContext, uint32(history.changes>>1)&15, 0)
		mixer.AddContext(decisionVanished, r.typeContext, ageClass(history.presenceAge), uint32(history.changes>>1)&1)
		mixer.AddContext(decisionVanished, uint32(r.index), 0, 0)
		if mixer.CodeFlag(r.empty(r.cur), 0, decisionVanished<<8, 3) { // node 0, three contexts
			e.Charge(encoders.SlotIndex)
			return r.emptyRow()
		}
	}
	slot := e.memo.claimSlot(r.index, q, r.base[q.firstField:q.firstField+q.fields])
	r.slot, r.cells = &e.memo.slots[slot], e.memo.slotCells(slot, q)
	r.changedFields, r.symbolHash, r.lastSymbol, r.axisBest, r.sourceMisses = 0, 0, 0, 0, 0
	r.isNew = !existed
	r.elapsed = e.memo.elapsed
	order := q.orderOld
	if r.isNew {
		history.lastPresenceAge, history.presenceAge = history.presenceAge, 0
		if err := r.codeSource(); err != nil {
			return err
		}
		order = q.orderNew
	}
	for _, k := range order {
		if err := r.codeField(k, &e.columns[k]); err != nil {
			return err
		}
		e.TraceField(encoders.FieldSlot(k), k) // a slot may have several fields
		e.Charge(encoders.FieldSlot(k))
	}
	r.learnMotion()
	return nil
}

// codeField codes field k, whose plan is c, of a row that changed. It updates typeContext after the field
// of role Type, and elapsed after a clock.
func (r *row) codeField(k int, c *fieldPlan) error {
	var err error
	if r.isNew {
		err = r.codeNewField(k, c)
	} else {
		err = r.codeOldField(k, c)
	}
	if err != nil {
		return err
	}
	if k == r.part.typeField {
		r.typeContext = uint32(r.partOf[r.index])<<24 + uint32(r.cur[k]) + 1
	}
	if c.isClock {
		r.updateElapsed(k)
	}
	return nil
}

// emptyRow sets all fields of a row that vanished to 0. Its cells keep the old values, as guesses
// in case the object appears again.
func (r *row) emptyRow() error {
	q, e := r.part, r.coder
	for k := q.firstField; k < q.firstField+q.fields; k++ {
		if !r.columns[k].Admits(0) {
			return column.RangeError(r.schema, k, 0)
		}
	}
	slot := e.memo.claimSlot(r.index, q, r.base[q.firstField:q.firstField+q.fields])
	cells := e.memo.slotCells(slot, q)
	for k := range cells {
		cells[k] = cellHistory{old: r.base[q.firstField+k]}
	}
	e.memo.slots[slot].lastPush = [2]push{}
	clear(r.cur[q.firstField : q.firstField+q.fields])
	r.history.lastPresenceAge, r.history.presenceAge = r.history.presenceAge, 0
	return nil
}

// updateElapsed sets r.elapsed from field k, if k is the clock of a group. If the difference of the
// clock is not plausible (unset, or more than 2^20), r.elapsed becomes the time since the baseline.
func (r *row) updateElapsed(k int) {
	for _, n := range r.part.groups {
		if r.groups[n].clock == k && !r.isNew {
			r.elapsed = int64(r.cur[k]) - int64(r.base[k])
			if r.base[k] == 0 || r.cur[k] == 0 || abs(r.elapsed) > 1<<20 {
				r.elapsed = r.memo.elapsed
			}
		}
	}
}

// codeSource codes the index of the source row within the part: the row from which a new row is
// predicted. The source is a row that is not empty, or the new row itself, which means no source.
func (r *row) codeSource() error {
	e, q, mixer := r.coder, r.part, &r.mixer
	source := r.index
	if !e.Reading() {
		source = r.chooseSource()
	}
	node, v := uint32(1), uint32(source-q.firstRow)
	for b := int(q.indexBits) - 1; b >= 0; b-- {
		mixer.Begin()
		mixer.AddContext(decisionSource, node, uint32(q.firstRow), 0)
		mixer.AddContext(decisionSource, node, e.memo.lastSource, 1)
		mixer.AddContext(decisionSource, node, uint32(r.index), 2)
		// Node 0, because the contexts contain the node; three contexts.
		node = node<<1 | uint32(mixer.CodeBit(int(v>>b&1), 0, decisionSource<<8|uint32(b), 3))
	}
	v = node - 1<<q.indexBits // without the leading 1
	if int(v) >= q.rows {
		return fmt.Errorf("index of the source row in its part is %d, expected less than %d", v, q.rows)
	}
	r.source = r.newestState(q.firstRow + int(v))
	r.sourceBase = e.base[(q.firstRow+int(v))*r.fields:][:r.fields]
	e.memo.lastSource = v + 1
	e.Charge(encoders.SlotIndex)
	return nil
}

// newestState returns the newest fields of row i that sender and receiver have: those of the frame
// being coded if row i comes before the current row, otherwise those of the baseline.
func (r *row) newestState(i int) []int32 {
	newest := r.coder.base
	if i < r.index {
		newest = r.coder.cur
	}
	return newest[i*r.fields:][:r.fields]
}

// Bounds of chooseSource: the number of rows compared, and how far away they are. Games have fewer
// rows; the bounds keep the first frame of a large table from taking longer than its coding.
const (
	maxSources     = 256
	sourceDistance = 1024
)

// chooseSource returns the row of the part that is most similar to the new row, by similarity; of
// several, the first. The new row itself, which is empty in base, takes part. chooseSource searches
// outwards from the new row. Only the encoder calls it.
func (r *row) chooseSource() int {
	q := r.part
	best, maxScore, tried := r.index, r.similarity(r.index), 0 // tried: number of rows compared
	for distance := 1; distance <= sourceDistance && tried < maxSources; distance++ {
		for _, i := range [2]int{r.index - distance, r.index + distance} {
			if i < q.firstRow || i >= q.firstRow+q.rows || r.empty(r.newestState(i)) {
				continue
			}
			tried++
			if score := r.similarity(i); score > maxScore || score == maxScore && i < best {
				best, maxScore = i, score
			}
		}
	}
	return best
}

// similarity scores row i as the source of the new row. It adds the nearness of the positions, 1 if
// row i was the source of the last new row, and for each equal field 4, or 1 if the value is 0, which
// is common.
func (r *row) similarity(i int) int {
	s := r.newestState(i)
	score := r.nearness(s)
	if uint32(i-r.part.firstRow)+1 == r.memo.lastSource {
		score++
	}
	for k := r.part.firstField; k < r.part.firstField+r.part.fields; k++ {
		if v := r.cur[k]; v == s[k] {
			if v != 0 {
				score += 4
			} else {
				score++
			}
		}
	}
	return score
}

// nearby is the number of half octaves of the distance from which on nearness is 0: a distance of
// 2^(20/2) = 1024 units of the field.
const nearby = 20

// nearness scores how close the row with fields s is to the new row: for each coordinate of the part's first
// group, half the number of half octaves (factors of the square root of 2) by which the distance is below the
// constant nearby.
func (r *row) nearness(s []int32) int {
	n := 0
	for _, g := range r.part.groups {
		for _, k := range r.groups[g].position {
			if k >= 0 && r.groups[g].indexInPart == 0 {
				d := uint64(abs(r.toFixed(k, r.cur[k])-r.toFixed(k, s[k]))) >> uint(max(r.fixedUnit(&r.columns[k]), 0))
				n += max(nearby-halfOctaves(d+1), 0) / 2
			}
		}
	}
	return n
}

// codeOldField codes a field of a row that was not empty in base: whether it changed, and its new
// value if so.
func (r *row) codeOldField(k int, c *fieldPlan) error {
	mixer, history, old := &r.mixer, &r.cells[k-r.part.firstField], r.base[k]
	// Bit i of changes: the field changed when the row changed i+1 changes ago.
	changes, id := uint32(history.changes), uint32(k)<<8|decisionChanged
	mixer.Begin()
	mixer.AddContext(id, r.typeContext, changes&7, 0)
	mixer.AddContext(id, r.typeContext, r.changedFields&15, 0)
	mixer.AddContext(id, r.motionContext(k, c), r.typeContext, changes&1)
	mixer.AddContext(id, uint32(old), r.typeContext, 0)
	b := mixer.CodeBit(rangecoder.Flag(r.cur[k] != old), 0, id, 4) // node 0, four contexts
	r.changedFields = r.changedFields<<1 | uint32(b)
	history.changes = history.changes<<1 | uint8(b)
	if b == 0 { // unchanged
		r.cur[k] = old
		return nil
	}
	err := r.codeValue(k, c, old, true) // known to differ from old
	history.old = old
	return err
}

// codeNewField codes a field of a new row. Up to four guesses are tried in turn, each with one
// flag: the source row's value, 0, the row's own value when it vanished, and the source row's value
// in base. If none is right, the value follows, relative to the source's.
func (r *row) codeNewField(k int, c *fieldPlan) error {
	mixer, history := &r.mixer, &r.cells[k-r.part.firstField]
	sourceValue, last := r.source[k], history.old
	// Which guesses coincide is a context, because repeated guesses are skipped.
	equalGuesses := flag(sourceValue == 0) | flag(last == 0)<<1 | flag(sourceValue == last)<<2
	id := uint32(k)<<8 | decisionGuess
	guesses := [4]int32{sourceValue, 0, last, r.sourceBase[k]}
	for n, g := range guesses {
		if n > 0 && slices.Contains(guesses[:n], g) { // already coded as wrong
			continue
		}
		mixer.Begin()
		mixer.AddContext(id, r.typeContext, equalGuesses, uint32(n))
		mixer.AddContext(id, r.typeContext, r.sourceMisses&7, equalGuesses<<2|uint32(n))
		mixer.AddContext(id, r.typeContext, uint32(g), uint32(n))
		mixer.AddContext(id, r.symbolHash, equalGuesses, uint32(n))
		right := mixer.CodeFlag(r.cur[k] == g, 0, id<<2|uint32(n), 4) // node 0, four contexts
		if n == 0 {
			r.sourceMisses = r.sourceMisses<<1 | flag(!right)
		}
		if right {
			if !c.Admits(g) {
				return column.RangeError(r.schema, k, int64(g))
			}
			r.cur[k] = g
			if c.coding != codingNumber {
				r.symbolHash = rangecoder.Hash(r.symbolHash, uint32(k), uint32(g), 0)
			}
			*history = cellHistory{old: g}
			return nil
		}
	}
	err := r.codeValue(k, c, sourceValue, false) // false: only fields of old rows use that the value differs
	*history = cellHistory{old: r.cur[k]}
	return err
}

// codeValue codes the value of field k, whose plan is c, relative to old: the field's value in the baseline,
// or for a new row that of the source row. differs means that the value is known to differ from old.
func (r *row) codeValue(k int, c *fieldPlan, old int32, differs bool) error {
	if err := r.Err(); err != nil {
		return err
	}
	switch c.coding {
	case codingSymbol:
		r.codeSymbol(k, c, old)
	case codingBits:
		r.codeBits(k, old)
	default:
		if err := r.codeNumber(k, c, old, differs); err != nil {
			return err
		}
	}
	if !c.Admits(r.cur[k]) {
		return column.RangeError(r.schema, k, int64(r.cur[k]))
	}
	return nil
}

const symbolBits = 12 // upper bits of a symbol that have counters; the lower bits are coded directly

// codeSymbol codes an enum or a flag as a binary tree, highest bit first. A flag that changed needs
// no bit.
func (r *row) codeSymbol(k int, c *fieldPlan, old int32) {
	mixer := &r.mixer
	id := uint32(k)<<8 | decisionSymbol | flag(r.isNew)<<31
	oldRaw, raw := c.Raw(old), c.Raw(r.cur[k])
	if c.Width == 1 && !r.isNew {
		raw = 1 - oldRaw
	} else {
		mixer.Begin()
		mixer.AddContext(id, 0, 0, 0) // the field alone; below, zeros are values that a context does not need
		mixer.AddContext(id, r.typeContext, oldRaw, 0)
		mixer.AddContext(id, r.typeContext, r.lastSymbol, 0)
		mixer.AddContext(id, r.symbolHash, 0, 0)
		modelled := min(c.Width, symbolBits)
		bitsLeft, node := c.Width, uint32(1)
		for range modelled {
			bitsLeft--
			node = node<<1 | uint32(mixer.CodeBit(int(raw>>bitsLeft&1), node, id<<4|uint32(bitsLeft&15), 4))
		}
		// Without the leading 1 of node, followed by the lower bits.
		raw = (node-1<<modelled)<<bitsLeft | uint32(r.Direct(uint64(raw&(1<<bitsLeft-1)), bitsLeft))
	}
	r.cur[k] = c.FromRaw(raw)
	r.symbolHash = rangecoder.Hash(r.symbolHash, uint32(k), raw, 0)
	r.lastSymbol = rangecoder.Hash(uint32(k), raw, 1, 0)
}

// codeBits codes the changed bits of a field of kind Bits: for each of 32 bits, lowest first,
// whether it differs from the bit of old.
func (r *row) codeBits(k int, old int32) {
	mixer := &r.mixer
	id := uint32(k)<<8 | decisionBits | flag(r.isNew)<<31
	changed := uint32(r.cur[k]) ^ uint32(old) // unused by the decoder
	var out, n uint32                         // the changes coded so far, and their number up to 3
	for i := range uint32(32) {
		oldBit := uint32(old) >> i & 1
		mixer.Begin()
		mixer.AddContext(id, i, oldBit, r.typeContext)
		mixer.AddContext(id, i, uint32(old), 0)
		mixer.AddContext(id, i, n<<1|oldBit, r.typeContext)
		mixer.AddContext(id, i, r.symbolHash, oldBit)
		b := uint32(mixer.CodeBit(int(changed>>i&1), 0, id<<5|i, 4)) // no tree of decisions: node 0; weights by field and bit
		out |= b << i
		n = min(n+b, 3)
	}
	r.cur[k] = int32(out ^ uint32(old))
	r.symbolHash = rangecoder.Hash(r.symbolHash, uint32(k), out, 0)
	r.lastSymbol = rangecoder.Hash(uint32(k), uint32(r.cur[k]), 1, 0)
}

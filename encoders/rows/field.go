package rows

import (
	"math/bits"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
	"wirelab/encoders/rangecoder"
)

// codeField codes field k of the row and reports whether it changed. implied means that it must have.
func (r *rowState) codeField(k int, implied bool) (changed bool, err error) {
	c := &r.columns[k]
	h := &r.cells[k-r.part.firstField]
	if r.isNew {
		changed = true
		err = r.codeNewField(k, c, h)
	} else {
		changed, err = r.codeOldField(k, c, h, implied)
		if changed && k == r.rotation.enumField {
			r.convertComponents(r.cur[k])
		}
	}
	if err != nil {
		return changed, err
	}
	if k == r.part.kind {
		r.typeContext = uint32(r.partOf[r.index])<<24 + uint32(r.cur[k]) + 1
	}
	return changed, r.checkValue(k, r.cur[k])
}

// codeOldField codes a field of a row that existed: a flag whether it is unchanged, and its new value if not.
func (r *rowState) codeOldField(k int, c *fieldPlan, h *cell, implied bool) (changed bool, err error) {
	old := r.base[k]
	motion := uint32(0)
	x := &r.mixer
	r.expected = 0
	if c.coding == codingNumber {
		motion = r.prepareNumber(k, c, h)
	}
	changed = true
	if !implied {
		id := uint32(k)<<8 | decisionUnchanged
		expected := uint32(r.expected)
		changes := uint32(h.changes)
		value := uint32(old)
		if c.coding == codingNumber {
			value = flag(old == 0) | flag(old == h.old)<<1
		}
		x.Begin(k)
		x.AddContext(id, r.typeContext, r.unchanged&15, min(expected, 3))
		x.AddContext(id, expected, uint32(h.residual)<<1|flag(r.moved), r.idle|motion<<8)
		x.AddContext(id, r.typeContext, changes&7, motion)
		x.AddContext(id, r.typeContext, value, r.unchanged&1)
		x.AddContext(id, r.symbols, changes&1, 0)
		changed = !x.Flag(unchangedNode, r.cur[k] == old)
	}
	r.unchanged = r.unchanged<<1 | flag(!changed)
	h.changes = h.changes<<1 | uint8(flag(changed))
	if !changed {
		r.cur[k] = old
		if c.coding == codingNumber {
			r.recordResidual(h, r.expected)
		}
		return false, nil
	}
	r.codeValue(k, c, h, old)
	h.old = old
	if r.cur[k] == old {
		return true, errUnchanged
	}
	return true, r.Err()
}

// codeNewField codes a field of a new row. Up to three guesses are tried in turn, each with a flag; without
// a correct one the value follows.
func (r *rowState) codeNewField(k int, c *fieldPlan, h *cell) error {
	x := &r.mixer
	source := r.source[k]
	equal := flag(source == 0) | flag(h.old == 0)<<1 | flag(source == h.old)<<2
	id := uint32(k)<<8 | decisionGuess
	guesses := [3]int32{source, 0, h.old}
	for i, guess := range guesses {
		if slices.Contains(guesses[:i], guess) {
			continue
		}
		n := uint32(i)
		x.Begin(r.weightSet(k))
		x.AddContext(id, r.typeContext, equal, n)
		x.AddContext(id, r.typeContext, uint32(guess), n)
		x.AddContext(id, r.lastSymbol, equal, n)
		if x.Flag(guessNode+i, r.cur[k] == guess) {
			r.cur[k] = guess
			if c.coding != codingNumber {
				r.addSymbol(k, uint32(guess))
			}
			*h = cell{old: guess}
			return nil
		}
	}
	r.expected = 0
	r.lastDelta[k] = 0
	r.moves = moves{}
	r.codeValue(k, c, h, source)
	*h = cell{old: r.cur[k], residual: h.residual}
	return r.Err()
}

// weightSet returns the weight set of field k: new rows have their own.
func (r *rowState) weightSet(k int) int {
	if r.isNew {
		return r.fields + 1 + k
	}
	return k
}

// fieldID returns the first value of the contexts of a decision of field k.
func (r *rowState) fieldID(k int, decision uint32) uint32 {
	return uint32(k)<<8 | decision | flag(r.isNew)*newRowDecision
}

// codeValue codes the value of field k relative to old: its value in base, or of a new row that of the
// source.
func (r *rowState) codeValue(k int, c *fieldPlan, h *cell, old int32) {
	switch c.coding {
	case codingSymbol:
		r.codeSymbol(k, c, old)
	case codingBits:
		r.codeBits(k, old)
	default:
		r.codeNumber(k, c, h, old)
	}
}

// addSymbol adds the value of a symbol to the contexts of the fields that follow.
func (r *rowState) addSymbol(k int, v uint32) {
	r.symbols = rangecoder.Hash(r.symbols, uint32(k), v, 0)
	r.lastSymbol = rangecoder.Hash(uint32(k), v, 1, 0)
}

const symbolBits = 12 // upper bits of a symbol that have counters; the lower bits are coded directly

// codeSymbol codes an enum or a flag as a binary tree. A flag that changed needs no bit.
func (r *rowState) codeSymbol(k int, c *fieldPlan, old int32) {
	x := &r.mixer
	raw := c.Raw(r.cur[k])
	oldRaw := c.Raw(old)
	if c.Span == 1 && !r.isNew {
		raw = 1 - oldRaw
	} else {
		id := r.fieldID(k, decisionSymbol)
		coded := min(c.Width, symbolBits)
		direct := c.Width - coded
		node := uint32(1)
		for b := int(c.Width) - 1; b >= int(direct); b-- {
			x.Begin(r.weightSet(k))
			x.AddContext(id, node, oldRaw, r.typeContext)
			x.AddContext(id, node, r.typeContext, r.lastSymbol)
			x.AddContext(id, node, 0, 0)
			node = node<<1 | uint32(x.Bit(symbolNode+int(min(node, 15)), int(raw>>b&1)))
		}
		low := uint32(r.Direct(uint64(raw&(1<<direct-1)), direct))
		raw = (node-1<<coded)<<direct | low
	}
	r.cur[k] = c.FromRaw(raw)
	r.addSymbol(k, raw)
}

// codeBits codes for each of 32 bits, the lowest first, whether it differs from that of old.
func (r *rowState) codeBits(k int, old int32) {
	x := &r.mixer
	id := r.fieldID(k, decisionBits)
	changed := uint32(r.cur[k]) ^ uint32(old)
	var coded uint32
	for i := range uint32(32) {
		oldBit := uint32(old) >> i & 1
		number := uint32(min(bits.OnesCount32(coded), 3)) // of bits that differ so far
		x.Begin(k)
		x.AddContext(id, i, oldBit, r.typeContext)
		x.AddContext(id, i, number<<1|oldBit, r.typeContext)
		coded |= uint32(x.Bit(bitNode, int(changed>>i&1))) << i
	}
	r.cur[k] = int32(coded ^ uint32(old))
	r.addSymbol(k, coded)
}

// rangePart returns in which sixteenth of the range a quantity lies; 0 for other kinds.
func (c *fieldPlan) rangePart(v int32) uint32 {
	if c.kind != frame.Quantity {
		return 0
	}
	return uint32(uint64(c.Raw(v)) << 4 / (uint64(c.Span) + 1))
}

// difference returns the residual of v from guess, modulo 2^32; of angles the shorter way round.
func (c *fieldPlan) difference(v, guess int64) int32 {
	return int32(column.Wrap(v-guess, c.period))
}

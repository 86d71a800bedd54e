package delta

import (
	"encoding/binary"

	"wirelab/encoders/rangecoder"
)

// pointers is the pointer model. When code or data moves, all addresses that point at it change by the same
// amount. The model classifies a word of the old file (the displacement of an x86 call or jump, an ARM64
// branch or page address, a pointer, an offset), computes its target, and predicts the new word from the
// movement of that target, or of targets nearby, by earlier words. The prediction is only a context, so a
// word that is no pointer costs a few bits but is coded correctly.
type pointers struct {
	table []targetMove // addressed by the upper bits of a hash

	// Of the current word, in bytes: not coded yet (0 if there is no word), total, and coded.
	remaining, size, wordPos int
	kind                     int       // kind of the current word, such as kindRelative
	level                    int       // index into nearness of the prediction's entry, or noPrediction
	confidence               int       // confidence of the prediction, 0 to 3
	wrong                    bool      // a byte of the word differs from the prediction, or there is no prediction
	refuted                  bool      // codeWholeWord coded that the prediction is wrong
	predictedDelta           int32     // predicted movement of the target
	wordHistory              [8]uint32 // by kind: which predictions were right, the last in the lowest bit
	predicted                [8]byte   // the predicted word
	target                   int64     // the target of the old word, as an address or a number of pages
	base                     int64     // what is added to the new word's value to get its target
	hits                     [8]int    // by kind: recent correct predictions, 0 to 3
}

// targetMove is a table entry: the movement of a target.
type targetMove struct {
	delta      int32
	tag        uint16 // part of the target's hash, not 0
	confidence uint8  // 0 to 3
}

// The kinds of words.
const (
	kindRelative = 1 // 32 bits, relative to the end of the word: x86
	kindPointer  = 2 // 64 bits, absolute
	kindOffset   = 3 // 32 bits, absolute
	kindBranch   = 4 // 26 bits in units of 4 bytes: ARM64 B and BL
	kindPage     = 5 // 21 bits in units of pages of 4 KB: ARM64 ADRP
)

const (
	moveBits     = 15      // logarithm of the size of pointers.table
	noPrediction = 2       // the level without a prediction; also the number of levels
	maxMove      = 1 << 30 // larger movements are not recorded
)

// nearness holds for each level how many low bits of targets are ignored: targets that differ only in these
// share an entry.
var nearness = [noPrediction]uint{0, 12}

// newPointers returns an untrained model.
func newPointers() *pointers { return &pointers{table: make([]targetMove, 1<<moveBits)} }

// copyFrom makes m a copy of o. It copies into the existing table of m.
func (m *pointers) copyFrom(o *pointers) {
	moves := m.table
	copy(moves, o.table)
	*m = *o
	m.table = moves
}

// reset ends the current word early.
func (m *pointers) reset() { m.remaining = 0 }

// entry returns the table entry of a target, and the tag that the entry has if it is the target's. near is
// an element of nearness.
func (m *pointers) entry(kind int, near uint, target int64) (*targetMove, uint16) {
	const a, b = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93 // odd numbers with random bits, for a multiplicative hash
	h := uint64(target>>near)*a + uint64(kind*32+int(near))*b
	h = (h ^ h>>31) * b
	return &m.table[h>>(64-moveBits)], uint16(h>>16) | 1
}

// update records that the target with the given tag moved by delta. An entry of another target is replaced. A
// different movement first lowers the confidence; only at low confidence it replaces the entry's movement.
func (e *targetMove) update(tag uint16, delta int32) {
	switch {
	case e.tag != tag:
		*e = targetMove{delta: delta, tag: tag}
	case e.delta == delta:
		e.confidence = min(e.confidence+1, 3)
	case e.confidence > 1:
		e.confidence = 1
	default:
		e.delta, e.confidence = delta, 0
	}
}

// beginWord begins a word at old[k:] if it looks like a pointer; otherwise m.remaining is 0. oldOffset is its
// offset in the old file, newOffset that in the new file, copyLeft the number of bytes left of the copy.
// The tests are heuristics: values that are too small or too large for addresses are excluded.
func (m *pointers) beginWord(old []byte, k int, oldOffset, newOffset int64, copyLeft int) {
	m.remaining = 0
	if copyLeft < 4 || k+8 > len(old) || k < 2 { // the tests below look at two bytes before and up to eight from k on
		return
	}
	word := binary.LittleEndian.Uint32(old[k:])
	if endsOpcode(old[k-2], old[k-1]) {
		if displacement := int64(int32(word)); displacement > -1<<27 && displacement < 1<<27 && (displacement > 128 || displacement < -128) {
			m.startWord(kindRelative, 4, word, oldOffset+4+displacement, newOffset+4)
			return
		}
	}
	if oldOffset&3 != 0 || newOffset&3 != 0 {
		return
	}
	if word>>26 == 0x25 || word>>26 == 0x05 { // the AArch64 instructions BL and B
		m.startWord(kindBranch, 4, word, oldOffset+branchDisplacement(word), newOffset)
		return
	}
	if word&0x9f000000 == 0x90000000 { // the AArch64 instruction ADRP
		m.startWord(kindPage, 4, word, oldOffset>>12+pageDisplacement(word), newOffset>>12)
		return
	}
	if oldOffset&7 == 0 && copyLeft >= 8 {
		if v := binary.LittleEndian.Uint64(old[k:]); v >= 0x1000 && v < 1<<40 {
			m.startWord(kindPointer, 8, word, int64(v), 0)
			return
		}
	}
	if word >= 0x100 && word < 1<<30 {
		m.startWord(kindOffset, 4, word, int64(word), 0)
	}
}

// endsOpcode reports whether an x86 instruction that ends with these two bytes has a 32-bit displacement
// after them: calls (E8), jumps (E9, 0F 8x), and operands relative to the instruction pointer (a ModR/M byte
// of 00xxx101 after a common opcode).
func endsOpcode(beforeLast, last byte) bool {
	if last == 0xE8 || last == 0xE9 || beforeLast == 0x0F && last&0xF0 == 0x80 {
		return true
	}
	if last&0xC7 != 0x05 {
		return false
	}
	switch beforeLast {
	case 0x8B, 0x8D, 0x89, 0x3B, 0x39, 0x83, 0x80, 0xC7, 0xFF, 0x10, 0x11, 0x6F, 0x28, 0x29, 0x7F, 0x3D, 0x63, 0xB6:
		return true
	}
	return false
}

// branchDisplacement returns the displacement in bytes of an ARM64 branch.
func branchDisplacement(w uint32) int64 { return int64(int32(w<<6)>>6) * 4 }

// pageDisplacement returns the displacement in pages of an ARM64 ADRP.
func pageDisplacement(w uint32) int64 { return int64(w>>29&3) | int64(int32(w<<8)>>13)<<2 }

// startWord begins a word of size bytes, whose first four in the old file are oldWord, and predicts the new
// word. target is the address or the page to which the old word points; base is what is added to the value of the
// new word to get its target. If the target, or one near it, moved before, the new word is predicted to point to
// the target plus this movement; otherwise it has no prediction.
func (m *pointers) startWord(kind, size int, oldWord uint32, target, base int64) {
	m.remaining, m.size, m.wordPos = size, size, 0
	m.kind, m.target, m.base = kind, target, base
	m.level, m.confidence, m.wrong, m.refuted = noPrediction, 0, true, false
	for level := range noPrediction {
		if e, tag := m.entry(kind, nearness[level], target); e.tag == tag {
			m.level, m.confidence, m.wrong, m.predictedDelta = level, int(e.confidence), false, e.delta
			m.setPrediction(oldWord, target+int64(e.delta)-base)
			return
		}
	}
}

// setPrediction sets the prediction to the old word with newValue in place of its value; the opcode and the
// register of an ARM64 instruction stay.
func (m *pointers) setPrediction(oldWord uint32, newValue int64) {
	switch m.kind {
	case kindBranch: // the lowest 26 bits are the displacement in instructions of 4 bytes
		binary.LittleEndian.PutUint32(m.predicted[:], oldWord&0xfc000000|uint32(newValue>>2)&0x03ffffff)
	case kindPage: // bits 29 and 30 are the lowest bits of the displacement in pages, bits 5 to 23 the others
		binary.LittleEndian.PutUint32(m.predicted[:], oldWord&0x9f00001f|uint32(newValue&3)<<29|uint32(newValue>>2)&0x7ffff<<5)
	default:
		binary.LittleEndian.PutUint64(m.predicted[:], uint64(newValue))
	}
}

// advance moves to the next byte of the current word, after a byte of it was coded, and finishes the word after the
// last one. It does nothing outside of words. done holds the bytes of the new file so far; its last byte belongs to
// the word.
func (m *pointers) advance(done []byte) {
	if m.remaining == 0 {
		return
	}
	if m.level < noPrediction && done[len(done)-1] != m.predicted[m.wordPos] {
		m.wrong = true
	}
	m.wordPos++
	m.remaining--
	if m.remaining > 0 {
		return
	}
	m.finishWord(done[len(done)-m.size:])
}

// finishWord updates the model at the end of a word: the target of newWord shows by how much the target of the old
// word has moved.
func (m *pointers) finishWord(newWord []byte) {
	w := binary.LittleEndian.Uint32(newWord)
	var v int64
	switch m.kind {
	case kindRelative:
		v = int64(int32(w))
	case kindPointer:
		v = int64(binary.LittleEndian.Uint64(newWord))
	case kindOffset:
		v = int64(w)
	case kindBranch:
		v = branchDisplacement(w)
	case kindPage:
		v = pageDisplacement(w)
	}
	m.recordMove(v + m.base - m.target)
}

// recordMove records that the word's target moved by delta, in the table entries of the target and of the ranges
// around it, and counts in m.hits whether the prediction was right.
func (m *pointers) recordMove(delta int64) {
	if delta <= -maxMove || delta >= maxMove { // probably no pointer
		return
	}
	h := &m.hits[m.kind]
	if m.wrong {
		*h = max(*h-1, 0)
	} else {
		*h = min(*h+1, 3)
	}
	for level := range noPrediction {
		e, tag := m.entry(m.kind, nearness[level], m.target)
		e.update(tag, int32(delta))
	}
}

// contexts returns contexts of the next byte for codeDiffers and for codeDifference; old is the old byte. Both
// are 0 outside of words. In the first, bit 0 is set in a word without a prediction and bit 1 in a word with
// one. In the second, bit 31 is set if there is a prediction, and the lowest byte is the predicted difference.
func (m *pointers) contexts(old byte) (forFlag, forDifference uint32) {
	if m.remaining == 0 {
		return 0, 0
	}
	kind := uint32(m.kind)
	if m.level == noPrediction {
		return kind<<8 | uint32(m.wordPos)<<4 | 1, kind<<8 | 1
	}
	predictedByte := m.predicted[m.wordPos]
	bit := func(v bool) uint32 { return uint32(rangecoder.Flag(v)) }
	flagContext := kind<<12 | bit(m.refuted)<<11 | uint32(m.level)<<8 | uint32(m.confidence)<<6 | bit(m.wrong)<<5 | 2
	return flagContext | bit(predictedByte == old)<<4 | uint32(min(m.wordPos, 3))<<16 | uint32(m.hits[m.kind])<<20, flagContext<<8 | uint32(predictedByte-old) | 1<<31
}

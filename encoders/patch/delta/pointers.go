package delta

import (
	"encoding/binary"

	"wirelab/encoders/rangecoder"
)

// When code or data moves, the addresses that point at it change by the same
// amount. The pointer model classifies a word of the old file (the displacement of
// an x86 call or jump, an ARM64 branch or page address, a pointer, an offset),
// computes where it points, and predicts the new word from the changes of earlier
// words that pointed there or near there. The prediction is only a context: a word
// that is no pointer costs a little, not correctness.
type pointers struct {
	moves       []move // addressed by the upper bits of a hash
	skipCertain bool   // moves do not learn from certain predictions

	left, size, at int       // bytes of the present word: to come, in all, done
	kind           int       // of the present word
	level          int       // nearness of the target that the prediction rests on, or noPrediction
	confidence     int       // of the prediction, 0..3
	wrong          bool      // the prediction is wrong so far
	refuted        bool      // wholeWord coded that the prediction is wrong
	by             int32     // predicted movement of the target
	wordHistory    [8]uint32 // by kind: which predictions were right, the last in the lowest bit
	predict        [8]byte   // the predicted word
	target, base   int64     // where the old word points; what to add to the new word to get the same
	hits           [8]int    // by kind: recent right predictions, 0..3
}

// move is the movement of a target.
type move struct {
	by   int32
	tag  uint16
	sure uint8
}

// Kinds of words.
const (
	relative = 1 // 32 bits from the end of the word: x86
	pointer  = 2 // 64 bits
	offset   = 3 // 32 bits
	branch   = 4 // 26 bits of words: ARM64 B and BL
	page     = 5 // 21 bits of pages: ARM64 ADRP
)

const (
	moveBits     = 15
	noPrediction = 2
	maxMove      = 1 << 30
)

// nearness holds the number of low bits of targets that share a move, by level.
var nearness = [noPrediction]uint{0, 12}

func newPointers() *pointers { return &pointers{moves: make([]move, 1<<moveBits)} }

func (m *pointers) copyFrom(o *pointers) {
	moves := m.moves
	copy(moves, o.moves)
	*m = *o
	m.moves = moves
}

// reset ends the present word early.
func (m *pointers) reset() { m.left = 0 }

// slot returns the entry of a target, and the tag it should have.
func (m *pointers) slot(kind int, near uint, target int64) (*move, uint16) {
	const a, b = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
	h := uint64(target>>near)*a + uint64(kind*32+int(near))*b
	h = (h ^ h>>31) * b
	return &m.moves[h>>(64-moveBits)], uint16(h>>16) | 1
}

// add records the movement of a target.
func (e *move) add(tag uint16, by int32) {
	switch {
	case e.tag != tag:
		*e = move{by: by, tag: tag}
	case e.by == by:
		e.sure = min(e.sure+1, 3)
	case e.sure > 1:
		e.sure = 1
	default:
		e.by, e.sure = by, 0
	}
}

// begin looks for a word at old[k:], which is byte q of its file and becomes byte p of the
// new one. room is the number of bytes of the copy that are left.
func (m *pointers) begin(old []byte, k int, q, p int64, room int) {
	m.left = 0
	if room < 4 || k+8 > len(old) || k < 2 {
		return
	}
	w := binary.LittleEndian.Uint32(old[k:])
	if displacement(old[k-2], old[k-1]) {
		if d := int64(int32(w)); d > -1<<27 && d < 1<<27 && (d > 128 || d < -128) {
			m.word(relative, 4, w, q+4+d, p+4)
			return
		}
	}
	if q&3 != 0 || p&3 != 0 {
		return
	}
	if w>>26 == 0x25 || w>>26 == 0x05 {
		m.word(branch, 4, w, q+branchOf(w), p)
		return
	}
	if w&0x9f000000 == 0x90000000 {
		m.word(page, 4, w, q>>12+pageOf(w), p>>12)
		return
	}
	if q&7 == 0 && room >= 8 {
		if v := binary.LittleEndian.Uint64(old[k:]); v >= 0x1000 && v < 1<<40 {
			m.word(pointer, 8, w, int64(v), 0)
			return
		}
	}
	if w >= 0x100 && w < 1<<30 {
		m.word(offset, 4, w, int64(w), 0)
	}
}

// displacement reports whether two bytes are the end of an x86 instruction up to
// its 32-bit displacement: calls, jumps, and operands relative to the instruction.
func displacement(b, a byte) bool {
	if a == 0xE8 || a == 0xE9 || b == 0x0F && a&0xF0 == 0x80 {
		return true
	}
	if a&0xC7 != 0x05 {
		return false
	}
	switch b {
	case 0x8B, 0x8D, 0x89, 0x3B, 0x39, 0x83, 0x80, 0xC7, 0xFF, 0x10, 0x11, 0x6F, 0x28, 0x29, 0x7F, 0x3D, 0x63, 0xB6:
		return true
	}
	return false
}

func branchOf(w uint32) int64 { return int64(int32(w<<6)>>6) * 4 }
func pageOf(w uint32) int64   { return int64(w>>29&3) | int64(int32(w<<8)>>13)<<2 }

// word begins word w of the old file and predicts the new one.
func (m *pointers) word(kind, size int, w uint32, target, base int64) {
	m.left, m.size, m.at = size, size, 0
	m.kind, m.target, m.base = kind, target, base
	m.level, m.confidence, m.wrong, m.refuted = noPrediction, 0, true, false
	for level := range noPrediction {
		if e, tag := m.slot(kind, nearness[level], target); e.tag == tag {
			m.level, m.confidence, m.wrong, m.by = level, int(e.sure), false, e.by
			m.setPrediction(w, target+int64(e.by)-base)
			return
		}
	}
}

// setPrediction predicts old word w with value v.
func (m *pointers) setPrediction(w uint32, v int64) {
	switch m.kind {
	case branch:
		binary.LittleEndian.PutUint32(m.predict[:], w&0xfc000000|uint32(v>>2)&0x03ffffff)
	case page:
		binary.LittleEndian.PutUint32(m.predict[:], w&0x9f00001f|uint32(v&3)<<29|uint32(v>>2)&0x7ffff<<5)
	default:
		binary.LittleEndian.PutUint64(m.predict[:], uint64(v))
	}
}

// step goes on to the next byte of the word. done are the bytes of the new file so far, of
// which the last belongs to the word.
func (m *pointers) step(done []byte) {
	if m.left == 0 {
		return
	}
	if m.level < noPrediction && done[len(done)-1] != m.predict[m.at] {
		m.wrong = true
	}
	m.at++
	m.left--
	if m.left > 0 {
		return
	}
	m.finish(done[len(done)-m.size:])
}

// finish learns from the new word.
func (m *pointers) finish(word []byte) {
	w := binary.LittleEndian.Uint32(word)
	var v int64
	switch m.kind {
	case relative:
		v = int64(int32(w))
	case pointer:
		v = int64(binary.LittleEndian.Uint64(word))
	case offset:
		v = int64(w)
	case branch:
		v = branchOf(w)
	case page:
		v = pageOf(w)
	}
	m.learn(v + m.base - m.target)
}

// learn records the movement of the word's target.
func (m *pointers) learn(by int64) {
	if by <= -maxMove || by >= maxMove {
		return
	}
	h := &m.hits[m.kind]
	if m.wrong {
		*h = max(*h-1, 0)
	} else {
		*h = min(*h+1, 3)
	}
	if m.skipCertain && !m.wrong && m.level == 0 && m.confidence == 3 {
		return // nothing new
	}
	for level := range noPrediction {
		e, tag := m.slot(m.kind, nearness[level], m.target)
		e.add(tag, int32(by))
	}
}

// contexts returns contexts of the next byte, of which old is the old value, for the flag and
// for the difference: 0 outside of words. The lowest bit of the first means that there is a
// word but no prediction, the highest of the second that there is a prediction.
func (m *pointers) contexts(old byte) (forFlag, forDifference uint32) {
	if m.left == 0 {
		return 0, 0
	}
	kind := uint32(m.kind)
	if m.level == noPrediction {
		return kind<<8 | uint32(m.at)<<4 | 1, kind<<8 | 1
	}
	e := m.predict[m.at]
	bit := func(v bool) uint32 { return uint32(rangecoder.Flag(v)) }
	x := kind<<12 | bit(m.refuted)<<11 | uint32(m.level)<<8 | uint32(m.confidence)<<6 | bit(m.wrong)<<5 | 2
	return x | bit(e == old)<<4 | uint32(min(m.at, 3))<<16 | uint32(m.hits[m.kind])<<20, x<<8 | uint32(e-old) | 1<<31
}

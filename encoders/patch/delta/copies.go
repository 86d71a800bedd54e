package delta

import (
	"bytes"
	"math/bits"

	"wirelab/encoders/rangecoder"
)

const (
	flagContexts = 12 // number of contexts of codeDiffers
	diffContexts = 14 // number of contexts of codeDifference
	stretchFrom  = 32 // number of equal bytes after which stretches (long runs of equal bytes) are tried
	levels       = 9  // sizes of stretches: 64 bytes, 256 bytes, up to 4 MB
)

// runHistory is the recent history of differences along copies. A difference is the new byte minus the old
// one, modulo 256.
type runHistory struct {
	unchanged    [levels]rangecoder.Counter // by level: whether a whole stretch is equal
	copyEnd      int64                      // address after the last copy
	history      uint32                     // which of the last bytes differed, the newest in the lowest bit
	sinceDiff    int                        // number of equal bytes since the last difference
	gap1, gap2   int                        // sinceDiff at the last two differences
	last         [4]byte                    // the last differences, zeros included, newest first
	nonzero      [3]byte                    // the last differences that were not zero, newest first
	group        [8]byte                    // the differences of this group: bytes with gaps of at most 3
	groupPos     int                        // number of differences in group, at most 8
	stretchLevel int                        // level of the next stretch: its size is 64<<(2*stretchLevel)
	bytewise     bool                       // bytes are coded one by one, without stretches, until the next difference
}

// newRuns returns an empty history, for the first copy.
func newRuns() (r runHistory) {
	rangecoder.Fill(r.unchanged[:], evenCounter)
	return r
}

// reset clears the history of the last bytes at the end of a copy. The last differences that are not zero,
// and their gaps, stay.
func (r *runHistory) reset() {
	r.history, r.sinceDiff, r.last, r.bytewise = 0, 0, [4]byte{}, false
}

// add records the difference of a byte; 0 means that the byte is unchanged.
func (r *runHistory) add(d byte) {
	if d != 0 {
		r.addDifference(d)
		return
	}
	r.history <<= 1
	r.sinceDiff++
	r.push(0)
	if r.sinceDiff > 3 { // a longer gap ends the group
		r.groupPos = 0
	} else if r.groupPos > 0 && r.groupPos < 8 {
		r.group[r.groupPos] = 0
		r.groupPos++
	}
}

// addDifference records a difference that is not 0.
func (r *runHistory) addDifference(d byte) {
	if r.groupPos < 8 {
		r.group[r.groupPos] = d
		r.groupPos++
	}
	r.history = r.history<<1 | 1
	r.gap2, r.gap1, r.sinceDiff = r.gap1, r.sinceDiff, 0
	r.bytewise, r.stretchLevel = false, 0 // the next run of equal bytes may be a stretch again
	r.push(d)
	r.nonzero = [3]byte{d, r.nonzero[0], r.nonzero[1]}
}

// push adds a difference to the front of r.last.
func (r *runHistory) push(d byte) {
	r.last = [4]byte{d, r.last[0], r.last[1], r.last[2]}
}

// codeDifferences codes the next n bytes of the block, which are a copy of view[k:k+n]; these are at the
// given offset in their file. copyLeft is the number of bytes that are left of the copy, these n included.
// After a run of equal bytes it tries whole stretches. Otherwise it codes pointers as words if they have a
// prediction, and all other bytes one by one.
func (m *Model) codeDifferences(view []byte, k, n, copyLeft int, offset int64) {
	r := &m.run
	for i := 0; i < n; {
		if r.sinceDiff >= stretchFrom && !r.bytewise && n-i >= 64 {
			size := m.codeStretch(view[k+i : k+n])
			if size > 0 {
				i += size
			}
			if size != 0 { // copied, or -1: try a shorter stretch
				continue
			}
		}
		context := contextAt(view, k+i)
		if m.words.remaining == 0 {
			m.words.beginWord(view, k+i, offset+int64(i), m.bufOffset+int64(m.pos), copyLeft-i)
			if w := m.words; w.remaining > 0 && w.level < noPrediction && w.size <= n-i &&
				m.codeWholeWord(&context, view[k+i:]) {
				i += w.size
				continue
			}
		}
		m.codeCopiedByte(&context)
		i++
	}
}

// codeStretch codes whether the next stretch of the copy is equal, and copies it if so. old are the old
// bytes that are left. It returns the size of the stretch, -1 if it is not equal and a shorter one is
// worth a try, or 0 if the bytes that follow are to be coded one by one.
func (m *Model) codeStretch(old []byte) int {
	r := &m.run
	size := min(64<<(2*r.stretchLevel), len(old))
	unchanged := !m.coder.Reading() && bytes.Equal(m.buf[m.pos:m.pos+size], old[:size])
	if codeFlag(&m.coder, &r.unchanged[r.stretchLevel], unchanged) {
		m.words.reset()
		copy(m.buf[m.pos:], old[:size])
		m.pos += size
		r.sinceDiff += size
		r.history, r.last = 0, [4]byte{}
		r.stretchLevel = min(r.stretchLevel+1, levels-1)
		return size
	}
	r.stretchLevel = min(max(r.stretchLevel-1, 0), 3) // the next stretch has at most 4 KB
	// A shorter stretch may be equal. After a stretch of at most 256 bytes, its flag would cost too much.
	if size > 256 {
		return -1
	}
	r.bytewise = true
	return 0
}

// oldContext is a byte of the old file with its neighbours. Bytes outside of the view are 0.
type oldContext struct {
	old, previous     byte   // the byte itself, and the one before it
	backward, forward uint32 // four bytes each; the lowest byte is old, then those before or after it
}

// contextAt returns the context of view[k]: this byte, the byte before it, the four bytes that end with it and the
// four that begin with it. Bytes outside of the view are 0.
func contextAt(view []byte, k int) oldContext {
	byteAt := func(k int) uint32 {
		if k >= 0 && k < len(view) {
			return uint32(view[k])
		}
		return 0
	}
	x := oldContext{old: view[k], previous: byte(byteAt(k - 1))}
	x.backward = byteAt(k) | byteAt(k-1)<<8 | byteAt(k-2)<<16 | byteAt(k-3)<<24
	x.forward = byteAt(k) | byteAt(k+1)<<8 | byteAt(k+2)<<16 | byteAt(k+3)<<24
	return x
}

// codeCopiedByte codes the next byte: whether it differs from x.old, and if so the difference.
func (m *Model) codeCopiedByte(x *oldContext) {
	r := &m.run
	forFlag, forDiff := m.words.contexts(x.old)
	var d byte
	if m.codeDiffers(x, forFlag) {
		d = m.codeDifference(x, forDiff)
	}
	m.buf[m.pos] = x.old + d
	m.pos++
	m.words.advance(m.buf[:m.pos])
	r.add(d)
}

// codeDiffers codes whether the next byte differs from x.old. The contexts combine which of the last bytes
// differed, the distances of the last three differences, the old bytes around this one, and the prediction of a
// pointer. word describes the current pointer word, see pointers.contexts; it is 0 outside of words.
func (m *Model) codeDiffers(x *oldContext, word uint32) bool {
	r, mixer := &m.run, m.flagMixer
	since := uint32(min(r.sinceDiff, 31))
	since8Bits, gap1, gap2 := uint32(min(r.sinceDiff, 255)), uint32(min(r.gap1, 255)), uint32(min(r.gap2, 255))
	old, diffHistory := uint32(x.old), r.history
	// The first argument of hash is the number of the context. The large constants spread values that are
	// added to a hash.
	mixer.Hashes[0] = hash(1, diffHistory&0xffff)
	mixer.Hashes[1] = hash(2, since8Bits|gap1<<8)
	mixer.Hashes[2] = hash(3, x.backward&0xffff|since<<16)
	mixer.Hashes[3] = hash(4, x.backward) + since
	mixer.Hashes[4] = hash(5, x.backward&0xffffff) + diffHistory&15*77
	mixer.Hashes[5] = hash(6, x.forward)
	mixer.Hashes[6] = hash(7, uint32(m.bufOffset+int64(m.pos))&7|diffHistory&255<<8)
	mixer.Hashes[7] = hash(8, since8Bits|gap1<<8|gap2<<16)
	mixer.Hashes[8] = hash(9, old|uint32(r.last[0])<<8|diffHistory&15<<16)
	mixer.Hashes[9] = hash(10, word)
	mixer.Hashes[10] = hash(11, word) + diffHistory&15*0x51ED27 + old*0x3C6EF35F
	mixer.Hashes[11] = hash(12, x.backward&0xffff|x.forward&0xff00<<8) + hash(x.forward>>16, diffHistory&7)
	apm := int(diffHistory & 255) // context of the first APM: 0..255 outside of words, 256..767 in words
	if word != 0 {
		apm = 256 + int(word&0xff|word>>20&3<<8)&511
	}
	differs := !m.coder.Reading() && m.buf[m.pos] != x.old
	return mixer.CodeBit(&m.coder, rangecoder.Flag(differs), 0, rangecoder.Selector{
		SetA: int(since) + 32*int(min(word&3, 1)), SetB: int(diffHistory & 255),
		ContextA: apm, ContextB: int(old) | int(min(since, 3))<<8}) != 0
}

// codeDifference codes the difference of the next byte, which is not 0, in two nibbles. The contexts combine the
// last differences, the position in a group of differences, old and new bytes around this one, and the difference
// that a pointer prediction implies. word describes the current pointer word, see pointers.contexts; it is 0 outside
// of words. Bit 31 is set if the word has a prediction; the lowest byte then is the predicted difference.
func (m *Model) codeDifference(x *oldContext, word uint32) byte {
	r, mixer := &m.run, m.diffMixer
	if r.sinceDiff > 3 {
		r.groupPos = 0
	}
	newBefore := [2]uint32{}
	for i := range newBefore {
		if m.pos > i {
			newBefore[i] = uint32(m.buf[m.pos-1-i])
		}
	}
	old, diffHistory, groupPos := uint32(x.old), r.history, uint32(r.groupPos)
	// The last four differences, and the last three that are not 0.
	d1, d2, d3, d4 := uint32(r.last[0]), uint32(r.last[1]), uint32(r.last[2]), uint32(r.last[3])
	s1, s2, s3 := uint32(r.nonzero[0]), uint32(r.nonzero[1]), uint32(r.nonzero[2])
	mixer.Hashes[0] = hash(1, d1|diffHistory&15<<8)
	mixer.Hashes[1] = hash(2, s1|s2<<8)
	mixer.Hashes[2] = hash(3, d1|d2<<8|d3<<16)
	mixer.Hashes[3] = hash(4, old|d1<<8)
	mixer.Hashes[4] = hash(5, x.backward)
	mixer.Hashes[5] = hash(6, uint32(r.group[r.groupPos&7])|groupPos<<8|d1<<16)
	mixer.Hashes[6] = hash(7, d4|uint32(m.bufOffset+int64(m.pos))&3<<8)
	mixer.Hashes[7] = hash(8, x.forward)
	mixer.Hashes[8] = hash(9, newBefore[0]|old<<8|uint32(x.previous)<<16)
	mixer.Hashes[9] = hash(10, d3|d1<<8)
	mixer.Hashes[10] = hash(11, s1|s2<<8|s3<<16|groupPos<<24)
	mixer.Hashes[11] = hash(12, newBefore[0]|newBefore[1]<<8|old<<16)
	mixer.Hashes[12] = hash(13, word)
	mixer.Hashes[13] = hash(14, x.backward&0xffff|x.forward&0xff00<<8) + d1
	var v uint32
	if !m.coder.Reading() {
		v = uint32(m.buf[m.pos] - x.old)
	}
	set := min(r.groupPos, 7) * 8 // weight sets: by position in the group and bit; words with a prediction have their own
	if word>>31 != 0 {
		set += 64
	}
	node := uint32(1)
	for k := 7; k >= 0; k-- {
		if k&3 == 3 {
			mixer.SelectNibble(node)
		}
		apm := int(node)
		// In a word with a prediction, if the bits so far are those of the predicted difference: its next
		// bit, and kind, level and confidence of the prediction.
		if word>>31 != 0 && (word&255|256)>>(k+1) == node {
			apm = 512 + int(word>>uint(k)&1<<7|word>>20&7<<4|word>>16&3<<2|word>>14&3)
		}
		node = node<<1 | uint32(mixer.CodeNibble(&m.coder, int(v>>uint(k)&1), inNibble(node),
			rangecoder.Selector{SetA: set + 7 - k, SetB: int(node), ContextA: int(node), ContextB: apm}))
	}
	return byte(node)
}

// inNibble returns the bits that a symbol has since its last nibble began, after a leading 1. node has all
// bits of the symbol so far, after a leading 1.
func inNibble(node uint32) uint32 {
	if node >= 16 {
		return node&(1<<(bits.Len32(node)-5)-1) | 1<<(bits.Len32(node)-5)
	}
	return node
}

// wordContexts is the number of contexts of codeWholeWord.
const wordContexts = 10

// codeWholeWord codes whether the word that begins here equals its prediction. If so it copies the
// prediction and returns true. old are the old bytes from here on. The contexts combine confidence and kind
// of the prediction, how the last predictions of this kind turned out, and target and movement.
func (m *Model) codeWholeWord(x *oldContext, old []byte) bool {
	r, w, mixer := &m.run, m.words, m.wordMixer
	predicted := w.predicted[:w.size]
	moved := uint32(rangecoder.Flag(!bytes.Equal(predicted, old[:w.size]))) // the prediction is a change
	kind := uint32(w.kind) | moved<<4
	certainty := uint32(w.confidence) | uint32(w.level)<<2 | kind<<4
	outcomes := w.wordHistory[w.kind]
	sinceClass, gapClass := uint32(min(bitLength(r.sinceDiff), 12)), uint32(min(bitLength(r.gap1), 12))
	mixer.Hashes[0] = hash(1, certainty|outcomes&3<<12)
	mixer.Hashes[1] = hash(2, outcomes&0xff|kind<<8)
	mixer.Hashes[2] = hash(3, uint32(w.predictedDelta)) + kind
	mixer.Hashes[3] = hash(4, uint32(w.target)) + kind
	mixer.Hashes[4] = hash(5, x.backward) + moved
	mixer.Hashes[5] = hash(6, x.backward>>8&0xffff|kind<<16)
	mixer.Hashes[6] = hash(7, sinceClass|gapClass<<4|kind<<8|r.history&15<<13)
	mixer.Hashes[7] = hash(8, uint32(w.target>>8)) + kind
	mixer.Hashes[8] = hash(9, x.forward) + moved
	mixer.Hashes[9] = hash(10, uint32(w.predictedDelta)) + certainty<<8 + outcomes&3
	right := !m.coder.Reading() && bytes.Equal(m.buf[m.pos:m.pos+w.size], predicted)
	if mixer.CodeBit(&m.coder, rangecoder.Flag(right), 0, rangecoder.Selector{
		SetA: int(certainty&15 | moved<<4), SetB: int(outcomes&15) | w.kind<<4,
		ContextA: int(certainty), ContextB: int(outcomes&31)<<5 | int(sinceClass)}) == 0 {
		w.wordHistory[w.kind] = outcomes << 1
		w.refuted = true
		return false
	}
	w.wordHistory[w.kind] = outcomes<<1 | 1
	copy(m.buf[m.pos:], predicted)
	for i, b := range predicted {
		r.add(b - old[i])
	}
	m.pos += w.size
	w.remaining = 0
	w.finishWord(predicted)
	return true
}

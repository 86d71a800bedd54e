package delta

import (
	"bytes"
	"math/bits"

	"wirelab/encoders/rangecoder"
)

const (
	flagContexts = 12
	diffContexts = 14
	stretchFrom  = 32 // bytes without a difference after which stretches are tried
	levels       = 9  // sizes of stretches: 64 bytes, four times that, and so on
)

// runs is the recent history of differences along copies.
type runs struct {
	stretch    [levels]rangecoder.Counter // of "a whole stretch is unchanged"
	from       int64                      // where the last copy ended
	history    uint32                     // which of the last bytes differed, the newest in the lowest bit
	since      int                        // bytes since the last difference
	gap1, gap2 int                        // since at the last two differences
	last       [4]byte                    // the last differences, zeros included, newest first
	nonzero    [3]byte                    // the last differences that were not zero
	field      [8]byte                    // differences of the present group, by place
	at         int                        // place in the group
	level      int                        // of the next stretch
	bytewise   bool                       // no stretch until the next difference
}

func newRuns() (r runs) {
	rangecoder.Fill(r.stretch[:], even)
	return r
}

// reset clears the history at the end of a copy.
func (r *runs) reset() {
	r.history, r.since, r.last, r.bytewise = 0, 0, [4]byte{}, false
}

// add records the difference of a byte; 0 means that the byte is unchanged.
func (r *runs) add(d byte) {
	if d != 0 {
		r.addDifference(d)
		return
	}
	r.history <<= 1
	r.since++
	r.push(0)
	if r.since > 3 {
		r.at = 0
	} else if r.at > 0 && r.at < 8 {
		r.field[r.at] = 0
		r.at++
	}
}

func (r *runs) addDifference(d byte) {
	if r.at < 8 {
		r.field[r.at] = d
		r.at++
	}
	r.history = r.history<<1 | 1
	r.gap2, r.gap1, r.since = r.gap1, r.since, 0
	r.bytewise, r.level = false, 0
	r.push(d)
	r.nonzero = [3]byte{d, r.nonzero[0], r.nonzero[1]}
}

func (r *runs) push(d byte) {
	r.last = [4]byte{d, r.last[0], r.last[1], r.last[2]}
}

// differences codes n bytes of a copy from view[k:], which is place in its file. room is
// the number of bytes of the copy that are left, those included.
func (m *Model) differences(view []byte, k, n, room int, place int64) {
	r := &m.run
	for i := 0; i < n; {
		if r.since >= stretchFrom && !r.bytewise && n-i >= 64 {
			size := m.stretch(view[k+i : k+n])
			if size > 0 {
				i += size
			}
			if size != 0 {
				continue
			}
		}
		at := around(view, k+i)
		if m.words.left == 0 {
			m.words.begin(view, k+i, place+int64(i), m.first+int64(m.p), room-i)
			if w := m.words; w.left > 0 && w.level < noPrediction && w.size <= n-i && m.wholeWord(&at, view[k+i:]) {
				i += w.size
				continue
			}
		}
		m.copiedByte(&at)
		i++
	}
}

// stretch codes whether a stretch of the copy is unchanged, and copies it if so. It returns
// its size, -1 to try a shorter one, or 0 to go on byte by byte.
func (m *Model) stretch(old []byte) int {
	r := &m.run
	size := min(64<<(2*r.level), len(old))
	unchanged := !m.coder.Reading() && bytes.Equal(m.buf[m.p:m.p+size], old[:size])
	if codeFlag(&m.coder, &r.stretch[r.level], unchanged) {
		m.words.reset()
		copy(m.buf[m.p:], old[:size])
		m.p += size
		r.since += size
		r.history, r.last = 0, [4]byte{}
		r.level = min(r.level+1, levels-1)
		return size
	}
	r.level = min(max(r.level-1, 0), 3)
	if size > 256 {
		return -1
	}
	r.bytewise = true
	return 0
}

// context is a byte of the old file and its surroundings.
type context struct {
	old, back1        byte
	backward, forward uint32 // four bytes each, of which the lowest is old
}

func around(view []byte, k int) context {
	at := func(k int) uint32 {
		if k >= 0 && k < len(view) {
			return uint32(view[k])
		}
		return 0
	}
	x := context{old: view[k], back1: byte(at(k - 1))}
	x.backward = at(k) | at(k-1)<<8 | at(k-2)<<16 | at(k-3)<<24
	x.forward = at(k) | at(k+1)<<8 | at(k+2)<<16 | at(k+3)<<24
	return x
}

// copiedByte codes the next byte, a copy of x.old unless it differs.
func (m *Model) copiedByte(x *context) {
	r := &m.run
	forFlag, forDiff := m.words.contexts(x.old)
	var d byte
	if m.differsAt(x, forFlag) {
		d = m.difference(x, forDiff)
	}
	m.buf[m.p] = x.old + d
	m.p++
	m.words.step(m.buf[:m.p])
	r.add(d)
}

// differsAt codes whether the next byte differs. word is the first result of
// pointers.contexts.
func (m *Model) differsAt(x *context, word uint32) bool {
	r, f := &m.run, m.flags
	since := uint32(min(r.since, 31))
	far, gap1, gap2 := uint32(min(r.since, 255)), uint32(min(r.gap1, 255)), uint32(min(r.gap2, 255))
	old, h := uint32(x.old), r.history
	f.Hashes[0] = hash(1, h&0xffff)
	f.Hashes[1] = hash(2, far|gap1<<8)
	f.Hashes[2] = hash(3, x.backward&0xffff|since<<16)
	f.Hashes[3] = hash(4, x.backward) + since
	f.Hashes[4] = hash(5, x.backward&0xffffff) + h&15*77
	f.Hashes[5] = hash(6, x.forward)
	f.Hashes[6] = hash(7, uint32(m.first+int64(m.p))&7|h&255<<8)
	f.Hashes[7] = hash(8, far|gap1<<8|gap2<<16)
	f.Hashes[8] = hash(9, old|uint32(r.last[0])<<8|h&15<<16)
	f.Hashes[9] = hash(10, word)
	f.Hashes[10] = hash(11, word) + h&15*0x51ED27 + old*0x3C6EF35F
	f.Hashes[11] = hash(12, x.backward&0xffff|x.forward&0xff00<<8) + hash(x.forward>>16, h&7)
	apm := int(h & 255)
	if word != 0 {
		apm = 256 + int(word&0xff|word>>20&3<<8)&511
	}
	differs := !m.coder.Reading() && m.buf[m.p] != x.old
	return f.CodeBit(&m.coder, rangecoder.Flag(differs), 0, rangecoder.Selector{
		SetA: int(since) + 32*int(min(word&3, 1)), SetB: int(h & 255),
		ContextA: apm, ContextB: int(old) | int(min(since, 3))<<8}) != 0
}

// difference codes the difference of the next byte, which is not 0. word is the second result
// of pointers.contexts.
func (m *Model) difference(x *context, word uint32) byte {
	r, g := &m.run, m.diffs
	if r.since > 3 {
		r.at = 0
	}
	back := [2]uint32{}
	for i := range back {
		if m.p > i {
			back[i] = uint32(m.buf[m.p-1-i])
		}
	}
	old, h, place := uint32(x.old), r.history, uint32(r.at)
	d1, d2, d3, d4 := uint32(r.last[0]), uint32(r.last[1]), uint32(r.last[2]), uint32(r.last[3])
	s1, s2, s3 := uint32(r.nonzero[0]), uint32(r.nonzero[1]), uint32(r.nonzero[2])
	g.Hashes[0] = hash(1, d1|h&15<<8)
	g.Hashes[1] = hash(2, s1|s2<<8)
	g.Hashes[2] = hash(3, d1|d2<<8|d3<<16)
	g.Hashes[3] = hash(4, old|d1<<8)
	g.Hashes[4] = hash(5, x.backward)
	g.Hashes[5] = hash(6, uint32(r.field[r.at&7])|place<<8|d1<<16)
	g.Hashes[6] = hash(7, d4|uint32(m.first+int64(m.p))&3<<8)
	g.Hashes[7] = hash(8, x.forward)
	g.Hashes[8] = hash(9, back[0]|old<<8|uint32(x.back1)<<16)
	g.Hashes[9] = hash(10, d3|d1<<8)
	g.Hashes[10] = hash(11, s1|s2<<8|s3<<16|place<<24)
	g.Hashes[11] = hash(12, back[0]|back[1]<<8|old<<16)
	g.Hashes[12] = hash(13, word)
	g.Hashes[13] = hash(14, x.backward&0xffff|x.forward&0xff00<<8) + d1
	var v uint32
	if !m.coder.Reading() {
		v = uint32(m.buf[m.p] - x.old)
	}
	set := min(r.at, 7) * 8
	if word>>31 != 0 {
		set += 64
	}
	node := uint32(1)
	for k := 7; k >= 0; k-- {
		if k&3 == 3 {
			g.SelectNibble(node)
		}
		apm := int(node)
		if word>>31 != 0 && (word&255|256)>>(k+1) == node { // the bits so far agree with the prediction
			apm = 512 + int(word>>uint(k)&1<<7|word>>20&7<<4|word>>16&3<<2|word>>14&3)
		}
		node = node<<1 | uint32(g.CodeNibble(&m.coder, int(v>>uint(k)&1), inNibble(node),
			rangecoder.Selector{SetA: set + 7 - k, SetB: int(node), ContextA: int(node), ContextB: apm}))
	}
	return byte(node)
}

// inNibble returns the bits of a symbol since its last nibble began, behind a leading one.
func inNibble(node uint32) uint32 {
	if node >= 16 {
		return node&(1<<(bits.Len32(node)-5)-1) | 1<<(bits.Len32(node)-5)
	}
	return node
}

const wordContexts = 10

// wholeWord codes whether the word that begins is as predicted, and copies it if so.
func (m *Model) wholeWord(x *context, old []byte) bool {
	r, w, f := &m.run, m.words, m.wholes
	predicted := w.predict[:w.size]
	moved := uint32(rangecoder.Flag(!bytes.Equal(predicted, old[:w.size])))
	kind := uint32(w.kind) | moved<<4
	sure := uint32(w.confidence) | uint32(w.level)<<2 | kind<<4
	lately := w.wordHistory[w.kind]
	since, gap1 := uint32(min(class(r.since), 12)), uint32(min(class(r.gap1), 12))
	f.Hashes[0] = hash(1, sure|lately&3<<12)
	f.Hashes[1] = hash(2, lately&0xff|kind<<8)
	f.Hashes[2] = hash(3, uint32(w.by)) + kind
	f.Hashes[3] = hash(4, uint32(w.target)) + kind
	f.Hashes[4] = hash(5, x.backward) + moved
	f.Hashes[5] = hash(6, x.backward>>8&0xffff|kind<<16)
	f.Hashes[6] = hash(7, since|gap1<<4|kind<<8|r.history&15<<13)
	f.Hashes[7] = hash(8, uint32(w.target>>8)) + kind
	f.Hashes[8] = hash(9, x.forward) + moved
	f.Hashes[9] = hash(10, uint32(w.by)) + sure<<8 + lately&3
	right := !m.coder.Reading() && bytes.Equal(m.buf[m.p:m.p+w.size], predicted)
	if f.CodeBit(&m.coder, rangecoder.Flag(right), 0, rangecoder.Selector{
		SetA: int(sure&15 | moved<<4), SetB: int(lately&15) | w.kind<<4,
		ContextA: int(sure), ContextB: int(lately&31)<<5 | int(since)}) == 0 {
		w.wordHistory[w.kind] = lately << 1
		w.refuted = true
		return false
	}
	w.wordHistory[w.kind] = lately<<1 | 1
	copy(m.buf[m.p:], predicted)
	for i, b := range predicted {
		r.add(b - old[i])
	}
	m.p += w.size
	w.left = 0
	w.finish(predicted)
	return true
}

package delta

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"wirelab/encoders/rangecoder"
)

// quick is the state of a fast Model. A copy is coded as runs: the number of bytes that equal the
// expected bytes, then the difference of the next byte, in two contexts. The expected bytes are the
// old bytes, or the prediction of a word as a pointer if such predictions were right before. Nearly
// all the time goes into counting the bytes of runs.
type quick struct {
	gaps   *numbers
	values pair // differences
	texts  pair // literals in blocks that do not store them apart
	apart  stored

	trust [6][noPrediction][4]int8 // in predictions that differ from the old word, by kind, level and confidence; negative: not used

	// The state of the present word:
	predictsChange bool    // the prediction differs from the old word
	usePrediction  bool    // the prediction is expected, not the old word
	unchanged      bool    // the new word equals the old word so far
	old            [8]byte // the old word
}

const (
	quickHistory = 16 // bytes kept before a block
	maxTrust     = 8
	quickFar     = 2048 // length of a run after which pointers are not looked for
	quickLimit   = 60   // limit of the counters
)

// newQuick returns a fast Model; see newModel.
func newQuick(less uint) *Model {
	words, bits := newPointers(), largeBits-less
	words.skipCertain = true
	return &Model{
		less:  less,
		quick: &quick{gaps: newNumbers(), values: newPair(bits), texts: newPair(bits)},
		words: words, jumps: newJumps(), copies: newNumbers(), after: newNumbers(), run: newRuns(),
		buf: make([]byte, quickHistory+MaxBlock), history: quickHistory,
	}
}

func (q *quick) copyFrom(o *quick) {
	gaps, values, texts, apart := q.gaps, q.values, q.texts, q.apart
	*gaps = *o.gaps
	values.copyFrom(&o.values)
	texts.copyFrom(&o.texts)
	*q = *o
	q.gaps, q.values, q.texts, q.apart = gaps, values, texts, apart
}

// quickCopy codes n bytes of a copy from view[k:], which is at offset place of the old file. room is
// the number of bytes left in the copy, including the n bytes.
func (m *Model) quickCopy(view []byte, k, n, room int, place int64) {
	r, q := &m.run, m.quick
	for i := 0; i < n; {
		gap := n - i
		if !m.coder.Reading() {
			gap = m.copyExpected(view, k+i, gap, room-i, place+int64(i))
		}
		ctx := min(class(r.gap1), 7)<<3 | min(class(r.gap2), 7)
		coded := int(min(q.gaps.code(&m.coder, int64(gap), ctx), int64(n-i)))
		if m.coder.Reading() {
			gap = m.copyExpected(view, k+i, coded, room-i, place+int64(i))
		}
		r.gap2, r.gap1 = r.gap1, gap
		i += gap
		if i == n {
			return
		}
		if m.words.left == 0 {
			m.quickWord(view, k+i, place+int64(i), room-i)
		}
		near := uint32(min(gap, 4))
		if m.words.left > 0 {
			near = 5 + uint32(m.words.kind)*4 + uint32(m.words.at&3)
		}
		context := uint32(r.nonzero[0]) | uint32(r.nonzero[1])<<8 | uint32(r.nonzero[2])<<16 | near<<24
		was := q.expectedByte(m.words, view[k+i])
		d := q.values.code(&m.coder, m.buf[m.p]-was, r.nonzero[0], context)
		m.buf[m.p] = was + d
		r.nonzero = [3]byte{d, r.nonzero[0], r.nonzero[1]}
		m.p++
		m.quickStep()
		i++
	}
}

// copyExpected copies at most n bytes, up to the first byte that differs from the expected one, and
// returns their number. A reader copies all n bytes.
func (m *Model) copyExpected(view []byte, k, n, room int, place int64) int {
	q, w, reading := m.quick, m.words, m.coder.Reading()
	for i := 0; i < n; {
		if w.left == 0 {
			if i >= quickFar {
				old := view[k+i : k+n]
				if !reading {
					old = old[:common(m.buf[m.p:m.p+len(old)], old)]
				}
				m.p += copy(m.buf[m.p:], old)
				return i + len(old)
			}
			m.quickWord(view, k+i, place+int64(i), room-i)
			if w.size <= n-i && w.left > 0 && m.quickWhole() {
				i += w.size
				continue
			}
		}
		was := q.expectedByte(w, view[k+i])
		if reading {
			m.buf[m.p] = was
		} else if m.buf[m.p] != was {
			return i
		}
		m.p++
		m.quickStep()
		i++
	}
	return n
}

// quickWhole copies the word at m.p if it equals the expected word, and reports whether it does. A
// reader always copies it.
func (m *Model) quickWhole() bool {
	q, w := m.quick, m.words
	word, want := m.buf[m.p:m.p+w.size], q.old[:w.size]
	if q.usePrediction {
		want = w.predict[:w.size]
	}
	if m.coder.Reading() {
		copy(word, want)
	} else if string(word) != string(want) {
		return false
	}
	m.p += w.size
	w.left = 0
	q.unchanged = !q.usePrediction
	w.wrong = w.level == noPrediction || q.predictsChange && !q.usePrediction
	q.learn(w)
	w.finish(word)
	return true
}

// quickWord looks for a pointer at view[k:] and begins a word if there is one.
func (m *Model) quickWord(view []byte, k int, place int64, room int) {
	p := m.first + int64(m.p)
	if (place|p)&3 != 0 && (k == 0 || opcodeEnds[view[k-1]>>6]>>(view[k-1]&63)&1 == 0) {
		return
	}
	m.words.begin(view, k, place, p, room)
	if m.words.left > 0 {
		m.quick.beginWord(m.words, view[k:])
	}
}

// opcodeEnds is the set of bytes that may end an instruction up to its displacement: 0x05, 0x0D
// and so on up to 0x3D, 0x80 to 0x8F, 0xE8 and 0xE9.
var opcodeEnds = [4]uint64{0x2020202020202020, 0, 0xFFFF, 3 << 40}

// beginWord sets the state of a new word: the prediction is expected if it differs from the old word
// and the trust in such predictions is not negative; otherwise the old word is expected.
func (q *quick) beginWord(w *pointers, old []byte) {
	q.predictsChange = w.level < noPrediction && string(w.predict[:w.size]) != string(old[:w.size])
	q.usePrediction = q.predictsChange && *q.trustOf(w) >= 0
	q.unchanged = true
	copy(q.old[:], old[:w.size])
}

// trustOf returns the entry of trust for the kind, level and confidence of the present word.
func (q *quick) trustOf(w *pointers) *int8 { return &q.trust[w.kind][w.level][w.confidence] }

// expectedByte returns the byte that is expected in the place of old.
func (q *quick) expectedByte(w *pointers, old byte) byte {
	if w.left > 0 && q.usePrediction {
		return w.predict[w.at]
	}
	return old
}

// quickStep updates the state of the present word, if any, with the byte before m.p.
func (m *Model) quickStep() {
	w, q := m.words, m.quick
	if w.left == 0 {
		return
	}
	b := m.buf[m.p-1]
	q.unchanged = q.unchanged && b == q.old[w.at]
	w.wrong = w.wrong || w.level < noPrediction && b != w.predict[w.at]
	if w.left == 1 {
		q.learn(w)
	}
	w.step(m.buf[:m.p])
}

// learn updates the trust at the end of a word: 1 up if the prediction was right, 1 down if it was
// wrong and the word did not change.
func (q *quick) learn(w *pointers) {
	if !q.predictsChange {
		return
	}
	if t := q.trustOf(w); !w.wrong {
		*t = min(*t+1, maxTrust)
	} else if q.unchanged {
		*t = max(*t-1, -maxTrust)
	}
}

// quickLiteral codes the next byte as a literal, in contexts of one and of three earlier bytes.
func (m *Model) quickLiteral() {
	var b1, b2, b3 byte
	if m.p >= 3 {
		b1, b2, b3 = m.buf[m.p-1], m.buf[m.p-2], m.buf[m.p-3]
	}
	context := uint32(b1) | uint32(b2)<<8 | uint32(b3)<<16 | 1<<24
	m.buf[m.p] = m.quick.texts.code(&m.coder, m.buf[m.p], b1, context)
	m.p++
}

// common returns the length of the common prefix of a and b, which have equal lengths.
func common(a, b []byte) int {
	const word = 32
	n := 0
	for n+word <= len(a) && bytes.Equal(a[n:n+word], b[n:n+word]) {
		n += word
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// pair predicts bytes from a small context and a larger one.
type pair struct {
	small, large []rangecoder.Counter
	shift        uint // of a 32-bit hash, to address large
}

const (
	smallBits = 8
	largeBits = 18
)

func newPair(bits uint) pair {
	p := pair{make([]rangecoder.Counter, 1<<(smallBits+8)), make([]rangecoder.Counter, 1<<bits), 32 - bits}
	rangecoder.Fill(p.small, even)
	rangecoder.Fill(p.large, even)
	return p
}

func (p *pair) copyFrom(o *pair) {
	copy(p.small, o.small)
	copy(p.large, o.large)
}

// code codes v, four bits at a time, so that their counters in the large context share a cache line.
// The weight of the large context grows with its number of uses; see average.
func (p *pair) code(c *rangecoder.Coder, v byte, small byte, large uint32) byte {
	a := p.small[int(small)<<8:][:256]
	base := hash(large, 3) * 0x9E3779B1
	node := uint32(1)
	for half := uint(4); ; half = 0 {
		at := (base + node*0x85EBCA6B) * 0xC2B2AE35 >> (p.shift + 4) << 4
		b := p.large[at:][:16]
		near := uint32(1)
		for k := uint(4); k > 0; k-- {
			x, y := &a[node&255], &b[near&15]
			bit := c.Bit(int(v>>(half+k-1)&1), average(*x, *y))
			x.Update(bit, quickLimit)
			y.Update(bit, quickLimit)
			node, near = node<<1|uint32(bit), near<<1|uint32(bit)
		}
		if half == 0 {
			return byte(node)
		}
	}
}

// average returns the weighted mean of the probabilities of the counter x of the small context and
// the counter y of the large one.
func average(x, y rangecoder.Counter) uint32 {
	switch n := y.N(); {
	case n < 2:
		return max(x.P(), 1)
	case n < 8:
		return max((x.P()+y.P())/2, 1)
	}
	return max((x.P()+3*y.P())/4, 1)
}

// manyLiterals is the minimum number of literals for which a block of a fast model stores its
// literals apart, compressed by zstd if that is shorter. Fewer literals are coded in place.
const manyLiterals = 1024

// stored holds the literals of a block that are stored apart.
type stored struct {
	enc   *zstd.Encoder // nil until needed
	dec   *zstd.Decoder // nil until needed
	bytes []byte        // the literals not yet used; nil if the block stores none apart
	buf   []byte
}

// append appends the literals of a block to dst. They follow a number: 0 if they are not stored
// apart, otherwise twice their size in dst, plus 1 if they are compressed.
func (s *stored) append(dst, block []byte, ops []Op) ([]byte, error) {
	s.buf = s.buf[:0]
	at := 0
	for _, op := range ops {
		at += op.Copy
		s.buf = append(s.buf, block[at:at+op.Literal]...)
		at += op.Literal
	}
	s.bytes = nil
	if len(s.buf) < manyLiterals {
		return append(dst, 0), nil
	}
	if s.enc == nil {
		var err error
		if s.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(MaxBlock), zstd.WithEncoderCRC(false)); err != nil {
			return dst, err
		}
	}
	s.bytes = s.buf
	size := len(s.buf)
	s.buf = s.enc.EncodeAll(s.buf, s.buf)
	s.bytes = s.buf[:size]
	if packed := s.buf[size:]; len(packed) < size {
		return append(binary.AppendUvarint(dst, uint64(len(packed))<<1|1), packed...), nil
	}
	return append(binary.AppendUvarint(dst, uint64(size)<<1), s.bytes...), nil
}

// read reads the literals at the front of a packet and returns the rest of it.
func (s *stored) read(packet []byte) (rest []byte, err error) {
	head, n := binary.Uvarint(packet)
	if n <= 0 || head>>1 > uint64(len(packet)-n) {
		return nil, fmt.Errorf("%w: literals of more bytes than there are", ErrCorrupt)
	}
	s.bytes, rest = packet[n:n+int(head>>1)], packet[n+int(head>>1):]
	if head == 0 {
		s.bytes = nil
	}
	if head&1 == 0 {
		return rest, nil
	}
	if s.dec == nil {
		if s.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(MaxBlock), zstd.WithDecoderMaxWindow(MaxBlock), zstd.WithDecodeAllCapLimit(true)); err != nil {
			return nil, err
		}
		s.buf = make([]byte, 0, MaxBlock)
	}
	if s.bytes, err = s.dec.DecodeAll(s.bytes, s.buf[:0]); err != nil {
		return nil, fmt.Errorf("%w: literals: %w", ErrCorrupt, err)
	}
	return rest, nil
}

// errLiterals means that a block uses more or fewer literals than were stored apart.
var errLiterals = fmt.Errorf("%w: literals that are too few, or too many", ErrCorrupt)

// storedLiterals copies the next n stored literals to the block.
func (m *Model) storedLiterals(n int) error {
	s := &m.quick.apart
	if n > len(s.bytes) {
		return errLiterals
	}
	copy(m.buf[m.p:], s.bytes[:n])
	s.bytes = s.bytes[n:]
	m.p += n
	return nil
}

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
// old bytes, or the predicted word of a pointer if such predictions were right before. Nearly all the
// time is spent on counting the bytes of runs.
type quick struct {
	runLengths  *numbers
	diffPair    bytePair // predicts differences
	literalPair bytePair // predicts literals in blocks that do not store them separately
	literals    storedLiterals

	// trust counts how often predictions that differ from the old word were right, minus how often the
	// word was unchanged instead, by kind, level and confidence of the word (see pointers). Predictions
	// with a negative count are not used.
	trust [6][noPrediction][4]int8

	// The state of the current word:
	predictsChange bool    // the prediction differs from the old word
	usePrediction  bool    // the prediction is expected, not the old word
	unchanged      bool    // the new word equals the old word so far
	old            [8]byte // the old word
}

const (
	quickHistory = 16   // bytes of the new file kept before a block
	maxTrust     = 8    // bound of quick.trust
	longRun      = 2048 // length of a run after which pointers are not searched
	quickLimit   = 60   // limit of Counter.Update
)

// newQuick returns a fast Model; see newModel.
func newQuick(shrink uint) *Model {
	words, bits := newPointers(), largeBits-shrink
	words.skipCertain = true
	return &Model{
		shrink: shrink,
		quick:  &quick{runLengths: newNumbers(), diffPair: newBytePair(bits), literalPair: newBytePair(bits)},
		words:  words, addresses: newAddressModel(), copyLengths: newNumbers(), literalLengths: newNumbers(), run: newRuns(),
		buf: make([]byte, quickHistory+MaxBlock), maxHistory: quickHistory,
	}
}

// copyFrom makes q a copy of o. It copies into the existing tables of q. The literals with their zstd coders
// stay those of q, because they are used within one block only.
func (q *quick) copyFrom(o *quick) {
	runLengths, diffPair, literalPair, storedLits := q.runLengths, q.diffPair, q.literalPair, q.literals
	*runLengths = *o.runLengths
	diffPair.copyFrom(&o.diffPair)
	literalPair.copyFrom(&o.literalPair)
	*q = *o
	q.runLengths, q.diffPair, q.literalPair, q.literals = runLengths, diffPair, literalPair, storedLits
}

// quickCopy codes the next n bytes of the block, which are a copy of view[k:k+n]; these are at the given
// offset in their file. copyLeft is the number of bytes that are left of the copy, these n included.
func (m *Model) quickCopy(view []byte, k, n, copyLeft int, offset int64) {
	r, q := &m.run, m.quick
	for i := 0; i < n; {
		// An encoder counts the expected bytes and codes the length of this run. A decoder reads the
		// length and copies as many expected bytes.
		gap := n - i // number of expected bytes up to the next other byte
		if !m.coder.Reading() {
			gap = m.copyExpected(view, k+i, gap, copyLeft-i, offset+int64(i))
		}
		gapContext := min(bitLength(r.gap1), 7)<<3 | min(bitLength(r.gap2), 7)
		// min: a corrupt packet may hold a larger number.
		coded := int(min(q.runLengths.code(&m.coder, int64(gap), gapContext), int64(n-i)))
		if m.coder.Reading() {
			gap = m.copyExpected(view, k+i, coded, copyLeft-i, offset+int64(i))
		}
		r.gap2, r.gap1 = r.gap1, gap
		i += gap
		if i == n {
			return
		}
		if m.words.remaining == 0 {
			m.quickWord(view, k+i, offset+int64(i), copyLeft-i)
		}
		position := uint32(min(gap, 4)) // length of the run, 0 to 4, or from 5 on kind and position of a word
		if m.words.remaining > 0 {
			position = 5 + uint32(m.words.kind)*4 + uint32(m.words.wordPos&3)
		}
		context := uint32(r.nonzero[0]) | uint32(r.nonzero[1])<<8 | uint32(r.nonzero[2])<<16 | position<<24
		expected := q.expectedByte(m.words, view[k+i])
		diff := q.diffPair.code(&m.coder, m.buf[m.pos]-expected, r.nonzero[0], context)
		m.buf[m.pos] = expected + diff
		r.nonzero = [3]byte{diff, r.nonzero[0], r.nonzero[1]}
		m.pos++
		m.quickStep()
		i++
	}
}

// copyExpected copies at most n expected bytes, for view[k:], to the block and returns their number. An
// encoder, whose block is complete already, stops at the first byte that differs from the expected one; a
// decoder copies all n. offset is that of view[k] in its file, copyLeft the number of bytes that are left of the
// copy operation.
func (m *Model) copyExpected(view []byte, k, n, copyLeft int, offset int64) int {
	q, w, reading := m.quick, m.words, m.coder.Reading()
	for i := 0; i < n; {
		if w.remaining == 0 {
			if i >= longRun { // compare all remaining bytes at once
				old := view[k+i : k+n]
				if !reading {
					old = old[:commonPrefix(m.buf[m.pos:m.pos+len(old)], old)]
				}
				m.pos += copy(m.buf[m.pos:], old)
				return i + len(old)
			}
			m.quickWord(view, k+i, offset+int64(i), copyLeft-i)
			if w.size <= n-i && w.remaining > 0 && m.quickWhole() {
				i += w.size
				continue
			}
		}
		expected := q.expectedByte(w, view[k+i])
		if reading {
			m.buf[m.pos] = expected
		} else if m.buf[m.pos] != expected {
			return i
		}
		m.pos++
		m.quickStep()
		i++
	}
	return n
}

// quickWhole reports whether the whole word at m.pos equals the expected word. If so it moves m.pos behind the
// word and updates the pointer model. A decoder copies the expected word and returns true.
func (m *Model) quickWhole() bool {
	q, w := m.quick, m.words
	newWord, expected := m.buf[m.pos:m.pos+w.size], q.old[:w.size]
	if q.usePrediction {
		expected = w.predicted[:w.size]
	}
	if m.coder.Reading() {
		copy(newWord, expected)
	} else if string(newWord) != string(expected) {
		return false
	}
	m.pos += w.size
	w.remaining = 0
	q.unchanged = !q.usePrediction
	w.wrong = w.level == noPrediction || q.predictsChange && !q.usePrediction
	q.updateTrust(w)
	w.finishWord(newWord)
	return true
}

// quickWord begins a word at view[k:] if it looks like a pointer. offset is that of view[k] in its file, copyLeft the
// number of bytes that the copy operation has still to copy.
func (m *Model) quickWord(view []byte, k int, offset int64, copyLeft int) {
	p := m.bufOffset + int64(m.pos)
	// Only words that are aligned in both files or follow an opcode are tried as pointers: most pointers are.
	// This test is faster than beginWord. Its second part looks up the byte before the word in opcodeEnds.
	if (offset|p)&3 != 0 && (k == 0 || opcodeEnds[view[k-1]>>6]>>(view[k-1]&63)&1 == 0) {
		return
	}
	m.words.beginWord(view, k, offset, p, copyLeft)
	if m.words.remaining > 0 {
		m.quick.beginWord(m.words, view[k:])
	}
}

// opcodeEnds is the set of bytes that often precede the displacement of an x86 instruction: 0x05, 0x0D
// and so on up to 0x3D, 0x80 to 0x8F, 0xE8 and 0xE9. It has a bit for each byte; see endsOpcode.
var opcodeEnds = [4]uint64{0x2020202020202020, 0, 0xFFFF, 3 << 40}

// beginWord sets the state of the word that w began; old are the old bytes from there on. The prediction is
// expected if it differs from the old word and the trust in such predictions is not negative; otherwise the
// old word is expected.
func (q *quick) beginWord(w *pointers, old []byte) {
	q.predictsChange = w.level < noPrediction && string(w.predicted[:w.size]) != string(old[:w.size])
	q.usePrediction = q.predictsChange && *q.trustEntry(w) >= 0
	q.unchanged = true
	copy(q.old[:], old[:w.size])
}

// trustEntry returns the element of trust for the kind, level and confidence of the current word.
func (q *quick) trustEntry(w *pointers) *int8 { return &q.trust[w.kind][w.level][w.confidence] }

// expectedByte returns the expected byte: that of the prediction in a word whose prediction is used, else
// the old byte.
func (q *quick) expectedByte(w *pointers, old byte) byte {
	if w.remaining > 0 && q.usePrediction {
		return w.predicted[w.wordPos]
	}
	return old
}

// quickStep updates the state of the current word, if any, with the byte before m.pos.
func (m *Model) quickStep() {
	w, q := m.words, m.quick
	if w.remaining == 0 {
		return
	}
	b := m.buf[m.pos-1]
	q.unchanged = q.unchanged && b == q.old[w.wordPos]
	w.wrong = w.wrong || w.level < noPrediction && b != w.predicted[w.wordPos]
	if w.remaining == 1 {
		q.updateTrust(w)
	}
	w.advance(m.buf[:m.pos])
}

// updateTrust updates the trust at the end of a word whose prediction differs from the old word: up by 1 if
// the prediction was right, down by 1 if the word did not change.
func (q *quick) updateTrust(w *pointers) {
	if !q.predictsChange {
		return
	}
	if t := q.trustEntry(w); !w.wrong {
		*t = min(*t+1, maxTrust)
	} else if q.unchanged {
		*t = max(*t-1, -maxTrust)
	}
}

// quickLiteral codes the next byte as a literal, in contexts of one and of three earlier bytes.
func (m *Model) quickLiteral() {
	var b1, b2, b3 byte
	if m.pos >= 3 {
		b1, b2, b3 = m.buf[m.pos-1], m.buf[m.pos-2], m.buf[m.pos-3]
	}
	context := uint32(b1) | uint32(b2)<<8 | uint32(b3)<<16 | 1<<24 // 1<<24 is a constant part of the hashed context
	m.buf[m.pos] = m.quick.literalPair.code(&m.coder, m.buf[m.pos], b1, context)
	m.pos++
}

// commonPrefix returns the length of the common prefix of a and b, which have equal lengths.
func commonPrefix(a, b []byte) int {
	const word = 32 // bytes compared at once, which is faster
	n := 0
	for n+word <= len(a) && bytes.Equal(a[n:n+word], b[n:n+word]) {
		n += word
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// bytePair predicts bytes in a small context, of one byte, and a large one, of up to 32 bits.
type bytePair struct {
	small, large []rangecoder.Counter // small is addressed directly, large by a hash
	shift        uint                 // 32 minus the logarithm of the size of large
}

const (
	smallBits = 8  // bits of the small context
	largeBits = 18 // logarithm of the usual size of bytePair.large
)

// newBytePair returns an untrained pair. It has 256 counters, for the bits of a byte, in each small context, and
// 1<<largeSizeBits counters for all large contexts.
func newBytePair(largeSizeBits uint) bytePair {
	p := bytePair{make([]rangecoder.Counter, 1<<(smallBits+8)), make([]rangecoder.Counter, 1<<largeSizeBits), 32 - largeSizeBits}
	rangecoder.Fill(p.small, evenCounter)
	rangecoder.Fill(p.large, evenCounter)
	return p
}

// copyFrom makes p a copy of o.
func (p *bytePair) copyFrom(o *bytePair) {
	copy(p.small, o.small)
	copy(p.large, o.large)
}

// code encodes v, or decodes and returns it, with the mean of the probabilities in two contexts: small is a
// byte, and large is hashed. It codes two nibbles, because the 16 counters of a nibble in the large context
// are adjacent and share a cache line.
func (p *bytePair) code(c *rangecoder.Coder, v byte, small byte, large uint32) byte {
	smallNodes := p.small[int(small)<<8:][:256]
	base := hash(large, 3) * 0x9E3779B1
	node := uint32(1)
	for lowestBit := uint(4); ; lowestBit = 0 { // the lowest bit of the nibble: first the upper one, then the lower one
		// A multiplicative hash, with constants of MurmurHash3, selects 16 counters for the nibble.
		slot := (base + node*0x85EBCA6B) * 0xC2B2AE35 >> (p.shift + 4) << 4
		largeNodes := p.large[slot:][:16]
		nibbleNode := uint32(1)
		for k := uint(4); k > 0; k-- {
			x, y := &smallNodes[node&255], &largeNodes[nibbleNode&15]
			bit := c.Bit(int(v>>(lowestBit+k-1)&1), average(*x, *y))
			x.Update(bit, quickLimit)
			y.Update(bit, quickLimit)
			node, nibbleNode = node<<1|uint32(bit), nibbleNode<<1|uint32(bit)
		}
		if lowestBit == 0 {
			return byte(node)
		}
	}
}

// average returns the weighted mean of the probabilities of counter x of the small context and counter y
// of the large one. The weight of y grows with the number of its updates.
func average(x, y rangecoder.Counter) uint32 {
	switch n := y.N(); {
	case n < 2:
		return max(x.P(), 1)
	case n < 8:
		return max((x.P()+y.P())/2, 1)
	}
	return max((x.P()+3*y.P())/4, 1)
}

// manyLiterals is the number of literals from which on a block of a fast model stores them separately,
// at the start of the packet, compressed with zstd if that is shorter. Fewer literals are coded in place.
const manyLiterals = 1024

// storedLiterals holds the literals of a block that are stored separately.
type storedLiterals struct {
	enc    *zstd.Encoder // nil until needed
	dec    *zstd.Decoder // nil until needed
	unused []byte        // literals not used yet; nil if the block stores none separately
	buf    []byte        // memory for literals, and for compressed literals after them
}

// append appends to dst the literals of a block, after a number: 0 if they are not stored separately,
// because they are fewer than manyLiterals, otherwise twice their stored size, plus 1 if they are compressed. It
// sets s.unused to the literals, nil if they are not stored.
func (s *storedLiterals) append(dst, block []byte, ops []Op) ([]byte, error) {
	s.buf = s.buf[:0]
	offset := 0
	for _, op := range ops {
		offset += op.Copy
		s.buf = append(s.buf, block[offset:offset+op.Literal]...)
		offset += op.Literal
	}
	s.unused = nil
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
	size := len(s.buf)
	s.buf = s.enc.EncodeAll(s.buf, s.buf) // appends the compressed literals to the literals
	s.unused = s.buf[:size]
	if packed := s.buf[size:]; len(packed) < size {
		return append(binary.AppendUvarint(dst, uint64(len(packed))<<1|1), packed...), nil
	}
	return append(binary.AppendUvarint(dst, uint64(size)<<1), s.unused...), nil
}

// read reads the literals at the start of a packet into s.unused and returns the rest of the packet.
func (s *storedLiterals) read(packet []byte) (rest []byte, err error) {
	number, n := binary.Uvarint(packet) // number is twice the stored size of the literals, plus 1 if they are compressed
	if n <= 0 || number>>1 > uint64(len(packet)-n) {
		return nil, fmt.Errorf("%w: size of the literals is invalid or exceeds the packet", ErrCorrupt)
	}
	s.unused, rest = packet[n:n+int(number>>1)], packet[n+int(number>>1):]
	if number == 0 {
		s.unused = nil
	}
	if number&1 == 0 {
		return rest, nil
	}
	if s.dec == nil {
		if s.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(MaxBlock), zstd.WithDecoderMaxWindow(MaxBlock), zstd.WithDecodeAllCapLimit(true)); err != nil {
			return nil, err
		}
		s.buf = make([]byte, 0, MaxBlock)
	}
	if s.unused, err = s.dec.DecodeAll(s.unused, s.buf[:0]); err != nil {
		return nil, fmt.Errorf("%w: literals: %w", ErrCorrupt, err)
	}
	return rest, nil
}

// errLiterals means that a block uses more or fewer literals than its packet stores.
var errLiterals = fmt.Errorf("%w: the number of literals differs from that of the operations", ErrCorrupt)

// copyStoredLiterals copies the next n stored literals to the block.
func (m *Model) copyStoredLiterals(n int) error {
	s := &m.quick.literals
	if n > len(s.unused) {
		return errLiterals
	}
	copy(m.buf[m.pos:], s.unused[:n])
	s.unused = s.unused[n:]
	m.pos += n
	return nil
}

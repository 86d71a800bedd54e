package delta

import (
	"encoding/binary"

	"wirelab/encoders/rangecoder"
)

// textContexts is the number of contexts of literals: 0 to 7 and 17 are those of setTextContexts, 8 that of
// the match model, 9 to 16 those of setTableContexts.
const textContexts = 18

// codeLiteral codes the next byte in contexts of the new file before it and, if it is part of a copy, of
// the old file around view[k]. view is nil and k is not used for a literal.
func (m *Model) codeLiteral(view []byte, k int) {
	var w uint64 // the last eight bytes, the newest in the highest byte
	if m.pos >= 8 {
		w = binary.LittleEndian.Uint64(m.buf[m.pos-8:])
	} else {
		for _, b := range m.buf[:m.pos] {
			w = w>>8 | uint64(b)<<56
		}
	}
	m.setTextContexts(w)
	m.setTableContexts(view, k)
	predicted, length := m.match.find(m.buf, m.pos, m.bufOffset, w)
	m.codeByte(uint32(w>>56), predicted, length)
}

// setTextContexts sets the contexts of the last bytes, which w holds, the newest in the highest byte: the last 0
// to 4 bytes and the last 6, two contexts with the offset modulo 4, and one of the last words.
func (m *Model) setTextContexts(w uint64) {
	mixer, lastFour, phase := m.literalMixer, uint32(w>>32), uint32(m.bufOffset+int64(m.pos))&3
	mixer.Hashes[0] = hash(1, 0)
	mixer.Hashes[1] = hash(2, lastFour>>24)
	mixer.Hashes[2] = hash(3, lastFour>>16)
	mixer.Hashes[3] = hash(4, lastFour>>8)
	mixer.Hashes[4] = hash(5, lastFour)
	mixer.Hashes[5] = hash(hash(6, lastFour), uint32(w>>16)&0xffff)
	mixer.Hashes[6] = hash(7, lastFour&0xff|phase<<8)
	mixer.Hashes[7] = hash(8, lastFour>>8&0xff|phase<<16|lastFour&0xff<<8)
	mixer.Hashes[17] = hash(28, m.match.wordsBefore(byte(lastFour>>24))^lastFour>>24<<24)
}

// setTableContexts sets the contexts of neighbours in tables and pictures: the values to the left and above
// and their gradients, and the value that the old file has here with its neighbours. The shape of this part
// of the block has the distances: step to the left, row to the value above. view[k] is the byte of the old file
// that corresponds to the next byte; view is nil for a literal.
func (m *Model) setTableContexts(view []byte, k int) {
	mixer := m.literalMixer
	step, row := m.shape.stepAndRow(m.pos - m.start)
	newAt := func(back int) int { // the byte of the new file at a distance before this one; 0 if unknown
		if i := m.pos - back; back > 0 && i >= 0 {
			return int(m.buf[i])
		}
		return 0
	}
	left, up, upLeft, upRight, left2 := newAt(step), newAt(row), newAt(row+step), newAt(row-step), newAt(2*step)
	offset := m.bufOffset + int64(m.pos)
	phase := uint32(offset % int64(step))
	var old, oldLeft, oldUp, oldRight int
	if view != nil {
		oldAt := func(i int) int { // view[i]; 0 outside of the view
			if i >= 0 && i < len(view) {
				return int(view[i])
			}
			return 0
		}
		// 256 is added so that an old byte of 0 differs from no old byte.
		old, oldLeft, oldUp, oldRight = oldAt(k)+256, oldAt(k-step), oldAt(k-row), oldAt(k+step)
	}
	plane := uint32(clampByte(left + up - upLeft)) // the value on the plane through its neighbours
	mixer.Hashes[9] = hash(20, uint32(left)|uint32(up)<<8)
	mixer.Hashes[10] = hash(21, plane|phase<<8)
	mixer.Hashes[11] = hash(22, uint32(up)|uint32(upRight)<<8|phase<<16)
	mixer.Hashes[12] = hash(23, uint32(left)|uint32(left2)<<8)
	mixer.Hashes[13] = hash(24, uint32(clampByte(old&255+left-oldLeft))|uint32(old>>8)<<8|phase<<16)
	mixer.Hashes[14] = hash(25, uint32(old)|uint32((left-oldLeft+512)/4)<<12|uint32((up-oldUp+512)/4)<<22)
	mixer.Hashes[15] = hash(26, uint32(old)|uint32(oldRight)<<12|phase<<20)
	mixer.Hashes[16] = hash(27, uint32(clampByte((left*3+upRight*3-up*2+2)/4))|plane>>2<<8)
}

// codeByte codes the next byte in the contexts that are set, in two nibbles. before is the last byte.
// predicted is the byte after a match of the given length, 0 if there is no match.
func (m *Model) codeByte(before uint32, predicted byte, length int) {
	mixer := m.literalMixer
	var v uint32
	if !m.coder.Reading() {
		v = uint32(m.buf[m.pos])
	}
	lengthClass := 0 // class of the match length
	if length > 0 {
		lengthClass = min(bitLength(length), 15) + 1
	}
	node := uint32(1)
	for k := 7; k >= 0; k-- {
		// The context of the match, and its weight sets; 0 without a match.
		match, set := uint32(0), 0
		if lengthClass > 0 && (uint32(predicted)|256)>>(k+1) == node { // the bits so far are those of predicted
			match = uint32(lengthClass)<<1 | uint32(predicted>>k&1) | 64
			set = 1 + min(lengthClass/4, 2)
		}
		if k&3 == 3 {
			mixer.SelectNibble(node)
		}
		nibbleNode := inNibble(node)
		mixer.SetCounter(8, hash(99, match), nibbleNode) // context 8 does not depend on the bits of the byte so far
		node = node<<1 | uint32(mixer.CodeNibble(&m.coder, int(v>>k&1), nibbleNode, rangecoder.Selector{
			SetA: set*256 + int(node), SetB: int(before), ContextA: int(before), ContextB: set*256 + int(node)}))
	}
	m.buf[m.pos] = byte(node)
	m.pos++
}

// clampByte returns v clamped to 0..255.
func clampByte(v int) int { return min(max(v, 0), 255) }

const (
	matchBits = 16    // logarithm of the size of matcher.lastSeen
	minMatch  = 5     // shortest match in bytes
	maxMatch  = 65535 // longest length that is counted
)

// matcher is a match model (lpaq): it finds the last occurrence of the last bytes and predicts the byte
// that followed there. It also hashes words of texts.
type matcher struct {
	lastSeen               []uint32 // by a hash of five bytes: where they last ended, as an offset in the new file modulo 1<<32
	predictedAt, length    int      // index of the predicted byte in buf, and the match length; length 0: no match
	wordHash, lastWordHash uint32   // hashes of the current word and of the word before
}

// copyFrom makes m a copy of o.
func (m *matcher) copyFrom(o *matcher) {
	seen := m.lastSeen
	copy(seen, o.lastSeen)
	*m = *o
	m.lastSeen = seen
}

// shift adjusts the match after drop bytes were removed from the front of buf; a match there is dropped.
func (m *matcher) shift(drop int) {
	m.predictedAt -= drop
	if m.predictedAt < 1 {
		m.length, m.predictedAt = 0, 0
	}
}

// find returns the byte that followed the last occurrence of the bytes before buf[p], and the length of the
// match, 0 for no match. bufOffset is the offset of buf[0] in the new file, w holds the last eight bytes, the
// newest in the highest byte. A match continues as long as its predictions are right.
func (m *matcher) find(buf []byte, p int, bufOffset int64, w uint64) (predicted byte, length int) {
	if m.length > 0 && m.predictedAt < p && buf[m.predictedAt] == byte(w>>56) {
		m.predictedAt++
		m.length = min(m.length+1, maxMatch)
	} else {
		m.length = 0
	}
	// A multiplicative hash of the last five bytes (Knuth): 2^64 divided by the golden ratio.
	seen := &m.lastSeen[(w>>24)*0x9E3779B97F4A7C15>>(64-matchBits)]
	here := uint32(bufOffset + int64(p))
	if m.length == 0 {
		if back := int64(here - *seen); back > 0 && back < int64(p) {
			m.verify(buf, p, p-int(back))
		}
	}
	*seen = here
	if m.length > 0 && m.predictedAt < p {
		return buf[m.predictedAt], m.length
	}
	return 0, 0
}

// verify begins a match at buf[at] if at least minMatch bytes before it equal those before buf[p].
func (m *matcher) verify(buf []byte, p, at int) {
	n := 0 // equal bytes, at most 32
	for n < 32 && at-n > 0 && buf[at-1-n] == buf[p-1-n] {
		n++
	}
	if n >= minMatch {
		m.predictedAt, m.length = at, n
	}
}

// wordsBefore returns a hash of the current word and of the word before it. b is the last byte; letters,
// digits and underscores are parts of words.
func (m *matcher) wordsBefore(b byte) uint32 {
	switch {
	case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b >= '0' && b <= '9':
		m.wordHash = (m.wordHash + uint32(b) + 1) * 0x2F0B4C47
	case m.wordHash != 0:
		m.lastWordHash, m.wordHash = m.wordHash, 0
	}
	return m.wordHash ^ m.lastWordHash*3
}

const (
	shapeBlock = 64 << 10 // size of a part of a block that has a shape
	maxRow     = 8 << 10  // bound of the length of a row in bytes
	maxStep    = 32       // largest step
)

// shape is the layout of a part of a block, of a table or a picture for instance. In a numeric part, copies
// differ in many bytes, which are therefore coded as literals, with the old bytes as contexts.
type shape struct {
	step, row int // distances in bytes between neighbouring values, and between rows
	numeric   bool
}

// shapes are the shapes of the parts of a block, and their model.
type shapes struct {
	list                  [MaxBlock / shapeBlock]shape
	last                  shape              // shape of the last part of the block before
	sameFlag, numericFlag rangecoder.Counter // whether the shape is that of the part before; whether the part is numeric
	sizes                 numbers            // model of steps and rows
}

// stepAndRow returns the step and the row at byte i of the block.
func (s *shapes) stepAndRow(i int) (step, row int) {
	x := &s.list[i/shapeBlock]
	return x.step, x.row
}

// numeric reports whether the part of the block with byte i is numeric; copies are coded as literals there.
func (s *shapes) numeric(i int) bool { return i < MaxBlock && s.list[i/shapeBlock].numeric }

// code encodes the shapes of a block of n bytes, or decodes them into s.list. It returns false if a decoded shape
// is invalid.
func (s *shapes) code(c *rangecoder.Coder, n int) bool {
	last := s.last
	for i := range (n + shapeBlock - 1) / shapeBlock {
		x := &s.list[i]
		if codeFlag(c, &s.sameFlag, *x == last) {
			*x = last
			continue
		}
		// Steps have context 0 of the numbers, rows context 1.
		step, row := s.sizes.code(c, int64(x.step), 0), s.sizes.code(c, int64(x.row), 1)
		if step < 1 || step > maxStep || row <= 0 || row >= maxRow {
			return false
		}
		*x = shape{int(step), int(row), codeFlag(c, &s.numericFlag, x.numeric)}
		last = *x
	}
	s.last = last
	return true
}

// analyse sets the shapes of a block for an encoder. A part with fewer than 4096 literals and differing bytes
// keeps the distances of the part before and is not numeric. Another part is numeric if more than a quarter of it
// is copied and over a third of the copied bytes differ.
func (s *shapes) analyse(block []byte, ops []Op, src Source) {
	var literals, copies, differing [MaxBlock / shapeBlock]int
	pos := 0
	for _, op := range ops {
		for i := 0; i < op.Copy; {
			offset, _ := src.Locate(op.From + int64(i))
			n := min(op.Copy-i, Core-int(offset%Core))
			view, k, err := src.View(op.From+int64(i), n)
			if err != nil {
				return // the error recurs when the block is coded
			}
			for j := range n {
				b := (pos + i + j) / shapeBlock
				copies[b]++
				differing[b] += rangecoder.Flag(view[k+j] != block[pos+i+j])
			}
			i += n
		}
		pos += op.Copy
		for i := range op.Literal {
			literals[(pos+i)/shapeBlock]++
		}
		pos += op.Literal
	}
	last := s.last // shape of the last part that was analysed
	last.numeric = false
	for i := 0; i*shapeBlock < len(block); i++ {
		partShape := last
		if literals[i]+differing[i] >= 4096 {
			partShape.step, partShape.row = findStrides(block[i*shapeBlock : min((i+1)*shapeBlock, len(block))])
			partShape.numeric = differing[i]*3 > copies[i] && copies[i] > shapeBlock/4
			last = shape{partShape.step, partShape.row, false}
		}
		s.list[i] = partShape
	}
}

const (
	strideSamples = 3000 // bytes that are compared for a distance
	coarseSamples = 400  // bytes that are compared for a distance in the first round of the search for rows
	lastRound     = 24   // distances that reach the second round
)

// findStrides returns the distances at which bytes of b are most similar: step between neighbouring values, and
// row between rows. It compares a few samples at every possible row, and more at the lastRound best ones.
func findStrides(b []byte) (step, row int) {
	step, row = 1, 64
	best := 1 << 30
	for _, s := range []int{1, 2, 3, 4, 8, 16, 32} {
		if v := meanDifference(b, s, strideSamples); v < best-best/50 { // a larger step must be 2 % better
			best, step = v, s
		}
	}
	var rows, scores [lastRound + 1]int // sorted by scores; the additional element is for insertion
	n := 0
	for r := step + 1; r < min(maxRow, len(b)/2); r++ {
		v := meanDifference(b, r, coarseSamples)
		if n == lastRound && v >= scores[n-1] {
			continue
		}
		i := n
		for ; i > 0 && scores[i-1] > v; i-- {
			scores[i], rows[i] = scores[i-1], rows[i-1]
		}
		scores[i], rows[i] = v, r
		n = min(n+1, lastRound)
	}
	best = 1 << 30
	for _, r := range rows[:n] {
		if v := meanDifference(b, r, strideSamples); v < best || v == best && r < row {
			best, row = v, r
		}
	}
	return step, row
}

// meanDifference returns the mean magnitude of the difference between bytes and those at a distance before
// them, in thousandths, over about the given number of samples. With too few samples it is very large.
func meanDifference(b []byte, distance, samples int) int {
	sum, n := 0, 0
	every := max(1, len(b)/samples)
	for i := distance; i < len(b); i += every {
		d := int(b[i]) - int(b[i-distance])
		sum += min(max(d, -d), 32) // an edge, at which a value jumps, counts as 32
		n++
	}
	if n < samples/16 {
		return 1 << 30
	}
	return sum * 1000 / n
}

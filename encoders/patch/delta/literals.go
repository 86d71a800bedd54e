package delta

import (
	"encoding/binary"

	"wirelab/encoders/rangecoder"
)

const textContexts = 18

// literal codes the next byte in contexts of the new file before it and, if it is part of
// a copy, of the old file around view[k].
func (m *Model) literal(view []byte, k int) {
	var w uint64 // the last eight bytes, the newest highest
	if m.p >= 8 {
		w = binary.LittleEndian.Uint64(m.buf[m.p-8:])
	} else {
		for _, b := range m.buf[:m.p] {
			w = w>>8 | uint64(b)<<56
		}
	}
	m.textContexts(w)
	m.tableContexts(view, k)
	predicted, length := m.match.find(m.buf, m.p, m.first, w)
	m.codeByte(uint32(w>>56), predicted, length)
}

// textContexts sets the contexts of the last bytes w.
func (m *Model) textContexts(w uint64) {
	g, four, phase := m.texts, uint32(w>>32), uint32(m.first+int64(m.p))&3
	g.Hashes[0] = hash(1, 0)
	g.Hashes[1] = hash(2, four>>24)
	g.Hashes[2] = hash(3, four>>16)
	g.Hashes[3] = hash(4, four>>8)
	g.Hashes[4] = hash(5, four)
	g.Hashes[5] = hash(hash(6, four), uint32(w>>16)&0xffff)
	g.Hashes[6] = hash(7, four&0xff|phase<<8)
	g.Hashes[7] = hash(8, four>>8&0xff|phase<<16|four&0xff<<8)
	g.Hashes[17] = hash(28, m.match.wordsBefore(byte(four>>24))^four>>24<<24)
}

// tableContexts sets the contexts of neighbours in tables and pictures: the value before,
// the one above, and the value that the old file has there.
func (m *Model) tableContexts(view []byte, k int) {
	g := m.texts
	s, r := m.shape.at(m.p - m.start)
	at := func(back int) int {
		if i := m.p - back; back > 0 && i >= 0 {
			return int(m.buf[i])
		}
		return 0
	}
	left, up, upLeft, upRight, left2 := at(s), at(r), at(r+s), at(r-s), at(2*s)
	place := m.first + int64(m.p)
	phase := uint32(place % int64(s))
	var old, oldLeft, oldUp, oldRight int
	if view != nil {
		was := func(i int) int {
			if i >= 0 && i < len(view) {
				return int(view[i])
			}
			return 0
		}
		old, oldLeft, oldUp, oldRight = was(k)+256, was(k-s), was(k-r), was(k+s)
	}
	plane := uint32(clampByte(left + up - upLeft))
	g.Hashes[9] = hash(20, uint32(left)|uint32(up)<<8)
	g.Hashes[10] = hash(21, plane|phase<<8)
	g.Hashes[11] = hash(22, uint32(up)|uint32(upRight)<<8|phase<<16)
	g.Hashes[12] = hash(23, uint32(left)|uint32(left2)<<8)
	g.Hashes[13] = hash(24, uint32(clampByte(old&255+left-oldLeft))|uint32(old>>8)<<8|phase<<16)
	g.Hashes[14] = hash(25, uint32(old)|uint32((left-oldLeft+512)/4)<<12|uint32((up-oldUp+512)/4)<<22)
	g.Hashes[15] = hash(26, uint32(old)|uint32(oldRight)<<12|phase<<20)
	g.Hashes[16] = hash(27, uint32(clampByte((left*3+upRight*3-up*2+2)/4))|plane>>2<<8)
}

// codeByte codes a byte bit by bit. before is the last byte. A match of that length, if it is
// not 0, predicts the byte.
func (m *Model) codeByte(before uint32, predicted byte, length int) {
	g := m.texts
	var v uint32
	if !m.coder.Reading() {
		v = uint32(m.buf[m.p])
	}
	long := 0
	if length > 0 {
		long = min(class(length), 15) + 1
	}
	node := uint32(1)
	for k := 7; k >= 0; k-- {
		match, set := uint32(0), 0
		if long > 0 && (uint32(predicted)|256)>>(k+1) == node { // the bits so far agree
			match = uint32(long)<<1 | uint32(predicted>>k&1) | 64
			set = 1 + min(long/4, 2)
		}
		if k&3 == 3 {
			g.SelectNibble(node)
		}
		near := inNibble(node)
		g.SetCounter(8, hash(99, match), near) // independent of the bits so far
		node = node<<1 | uint32(g.CodeNibble(&m.coder, int(v>>k&1), near, rangecoder.Selector{
			SetA: set*256 + int(node), SetB: int(before), ContextA: int(before), ContextB: set*256 + int(node)}))
	}
	m.buf[m.p] = byte(node)
	m.p++
}

func clampByte(v int) int { return min(max(v, 0), 255) }

const (
	matchBits = 16
	minMatch  = 5 // bytes
	maxMatch  = 65535
)

// matcher is a match model: it finds the last occurrence of the last bytes among the literals.
// It also hashes words of texts.
type matcher struct {
	seen       []uint32 // places in the new file, modulo 1<<32, by a hash of the five bytes before
	at, length int      // the predicted byte of buf, and the length of the match so far
	word, last uint32   // hashes of this word and of the one before
}

func (m *matcher) copyFrom(o *matcher) {
	seen := m.seen
	copy(seen, o.seen)
	*m = *o
	m.seen = seen
}

// shift adapts to a buffer from which drop bytes were removed at the front.
func (m *matcher) shift(drop int) {
	m.at -= drop
	if m.at < 1 {
		m.length, m.at = 0, 0
	}
}

// find returns the byte that followed the last occurrence of the bytes before buf[p], and the
// length of that match. w are the last eight bytes.
func (m *matcher) find(buf []byte, p int, first int64, w uint64) (predicted byte, length int) {
	if m.length > 0 && m.at < p && buf[m.at] == byte(w>>56) {
		m.at++
		m.length = min(m.length+1, maxMatch)
	} else {
		m.length = 0
	}
	seen := &m.seen[(w>>24)*0x9E3779B97F4A7C15>>(64-matchBits)]
	here := uint32(first + int64(p))
	if m.length == 0 {
		if back := int64(here - *seen); back > 0 && back < int64(p) {
			m.verify(buf, p, p-int(back))
		}
	}
	*seen = here
	if m.length > 0 && m.at < p {
		return buf[m.at], m.length
	}
	return 0, 0
}

// verify starts a match at buf[at] if enough bytes before it equal those before p.
func (m *matcher) verify(buf []byte, p, at int) {
	n := 0
	for n < 32 && at-n > 0 && buf[at-1-n] == buf[p-1-n] {
		n++
	}
	if n >= minMatch {
		m.at, m.length = at, n
	}
}

// wordsBefore returns a hash of the word that ends with b and of the one before it.
func (m *matcher) wordsBefore(b byte) uint32 {
	switch {
	case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b >= '0' && b <= '9':
		m.word = (m.word + uint32(b) + 1) * 0x2F0B4C47
	case m.word != 0:
		m.last, m.word = m.word, 0
	}
	return m.word ^ m.last*3
}

const (
	shapeBlock = 64 << 10
	maxRow     = 8 << 10 // bytes of a row, exclusive
	maxStep    = 32      // bytes of a value
)

// shape is the layout of literals in a part of a block: the distances in bytes from one value
// to the next and from one row to the next. In a numeric part, copies differ so much that they
// are coded as literals, with the old bytes as contexts.
type shape struct {
	step, row int
	numeric   bool
}

// shapes are the shapes of the parts of a block.
type shapes struct {
	list          [MaxBlock / shapeBlock]shape
	last          shape // of the block before
	same, numbers rangecoder.Counter
	sizes         numbers
}

// at returns step and row at byte i of the block.
func (s *shapes) at(i int) (step, row int) {
	x := &s.list[i/shapeBlock]
	return x.step, x.row
}

// numeric reports whether a copy that begins or continues at byte i is coded as literals.
func (s *shapes) numeric(i int) bool { return i < MaxBlock && s.list[i/shapeBlock].numeric }

// code codes the shapes of a block of n bytes. It returns false if a reader finds impossible
// ones.
func (s *shapes) code(c *rangecoder.Coder, n int) bool {
	last := s.last
	for i := range (n + shapeBlock - 1) / shapeBlock {
		x := &s.list[i]
		if codeFlag(c, &s.same, *x == last) {
			*x = last
			continue
		}
		step, row := s.sizes.code(c, int64(x.step), 0), s.sizes.code(c, int64(x.row), 1)
		if step < 1 || step > maxStep || row <= 0 || row >= maxRow {
			return false
		}
		*x = shape{int(step), int(row), codeFlag(c, &s.numbers, x.numeric)}
		last = *x
	}
	s.last = last
	return true
}

// choose finds the shapes of a block that is coded by the operations.
func (s *shapes) choose(block []byte, ops []Op, src Source) {
	var literals, copies, misses [MaxBlock / shapeBlock]int
	at := 0
	for _, op := range ops {
		for i := 0; i < op.Copy; {
			place, _ := src.Locate(op.From + int64(i))
			n := min(op.Copy-i, Core-int(place%Core))
			view, k, err := src.View(op.From+int64(i), n)
			if err != nil {
				return // the error recurs when the block is coded
			}
			for j := range n {
				b := (at + i + j) / shapeBlock
				copies[b]++
				misses[b] += rangecoder.Flag(view[k+j] != block[at+i+j])
			}
			i += n
		}
		at += op.Copy
		for i := range op.Literal {
			literals[(at+i)/shapeBlock]++
		}
		at += op.Literal
	}
	last := s.last
	last.numeric = false
	for i := 0; i*shapeBlock < len(block); i++ {
		x := last
		if literals[i]+misses[i] >= 4096 {
			x.step, x.row = strides(block[i*shapeBlock : min((i+1)*shapeBlock, len(block))])
			x.numeric = misses[i]*3 > copies[i] && copies[i] > shapeBlock/4
			last = shape{x.step, x.row, false}
		}
		s.list[i] = x
	}
}

const (
	strideSamples = 3000 // bytes by which a distance is judged
	coarseSamples = 400  // bytes by which the distances of the last round are chosen
	lastRound     = 24
)

// strides returns the distances at which bytes resemble each other most: of
// neighbouring values, and of rows.
func strides(b []byte) (step, row int) {
	step, row = 1, 64
	best := 1 << 30
	for _, s := range []int{1, 2, 3, 4, 8, 16, 32} {
		if v := unlike(b, s, strideSamples); v < best-best/50 {
			best, step = v, s
		}
	}
	var rows, scores [lastRound + 1]int // in the order of scores; the last is the present candidate
	n := 0
	for r := step + 1; r < min(maxRow, len(b)/2); r++ {
		v := unlike(b, r, coarseSamples)
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
		if v := unlike(b, r, strideSamples); v < best || v == best && r < row {
			best, row = v, r
		}
	}
	return step, row
}

// unlike returns the mean difference, in thousandths, of bytes and those a distance before,
// over a number of samples.
func unlike(b []byte, distance, samples int) int {
	sum, n := 0, 0
	every := max(1, len(b)/samples)
	for i := distance; i < len(b); i += every {
		d := int(b[i]) - int(b[i-distance])
		sum += min(max(d, -d), 32)
		n++
	}
	if n < samples/16 {
		return 1 << 30
	}
	return sum * 1000 / n
}

package delta

import "wirelab/encoders/rangecoder"

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

func newShapes() shapes {
	return shapes{last: shape{step: 1, row: 64}, same: even, numbers: even, sizes: *newNumbers()}
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

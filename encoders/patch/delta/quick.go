package delta

import (
	"bytes"

	"wirelab/encoders/rangecoder"
)

// quick is what a Model has instead of mixing when it must be quick: it codes how
// many bytes of a copy are right before the next that is not, and bytes by two
// contexts each, of which it takes the mean. What costs time is only what differs.
type quick struct {
	gaps   *numbers
	values pair // differences
	texts  pair // literals
}

const quickLimit = 60

// pair guesses bytes from a small context and a larger one.
type pair struct{ small, large []rangecoder.Counter }

const (
	smallBits = 8
	largeBits = 18
)

func newPair() pair {
	p := pair{make([]rangecoder.Counter, 1<<(smallBits+8)), make([]rangecoder.Counter, 1<<largeBits)}
	rangecoder.Fill(p.small, rangecoder.NewCounter(rangecoder.One/2, 0))
	rangecoder.Fill(p.large, rangecoder.NewCounter(rangecoder.One/2, 0))
	return p
}

func (p *pair) copyFrom(o *pair) {
	copy(p.small, o.small)
	copy(p.large, o.large)
}

// code codes v. The large context counts for more once it has been seen.
func (p *pair) code(c *rangecoder.Coder, v byte, small byte, large uint32) byte {
	a := p.small[int(small)<<8:][:256]
	node := uint32(1)
	base := hash(large, 3) * 0x9E3779B1
	for k := 7; k >= 0; k-- {
		x := &a[node]
		y := &p.large[(base+node*0x85EBCA6B)>>(32-largeBits)]
		var guess uint32
		switch n := y.N(); {
		case n < 2:
			guess = x.P()
		case n < 8:
			guess = (x.P() + y.P()) / 2
		default:
			guess = (x.P() + 3*y.P()) / 4
		}
		bit := c.Bit(int(v>>k&1), max(guess, 1))
		x.Update(bit, quickLimit)
		y.Update(bit, quickLimit)
		node = node<<1 | uint32(bit)
	}
	return byte(node)
}

// NewFast returns a Model that has learnt nothing and is quick rather than good.
// It takes some 5 MB.
func NewFast() *Model {
	return &Model{
		quick: &quick{newNumbers(), newPair(), newPair()},
		jumps: newJumps(), counts: newNumbers(), after: newNumbers(), run: newRuns(),
		buf: make([]byte, History+MaxBlock),
	}
}

func (q *quick) copyFrom(o *quick) {
	*q.gaps = *o.gaps
	q.values.copyFrom(&o.values)
	q.texts.copyFrom(&o.texts)
}

// quickCopy codes n bytes of a copy from view[k:].
func (m *Model) quickCopy(view []byte, k, n int) {
	r, q := &m.run, m.quick
	for old := view[k : k+n]; len(old) > 0; {
		gap := 0
		if !m.coder.Reading() {
			gap = common(m.buf[m.p:m.p+len(old)], old)
		}
		ctx := min(class(r.gap1), 7)<<3 | min(class(r.gap2), 7)
		gap = int(min(q.gaps.code(&m.coder, int64(gap), ctx), int64(len(old))))
		r.gap2, r.gap1 = r.gap1, gap
		copy(m.buf[m.p:], old[:gap])
		m.p += gap
		if old = old[gap:]; len(old) == 0 {
			return
		}
		near := uint32(min(gap, 4))
		context := uint32(r.some[0]) | uint32(r.some[1])<<8 | uint32(r.some[2])<<16 | near<<24
		d := q.values.code(&m.coder, m.buf[m.p]-old[0], r.some[0], context)
		m.buf[m.p] = old[0] + d
		r.some = [3]byte{d, r.some[0], r.some[1]}
		m.p++
		old = old[1:]
	}
}

// quickLiteral codes the next byte.
func (m *Model) quickLiteral() {
	var b1, b2, b3 byte
	if m.p >= 3 {
		b1, b2, b3 = m.buf[m.p-1], m.buf[m.p-2], m.buf[m.p-3]
	}
	context := uint32(b1) | uint32(b2)<<8 | uint32(b3)<<16 | 1<<24
	m.buf[m.p] = m.quick.texts.code(&m.coder, m.buf[m.p], b1, context)
	m.p++
}

// common returns how many of the first bytes of a and b, as long, are the same.
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

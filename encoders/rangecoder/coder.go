// Package rangecoder turns binary decisions and their probabilities into bytes: a
// decision of probability p takes -log2(p) bits, and fractions of bits add up.
//
// Coder is a binary range coder with a 32-bit range and carries that propagate into the
// bytes already written (Martin, "Range encoding", 1979; Subbotin, 1999). The rest is a
// toolkit for context mixing in the manner of Mahoney's PAQ and lpaq:
//
//	Counter, StateCounter  adaptive probabilities of 32 and of 16 bits
//	Stretch, Squash        the logistic domain, in which predictions are added
//	Weights                a logistic mixer of up to 8 predictions
//	Mixer                  contexts, Counters and Weights; for rows of tables
//	StateMixer             contexts, StateCounters and numeric predictions, where memory is scarce
//	ByteMixer              many contexts, two weight sets and two APM stages; for bytes
//	Hash                   a hash of context values
//	Coder.Tree, Zeros      bit trees and runs of zeros by single counters, fast
//
// The mixers are one package with the coder because their vector routines code a decision
// as a whole: from the counters through the interval back to the counters.
//
// One Coder serves both directions: a codec passes every decision to it and goes on with
// the result, so encoder and decoder are one traversal. For example:
//
//	var c rangecoder.Coder
//	c.Write(dst)                // or c.Read(src)
//	moved = c.Bit(moved, p)     // writes moved, or reads it
//	dst = c.Finish()            // or err = c.Close()
//
// Everything is integer arithmetic, the same on every machine, and allocates nothing.
// Mixing runs in AVX2 where the processor has it; the tag purego does without.
// The package knows no frames and no budgets.
package rangecoder

import (
	"errors"
	"math/bits"
)

// Errors of a Coder that reads.
var (
	// ErrShort means that more was decoded than the bytes hold.
	ErrShort = errors.New("range-coded bytes ended early")
	// errTail means that the bytes do not end as a writer ends them.
	errTail = errors.New("range-coded bytes end in something else")
)

const (
	// One is the probability 1. Probabilities of decisions lie in 1..One-1.
	One = 1 << 16

	minRange = 1 << 24 // below it, a byte is shifted out
	window   = 4       // bytes of low, and bytes a reader looks ahead
	slack    = 3       // zeros past the end that a reader of a valid packet takes at most
)

// Coder codes decisions in one direction. Write or Read begins a packet.
//
// The state is an interval of numbers, [low, low+rng) at the scale of the bytes
// shifted out so far. Each decision cuts it in two: the lower part stands for 1,
// the upper for 0. A packet is a number in the last interval.
type Coder struct {
	rng     uint32 // at least minRange between calls
	reading bool
	short   bool // a reader took more than slack zeros past the end
	outside bool // of a reader: the packet is the number that the first interval excludes

	// Of a writer.
	low  uint64 // 32 bits, and the carry for a moment
	buf  []byte // the caller's slice
	base int    // len(buf) at Write

	// Of a reader.
	code uint32 // the packet's number less low
	last uint32 // the last four bytes taken
	at   int    // number of bytes taken, zeros past the end included
	src  []byte
}

// Write makes c append a packet to dst.
func (c *Coder) Write(dst []byte) {
	*c = Coder{rng: 1<<32 - 1, buf: dst, base: len(dst)}
}

// Read makes c read a packet from src.
func (c *Coder) Read(src []byte) {
	*c = Coder{rng: 1<<32 - 1, src: src, reading: true}
	for range window {
		c.take()
	}
	c.outside = c.code >= c.rng // later intervals contain the number if this one does
}

// Reading reports in which direction c works.
func (c *Coder) Reading() bool { return c.reading }

// Bit codes a decision that is 1 with probability p1/65536, p1 in 1..65535. A writer
// returns bit, which is 0 or 1; a reader ignores it.
func (c *Coder) Bit(bit int, p1 uint32) int {
	if p1-1 >= One-1 {
		panic("rangecoder: a probability must lie in 1..65535")
	}
	bound := uint32(uint64(c.rng) * uint64(p1) >> 16)
	if c.reading {
		c.code, c.rng, bit = decide(c.code, c.rng, bound)
		if c.rng < minRange {
			c.refill()
		}
		return bit
	}
	from, rng := cut(c.rng, bound, bit)
	c.low, c.rng = c.low+from, rng
	if rng < minRange {
		c.shift()
	}
	return bit
}

// cut returns what a writer adds to low, and the range, for a decision. Like decide it
// has no branches, because processors cannot predict them.
func cut(rng, bound uint32, bit int) (from uint64, width uint32) {
	from, width = uint64(bound), rng-bound
	if bit != 0 {
		width = bound
	}
	if bit != 0 {
		from = 0
	}
	return from, width
}

// decide returns a reader's code and range after a decision, and the decision.
func decide(code, rng, bound uint32) (uint32, uint32, int) {
	left, width, bit := code-bound, rng-bound, 0
	if code < bound {
		width = bound
	}
	if code < bound {
		left = code
	}
	if code < bound {
		bit = 1
	}
	return left, width, bit
}

// Direct codes n bits, at most 64, each of probability 1/2. The bits of v beyond must
// be zero.
func (c *Coder) Direct(v uint64, n uint) uint64 {
	if n-1 < 16 {
		return uint64(c.uniform(uint32(v), n))
	}
	var out uint64
	for n > 0 {
		k := min(n, 16)
		n -= k
		out = out<<k | uint64(c.uniform(uint32(v>>n)&(1<<k-1), k))
	}
	return out
}

// uniform codes n bits, at most 16. What does not divide evenly goes to the highest
// value, so that every number a reader may hold stands for a value.
func (c *Coder) uniform(v uint32, n uint) uint32 {
	each, top := c.rng>>n, uint32(1)<<n-1
	if c.reading {
		v = min(c.code/each, top)
		c.code -= v * each
	} else {
		c.low += uint64(v) * uint64(each)
	}
	if v == top {
		c.rng -= top * each
	} else {
		c.rng = each
	}
	if c.rng < minRange {
		c.widen()
	}
	return v
}

// widen renormalises: it shifts bytes until the range is at least minRange.
func (c *Coder) widen() {
	if c.reading {
		c.refill()
	} else {
		c.shift()
	}
}

// shift moves bytes out of low until the range is at least minRange.
//
//go:noinline
func (c *Coder) shift() {
	if c.low >= 1<<32 {
		c.carry()
	}
	for c.rng < minRange {
		c.rng <<= 8
		c.buf = append(c.buf, byte(c.low>>24))
		c.low = c.low << 8 & (1<<32 - 1)
	}
}

// carry adds one to the number written so far. It never reaches the caller's own
// bytes: the number stays below one.
func (c *Coder) carry() {
	c.low &= 1<<32 - 1
	for i := len(c.buf) - 1; ; i-- {
		c.buf[i]++
		if c.buf[i] != 0 {
			return
		}
	}
}

// refill takes bytes until the range is at least minRange.
//
//go:noinline
func (c *Coder) refill() {
	for c.rng < minRange {
		c.rng <<= 8
		c.take()
	}
}

// take moves the next byte in, zero past the end.
func (c *Coder) take() {
	var b uint32
	if c.at < len(c.src) {
		b = uint32(c.src[c.at])
	} else if c.at >= len(c.src)+slack {
		c.short = true
	}
	c.at++
	c.code = c.code<<8 | b
	c.last = c.last<<8 | b
}

// tail returns the least n for which n bytes identify the interval: every number that
// begins with them lies in [low, low+rng). They are the upper end of number, which has 32
// bits and may have a carry. So no packet is the beginning of another one, and a reader
// notices any that was cut. This takes a quarter of a byte more on average than bytes
// that only zeros may follow.
func tail(low uint64, rng uint32) (number uint64, n int) {
	for n = 1; ; n++ {
		step := uint64(1) << (8 * (window - n))
		number = (low + step - 1) &^ (step - 1)
		if number+step <= low+uint64(rng) {
			return number, n
		}
	}
}

// Finish ends the packet with the fewest bytes that identify it and returns the caller's
// slice. Only Write and Read may follow.
func (c *Coder) Finish() []byte {
	return c.end(tail(c.low, c.rng))
}

// FinishTrimmed ends the packet for a reader that knows its length and takes zeros for
// the bytes beyond, so that zeros at the end are not written. Such a reader must not call
// Close: any bytes are a packet.
func (c *Coder) FinishTrimmed() []byte {
	for n := 0; ; n++ {
		step := uint64(1) << (8 * (window - n))
		number := (c.low + step - 1) &^ (step - 1)
		if number < c.low+uint64(c.rng) {
			c.end(number, n)
			break
		}
	}
	for len(c.buf) > c.base && c.buf[len(c.buf)-1] == 0 {
		c.buf = c.buf[:len(c.buf)-1]
	}
	return c.buf
}

// end appends the upper n bytes of a number of 32 bits, which may have a carry.
func (c *Coder) end(number uint64, n int) []byte {
	c.low = number
	if number >= 1<<32 {
		c.carry()
	}
	for i := range n {
		c.buf = append(c.buf, byte(c.low>>(24-8*i)))
	}
	return c.buf
}

// Err returns ErrShort once a reader is farther past the end than any valid packet leads.
// Before and after that it decodes zeros; the caller must bound its loops otherwise.
func (c *Coder) Err() error {
	if c.short {
		return ErrShort
	}
	return nil
}

// Close returns nil if the packet that was read is, to the last byte, the one that a
// writer of the same decisions makes. Otherwise it returns ErrShort if bytes are missing,
// or another error if bytes differ or follow.
func (c *Coder) Close() error {
	if c.short {
		return ErrShort
	}
	if c.outside {
		return errTail
	}
	// The number taken, less what is left of it, is the writer's low.
	number, n := tail(uint64(c.last-c.code), c.rng)
	switch whole := c.at - window + n; {
	case len(c.src) < whole:
		return ErrShort
	case len(c.src) > whole || uint32(number) != c.last:
		return errTail
	}
	return nil
}

// Spent returns the cost of the decisions since Write or Read, in units of 1/65536 bit and
// never more than the bytes will hold. It follows from the interval, so decisions need not
// count anything.
func (c *Coder) Spent() int64 {
	shifted := len(c.buf) - c.base
	if c.reading {
		shifted = c.at - window
	}
	return int64(shifted+window)*8*One - Log2(c.rng)
}

// Log2 returns the binary logarithm of v, at least 2, in units of 1/65536, rounded up.
func Log2(v uint32) int64 {
	whole := bits.Len32(v) - 1
	x := uint64(v) << (31 - whole) // 1 to 2 in units of 2^-31
	log := int64(whole)
	for range 16 {
		x = x * x >> 31
		log <<= 1
		if x >= 1<<32 {
			x >>= 1
			log++
		}
	}
	if v&(v-1) != 0 {
		log++
	}
	return log
}

// Tree codes a symbol v of n bits, the highest first. Every bit has the counter of the
// node that the bits before it lead to: nodes are numbered from 1, those below node i
// are 2i and 2i+1, and there are 1<<n with one in front that is not used. A limit of 0
// leaves the counters alone, otherwise they learn as in Counter.Update.
//
// It does what Bit does n times, with the state in registers.
func (c *Coder) Tree(nodes []Counter, v int, n uint, limit int) int {
	nodes = nodes[:1<<n]
	if c.reading {
		return c.readTree(nodes, limit)
	}
	at, low, rng := 1, c.low, c.rng
	for n > 0 {
		n--
		k, bit := &nodes[at&(len(nodes)-1)], v>>n&1
		from, width := cut(rng, uint32(uint64(rng)*uint64(k.P())>>16), bit)
		low, rng, at = low+from, width, at<<1|bit
		if limit != 0 {
			k.Update(bit, limit)
		}
		if rng < minRange {
			c.low, c.rng = low, rng
			c.shift()
			low, rng = c.low, c.rng
		}
	}
	c.low, c.rng = low, rng
	return v
}

func (c *Coder) readTree(nodes []Counter, limit int) int {
	at, code, rng := 1, c.code, c.rng
	for at < len(nodes) {
		k, bit := &nodes[at], 0
		code, rng, bit = decide(code, rng, uint32(uint64(rng)*uint64(k.P())>>16))
		at = at<<1 | bit
		if limit != 0 {
			k.Update(bit, limit)
		}
		if rng < minRange {
			c.code, c.rng = code, rng
			c.refill()
			code, rng = c.code, c.rng
		}
	}
	c.code, c.rng = code, rng
	return at - len(nodes)
}

// Zeros codes decisions by the counters named, as long as they are 0, and returns how many
// that were: a writer takes all for 0, a reader stops before the first that is 1. Counters
// learn as Update has them, unless limit is 0. It does what Bit and Update do, faster, for
// where most decisions are foreseen: a counter that comes again and again stays unpacked.
func (c *Coder) Zeros(model []Counter, at []int32, limit int) (done int) {
	if len(at) == 0 {
		return 0
	}
	ctx := at[0]
	p, n := uint32(model[ctx])>>countBits, uint32(model[ctx])&maxCount
	rng, off, code := c.rng, uint64(0), ^uint32(0)
	if c.reading {
		code = c.code
	}
	for ; done < len(at); done++ {
		if next := at[done]; next != ctx {
			model[ctx] = Counter(p<<countBits | n)
			ctx = next
			p, n = uint32(model[ctx])>>countBits, uint32(model[ctx])&maxCount
		}
		bound := uint32(uint64(rng) * uint64(p/fine) >> 16)
		if code < bound && c.reading {
			break
		}
		off, code, rng = off+uint64(bound), code-bound, rng-bound
		if limit != 0 {
			p = max(p-uint32((uint64(p)*uint64(steps[n])+One-1)>>16), fine)
			n += uint32(int32(n)-int32(limit)) >> 31
		}
		if rng < minRange {
			c.narrow(off, code, rng)
			rng, off = c.rng, 0
			if c.reading {
				code = c.code
			}
		}
	}
	model[ctx] = Counter(p<<countBits | n)
	c.narrow(off, code, rng)
	return done
}

// narrow replaces the interval by the subinterval of width rng that begins off above low, then
// renormalises. code is a reader's code relative to the new low. A writer ignores code, a reader
// ignores off.
func (c *Coder) narrow(off uint64, code, rng uint32) {
	c.rng = rng
	if c.reading {
		c.code = code
		c.refill()
	} else {
		c.low += off
		c.shift()
	}
}

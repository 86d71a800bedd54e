// Package rangecoder codes binary decisions with given probabilities: a decision of probability p
// takes -log2(p) bits, and fractions of bits add up.
//
// Coder is a binary range coder with a 32-bit range. Carries propagate into the bytes already
// written (Martin, "Range encoding", 1979; Subbotin, 1999). The rest is a toolkit for context
// mixing in the manner of Mahoney's PAQ and lpaq:
//
//	Counter, StateCounter  adaptive probabilities of 32 and of 16 bits
//	Stretch, Squash        the logistic domain, in which predictions are added
//	Mixer                  few contexts, whose StateCounters are checked; for rows of tables
//	ByteMixer              many contexts, two weight sets and two APM stages; for bytes
//	Hash                   a hash of context values
//	Coder.CodeTree, CodeZeros      bit trees and runs of zeros with single counters, fast
//
// The mixers are in one package with the coder because the vector routine of Mixer codes a whole decision, from the
// counters through the interval back to the counters.
//
// One Coder serves both directions: a codec passes every decision to it and continues with the
// result, so encoder and decoder are one traversal. For example:
//
//	var c rangecoder.Coder
//	c.Write(dst)                // or c.Read(src)
//	moved = c.Bit(moved, p)     // writes moved, or reads it
//	dst = c.Finish()            // or err = c.Close()
//
// All results are computed with integers, so they are the same on every machine. Nothing allocates,
// except the constructors. Mixing uses AVX2 where the processor has it; the build tag purego
// excludes assembly.
package rangecoder

import (
	"errors"
	"math/bits"
)

// Errors of a Coder that reads.
var (
	// ErrShort means that a reader decoded more than the packet contains.
	ErrShort = errors.New("range-coded packet ends early")
	// errTail means that a complete packet has bytes that a writer would not have written.
	errTail = errors.New("range-coded packet does not end with the bytes that an encoder writes")
)

const (
	// One is the probability 1. Probabilities of decisions lie in 1..One-1.
	One = 1 << 16

	minRange   = 1 << 24 // while the range is smaller, a byte is shifted out
	codeBytes  = 4       // bytes of low, and bytes that a reader is ahead of the decisions
	maxPastEnd = 3       // zero bytes that a reader of a valid packet reads past the end at most
)

// Coder codes decisions in one direction. Write or Read begins a packet.
//
// The state is an interval of numbers, [low, low+rng), scaled by the bytes shifted out so far. Each
// decision splits it in two: the lower part stands for 1, the upper for 0. A packet is a number in
// the last interval. A reader does not keep low: code is the number that the packet represents, minus low.
type Coder struct {
	rng        uint32 // at least minRange between calls
	reading    bool   // c reads a packet; otherwise it writes one
	pastEnd    bool   // a reader read more than maxPastEnd zero bytes past the end
	outOfRange bool   // of a reader: the packet is the one number outside of the first interval

	// Fields of a writer.
	low  uint64 // 32 bits, and the carry until it is propagated
	buf  []byte // the caller's slice, with the bytes written so far
	base int    // length of buf at Write: the packet begins there

	// Fields of a reader.
	code     uint32 // the number that the packet represents, minus the lower end of the interval
	lastFour uint32 // the last four bytes read
	consumed int    // number of bytes read, including zeros past the end
	src      []byte // the packet
}

// Write makes c append a packet to dst.
func (c *Coder) Write(dst []byte) {
	*c = Coder{rng: 1<<32 - 1, buf: dst, base: len(dst)}
}

// Read makes c read a packet from src.
func (c *Coder) Read(src []byte) {
	*c = Coder{rng: 1<<32 - 1, src: src, reading: true}
	for range codeBytes {
		c.readByte()
	}
	c.outOfRange = c.code >= c.rng // later intervals contain the number if this one does
}

// Reading reports whether c reads.
func (c *Coder) Reading() bool { return c.reading }

// Bit codes a decision that is 1 with probability p1/65536, p1 in 1..65535. A writer returns bit,
// which must be 0 or 1; a reader ignores bit and returns the decision.
func (c *Coder) Bit(bit int, p1 uint32) int {
	if p1-1 >= One-1 { // also if p1 is 0, because p1-1 wraps around
		panic("rangecoder: a probability must lie in 1..65535")
	}
	bound := uint32(uint64(c.rng) * uint64(p1) >> 16) // width of the lower part of the interval, which stands for 1
	if c.reading {
		c.code, c.rng, bit = splitDecoder(c.code, c.rng, bound)
		if c.rng < minRange {
			c.readBytes()
		}
		return bit
	}
	from, rng := splitEncoder(c.rng, bound, bit)
	c.low, c.rng = c.low+from, rng
	if rng < minRange {
		c.writeBytes()
	}
	return bit
}

// splitEncoder returns what a writer adds to low, and its new range, for a decision. bound is the
// width of the lower part, which stands for 1. The conditions are written so that the compiler emits conditional moves:
// a processor cannot predict these branches.
func splitEncoder(rng, bound uint32, bit int) (lowOffset uint64, newRange uint32) {
	lowOffset, newRange = uint64(bound), rng-bound
	if bit != 0 {
		newRange = bound
	}
	if bit != 0 {
		lowOffset = 0
	}
	return lowOffset, newRange
}

// splitDecoder returns a reader's code and range after a decision, and the decision. bound is the width of the
// lower part, which stands for 1. The conditions are written so that the compiler emits conditional moves.
func splitDecoder(code, rng, bound uint32) (newCode, newRange uint32, bit int) {
	newCode, newRange, bit = code-bound, rng-bound, 0
	if code < bound {
		newRange = bound
	}
	if code < bound {
		newCode = code
	}
	if code < bound {
		bit = 1
	}
	return newCode, newRange, bit
}

// Direct encodes the n lowest bits of v, n at most 64, each with probability 1/2, or decodes and returns n
// bits. The other bits of v must be zero; a decoder ignores v.
func (c *Coder) Direct(v uint64, n uint) uint64 {
	if n-1 < 16 { // n is 1 to 16, because n-1 wraps around if n is 0
		return uint64(c.codeUniform(uint32(v), n))
	}
	var out uint64
	for n > 0 {
		k := min(n, 16)
		n -= k
		out = out<<k | uint64(c.codeUniform(uint32(v>>n)&(1<<k-1), k))
	}
	return out
}

// codeUniform encodes v, a number of n bits, or decodes and returns one; n is at most 16. The range is divided
// into 2^n equal parts; the remainder of the division belongs to the highest value, so that every number that a
// reader may hold decodes to a value.
func (c *Coder) codeUniform(v uint32, n uint) uint32 {
	share, top := c.rng>>n, uint32(1)<<n-1
	if c.reading {
		v = min(c.code/share, top)
		c.code -= v * share
	} else {
		c.low += uint64(v) * uint64(share)
	}
	if v == top {
		c.rng -= top * share
	} else {
		c.rng = share
	}
	if c.rng < minRange {
		c.renormalise()
	}
	return v
}

// renormalise shifts bytes until the range is at least minRange.
func (c *Coder) renormalise() {
	if c.reading {
		c.readBytes()
	} else {
		c.writeBytes()
	}
}

// writeBytes moves bytes from low to the packet until the range is at least minRange.
//
//go:noinline
func (c *Coder) writeBytes() {
	if c.low >= 1<<32 {
		c.propagateCarry()
	}
	for c.rng < minRange {
		c.rng <<= 8
		c.buf = append(c.buf, byte(c.low>>24))
		c.low = c.low << 8 & (1<<32 - 1)
	}
}

// propagateCarry adds one to the number written so far. It never reaches bytes before the packet,
// because the number stays below 1.
func (c *Coder) propagateCarry() {
	c.low &= 1<<32 - 1
	for i := len(c.buf) - 1; ; i-- {
		c.buf[i]++
		if c.buf[i] != 0 {
			return
		}
	}
}

// readBytes reads bytes until the range is at least minRange.
//
//go:noinline
func (c *Coder) readBytes() {
	for c.rng < minRange {
		c.rng <<= 8
		c.readByte()
	}
}

// readByte shifts the next byte into code; zero past the end.
func (c *Coder) readByte() {
	var b uint32
	if c.consumed < len(c.src) {
		b = uint32(c.src[c.consumed])
	} else if c.consumed >= len(c.src)+maxPastEnd {
		c.pastEnd = true
	}
	c.consumed++
	c.code = c.code<<8 | b
	c.lastFour = c.lastFour<<8 | b
}

// shortestTail returns the least n for which n bytes identify the interval: every number that
// begins with them lies in [low, low+rng). They are the upper n bytes of number, which has 32 bits
// and may have a carry. Therefore no packet is a prefix of another one, and a reader detects every
// truncated packet. This takes a quarter of a byte more on average than a tail that only zeros may
// follow.
func shortestTail(low uint64, rng uint32) (number uint64, n int) {
	for n = 1; ; n++ {
		step := uint64(1) << (8 * (codeBytes - n)) // the bytes after the first n take fewer than step values
		number = (low + step - 1) &^ (step - 1)    // low, rounded up to n bytes
		if number+step <= low+uint64(rng) {
			return number, n
		}
	}
}

// Finish ends the packet with the fewest bytes that identify it and returns the caller's
// slice. Only Write and Read may follow.
func (c *Coder) Finish() []byte {
	return c.appendTail(shortestTail(c.low, c.rng))
}

// FinishTrimmed ends the packet for a reader that knows its length and reads zeros beyond, so that
// zero bytes at the end are not written, and returns the caller's slice. Such a reader must not call Close: any
// bytes are a packet.
func (c *Coder) FinishTrimmed() []byte {
	for n := 0; ; n++ {
		step := uint64(1) << (8 * (codeBytes - n)) // the bytes after the first n take fewer than step values
		number := (c.low + step - 1) &^ (step - 1) // low, rounded up to n bytes
		if number < c.low+uint64(c.rng) {
			c.appendTail(number, n)
			break
		}
	}
	for len(c.buf) > c.base && c.buf[len(c.buf)-1] == 0 {
		c.buf = c.buf[:len(c.buf)-1]
	}
	return c.buf
}

// appendTail appends the upper n bytes of number, which has 32 bits and may have a carry.
func (c *Coder) appendTail(number uint64, n int) []byte {
	c.low = number
	if number >= 1<<32 {
		c.propagateCarry()
	}
	for i := range n {
		c.buf = append(c.buf, byte(c.low>>(24-8*i)))
	}
	return c.buf
}

// Err returns ErrShort once a reader has read farther past the end than any valid packet requires.
// Past the end it decodes zero bytes; the caller must bound its loops by other means.
func (c *Coder) Err() error {
	if c.pastEnd {
		return ErrShort
	}
	return nil
}

// Close returns nil if the packet that was read is exactly the one that a writer of the same
// decisions makes. Otherwise it returns ErrShort if bytes are missing, or another error if bytes
// differ or follow.
func (c *Coder) Close() error {
	if c.pastEnd {
		return ErrShort
	}
	if c.outOfRange {
		return errTail
	}
	// The number read minus its distance from low is the writer's low.
	number, n := shortestTail(uint64(c.lastFour-c.code), c.rng)
	switch packetSize := c.consumed - codeBytes + n; {
	case len(c.src) < packetSize:
		return ErrShort
	case len(c.src) > packetSize || uint32(number) != c.lastFour:
		return errTail
	}
	return nil
}

// Spent returns the cost of the decisions since Write or Read, in units of 1/65536 bit; never more
// than the packet will have. It follows from the size of the interval, so no decision needs to be
// counted.
func (c *Coder) Spent() int64 {
	shifted := len(c.buf) - c.base
	if c.reading {
		shifted = c.consumed - codeBytes
	}
	return int64(shifted+codeBytes)*8*One - Log2(c.rng)
}

// Log2 returns the binary logarithm of v, v >= 2, in units of 1/65536, rounded up.
func Log2(v uint32) int64 {
	exponent := bits.Len32(v) - 1
	x := uint64(v) << (31 - exponent) // 1 to 2 in units of 2^-31
	log := int64(exponent)
	for range 16 {
		x = x * x >> 31
		log <<= 1
		if x >= 1<<32 {
			x >>= 1
			log++
		}
	}
	if v&(v-1) != 0 { // not a power of two: the loop has rounded down
		log++
	}
	return log
}

// CodeTree encodes a symbol v of n bits, the highest bit first, or decodes and returns one. Every bit has the
// counter of the node that the bits before it select: nodes are numbered from 1, the children of node i are 2i and
// 2i+1, and nodes[0] is unused, so there are 1<<n. limit is that of Counter.Update; with limit 0 the counters do
// not adapt.
//
// The result is the same as of n calls of Bit. It is faster because the interval stays in
// registers.
func (c *Coder) CodeTree(nodes []Counter, v int, n uint, limit int) int {
	nodes = nodes[:1<<n]
	if c.reading {
		return c.readTree(nodes, limit)
	}
	node, low, rng := 1, c.low, c.rng
	for n > 0 {
		n--
		counter, bit := &nodes[node&(len(nodes)-1)], v>>n&1 // node is below len(nodes): & avoids a bounds check
		lowOffset, newRange := splitEncoder(rng, uint32(uint64(rng)*uint64(counter.P())>>16), bit)
		low, rng, node = low+lowOffset, newRange, node<<1|bit
		if limit != 0 {
			counter.Update(bit, limit)
		}
		if rng < minRange {
			c.low, c.rng = low, rng
			c.writeBytes()
			low, rng = c.low, c.rng
		}
	}
	c.low, c.rng = low, rng
	return v
}

// readTree is CodeTree for a reader.
func (c *Coder) readTree(nodes []Counter, limit int) int {
	node, code, rng := 1, c.code, c.rng
	for node < len(nodes) {
		counter, bit := &nodes[node], 0
		code, rng, bit = splitDecoder(code, rng, uint32(uint64(rng)*uint64(counter.P())>>16))
		node = node<<1 | bit
		if limit != 0 {
			counter.Update(bit, limit)
		}
		if rng < minRange {
			c.code, c.rng = code, rng
			c.readBytes()
			code, rng = c.code, c.rng
		}
	}
	c.code, c.rng = code, rng
	return node - len(nodes)
}

// CodeZeros codes decisions while they are 0 and returns their number: a writer codes all of them as 0,
// a reader stops before the first 1, which the caller then codes with Bit. The result is
// len(indices) if there is no 1. indices selects the counter of each decision. limit is that of
// Counter.Update; with limit 0 the counters do not adapt.
//
// The result is the same as of Bit and Update. It is faster where zeros are likely: a counter that
// is used several times in a row stays in registers.
func (c *Coder) CodeZeros(counters []Counter, indices []int32, limit int) (done int) {
	if len(indices) == 0 {
		return 0
	}
	// The counter in use: its index, probability (in units of 2^-22) and number of updates.
	ctx := indices[0]
	p, n := uint32(counters[ctx])>>countBits, uint32(counters[ctx])&maxCount
	rng, lowOffset, code := c.rng, uint64(0), ^uint32(0) // a writer has no code
	if c.reading {
		code = c.code
	}
	for ; done < len(indices); done++ {
		if next := indices[done]; next != ctx { // store the counter and load the next one
			counters[ctx] = Counter(p<<countBits | n)
			ctx = next
			p, n = uint32(counters[ctx])>>countBits, uint32(counters[ctx])&maxCount
		}
		bound := uint32(uint64(rng) * uint64(p/fineScale) >> 16)
		if code < bound && c.reading { // a 1
			break
		}
		lowOffset, code, rng = lowOffset+uint64(bound), code-bound, rng-bound
		if limit != 0 { // Counter.Update(0, limit)
			p = max(p-uint32((uint64(p)*uint64(adaptationRates[n])+One-1)>>16), fineScale)
			n += uint32(int32(n)-int32(limit)) >> 31 // 1 more if n is below limit
		}
		if rng < minRange {
			c.setInterval(lowOffset, code, rng) // renormalises
			rng, lowOffset = c.rng, 0
			if c.reading {
				code = c.code
			}
		}
	}
	counters[ctx] = Counter(p<<countBits | n)
	c.setInterval(lowOffset, code, rng)
	return done
}

// setInterval replaces the interval by the subinterval of width rng that begins lowOffset above
// low, then renormalises. code is a reader's code relative to the new low. A writer ignores code, a
// reader ignores lowOffset.
func (c *Coder) setInterval(lowOffset uint64, code, rng uint32) {
	c.rng = rng
	if c.reading {
		c.code = code
		c.readBytes()
	} else {
		c.low += lowOffset
		c.writeBytes()
	}
}

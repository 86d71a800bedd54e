package states

import (
	"math/bits"

	"wirelab/encoders/rangecoder"
)

// record is the distribution of an expert's errors, in half octaves of their magnitude.
type record struct {
	Count [reach]uint16 // the first: next to none
	Above uint16        // share of positive ones, of 65536
	Total uint16
}

const (
	reach    = 62 // half octaves
	seen     = 32 // what one error counts
	mostSeen = 1 << 13
)

func newRecord() (e record) {
	for i := range e.Count {
		e.Count[i] = 1
	}
	e.Count[0] = 8
	e.Total = reach + 7
	e.Above = 1 << 15
	return e
}

// learn counts an error, in units of 2^fine.
func (e *record) learn(by int64, fine int) {
	at := 0
	if m := uint64(magnitude(by)); m>>uint(fine) != 0 {
		at = min(halves(m)-2*fine+1, reach-1)
	}
	if at == 0 {
		e.Count[0] += seen
	} else {
		e.Count[at] += seen - 2*(seen/6)
		e.Count[at-1] += seen / 6
		e.Count[min(at+1, reach-1)] += seen / 6
		if by > 0 {
			e.Above += (1<<16 - 1 - e.Above) >> 5
		} else {
			e.Above -= e.Above >> 5
		}
	}
	if e.Total += seen; e.Total < mostSeen {
		return
	}
	e.Total = 0
	for i, c := range e.Count {
		e.Count[i] = max(c-c/2, 1)
		e.Total += e.Count[i]
	}
}

// expert foretells a number: at one or two places, by the errors that it made so far.
type expert struct {
	at     [maxPlaces]int64
	weight [maxPlaces]uint32 // of 256
	places int
	errors *record
	lane   int
	sum    [reach + 1]uint32 // of counts, scaled to 1<<24
	center uint32            // mass of the centre, and of what is below it
	under  uint32
	above  uint64 // share, of 65536
	low    int64  // mass below what is still possible, and below its end
	high   int64
	last   int64
	high0  int64 // mass below the end of the first guess
}

const (
	all       = 1 << 24
	maxPlaces = 4
)

// open prepares an expert for questions.
func (x *expert) open() {
	scale := uint32(all) / uint32(x.errors.Total)
	sum := uint32(0)
	for i, c := range x.errors.Count {
		x.sum[i] = sum
		sum += uint32(c) * scale
	}
	x.sum[reach] = sum
	x.center = x.sum[1]
	x.above = uint64(x.errors.Above)
	x.under = uint32(uint64(sum-x.center) * (1<<16 - x.above) >> 16)
	x.low, x.high = 0, int64(sum)
}

// mass returns the mass below a value.
func (x *expert) mass(v int64, fine int) int64 {
	if x.places == 1 {
		return x.massAt(v-x.at[0], fine)
	}
	sum := int64(0)
	for i := range x.places {
		sum += x.massAt(v-x.at[i], fine) * int64(x.weight[i])
	}
	return sum >> 8
}

// massAt returns the mass of errors below one.
func (x *expert) massAt(v int64, fine int) int64 {
	m := uint64(magnitude(v))
	if m>>uint(fine) == 0 {
		return int64(x.under) + (int64(x.center)*(v+1<<uint(fine)))>>uint(fine+1)
	}
	n := bits.Len64(m) - 1
	top := m << uint(63-n)
	i := 2*(n-fine) + 1
	// Which half of an octave, and which sign, no processor can foretell.
	begin, slope := uint64(1<<63), uint64(158217) // 65536/(sqrt 2-1) = 158218
	_, below := bits.Sub64(top, rootTwo, 0)
	upper := below - 1 // all ones or zero
	begin += upper & (rootTwo - 1<<63)
	slope -= upper & (158217 - 111893) // 65536/(2-sqrt 2) = 111885
	i += int(upper & 1)
	part := (top - begin) >> 32 * slope >> 31 // of the half octave, of 65536
	var mag uint64
	if i >= reach {
		mag = uint64(x.sum[reach] - x.center)
	} else {
		mag = uint64(x.sum[i]-x.center) + (uint64(x.sum[i+1]-x.sum[i])*min(part, 1<<16))>>16
	}
	minus := v >> 63 // all ones or zero
	share := x.above ^ uint64(minus) + uint64(minus)&(1<<16+1)
	return int64(x.under) + int64(x.center)&^minus + (int64(mag*share>>16) ^ minus - minus)
}

// opinion returns the logit of a share of some mass.
func opinion(yes, no int64) int32 {
	return min(max(logarithm(yes)-logarithm(no), -opinionMost), opinionMost)
}

const opinionMost = 23000

// logarithm returns ln(v) in units of 1/2048.
func logarithm(v int64) int32 {
	u := uint64(max(v, 0)) + 1
	n := bits.Len64(u) - 1
	return logTable[u<<uint(63-n)>>(63-logBits)&(1<<logBits-1)] + int32(n*90852>>6)
}

const logBits = 8

// logTable holds ln(1 + (i+1/2)/256) in units of 1/2048.
var logTable = func() (t [1 << logBits]int32) {
	for i := range t {
		// Exact in integers: Log2 is in units of 1/65536.
		v := uint32(1<<(logBits+1) + 2*i + 1)
		log2 := rangecoder.Log2(v) - (logBits+1)<<16
		t[i] = int32(log2 * 1420 >> 16)
	}
	return t
}()

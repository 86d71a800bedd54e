package states

import (
	"math/bits"
	"sync"

	"wirelab/encoders/rangecoder"
)

// errorDist is the distribution of the errors of predictors of one sort, in half octaves of
// their magnitude. Books hold it in this order.
type errorDist struct {
	Count [maxOctave]uint16 // the first is of errors next to none
	Above uint16            // share of positive errors, of 65536
	Total uint16
}

const (
	maxOctave  = 62 // half octaves
	errorCount = 32 // the count of one error
	maxTotal   = 1 << 13
)

func newErrorDist() (e errorDist) {
	rangecoder.Fill(e.Count[:], 1)
	e.Count[0] = 8
	e.Total = maxOctave + 7
	e.Above = 1 << 15
	return e
}

// add counts an error. Errors below 2^fine count as none. A third of the count goes to the
// neighbouring half octaves; at maxTotal all counts are halved.
func (e *errorDist) add(by int64, fine int) {
	at := 0
	if m := uint64(magnitude(by)); m>>uint(fine) != 0 {
		at = min(halfOctaves(m)-2*fine+1, maxOctave-1)
	}
	if at == 0 {
		e.Count[0] += errorCount
	} else {
		e.Count[at] += errorCount - 2*(errorCount/6)
		e.Count[at-1] += errorCount / 6
		e.Count[min(at+1, maxOctave-1)] += errorCount / 6
		if by > 0 {
			e.Above += (1<<16 - 1 - e.Above) >> 5
		} else {
			e.Above -= e.Above >> 5
		}
	}
	e.Total += errorCount
	if e.Total < maxTotal {
		return
	}
	e.Total = 0
	for i, c := range e.Count {
		e.Count[i] = max(c-c/2, 1)
		e.Total += e.Count[i]
	}
}

// A predictor predicts a number: at up to maxPlaces places, with the distribution of the errors
// that such predictors made so far. It answers each binary decision on the way to the number
// with the ratio of the masses of both outcomes.
type predictor struct {
	at     [maxPlaces]int64
	weight [maxPlaces]uint32 // of 256
	places int
	lane   int // which of a number's predictors it is, and its input of the mixer
	errors *errorDist

	// Of the distribution, scaled to a sum of 1<<24.
	sum    [maxOctave + 1]uint32 // of the half octaves below each
	center uint32                // mass of errors next to none
	under  uint32                // mass of negative errors
	above  uint64                // share of positive errors, of 65536

	// Masses while a number is coded.
	low, high int64 // below the begin and the end of the values that are still possible
	last      int64 // below the value of the last decision
	first     int64 // below the end of the first guess
}

const (
	scaledTotal = 1 << 24
	maxPlaces   = 4
)

// predictorList are the predictors of a number.
type predictorList struct {
	all    [rangecoder.MaxPredictors]predictor
	n      int
	errors []errorDist
	key    uint32 // of error distributions
	turn   int64  // values wrap at it; 0 if they do not
}

// list returns the predictors.
func (l *predictorList) list() []predictor { return l.all[:l.n] }

// add adds a predictor of one place. extra selects its error distribution, with the lane.
func (l *predictorList) add(lane int, extra uint32, at int64) *predictor {
	p := &l.all[l.n]
	l.n++
	p.lane, p.places = lane, 1
	p.at[0] = min(max(at, -maxPlace), maxPlace)
	p.errors = &l.errors[rangecoder.Hash(l.key|uint32(lane), extra, 3, 0)>>(32-errorBits)]
	return p
}

// addPoint adds a predictor of a place, and where values wrap of the same one turn away.
func (l *predictorList) addPoint(lane int, extra uint32, at int64) {
	p := l.add(lane, extra, at)
	if l.turn == 0 {
		return
	}
	p.places = 2
	p.at[1] = p.at[0] - l.turn
	if at < 0 {
		p.at[1] = p.at[0] + l.turn
	}
	p.weight[0], p.weight[1] = 232, 24
}

// prepare computes the scaled distribution.
func (p *predictor) prepare() {
	scale := uint32(scaledTotal) / uint32(p.errors.Total)
	sum := uint32(0)
	for i, c := range p.errors.Count {
		p.sum[i] = sum
		sum += uint32(c) * scale
	}
	p.sum[maxOctave] = sum
	p.center = p.sum[1]
	p.above = uint64(p.errors.Above)
	p.under = uint32(uint64(sum-p.center) * (1<<16 - p.above) >> 16)
	p.low, p.high = 0, int64(sum)
}

// mass returns the mass below a value.
func (p *predictor) mass(v int64, fine int) int64 {
	if p.places == 1 {
		return p.errorMass(v-p.at[0], fine)
	}
	sum := int64(0)
	for i := range p.places {
		sum += p.errorMass(v-p.at[i], fine) * int64(p.weight[i])
	}
	return sum >> 8
}

// errorMass returns the mass of errors below v, interpolated linearly within a half octave.
func (p *predictor) errorMass(v int64, fine int) int64 {
	minus := v >> 63 // all ones or zero
	m := uint64(v ^ minus - minus)
	if m>>uint(fine) == 0 {
		return int64(p.under) + (int64(p.center)*(v+1<<uint(fine)))>>uint(fine+1)
	}
	n := bits.Len64(m) - 1
	top := m << uint(63-n)
	i := 2*(n-fine) + 1
	// Without branches, because processors cannot predict the half of an octave and the sign.
	begin, slope := uint64(1<<63), uint64(158217) // 65536/(sqrt 2-1) = 158218
	_, below := bits.Sub64(top, rootTwo, 0)
	upper := below - 1 // all ones or zero
	begin += upper & (rootTwo - 1<<63)
	slope -= upper & (158217 - 111893) // 65536/(2-sqrt 2) = 111885
	i += int(upper & 1)
	part := (top - begin) >> 32 * slope >> 31 // of the half octave, of 65536
	var mag uint64
	if i >= maxOctave {
		mag = uint64(p.sum[maxOctave] - p.center)
	} else {
		mag = uint64(p.sum[i]-p.center) + (uint64(p.sum[i+1]-p.sum[i])*min(part, 1<<16))>>16
	}
	share := p.above ^ uint64(minus) + uint64(minus)&(1<<16+1)
	return int64(p.under) + int64(p.center)&^minus + (int64(mag*share>>16) ^ minus - minus)
}

// logOdds returns the logit of a decision with these masses of 1 and 0.
func (l *logarithms) logOdds(yes, no int64) int32 {
	return min(max(l.ln(yes)-l.ln(no), -maxLogOdds), maxLogOdds)
}

const maxLogOdds = 23000

// ln returns ln(v+1) in units of 1/2048.
func (l *logarithms) ln(v int64) int32 {
	u := uint64(max(v, 0)) + 1
	n := bits.Len64(u) - 1
	return l[u<<uint(63-n)>>(63-logBits)&(1<<logBits-1)] + int32(n*90852>>6) // 2048*64*ln(2)
}

const logBits = 8

// logarithms holds ln(1 + (i+1/2)/256) in units of 1/2048.
type logarithms [1 << logBits]int32

var logTable = sync.OnceValue(func() *logarithms {
	t := new(logarithms)
	for i := range t {
		v := uint32(1<<(logBits+1) + 2*i + 1)
		log2 := rangecoder.Log2(v) - (logBits+1)<<16 // in units of 1/65536
		t[i] = int32(log2 * 1420 >> 16)              // 2048*ln(2)
	}
	return t
})

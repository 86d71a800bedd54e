package rpc

import (
	"math"
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
)

// Ways to predict a field.
const (
	previous  = iota // the value before
	byRate           // extrapolated by its rate of change
	byHistory        // as it went on until the baseline
	ways
)

// farthest is the largest residual in tenths that is coded as one; beyond, the
// float goes as it is.
const farthest = 1 << 24

// codeFloat codes a float: the residual in tenths, or its bits where that makes no
// sense.
func (x *adaptive) codeFloat(i int, f, base *frame.Frame, m *memo, e *elapsed) {
	fm := &m.numbers[x.cols[i].place]
	was := float64(float(base.Table[i]))
	guesses := [ways]float64{was, was, float64(fm.slope*float64(e.ticks)) + was}
	if r := x.rates[i]; r >= 0 {
		mean := float64((float64(float(base.Table[r])) + float64(float(f.Table[r]))) * 0.5)
		guesses[byRate] = float64(mean*e.seconds) + was
	}
	guess := guesses[fm.best()]
	var tenths int32
	plain := 0
	if !x.c.Reading() {
		var ok bool
		tenths, ok = residual(float64(float(f.Table[i])), guess)
		if !ok {
			plain = 1
		}
	}
	plain = fm.plain.Code(&x.c, plain, slowLimit)
	if plain != 0 {
		f.Table[i] = int32(uint32(x.c.Direct(uint64(uint32(f.Table[i])), 32)))
		fm.slope = 0
		return
	}
	tenths = x.codeNumber(fm, tenths)
	v := float32(guess + float64(float64(tenths)/quantum))
	f.Table[i] = int32(math.Float32bits(v))
	for w, g := range guesses {
		fm.recordError(w, math.Abs(float64(v)-g)*quantum)
	}
	fm.recordChange(float64(v)-was, e.ticks)
}

// residual returns v less guess in tenths, rounded.
func residual(v, guess float64) (tenths int32, ok bool) {
	d := math.Floor(float64((v-guess)*quantum) + 0.5)
	if !(d > -farthest && d < farthest) {
		return 0, false
	}
	return int32(d), true
}

// codeWhole codes a field that is no float.
func (x *adaptive) codeWhole(i int, f, base *frame.Frame, m *memo, e *elapsed) error {
	col := &x.cols[i]
	now, was := col.Raw(f.Table[i]), col.Raw(base.Table[i])
	if column.IsNumber(x.schema.Fields[i].Kind) {
		now = x.codeQuantity(&m.numbers[col.place], now, was, e)
	} else {
		now = x.codeSymbol(&m.symbols[col.place], col, now, was)
	}
	if now > col.Span {
		return outOfRange(x.schema, i)
	}
	f.Table[i] = col.Value(now)
	if i == x.clock {
		e.seconds = float64(float64(int32(now-was)) / 1e6)
	}
	return nil
}

// codeQuantity codes a number by its residual, modulo 2^32.
func (x *adaptive) codeQuantity(fm *numberMemo, now, was uint32, e *elapsed) uint32 {
	step := float64(fm.slope * float64(e.ticks))
	if !(step > -1<<31 && step < 1<<31) {
		step = 0
	}
	guesses := [ways]uint32{was, was, was + uint32(int32(math.Floor(step)))}
	guess := guesses[fm.best()]
	d := int32(now - guess)
	plain := 0
	if d == math.MinInt32 { // has no magnitude
		plain = 1
	}
	plain = fm.plain.Code(&x.c, plain, slowLimit)
	if plain != 0 {
		now = uint32(x.c.Direct(uint64(now), 32))
	} else {
		now = guess + uint32(x.codeNumber(fm, d))
	}
	for w, g := range guesses {
		fm.recordError(w, math.Abs(float64(int32(now-g))))
	}
	fm.recordChange(float64(int32(now-was)), e.ticks)
	return now
}

// codeSymbol codes a value that either is what it was, or is something else.
func (x *adaptive) codeSymbol(sm *symbolMemo, col *field, now, was uint32) uint32 {
	stays := &sm.stays[min(was, 1)][sm.moved]
	sm.moved = 0
	if stays.Code(&x.c, bit(now == was), fastLimit) != 0 {
		return was
	}
	sm.moved = 1
	if col.Span == 1 {
		return 1 - was
	}
	return uint32(x.c.Direct(uint64(now), col.Width))
}

// codeNumber codes a residual: how many bits its magnitude has, in the context of
// how many the last one had; its sign; the two bits below the leading one if it is not
// a long one; the rest as it is.
func (x *adaptive) codeNumber(fm *numberMemo, v int32) int32 {
	n := uint32(bits.Len32(uint32(max(v, -v))))
	n = x.codeLength(fm, n)
	fm.class = classOf(n)
	if n == 0 {
		return 0
	}
	negative := fm.sign.Code(&x.c, bit(v < 0), fastLimit)
	magnitude, left := uint32(max(v, -v)), uint(n-1)
	top := uint32(1)
	learnt := uint(0)
	if n <= shaped {
		learnt = min(left, 2)
	}
	for range learnt {
		left--
		top = top<<1 | uint32(fm.top[n][top&3].Code(&x.c, int(magnitude>>left&1), slowLimit))
	}
	magnitude = top<<left | uint32(x.c.Direct(uint64(magnitude&(1<<left-1)), left))
	if negative != 0 {
		return -int32(magnitude)
	}
	return int32(magnitude)
}

// codeLength codes a number of bits, 0..31, in unary up from nothing.
func (x *adaptive) codeLength(fm *numberMemo, n uint32) uint32 {
	ladder := &fm.length[fm.class]
	for at := range uint32(longest) {
		if ladder[at].Code(&x.c, bit(n > at), fastLimit) == 0 {
			return at
		}
	}
	return longest
}

func bit(v bool) int {
	if v {
		return 1
	}
	return 0
}

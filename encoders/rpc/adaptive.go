package rpc

import (
	"math"
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/column"
	"wirelab/encoders/rangecoder"
)

// Adaptive predicts every field and range-codes the residuals with models that adapt
// along the chain of baselines. From the schema it takes the kinds of the fields, and by
// their units which field is the rate of change of another.
func Adaptive() encoders.Codec {
	return encoders.Codec{
		ID: 26, Name: "rpc-adaptive", Refs: 1, Quantises: true, Suits: suits,
		Summary: "each field predicted from its rate of change, the rest range-coded by models learnt on the way",
		Source:  "own, on the workload of " + source,
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			return newAdaptive(s), newAdaptive(s), nil
		},
	}
}

// adaptive is either end: one pass over the fields serves both directions.
type adaptive struct {
	schema *frame.Schema
	cols   []field
	order  []int // fields, rates of change before their fields
	rates  []int // field -> the field that is its rate of change, -1 if none
	clock  int   // the field of the time, -1 if none
	start  *memo
	zero   float64 // seconds between two ticks, where no field tells the time

	c      rangecoder.Coder
	b      *encoders.Budget
	before int64 // spent until the field at hand
}

func newAdaptive(s *frame.Schema) *adaptive {
	x := &adaptive{schema: s, cols: columns(s), clock: -1, zero: 1 / float64(max(s.TickHz, 1))}
	x.rates = rates(s)
	for i, f := range s.Fields {
		if f.Unit == "us" && !x.cols[i].float {
			x.clock = i
			break
		}
	}
	x.order = sequence(len(s.Fields), x.clock, x.rates)
	numbers := 0
	for _, f := range s.Fields {
		if column.IsNumber(f.Kind) {
			numbers++
		}
	}
	x.start = newMemo(numbers, len(s.Fields)-numbers)
	return x
}

// Encode implements encoders.Encoder.
func (x *adaptive) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := check(x.schema, x.cols, cur); err != nil {
		return dst, nil, err
	}
	total, start := b.Total(), len(dst)
	x.c.Write(dst)
	x.b = b
	m, err := x.code(cur, &refs[0], spare)
	if err != nil {
		panic("rpc: a writer read something: " + err.Error())
	}
	dst = x.c.Finish()
	b.Close(total, len(dst)-start)
	return dst, m, nil
}

// Decode implements encoders.Decoder.
func (x *adaptive) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	x.c.Read(src)
	x.b = nil
	dst.Body = dst.Body[:0]
	m, err := x.code(dst, &refs[0], spare)
	if err != nil {
		return nil, err
	}
	if err := ended(x.c.Close(), rangecoder.ErrShort); err != nil {
		return nil, err
	}
	return m, nil
}

// code passes over the fields: a writer rewrites the floats of f to what a reader
// will find, a reader fills f.
func (x *adaptive) code(f *frame.Frame, ref *encoders.Ref, spare encoders.Memo) (*memo, error) {
	m, _ := spare.(*memo)
	if m == nil {
		m = &memo{make([]numberMemo, len(x.start.numbers)), make([]symbolMemo, len(x.start.symbols))} // copied over in a moment
	}
	old, _ := ref.Memo.(*memo)
	if old == nil {
		old = x.start
	}
	copy(m.numbers, old.numbers)
	copy(m.symbols, old.symbols)
	x.before = x.c.Spent()
	e := elapsed{ticks: int64(int32(f.Tick - ref.Frame.Tick)), seconds: 0}
	e.seconds = float64(float64(e.ticks) * x.zero)
	for _, i := range x.order {
		var err error
		if x.cols[i].float {
			x.codeFloat(i, f, ref.Frame, m, &e)
		} else {
			err = x.codeWhole(i, f, ref.Frame, m, &e)
		}
		if err != nil {
			return nil, err
		}
		x.charge(i)
	}
	return m, nil
}

// elapsed is the time between a call and its baseline.
type elapsed struct {
	ticks   int64
	seconds float64
}

// charge accounts for field i.
func (x *adaptive) charge(i int) {
	if x.b == nil {
		return
	}
	spent := x.c.Spent()
	x.b.Charge(encoders.FieldSlot(i), spent-x.before)
	x.before = spent
}

// rates finds, for each float field, the one that is its rate of change: the same
// place among the fields whose unit is its own a second, as cm/s is of cm.
func rates(s *frame.Schema) []int {
	list := make([]int, len(s.Fields))
	for i, f := range s.Fields {
		list[i] = -1
		if f.Kind != frame.Float32 || f.Unit == "" {
			continue
		}
		place := among(s, i, f.Unit)
		for j, g := range s.Fields {
			if g.Kind == frame.Float32 && g.Unit == f.Unit+"/s" && among(s, j, g.Unit) == place {
				list[i] = j
				break
			}
		}
	}
	return list
}

// among returns how many fields before i have the unit.
func among(s *frame.Schema, i int, unit string) int {
	n := 0
	for _, f := range s.Fields[:i] {
		if f.Kind == frame.Float32 && f.Unit == unit {
			n++
		}
	}
	return n
}

// sequence orders the fields: the clock, then every field after its rate of change.
// Units grow by "/s" along such a chain, so that it ends.
func sequence(n, clock int, rates []int) []int {
	var order []int
	done := make([]bool, n)
	var visit func(i int)
	visit = func(i int) {
		if i < 0 || done[i] {
			return
		}
		done[i] = true
		visit(rates[i])
		order = append(order, i)
	}
	visit(clock)
	for i := range n {
		visit(i)
	}
	return order
}

// Ways to predict a field.
const (
	previous  = iota // the value before
	byRate           // extrapolated by its rate of change
	byHistory        // as it went on until the baseline
	ways
)

// farthest is the largest residual in tenths that is coded as one; beyond, the
// float is sent as its bits.
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
	if stays.Code(&x.c, rangecoder.Flag(now == was), fastLimit) != 0 {
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
// a long one; the rest directly.
func (x *adaptive) codeNumber(fm *numberMemo, v int32) int32 {
	n := uint32(bits.Len32(uint32(max(v, -v))))
	n = x.codeLength(fm, n)
	fm.class = classOf(n)
	if n == 0 {
		return 0
	}
	negative := fm.sign.Code(&x.c, rangecoder.Flag(v < 0), fastLimit)
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
		if ladder[at].Code(&x.c, rangecoder.Flag(n > at), fastLimit) == 0 {
			return at
		}
	}
	return longest
}

// How many decisions a model averages over in the end: few where players change
// their minds.
const (
	fastLimit = 60
	slowLimit = 250

	longest = 31 // bits of a magnitude
	shaped  = 12 // bits up to which the ones below the highest are learnt
	classes = 4  // of how long the last residual was
)

// memo is the adaptive state along the chain of baselines. Every call of the history has
// one, and every call begins with a copy, so it is small: 12 kB for the workload.
type memo struct {
	numbers []numberMemo
	symbols []symbolMemo
}

// numberMemo is the state of a numeric field.
type numberMemo struct {
	length [classes][longest]rangecoder.Counter
	top    [shaped + 1][4]rangecoder.Counter
	sign   rangecoder.Counter
	plain  rangecoder.Counter
	class  uint8
	errors [ways]float64 // how far off each way of predicting was lately
	slope  float64       // change a tick until now
}

// symbolMemo is the state of a field that either keeps its value or gets another.
// Contexts are whether it was zero and whether it changed last time.
type symbolMemo struct {
	stays [2][2]rangecoder.Counter
	moved uint8
}

func newMemo(numbers, symbols int) *memo {
	m := &memo{numbers: make([]numberMemo, numbers), symbols: make([]symbolMemo, symbols)}
	even := rangecoder.NewCounter(rangecoder.One/2, 0)
	for i := range m.numbers {
		f := &m.numbers[i]
		for c := range f.length {
			rangecoder.Fill(f.length[c][:], rangecoder.NewCounter(rangecoder.One*3/4, 1))
		}
		for n := range f.top {
			rangecoder.Fill(f.top[n][:], even)
		}
		f.sign = even
		f.plain = rangecoder.NewCounter(rangecoder.One/1024, 20)
	}
	for i := range m.symbols {
		for s := range m.symbols[i].stays {
			rangecoder.Fill(m.symbols[i].stays[s][:], rangecoder.NewCounter(rangecoder.One*15/16, 2))
		}
	}
	return m
}

// best returns the predictor with the least error.
func (f *numberMemo) best() int {
	best := 0
	for w, e := range f.errors {
		if e < f.errors[best] {
			best = w
		}
	}
	return best
}

// recordError updates the mean error of a predictor. Large errors are clipped.
func (f *numberMemo) recordError(way int, off float64) {
	if !(off < 1<<16) {
		off = 1 << 16
	}
	f.errors[way] += float64((off - f.errors[way]) * 0.125)
}

// recordChange stores the rate of change from a change over some ticks.
func (f *numberMemo) recordChange(change float64, ticks int64) {
	if ticks <= 0 || !(change > -1<<40 && change < 1<<40) {
		f.slope = 0
		return
	}
	f.slope = change / float64(ticks)
}

// classOf groups lengths, as contexts for the next one.
func classOf(n uint32) uint8 {
	switch {
	case n == 0:
		return 0
	case n <= 3:
		return 1
	case n <= 7:
		return 2
	}
	return 3
}

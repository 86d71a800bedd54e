package rpc

import (
	"math"
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/column"
	"wirelab/encoders/rangecoder"
)

// Adaptive returns the codec rpc-adaptive. It predicts every field and range-codes the residuals
// with models that adapt along the chain of baselines. It derives from the units of the fields
// which field is the rate of change of another: cm/s is the rate of cm. A packet holds the fields
// in the order of orderFields.
func Adaptive() encoders.Codec {
	return encoders.Codec{
		ID: 26, Name: "rpc-adaptive", Refs: 1, Quantises: true, Suits: suits,
		Summary: "each field predicted from its rate of change, residuals range-coded with adaptive models",
		Source:  "own, for the workload of " + source,
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			return newAdaptive(s), newAdaptive(s), nil
		},
	}
}

// An adaptive is an encoder or a decoder: one traversal of the fields serves both.
type adaptive struct {
	schema      *frame.Schema
	fields      []field
	codingOrder []int   // all fields, rates of change before their fields
	rateField   []int   // by field: the field that is its rate of change; -1 if none
	timeField   int     // the field of the time; -1 if none
	initial     *memo   // memo for a baseline that has none
	tickSeconds float64 // seconds between two ticks; used if there is no time field

	coder   rangecoder.Coder
	budget  *encoders.Budget // budget of the current call; may be nil
	charged int64            // coder.Spent at the last charge
}

// newAdaptive returns an encoder or a decoder. The time field is the first integer field with the
// unit us.
func newAdaptive(s *frame.Schema) *adaptive {
	x := &adaptive{schema: s, fields: describeFields(s), timeField: -1, tickSeconds: 1 / float64(max(s.TickHz, 1))}
	x.rateField = findRates(s)
	for i, f := range s.Fields {
		if f.Unit == "us" && !x.fields[i].isFloat {
			x.timeField = i
			break
		}
	}
	x.codingOrder = orderFields(len(s.Fields), x.timeField, x.rateField)
	numbers := 0
	for _, f := range s.Fields {
		if column.IsNumber(f.Kind) {
			numbers++
		}
	}
	x.initial = newMemo(numbers, len(s.Fields)-numbers)
	return x
}

func (x *adaptive) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo,
	b *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := checkCall(x.schema, x.fields, cur); err != nil {
		return dst, nil, err
	}
	total, start := b.Total(), len(dst)
	x.coder.Write(dst)
	x.budget = b
	b.SetRow(0)
	if t := b.Tracing(); t != nil {
		t.Arithmetic = true
	}
	m, err := x.codeCall(cur, &refs[0], spare)
	if err != nil {
		panic("rpc: error while encoding: " + err.Error()) // errors come only from decoded values
	}
	dst = x.coder.Finish()
	b.Close(total, len(dst)-start)
	return dst, m, nil
}

func (x *adaptive) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	x.coder.Read(src)
	x.budget = nil
	dst.Body = dst.Body[:0]
	m, err := x.codeCall(dst, &refs[0], spare)
	if err != nil {
		return nil, err
	}
	if err := wrapReadError(x.coder.Close(), rangecoder.ErrShort); err != nil {
		return nil, err
	}
	return m, nil
}

// codeCall codes all fields of the call f against ref and returns the memo of f, which uses the memory of
// spare if that is a memo. The encoder replaces the floats of f by the values that the decoder will have; the
// decoder sets all fields.
func (x *adaptive) codeCall(f *frame.Frame, ref *encoders.Ref, spare encoders.Memo) (*memo, error) {
	m, _ := spare.(*memo)
	if m == nil {
		m = &memo{make([]numberMemo, len(x.initial.numbers)), make([]symbolMemo, len(x.initial.symbols))} // overwritten below
	}
	old, _ := ref.Memo.(*memo)
	if old == nil {
		old = x.initial
	}
	copy(m.numbers, old.numbers)
	copy(m.symbols, old.symbols)
	x.charged = x.coder.Spent()
	e := elapsed{ticks: int64(int32(f.Tick - ref.Frame.Tick)), seconds: 0}
	e.seconds = float64(float64(e.ticks) * x.tickSeconds) // codeInteger replaces it if there is a time field
	for _, i := range x.codingOrder {
		var err error
		if x.fields[i].isFloat {
			x.codeFloat(i, f, ref.Frame, m, &e)
		} else {
			err = x.codeInteger(i, f, ref.Frame, m, &e)
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

// charge charges the bits since the last charge to field i.
func (x *adaptive) charge(i int) {
	if x.budget == nil {
		return
	}
	spent := x.coder.Spent()
	x.budget.Charge(encoders.FieldSlot(i), spent-x.charged)
	x.charged = spent
}

// findRates returns, for each field, the field that is its rate of change; -1 if none. The n-th
// float with unit U has the n-th float with unit U/s as its rate.
func findRates(s *frame.Schema) []int {
	list := make([]int, len(s.Fields))
	for i, f := range s.Fields {
		list[i] = -1
		if f.Kind != frame.Float32 || f.Unit == "" {
			continue
		}
		index := countUnit(s, i, f.Unit)
		for j, g := range s.Fields {
			if g.Kind == frame.Float32 && g.Unit == f.Unit+"/s" && countUnit(s, j, g.Unit) == index {
				list[i] = j
				break
			}
		}
	}
	return list
}

// countUnit returns the number of float fields before field i that have the given unit.
func countUnit(s *frame.Schema, i int, unit string) int {
	n := 0
	for _, f := range s.Fields[:i] {
		if f.Kind == frame.Float32 && f.Unit == unit {
			n++
		}
	}
	return n
}

// orderFields orders n fields: the clock first, if any, and every field after its rate of change.
// Units grow by "/s" along a chain of rates, so the recursion ends.
func orderFields(n, clock int, rates []int) []int {
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

// The predictors of a field.
const (
	unchanged = iota // the value in the baseline
	byRate           // extrapolated with its rate of change
	byHistory        // extrapolated with its change before the baseline
	predictors
)

// maxResidual bounds residuals, in steps. A float with a larger residual is sent as 32 bits.
const maxResidual = 1 << 24

// codeFloat codes field i of f, a float, against base: a flag whether it is sent as 32 bits, and then these or
// the residual of a prediction, in steps of 1/10. It stores the value that the decoder gets in f and updates m,
// the memo of f. e is the time from base to f.
func (x *adaptive) codeFloat(i int, f, base *frame.Frame, m *memo, e *elapsed) {
	state := &m.numbers[x.fields[i].memoIndex]
	old := float64(float(base.Table[i]))
	guesses := [predictors]float64{unchanged: old, byRate: old, byHistory: float64(state.slope*float64(e.ticks)) + old}
	if r := x.rateField[i]; r >= 0 {
		mean := float64((float64(float(base.Table[r])) + float64(float(f.Table[r]))) * 0.5)
		guesses[byRate] = float64(mean*e.seconds) + old
	}
	guess := guesses[state.best()]
	var steps int32 // the residual
	direct := 0     // 1 if the float is sent as 32 bits
	if !x.coder.Reading() {
		var ok bool
		steps, ok = quantizeResidual(float64(float(f.Table[i])), guess)
		if !ok {
			direct = 1
		}
	}
	direct = state.raw.Code(&x.coder, direct, slowLimit)
	if direct != 0 {
		f.Table[i] = int32(uint32(x.coder.Direct(uint64(uint32(f.Table[i])), 32)))
		state.slope = 0
		return
	}
	steps = x.codeNumber(state, steps)
	v := float32(guess + float64(float64(steps)/stepsPerUnit))
	f.Table[i] = int32(math.Float32bits(v))
	for predictor, g := range guesses {
		state.recordError(predictor, math.Abs(float64(v)-g)*stepsPerUnit)
	}
	state.recordChange(float64(v)-old, e.ticks)
}

// quantizeResidual returns v minus guess in steps, rounded; ok is false if that is out of range or
// NaN.
func quantizeResidual(v, guess float64) (steps int32, ok bool) {
	d := math.Floor(float64((v-guess)*stepsPerUnit) + 0.5)
	if !(d > -maxResidual && d < maxResidual) {
		return 0, false
	}
	return int32(d), true
}

// codeInteger codes field i of f, which is not a float, against base, and updates m, the memo of f. e is the
// time from base to f; for the time field, which is coded first, codeInteger sets e.seconds. It returns an
// error if a decoded value is out of range.
func (x *adaptive) codeInteger(i int, f, base *frame.Frame, m *memo, e *elapsed) error {
	col := &x.fields[i]
	raw, old := col.Raw(f.Table[i]), col.Raw(base.Table[i])
	if column.IsNumber(x.schema.Fields[i].Kind) {
		raw = x.codeQuantity(&m.numbers[col.memoIndex], raw, old, e)
	} else {
		raw = x.codeSymbol(&m.symbols[col.memoIndex], col, raw, old)
	}
	if raw > col.Span {
		return rangeError(x.schema, i)
	}
	f.Table[i] = col.FromRaw(raw)
	if i == x.timeField {
		e.seconds = float64(float64(int32(raw-old)) / 1e6) // the field is in microseconds
	}
	return nil
}

// codeQuantity codes and returns raw, a number relative to the field's minimum, as the residual of a
// prediction modulo 2^32. The residual -2^31, whose magnitude does not fit, is replaced by the 32 bits of the
// number. old is the baseline's number, e the time since the baseline; state is updated.
func (x *adaptive) codeQuantity(state *numberMemo, raw, old uint32, e *elapsed) uint32 {
	step := float64(state.slope * float64(e.ticks))
	if !(step > -1<<31 && step < 1<<31) {
		step = 0
	}
	// Numbers have no field with their rate of change, so byRate is the same as unchanged.
	guesses := [predictors]uint32{unchanged: old, byRate: old, byHistory: old + uint32(int32(math.Floor(step)))}
	guess := guesses[state.best()]
	d := int32(raw - guess)
	direct := 0
	if d == math.MinInt32 { // the magnitude of the residual does not fit an int32
		direct = 1
	}
	direct = state.raw.Code(&x.coder, direct, slowLimit)
	if direct != 0 {
		raw = uint32(x.coder.Direct(uint64(raw), 32))
	} else {
		raw = guess + uint32(x.codeNumber(state, d))
	}
	for predictor, g := range guesses {
		state.recordError(predictor, math.Abs(float64(int32(raw-g))))
	}
	state.recordChange(float64(int32(raw-old)), e.ticks)
	return raw
}

// codeSymbol codes and returns raw, the value of an enum, a flag or bits relative to the field's minimum: a
// flag whether it equals old, the value in the baseline, and the value if not.
func (x *adaptive) codeSymbol(state *symbolMemo, col *field, raw, old uint32) uint32 {
	counter := &state.unchanged[min(old, 1)][state.changed]
	state.changed = 0
	if counter.Code(&x.coder, rangecoder.Flag(raw == old), fastLimit) != 0 {
		return old
	}
	state.changed = 1
	if col.Span == 1 {
		return 1 - old
	}
	return uint32(x.coder.Direct(uint64(raw), col.Width))
}

// codeNumber codes and returns the residual v: the length of its magnitude in bits, in the context of the last
// length; its sign; the two bits below the highest, with models unless the magnitude is long; and
// the rest directly.
func (x *adaptive) codeNumber(state *numberMemo, v int32) int32 {
	length := uint32(bits.Len32(uint32(max(v, -v))))
	length = x.codeLength(state, length)
	state.lengthClass = classifyLength(length)
	if length == 0 {
		return 0
	}
	negative := state.sign.Code(&x.coder, rangecoder.Flag(v < 0), fastLimit)
	magnitude, bitsLeft := uint32(max(v, -v)), uint(length-1)
	known := uint32(1)
	modelled := uint(0)
	if length <= maxModelledLength {
		modelled = min(bitsLeft, 2)
	}
	for range modelled {
		bitsLeft--
		known = known<<1 | uint32(state.topBits[length][known&3].Code(&x.coder, int(magnitude>>bitsLeft&1), slowLimit))
	}
	magnitude = known<<bitsLeft | uint32(x.coder.Direct(uint64(magnitude&(1<<bitsLeft-1)), bitsLeft))
	if negative != 0 {
		return -int32(magnitude)
	}
	return int32(magnitude)
}

// codeLength codes a length of 0..31 bits in unary: for each smaller length whether n is greater.
func (x *adaptive) codeLength(state *numberMemo, n uint32) uint32 {
	counters := &state.length[state.lengthClass]
	for length := range uint32(maxLength) {
		if counters[length].Code(&x.coder, rangecoder.Flag(n > length), fastLimit) == 0 {
			return length
		}
	}
	return maxLength
}

// Limits of rangecoder.Counter.Update: the number of decisions that a probability averages. Lengths,
// signs and changes depend on the player, so they adapt fast.
const (
	fastLimit = 60
	slowLimit = 250

	maxLength         = 31 // bits of a magnitude
	maxModelledLength = 12 // up to this length the bits below the highest have models
	lengthClasses     = 4  // classes of the last residual's length
)

// A memo is the adaptive state after a call. Every call of the history has one, and encoding a call
// starts with a copy, so it is small: 12 kB for the workload.
type memo struct {
	numbers []numberMemo // state of the numeric fields, by field.memoIndex
	symbols []symbolMemo // state of the other fields, by field.memoIndex
}

// A numberMemo is the state of a numeric field.
type numberMemo struct {
	length      [lengthClasses][maxLength]rangecoder.Counter // is the length greater than this? by class of the last length
	topBits     [maxModelledLength + 1][4]rangecoder.Counter // models of the two bits below the highest
	sign        rangecoder.Counter
	raw         rangecoder.Counter  // is the value sent as 32 bits?
	lengthClass uint8               // class of the last residual's length
	meanErrors  [predictors]float64 // recent mean error, by predictor
	slope       float64             // change per tick, up to the baseline
}

// A symbolMemo is the state of a field whose differences mean nothing.
type symbolMemo struct {
	unchanged [2][2]rangecoder.Counter // is the value unchanged? by whether it was zero and whether it changed last time
	changed   uint8                    // 1 if the value changed last time
}

// newMemo returns the initial memo of a schema with the given numbers of numeric fields and other
// fields.
func newMemo(numbers, symbols int) *memo {
	m := &memo{numbers: make([]numberMemo, numbers), symbols: make([]symbolMemo, symbols)}
	even := rangecoder.NewCounter(rangecoder.One/2, 0) // probability 1/2, as if never updated
	for i := range m.numbers {
		f := &m.numbers[i]
		for c := range f.length {
			rangecoder.Fill(f.length[c][:], rangecoder.NewCounter(rangecoder.One*3/4, 1)) // likely: the length is greater
		}
		for n := range f.topBits {
			rangecoder.Fill(f.topBits[n][:], even)
		}
		f.sign = even
		f.raw = rangecoder.NewCounter(rangecoder.One/1024, 20) // a rare flag; as if updated 20 times, so it adapts slowly
	}
	for i := range m.symbols {
		for s := range m.symbols[i].unchanged {
			rangecoder.Fill(m.symbols[i].unchanged[s][:], rangecoder.NewCounter(rangecoder.One*15/16, 2)) // nearly always unchanged
		}
	}
	return m
}

// best returns the predictor whose recent mean error is smallest.
func (f *numberMemo) best() int {
	best := 0
	for predictor, e := range f.meanErrors {
		if e < f.meanErrors[best] {
			best = predictor
		}
	}
	return best
}

// recordError updates the recent mean error of a predictor. Large errors are clipped.
func (f *numberMemo) recordError(predictor int, err float64) {
	if !(err < 1<<16) { // also NaN
		err = 1 << 16
	}
	f.meanErrors[predictor] += float64((err - f.meanErrors[predictor]) * 0.125)
}

// recordChange sets the slope, the change per tick, from a change over a number of ticks: 0 if the ticks did
// not increase or the change is not plausible.
func (f *numberMemo) recordChange(change float64, ticks int64) {
	if ticks <= 0 || !(change > -1<<40 && change < 1<<40) {
		f.slope = 0
		return
	}
	f.slope = change / float64(ticks)
}

// classifyLength returns the class of a residual's length in bits, 0 to 3; it is a context of the next length.
func classifyLength(n uint32) uint8 {
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

package rpc

import (
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
	m.copyFrom(old)
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

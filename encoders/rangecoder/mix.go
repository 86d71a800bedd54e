package rangecoder

// MixContexts bounds the contexts of a decision that a Mix codes.
const MixContexts = 4

// Mix codes decisions by counters of a table that contexts choose, and a constant, mixed.
type Mix struct {
	Coder *Coder
	Table []Counter           // a power of two of them
	At    [MixContexts]uint32 // a hash of each context
	N     int                 // how many contexts there are
	Bias  int32               // the constant: a logit, below 1<<16
	Limit int                 // how many decisions a counter rests on at most
	Rate  int32               // of Weights.Code
}

// Code codes a decision, which is bit unless the coder reads. Salt tells the decisions in the
// same contexts apart; own, if not nil, is one more counter. Weights are of the contexts'
// counters, that one and the constant, in this order.
func (x *Mix) Code(w *Weights, salt uint32, bit int, own *Counter) int {
	if x.N == 1 && own == nil {
		return x.codeOne(w, salt, bit)
	}
	if !hasVectors || x.Rate == 0 || x.N < MixContexts-1 || own != nil && x.N < MixContexts {
		return x.codeScalar(w, salt, bit, own)
	}
	extra := uint64(uint32(x.Bias)) // the inputs after the contexts' four
	switch {
	case own != nil:
		extra = extra<<32 | uint64(uint32(Stretch(own.P())))
	case x.N < MixContexts:
		extra = 0
	}
	got := mixVectors(x, w, salt, bit, extra)
	if got < 0 { // two contexts share a counter
		return x.codeScalar(w, salt, bit, own)
	}
	if c := x.Coder; c.rng < minRange {
		c.widen()
	}
	if own != nil {
		own.Update(got, x.Limit)
	}
	return got
}

// codeScalar is Code in plain Go.
func (x *Mix) codeScalar(w *Weights, salt uint32, bit int, own *Counter) int {
	var in Inputs
	var at [MixContexts + 1]*Counter
	n, mask := 0, uint32(len(x.Table)-1)
	for _, h := range x.At[:x.N] {
		k := &x.Table[(h+salt)&mask]
		at[n], in[n] = k, Stretch(k.P())
		n++
	}
	if own != nil {
		at[n], in[n] = own, Stretch(own.P())
		n++
	}
	in[n] = x.Bias
	bit = w.Code(x.Coder, &in, bit, x.Rate)
	for _, k := range at[:n] {
		k.Update(bit, x.Limit)
	}
	return bit
}

// codeOne is codeScalar for one context, of which most of that does nothing.
func (x *Mix) codeOne(w *Weights, salt uint32, bit int) int {
	k := &x.Table[(x.At[0]+salt)&uint32(len(x.Table)-1)]
	in := Stretch(k.P())
	p := Squash(int32((int64(in)*int64(w[0]) + int64(x.Bias)*int64(w[1])) >> 16))
	bit = x.Coder.Bit(bit, p)
	if wrong := (int32(bit)<<16 - int32(p)) * x.Rate; x.Rate != 0 {
		w[0] = moved(w[0], in, wrong)
		w[1] = moved(w[1], x.Bias, wrong)
	}
	k.Update(bit, x.Limit)
	return bit
}

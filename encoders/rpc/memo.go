package rpc

import "wirelab/encoders/rangecoder"

// How many decisions a model averages over in the end: few where players change
// their minds.
const (
	quick = 60
	slow  = 250

	longest = 31 // bits of a magnitude
	classes = 4  // of how long the last residual was
)

// memo is what was learnt along the chain of baselines.
type memo struct {
	fields []fieldMemo
}

// fieldMemo is what was learnt of one field.
type fieldMemo struct {
	length [classes][longest]rangecoder.Counter
	top    [longest + 1][4]rangecoder.Counter
	stays  [2][2]rangecoder.Counter // of a symbol: whether it was zero, whether it changed
	sign   rangecoder.Counter
	plain  rangecoder.Counter
	class  uint8
	errors [ways]float64 // how far off each way of predicting was lately
	slope  float64       // change a tick until now
}

func newMemo(fields int) *memo {
	m := &memo{fields: make([]fieldMemo, fields)}
	even := rangecoder.NewCounter(rangecoder.One/2, 0)
	for i := range m.fields {
		f := &m.fields[i]
		for c := range f.length {
			for n := range f.length[c] {
				f.length[c][n] = rangecoder.NewCounter(rangecoder.One*3/4, 1)
			}
		}
		for n := range f.top {
			rangecoder.Fill(f.top[n][:], even)
		}
		for s := range f.stays {
			rangecoder.Fill(f.stays[s][:], rangecoder.NewCounter(rangecoder.One*15/16, 2))
		}
		f.sign = even
		f.plain = rangecoder.NewCounter(rangecoder.One/1024, 20)
	}
	return m
}

func (m *memo) copyFrom(o *memo) { copy(m.fields, o.fields) }

// best returns the way of predicting that was the least off.
func (f *fieldMemo) best() int {
	best := 0
	for w, e := range f.errors {
		if e < f.errors[best] {
			best = w
		}
	}
	return best
}

// judge notes how far off a way of predicting was. Beyond a bound, being off is being off.
func (f *fieldMemo) judge(way int, off float64) {
	if !(off < 1<<16) {
		off = 1 << 16
	}
	f.errors[way] += float64((off - f.errors[way]) * 0.125)
}

// follow notes by how much the field changed in so many ticks.
func (f *fieldMemo) follow(change float64, ticks int64) {
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

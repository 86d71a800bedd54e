package rpc

import "wirelab/encoders/rangecoder"

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

func (m *memo) copyFrom(o *memo) {
	copy(m.numbers, o.numbers)
	copy(m.symbols, o.symbols)
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

// recordChange stores the rate of change from a change over so many ticks.
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

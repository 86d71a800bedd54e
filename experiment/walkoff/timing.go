package walkoff

import (
	"context"
	"runtime"
	"time"

	"wirelab/internal/quantile"
	"wirelab/internal/wallclock"
)

// A session sends the given time of the scored data over a link with the codec at index i, and returns how
// much faster than real time it was. It returns an error if a decoded frame was wrong. progress receives the
// finished part, 0 to 1.
type session func(ctx context.Context, i int, length time.Duration, progress func(part float64)) (float64,
	error)

// timing relates the times of an encoder to the speed of the machine. The times of different machines cannot
// be compared, but passes are nearly the same on all of them.
type timing struct {
	ReferenceUS float64 `json:"reference_us"`     // time of a pass of the reference loop, in microseconds
	Passes      float64 `json:"passes"`           // median times of an encode and a decode, in passes
	RealTime    float64 `json:"real_time_factor"` // virtual time of the session, divided by wall time
}

// score scores the codec, whose index is i. With Options.Session it measures the timing of a lossless codec
// too. The reference loop is timed before and after the scoring.
func (m *scorer) score(ctx context.Context, open Open, i int) (Result, error) {
	if m.opt.Session == nil {
		return m.run(ctx, open)
	}
	before := referenceTime(m.opt.Clock)
	r, err := m.run(ctx, open)
	if err != nil || !r.Lossless {
		return r, err
	}
	reference := (before + referenceTime(m.opt.Clock)) / 2
	length := time.Duration(m.frames) * time.Second / time.Duration(m.tally.schema.TickHz)
	realTime, err := m.opt.Session(ctx, i, length, func(part float64) {
		if m.progress != nil {
			m.progress(m.frames + int(part*float64(m.frames)))
		}
	})
	if err != nil {
		return Result{}, err
	}
	passes := (r.EncodeUS.P50 + r.DecodeUS.P50) / reference
	r.Timing = &timing{ReferenceUS: round(reference), Passes: round(passes), RealTime: round(realTime)}
	return r, nil
}

// referenceSteps is the number of iterations: about 12 us on a processor of 2024.
const referenceSteps = 1 << 13

// runReference is the reference loop: dependent multiplications, random access to a table of 16 KB, and
// an unpredictable branch. It must never change, because figures of different versions would no longer
// be comparable; a test checks the result. It does not allocate.
func runReference() uint64 {
	var table [2048]uint64
	x, sum := uint64(0x9e3779b97f4a7c15), uint64(0)
	for range referenceSteps {
		x = x*6364136223846793005 + 1442695040888963407 // Knuth's linear congruential generator
		e := &table[x>>53]
		if x&(1<<40) != 0 {
			*e += x >> 17
		} else {
			*e ^= x
		}
		sum += *e
	}
	return sum
}

// referencePasses is the number of passes of the loop for one measurement.
const referencePasses = 51

// referenceTime returns the median time of a pass in microseconds.
func referenceTime(clock wallclock.Clock) float64 {
	times := make([]float64, referencePasses)
	for i := range times {
		from := clock()
		runtime.KeepAlive(runReference()) // uses the result, so that the loop is not optimised away
		times[i] = float64(clock()-from) / 1e3
	}
	return quantile.Median(times)
}

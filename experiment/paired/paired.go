// Package paired says how far the difference between two encoders can be trusted
// that ran side by side on the same frames and the same losses.
//
// What is measured tenth of a second by tenth of a second is paired: a busy moment
// is dear for both, so the differences vary far less than either. But neighbours
// in time are alike, in the differences too, and whoever takes them for
// independent finds intervals several times too narrow. The remedy is the block
// bootstrap (Künsch 1989): draw whole stretches of time with replacement, both
// encoders' at once, until as much time has been drawn as there was; do that some
// hundred times; how much the difference varies over the draws is how much it
// could have been otherwise. The stretches wrap around the end (Politis and Romano
// 1992), so that no moment is drawn less often than another.
//
// How long a stretch must be follows from the data: see blockLength. In a short run
// of data with a long memory few stretches remain, and those too short to hold all of
// it; both make an interval too narrow, and both are made up for: see critical and
// unseen.
package paired

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Least is the fewest pairs of which an interval is made. With fewer there are too
// few stretches to see by how much they vary, and no telling how long their memory is.
const MinPairs = 100

// resamples is how many draws are made. The width of an interval, which hangs on
// their standard deviation, is then known to 1/sqrt(2 resamples), 3.5 %.
const resamples = 400

// mostBlocks bounds how many stretches make a draw, and so what a draw costs. Longer
// ones than need be are never wrong, and 300 tell a variance well enough.
const maxBlocks = 300

// Interval is a difference and the 95 % confidence interval around it.
type Interval struct {
	Diff, Lo, Hi float64
	Block        int  // the length of the stretches, in pairs
	Known        bool // there was enough to make an interval of: otherwise Lo and Hi mean nothing
}

// Clear reports whether the interval leaves no doubt which of the two is larger.
func (i Interval) Significant() bool { return i.Known && (i.Lo > 0 || i.Hi < 0) }

// Ratio is a figure that is a sum over a sum: payload bits over changed cubes, or
// over seconds. Both slices have an entry a pair.
type Ratio struct{ Num, Den []float64 }

func (r Ratio) value() float64 { return sum(r.Num) / sum(r.Den) }

// Ratios compares a with b: how much larger a's ratio is. The four slices must be
// equally long. A ratio over nothing makes the difference unknown.
func Ratios(a, b Ratio, seed uint64) Interval {
	n := len(a.Num)
	if len(a.Den) != n || len(b.Num) != n || len(b.Den) != n {
		panic("paired: slices of different lengths are not paired")
	}
	if diff := a.value() - b.value(); n < MinPairs || math.IsNaN(diff) || math.IsInf(diff, 0) {
		return Interval{Diff: diff}
	}
	moves := influence(a, b)
	block := max(blockLength(moves), n/maxBlocks)
	return ratios(a, b, block, widening(moves, block), seed)
}

// ratios is Ratios with blocks of a given length, and made wider so many times.
func ratios(a, b Ratio, block int, wider float64, seed uint64) Interval {
	n := len(a.Num)
	out := Interval{Diff: a.value() - b.value(), Block: block}
	sums := [4]prefixSums{newPrefixSums(a.Num, out.Block), newPrefixSums(a.Den, out.Block), newPrefixSums(b.Num, out.Block), newPrefixSums(b.Den, out.Block)}
	var m moments
	draws := newDraws(n, out.Block, seed)
	for range resamples {
		var total [4]float64
		draws.each(func(from, length int) {
			for i := range total {
				total[i] += sums[i].of(from, length)
			}
		})
		m.add(total[0]/total[1] - total[2]/total[3])
	}
	out.spread(n, &m, wider)
	return out
}

// Quantiles compares the p-th quantile of a with that of b, 0 < p < 1, nearest
// rank. Both must be equally long.
func Quantiles(a, b []float64, p float64, seed uint64) Interval {
	n := len(a)
	if len(b) != n {
		panic("paired: slices of different lengths are not paired")
	}
	if n == 0 {
		return Interval{Diff: math.NaN()}
	}
	x, y := rank(a), rank(b)
	out := Interval{Diff: x.quantile(nil, n, p) - y.quantile(nil, n, p)}
	if n < MinPairs {
		return out
	}
	moves := exceedances(a, b, x.quantile(nil, n, p), y.quantile(nil, n, p))
	out.Block = blockLength(moves)
	drawn := make([]float64, 0, resamples)
	draws := newDraws(n, out.Block, seed)
	timesX, timesY := make([]int32, n), make([]int32, n)
	placeX, placeY := wrapAround(x.place, out.Block), wrapAround(y.place, out.Block)
	for range resamples {
		clear(timesX)
		clear(timesY)
		draws.each(func(from, length int) {
			for i, at := range placeX[from : from+length] {
				timesX[at]++
				timesY[placeY[from+i]]++
			}
		})
		drawn = append(drawn, x.quantile(timesX, n, p)-y.quantile(timesY, n, p))
	}
	out.between(n, drawn, widening(moves, out.Block))
	return out
}

// spread makes the interval from what the draws gave.
func (i *Interval) spread(n int, m *moments, wider float64) {
	half := wider * critical(float64(i.Block)/float64(n)) * math.Sqrt(m.variance())
	if math.IsNaN(half) || math.IsInf(half, 0) {
		return
	}
	i.Lo, i.Hi, i.Known = i.Diff-half, i.Diff+half, true
}

// between makes the interval of the middle 95 % of what the draws gave, widened as
// the other: quantiles jump from one heap of values to another, where a standard
// deviation means little, and scatter more to one side.
func (i *Interval) between(n int, drawn []float64, wider float64) {
	wider *= critical(float64(i.Block)/float64(n)) / critical(0)
	slices.Sort(drawn)
	tail := len(drawn) / 40
	lo, hi := drawn[tail], drawn[len(drawn)-1-tail]
	i.Lo = i.Diff - wider*max(i.Diff-lo, 0)
	i.Hi = i.Diff + wider*max(hi-i.Diff, 0)
	i.Known = true
}

// critical is by how many standard deviations of the draws a difference of nothing
// goes astray in one case of twenty, where a block is the share b of the data: 1.96
// for short ones, and more the fewer there are, for their variance is then itself a
// guess. The theory is that of Kiefer and Vogelsang (2005, "fixed b") for the kernel
// of Bartlett, which overlapping blocks are; the polynomial is fitted to 20,000
// simulations each of blocks that wrap around, for b to 0.5 (see the tests).
func critical(b float64) float64 { return 1.959963984540054 + 2.6*b + float64(2.7*b)*b }

// draws draws blocks.
type draws struct {
	n, block int
	rng      *rand.PCG
}

func newDraws(n, block int, seed uint64) draws {
	return draws{n, block, rand.NewPCG(seed, 0x9e3779b97f4a7c15)}
}

// each calls take with the blocks of one draw: n pairs in all.
func (d *draws) each(take func(from, length int)) {
	for left := d.n; left > 0; left -= d.block {
		hi, _ := bits.Mul64(d.rng.Uint64(), uint64(d.n))
		take(int(hi), min(d.block, left))
	}
}

// around repeats the first values behind the last, so that any block is a slice.
func wrapAround(v []int32, block int) []int32 {
	return append(slices.Clip(v), v[:min(block, len(v))]...)
}

// running answers for the sum of any stretch of up to block values, around the end.
type prefixSums []float64

func newPrefixSums(v []float64, block int) prefixSums {
	r := make(prefixSums, len(v)+block+1)
	for i := range len(v) + block {
		r[i+1] = r[i] + v[i%len(v)]
	}
	return r
}

func (r prefixSums) of(from, length int) float64 { return r[from+length] - r[from] }

// moments is the mean and the sum of squares of what was added (Welford 1962).
type moments struct{ n, mean, squares float64 }

func (m *moments) add(v float64) {
	m.n++
	d := v - m.mean
	m.mean += d / m.n
	m.squares += float64(d * (v - m.mean))
}

func (m *moments) variance() float64 { return m.squares / (m.n - 1) }

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

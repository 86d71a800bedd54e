// Package paired computes confidence intervals for the difference between two
// encoders that ran side by side on the same frames and the same losses.
//
// The samples of both encoders, one per tenth of a second, are paired: a busy moment
// is costly for both, so their differences vary much less than the samples
// themselves. But successive differences are correlated, and intervals that ignore
// this are several times too narrow. So the package uses the block bootstrap (Künsch
// 1989). It draws blocks of time with replacement, the same blocks for both encoders,
// until they add up to the length of the run. It repeats this some hundred times. The
// spread of the difference over the draws gives the interval. Blocks wrap around the
// end (Politis and Romano 1992), so that every sample is drawn equally often.
//
// The block length follows from the data: see blockLength. A short run with long
// correlations has few blocks, and they are too short to capture all of the
// dependence. Both effects make an interval too narrow, and both are corrected: see
// critical and wideningFactor.
//
// Products are converted to float64 before they are added, which keeps the compiler
// from fusing multiply and add. So results are the same on every machine.
package paired

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// MinPairsForDifference is the minimum number of pairs for an interval. Fewer give too few blocks to
// estimate their variance and the correlation time.
const MinPairsForDifference = 100

// resamples is the number of draws. The width of an interval is proportional to their
// standard deviation, which is then known to 1/sqrt(2 resamples) = 3.5 %.
const resamples = 400

// maxBlocks is the maximum number of blocks in a draw, which limits its cost. Blocks
// that are longer than necessary do no harm, and 300 are enough to estimate a
// variance.
const maxBlocks = 300

// Interval is an estimated difference or mean with the bounds of its 95 % confidence
// interval, in the units of the figures.
type Interval struct {
	Estimate, Lo, Hi float64
	Block            int  // block length in pairs
	Known            bool // there were enough data; otherwise Lo and Hi are not set
	Approximate      bool // may contain the true value in less or more than 95 % of cases; set by callers of MeanOf
}

// Significant reports whether the interval is known and excludes 0.
func (i Interval) Significant() bool { return i.Known && (i.Lo > 0 || i.Hi < 0) }

// Ratio is a figure that is the sum of Num over the sum of Den, such as payload bits
// over changed cubes or over seconds. Both slices have one entry per pair.
type Ratio struct{ Num, Den []float64 }

// Value returns the figure; NaN or an infinity if the sum of Den is 0.
func (r Ratio) Value() float64 { return sum(r.Num) / sum(r.Den) }

// CompareByDifference returns the difference of the ratios, a minus b. The four slices must have
// equal lengths. The interval is unknown if a denominator is zero, or if there are
// fewer than MinPairsForDifference pairs. seed is that of the random draws.
func CompareByDifference(a, b Ratio, seed uint64) Interval {
	n := len(a.Num)
	if len(a.Den) != n || len(b.Num) != n || len(b.Den) != n {
		panic("paired: slices have different lengths")
	}
	if diff := a.Value() - b.Value(); n < MinPairsForDifference || math.IsNaN(diff) || math.IsInf(diff, 0) {
		return Interval{Estimate: diff}
	}
	influences := influence(a, b)
	block := max(blockLength(influences), n/maxBlocks)
	return ratios(a, b, block, wideningFactor(influences, block), seed)
}

// ratios is CompareByDifference with a given block length in pairs. The width of the interval is
// multiplied by wider.
func ratios(a, b Ratio, block int, wider float64, seed uint64) Interval {
	return bootstrap(a, b, block, wider, seed, func(sums *[4]float64) float64 { return sums[0]/sums[1] - sums[2]/sums[3] })
}

// bootstrap returns the confidence interval of a figure that is a function of four sums: of
// a.Num, a.Den, b.Num and b.Den. It resamples blocks of block successive pairs and computes
// the figure for each resample. wider is the factor by which the interval is widened, because
// blocks miss some dependence. seed is the seed of the random draws.
func bootstrap(a, b Ratio, block int, wider float64, seed uint64, figure func(*[4]float64) float64) Interval {
	n := len(a.Num)
	out := Interval{Estimate: figure(&[4]float64{sum(a.Num), sum(a.Den), sum(b.Num), sum(b.Den)}), Block: block}
	sums := [4]prefixSums{newPrefixSums(a.Num, out.Block), newPrefixSums(a.Den, out.Block), newPrefixSums(b.Num, out.Block),
		newPrefixSums(b.Den, out.Block)}
	var m moments
	draws := newDraws(n, out.Block, seed)
	for range resamples {
		var total [4]float64
		draws.forEachBlock(func(from, length int) {
			for i := range total {
				total[i] += sums[i].sumOf(from, length)
			}
		})
		m.add(figure(&total))
	}
	out.setFromDeviation(n, &m, wider)
	return out
}

// bootstrapQuantiles returns the difference of the p-quantiles of a and b, a minus b, for
// 0 < p < 1 by nearest rank. Both slices must have equal lengths. With fewer than MinPairsForDifference
// pairs the interval is unknown.
func bootstrapQuantiles(a, b []float64, p float64, seed uint64) Interval {
	n := len(a)
	if len(b) != n {
		panic("paired: slices have different lengths")
	}
	if n == 0 {
		return Interval{Estimate: math.NaN()}
	}
	x, y := rank(a), rank(b)
	out := Interval{Estimate: x.quantile(nil, n, p) - y.quantile(nil, n, p)}
	if n < MinPairsForDifference {
		return out
	}
	influences := exceedances(a, b, x.quantile(nil, n, p), y.quantile(nil, n, p))
	out.Block = blockLength(influences)
	drawn := make([]float64, 0, resamples)
	draws := newDraws(n, out.Block, seed)
	timesX, timesY := make([]int32, n), make([]int32, n) // how often each rank was drawn
	ranksX, ranksY := wrapAround(x.rank, out.Block), wrapAround(y.rank, out.Block)
	for range resamples {
		clear(timesX)
		clear(timesY)
		draws.forEachBlock(func(from, length int) {
			for i, at := range ranksX[from : from+length] {
				timesX[at]++
				timesY[ranksY[from+i]]++
			}
		})
		drawn = append(drawn, x.quantile(timesX, n, p)-y.quantile(timesY, n, p))
	}
	out.setFromPercentiles(n, drawn, wideningFactor(influences, out.Block))
	return out
}

// setFromDeviation sets the interval from the standard deviation of the figure over the
// draws, whose moments are m. n is the number of pairs, and wider the factor of ratios.
// The interval remains unknown if the figure of a draw was not finite.
func (i *Interval) setFromDeviation(n int, m *moments, wider float64) {
	half := wider * critical(float64(i.Block)/float64(n)) * math.Sqrt(m.variance())
	if math.IsNaN(half) || math.IsInf(half, 0) {
		return
	}
	i.Lo, i.Hi, i.Known = i.Estimate-half, i.Estimate+half, true
}

// setFromPercentiles sets the interval to the middle 95 % of the draws, widened like
// that of setFromDeviation. Quantiles can jump between clusters of values and scatter
// asymmetrically, so their standard deviation is not meaningful.
func (i *Interval) setFromPercentiles(n int, drawn []float64, wider float64) {
	wider *= critical(float64(i.Block)/float64(n)) / critical(0)
	slices.Sort(drawn)
	tail := len(drawn) / 40 // 2.5 % at each end
	lo, hi := drawn[tail], drawn[len(drawn)-1-tail]
	i.Lo = i.Estimate - wider*max(i.Estimate-lo, 0)
	i.Hi = i.Estimate + wider*max(hi-i.Estimate, 0)
	i.Known = true
}

// critical returns the critical value at 95 %, in standard deviations of the draws,
// if a block is the fraction b of the data. It is 1.96 for short blocks. It grows with
// b, because few blocks make the variance itself uncertain. The theory is that of
// Kiefer and Vogelsang (2005, "fixed b") for the Bartlett kernel, to which
// overlapping blocks are equivalent. The polynomial is fitted to simulations of
// circular blocks: 20,000 for each simulated value of b, up to 0.5 (see the tests).
func critical(b float64) float64 { return 1.959963984540054 + 2.6*b + float64(2.7*b)*b }

// draws draws random circular blocks of n pairs.
type draws struct {
	n, block int
	rng      *rand.PCG
}

// newDraws returns draws with a generator seeded by seed.
func newDraws(n, block int, seed uint64) draws {
	return draws{n, block, rand.NewPCG(seed, 0x9e3779b97f4a7c15)} // the second half of the PCG's seed: any constant
}

// forEachBlock calls visit with the blocks of one draw, which add up to n pairs.
func (d *draws) forEachBlock(visit func(from, length int)) {
	for left := d.n; left > 0; left -= d.block {
		// The upper half of the product of 128 bits is evenly distributed from 0 to n-1.
		start, _ := bits.Mul64(d.rng.Uint64(), uint64(d.n))
		visit(int(start), min(d.block, left))
	}
}

// wrapAround returns v followed by its first block values, so that every circular block
// is a slice of the result.
func wrapAround(v []int32, block int) []int32 {
	return append(slices.Clip(v), v[:min(block, len(v))]...)
}

// prefixSums gives the sum of any circular block of up to block values.
type prefixSums []float64

// newPrefixSums returns the prefix sums of v, continued by block values of v.
func newPrefixSums(v []float64, block int) prefixSums {
	r := make(prefixSums, len(v)+block+1)
	for i := range len(v) + block {
		r[i+1] = r[i] + v[i%len(v)]
	}
	return r
}

// sumOf returns the sum of length values from index from on.
func (r prefixSums) sumOf(from, length int) float64 { return r[from+length] - r[from] }

// moments holds the mean and the sum of squared deviations of the added values
// (Welford 1962).
type moments struct{ n, mean, squares float64 }

// add adds a value.
func (m *moments) add(v float64) {
	m.n++
	d := v - m.mean
	m.mean += d / m.n
	m.squares += float64(d * (v - m.mean))
}

// variance returns the unbiased estimate of the variance.
func (m *moments) variance() float64 { return m.squares / (m.n - 1) }

// sum returns the sum of v, added in order.
func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

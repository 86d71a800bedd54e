package paired

import (
	"math"
	"slices"
)

// MinPairsForRatio is the minimum number of pairs for a RatioInterval: two seconds. A quotient
// needs fewer pairs than a difference, because what both encoders have in common
// cancels out.
const MinPairsForRatio = 20

// With few data the estimated block length is often much too short. So blocks are as
// long as the data allow, up to longBlock pairs, which are six seconds; and intervals
// of n pairs are widened by the factor 1 + smallSample/n. Both constants were chosen by
// simulation, see TestQuotientCoverage. Quotients are still precise enough then;
// differences would not be.
const (
	longBlock   = 60
	smallSample = 10.0
)

// RatioInterval is the ratio of two figures with its 95 % confidence interval. The interval
// is computed for the logarithm, so that the inverse ratio has the inverse interval.
type RatioInterval struct {
	Ratio, Lo, Hi float64 // Lo and Hi are the bounds of the interval
	Block         int     // block length in pairs
	Known         bool    // there were enough data; otherwise Lo and Hi are not set
}

// Significant reports whether the interval is known and excludes 1.
func (q RatioInterval) Significant() bool { return q.Known && (q.Lo > 1 || q.Hi < 1) }

// CompareByRatio returns the quotient of the ratios, a over b. The four slices must have
// equal lengths. The interval is unknown if a ratio or its denominator is zero, or if
// there are fewer than MinPairsForRatio pairs. seed is that of the random draws.
func CompareByRatio(a, b Ratio, seed uint64) RatioInterval {
	n := len(a.Num)
	if len(a.Den) != n || len(b.Num) != n || len(b.Den) != n {
		panic("paired: slices have different lengths")
	}
	times := a.Value() / b.Value()
	if n < MinPairsForRatio || !(times > 0) || math.IsInf(times, 0) {
		return RatioInterval{Ratio: times}
	}
	influences := relativeInfluence(a, b)
	// The block length that the data suggest, but at least longBlock, as long as enough blocks remain.
	block := max(blockLength(influences), n/maxBlocks, min(int(maxBlockFraction*float64(n)), longBlock))
	wider := wideningFactor(influences, block) * (1 + smallSample/float64(n))
	i := bootstrap(a, b, block, wider, seed, func(sums *[4]float64) float64 { // of a.Num, a.Den, b.Num and b.Den
		return math.Log(sums[0] / sums[1] / (sums[2] / sums[3]))
	})
	return i.exp()
}

// CompareQuantilesByRatio returns the quotient of the p-quantiles of a and b, a over b, for
// 0 < p < 1 by nearest rank. Both slices must have equal lengths and positive values. It
// is computed as a difference of logarithms.
func CompareQuantilesByRatio(a, b []float64, p float64, seed uint64) RatioInterval {
	x, y := slices.Clone(a), slices.Clone(b)
	for _, v := range [][]float64{x, y} {
		for i := range v {
			v[i] = math.Log(v[i])
		}
	}
	i := bootstrapQuantiles(x, y, p, seed)
	return i.exp()
}

// exp converts the interval of a logarithm to the quotient itself.
func (i *Interval) exp() RatioInterval {
	q := RatioInterval{Ratio: math.Exp(i.Estimate), Block: i.Block, Known: i.Known}
	if q.Known {
		q.Lo, q.Hi = math.Exp(i.Lo), math.Exp(i.Hi)
	}
	return q
}

// relativeInfluence returns, for each pair, how much the logarithm of the quotient of the
// ratios, a over b, changes if the pair gets more weight (the first derivative). The block
// length follows from the dependence among these values.
func relativeInfluence(a, b Ratio) []float64 {
	out := make([]float64, len(a.Num))
	for _, side := range []struct {
		r    Ratio
		sign float64
	}{{a, 1}, {b, -1}} {
		n := float64(len(out))
		num, den := sum(side.r.Num)/n, sum(side.r.Den)/n
		for i := range out {
			out[i] += side.sign * (side.r.Num[i]/num - side.r.Den[i]/den)
		}
	}
	return out
}

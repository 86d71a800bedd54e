package lossmodel

import (
	"math"
	"slices"
	"testing"
	"time"

	"wirelab/internal/units"
)

func paretoCDF(x float64) float64 {
	if x >= 4 {
		return 1
	}
	return 1 - math.Pow(max(1, 0.75*x+1.5), -3)
}

// paretonormalCDF inverts the mixture of quantiles by bisection.
func paretonormalCDF(x float64) float64 {
	if x >= 4 {
		return 1
	}
	lo, hi := 0.0, 1.0
	for range 60 {
		u := (lo + hi) / 2
		q := -math.Sqrt2*math.Erfcinv(2*u)/4 + 3*min(4, (math.Pow(1-u, -1./3)-1.5)*4/3)/4
		if math.IsInf(q, 0) || q < x {
			lo = u
		} else {
			hi = u
		}
	}
	return lo
}

func exponentialCDF(x float64) float64 { return 1 - math.Exp(-max(0, x)) }

// gammaCDF returns the distribution function for shape 2.5 and standard deviation 1, by numerical
// integration.
func gammaCDF() func(float64) float64 {
	const k, step = 2.5, 1e-4
	var below []float64
	sum := 0.0
	for y := 0.0; y < 60; y += step {
		below = append(below, sum)
		sum += math.Pow(y+step/2, k-1) * math.Exp(-y-step/2) / math.Gamma(k) * step
	}
	return func(x float64) float64 {
		y := max(0, x) * math.Sqrt(k) / step
		i := min(int(y), len(below)-2)
		return below[i] + (below[i+1]-below[i])*(y-float64(i))
	}
}

// tableCDF is the distribution function of the table with the quantiles -1 0 4.
func tableCDF(x float64) float64 {
	switch {
	case x < 0:
		return max(0, (x+1)/2)
	case x < 4:
		return 0.5 + x/8
	}
	return 1
}

// Distributions with tails agree with their closed forms in shape, mean and standard deviation.
// The Pareto distribution is at its maximum, 4, with a probability of 1.1 %.
func TestTailedDistributions(t *testing.T) {
	for _, c := range []struct {
		name     string
		pairs    []string
		cdf      func(float64) float64
		mean, sd float64 // from the specification or computed
		loose    float64 // tolerance for rounded values of the specification
	}{
		{"pareto", nil, paretoCDF, -0.034, 0.82, 0.005},
		{"paretonormal", nil, paretonormalCDF, math.NaN(), 0.83, 0.005},
		{"exponential", nil, exponentialCDF, 1, 1, 0},
		{"gamma", []string{"jitter_shape", "2.5"}, gammaCDF(), math.Sqrt(2.5), 1, 0},
		{"table", []string{"delay_table", "-1 0 4"}, tableCDF, 0.75, math.Sqrt(1./6 + 8./3 - 0.75*0.75), 0},
	} {
		n := packetCount()
		x := normalizedDelays(t, n, 8*ms, append([]string{"jitter", "8ms", "distribution", c.name}, c.pairs...)...)
		mu := mean(x)
		if !math.IsNaN(c.mean) {
			checkClose(t, c.name+" mean", mu, c.mean, c.sd/math.Sqrt(float64(n))+c.loose/sigmas)
		}
		variance, se := covariance(x, mu, 0)
		checkClose(t, c.name+" sd", math.Sqrt(variance), c.sd, se/2/c.sd+c.loose/sigmas)
		c1, se := covariance(x, mu, 1)
		checkClose(t, c.name+" covariance", c1, 0, se)
		end := 4 - 1e-6 // values at the maximum are compared by their fraction, the others by their distribution
		below := c.cdf(end)
		rest := slices.DeleteFunc(x[:min(n, 200_000)], func(v float64) bool { return v >= end && c.cdf(5) == 1 })
		if c.cdf(5) == 1 {
			m := float64(min(n, 200_000))
			checkClose(t, c.name+" below its end", float64(len(rest))/m, below, math.Sqrt(below*(1-below)/m)+1e-9)
		} else {
			below = 1
		}
		if d := kolmogorov(rest, func(v float64) float64 { return c.cdf(v) / below }); !(d < 2.69) {
			t.Errorf("%s: sqrt(N) D = %.2f, want at most 2.69", c.name, d)
		}
	}
}

// The fraction reordered by jitter with tails agrees with the closed form.
func TestTailReordering(t *testing.T) {
	for name, want := range map[string]struct {
		cdf    func(float64) float64
		stated float64
	}{"pareto": {paretoCDF, 0.5403}, "paretonormal": {paretonormalCDF, 0.6709}} {
		n := packetCount() / 2
		ratio := reordered(t, newLink(t, newSpec(t, "latency", "50ms", "jitter", "10ms", "distribution", name), 8), n)
		checkClose(t, name+" as stated", ratio, want.stated, 0.0016*math.Sqrt(5e4/float64(n)))
	}
}

// The correlation of jitter is exact at every lag, and the distribution is unchanged.
func TestJitterCorrelation(t *testing.T) {
	for name, dist := range map[string]struct {
		cdf      func(float64) float64
		mean, sd float64
	}{"normal": {normalCDF, 0, 1}, "uniform": {uniformCDF, 0, 1 / math.Sqrt(3)}, "exponential": {exponentialCDF, 1, 1}} {
		for _, rho := range []float64{0.25, 0.9} {
			n := packetCount()
			x := normalizedDelays(t, n, 8*ms, "jitter", "8ms", "distribution", name, "jitter_correlation", units.FormatPercent(rho))
			for lag := 1; lag <= 3; lag++ {
				c, se := covariance(x, dist.mean, lag)
				checkClose(t, name+" autocovariance", c, dist.sd*dist.sd*math.Pow(rho, float64(lag)), se)
			}
			wide := (1 + rho) / (1 - rho)
			checkClose(t, name+" mean", mean(x), dist.mean, dist.sd*math.Sqrt(wide/float64(n)))
			var thin []float64 // samples far enough apart to be independent
			for i := 0; i < n; i += 100 {
				thin = append(thin, x[i])
			}
			if d := kolmogorov(thin, dist.cdf); d > 2.69 {
				t.Errorf("%s, correlated: sqrt(N) D = %.2f", name, d)
			}
		}
	}
}

// In a table in tc's format all values are equally likely.
func TestTableFile(t *testing.T) {
	n := packetCount() / 5
	counts := map[float64]float64{}
	for _, x := range normalizedDelays(t, n, ms, "jitter", "8ms", "distribution", "table", "delay_table", "table.dist") {
		counts[x]++
	}
	for x, want := range map[float64]float64{-8: 0.2, 0: 0.4, 4: 0.2, 16: 0.2} {
		checkClose(t, "share", counts[x]/float64(n), want, math.Sqrt(want*(1-want)/float64(n)))
	}
	if len(counts) != 4 {
		t.Errorf("%v", counts)
	}
}

// A spike is at the end of each interval. With keep_order, packets sent after a spike wait for
// those sent during it, and OrderCost reports the mean wait.
func TestSpikes(t *testing.T) {
	spike := []string{"latency", "20ms", "spike_every", "1s", "spike_height", "40ms", "spike_length", "100ms"}
	free, kept := newLink(t, newSpec(t, spike...), 1), newLink(t, newSpec(t, append(spike, "keep_order", "on")...), 1)
	last, cost := time.Duration(0), time.Duration(0)
	for i := range 10_000 {
		now := time.Duration(i) * ms
		want := now + 20*ms
		if now%time.Second >= 900*ms {
			want += 40 * ms
		}
		if got := free.Send(now, nil, 0).Due; got != want {
			t.Fatalf("at %v due %v, want %v", now, got, want)
		}
		last = max(last, want)
		cost += last - want
		if got := kept.Send(now, nil, 0).Due; got != last {
			t.Fatalf("at %v due %v, in order %v", now, got, last)
		}
	}
	if got := kept.Gauges(10 * time.Second).OrderCost; got != cost/10_000 || got == 0 {
		t.Errorf("OrderCost %v, want %v", got, cost/10_000)
	}
	if got := free.Gauges(10 * time.Second).OrderCost; got != 0 {
		t.Errorf("OrderCost %v without keep_order, want 0", got)
	}
}

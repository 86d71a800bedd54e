package lossmodel

import (
	"math"
	"testing"
	"time"
)

// normalizedDelays returns the delays of n packets minus the latency of 50 ms, in units of scale.
func normalizedDelays(t *testing.T, n int, scale time.Duration, pairs ...string) []float64 {
	l := newLink(t, newSpec(t, append([]string{"latency", "50ms"}, pairs...)...), 4)
	x := make([]float64, n)
	for i := range x {
		v := l.Send(time.Duration(i)*ms, nil, 0)
		x[i] = float64(v.Due-time.Duration(i)*ms-50*ms) / float64(scale)
	}
	return x
}

func uniformCDF(x float64) float64 { return min(max((x+1)/2, 0), 1) }
func normalCDF(x float64) float64  { return math.Erfc(-x/math.Sqrt2) / 2 }

// The jitter has the configured distribution (Kolmogorov-Smirnov test).
func TestJitterDistributions(t *testing.T) {
	for name, want := range map[string]struct {
		cdf func(float64) float64
		sd  float64
	}{"uniform": {uniformCDF, 1 / math.Sqrt(3)}, "normal": {normalCDF, 1}} {
		n := packetCount()
		x := normalizedDelays(t, n, 8*ms, "jitter", "8ms", "distribution", name)
		checkClose(t, name+" mean", mean(x), 0, want.sd/math.Sqrt(float64(n)))
		c, se := covariance(x, 0, 1)
		checkClose(t, name+" covariance", c, 0, se)
		variance, se := covariance(x, 0, 0)
		checkClose(t, name+" variance", variance, want.sd*want.sd, se)
		if d := kolmogorov(x, want.cdf); d > 2.69 {
			t.Errorf("%s: sqrt(N) D = %.2f, want at most 2.69", name, d)
		}
	}
}

// inOrderProbability returns the probability that no packet sent k*T later arrives earlier:
// E[prod_k P(d' + kT >= d)].
func inOrderProbability(cdf func(float64) float64, spacing float64) float64 {
	const step = 0.002
	sum := 0.0
	for x := -8.0; x < 8; x += step {
		stays := cdf(x+step) - cdf(x)
		for k := 1.0; k*spacing < 16 && stays > 0; k++ {
			stays *= 1 - cdf(x+step/2-k*spacing)
		}
		sum += stays
	}
	return sum
}

// reordered returns the fraction of packets that are reordered (RFC 4737): a packet sent later
// arrived earlier.
func reordered(t *testing.T, l *Link, n int) float64 {
	count, highest := 0.0, -1
	for i := range n {
		l.Send(time.Duration(i)*ms, nil, uint64(i))
	}
	drain(l, func(d Delivery) {
		if int(d.Tag) < highest {
			count++
		}
		highest = max(highest, int(d.Tag))
	})
	return count / float64(n)
}

// The fraction reordered by jitter agrees with the closed form.
func TestReorderingOfJitter(t *testing.T) {
	for name, want := range map[string]struct {
		cdf    func(float64) float64
		stated float64 // value of the specification
	}{"uniform": {uniformCDF, 0.7114}, "normal": {normalCDF, 0.8331}} {
		n := packetCount() / 2
		ratio := reordered(t, newLink(t, newSpec(t, "latency", "50ms", "jitter", "10ms", "distribution", name), 8), n)
		checkClose(t, name, ratio, 1-inOrderProbability(want.cdf, 0.1), 0.0016*math.Sqrt(5e4/float64(n)))
		checkClose(t, name+" as stated", ratio, want.stated, 0.0016*math.Sqrt(5e4/float64(n)))
	}
	for name, spec := range map[string]Spec{
		"no jitter": newSpec(t, "latency", "50ms"),
		"kept":      newSpec(t, "latency", "50ms", "jitter", "10ms", "keep_order", "on"),
		"with copies, a line and losses": newSpec(t, "latency", "50ms", "jitter", "10ms", "keep_order", "on",
			"duplicate", "30%", "rate", "1mbit", "loss", "20%", "queue", "off"),
	} {
		if got := reordered(t, newLink(t, spec, 8), 20_000); got != 0 {
			t.Errorf("%s: %v reordered, want none", name, got)
		}
	}
}

// With the reorder stage alone and a delay of 4.5 intervals, a packet is overtaken unless it is
// not delayed or all of the next four are delayed too.
func TestReorderClosedForm(t *testing.T) {
	const p = 0.1
	for i := range 100 {
		held := newLink(t, newSpec(t, "reorder", "50%", "reorder_delay", "4500us", "latency", "2ms"), uint64(i)).Send(ms, nil, 0).Due
		if held != 3*ms && held != 3*ms+4500*time.Microsecond {
			t.Fatalf("due at %v", held)
		}
	}
	n := packetCount()
	ratio := reordered(t, newLink(t, newSpec(t, "reorder", "10%", "reorder_delay", "4500us"), 8), n)
	checkClose(t, "reordered", ratio, p*(1-math.Pow(p, 4)), math.Sqrt(p*(1-p)/float64(n)))
}

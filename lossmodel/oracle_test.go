package lossmodel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The closed forms of the models, at five standard errors with fixed seeds: a
// right model passes with any seed but one in two million.
const sigmas = 5

// near demands got within five standard errors se of want.
func near(t *testing.T, what string, got, want, se float64) {
	t.Helper()
	if d := math.Abs(got - want); !(d <= sigmas*se) {
		t.Errorf("%s: %.6g, want %.6g: %.1f standard errors of %.3g off", what, got, want, d/se, se)
	} else {
		t.Logf("%s: %.6g, closed form %.6g, %.1f standard errors", what, got, want, d/se)
	}
}

// losses sends n datagrams of size bytes and returns 1 for each that was lost.
func losses(t *testing.T, n, size int, pairs ...string) []float64 {
	l := linkOf(t, specOf(t, pairs...), 11)
	lost, data := make([]float64, n), make([]byte, size)
	for i := range lost {
		now := time.Duration(i) * ms
		if l.Send(now, data, 0).Lost != None {
			lost[i] = 1
		}
		for _, ok := l.Receive(now); ok; _, ok = l.Receive(now) {
		}
	}
	return lost
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// covariance at a lag, about a known mean, and its standard error by the method
// of batch means, which needs no model of the correlations.
func covariance(x []float64, mu float64, lag int) (c, se float64) {
	const batches = 100
	var parts [batches]float64
	size := (len(x) - lag) / batches
	for b := range parts {
		for i := b * size; i < (b+1)*size; i++ {
			parts[b] += (x[i] - mu) * (x[i+lag] - mu) / float64(size)
		}
	}
	c = mean(parts[:])
	for _, p := range parts {
		se += (p - c) * (p - c)
	}
	return c, math.Sqrt(se / batches / (batches - 1))
}

// runs returns the lengths of the runs of losses.
func runs(lost []float64) (lengths []float64) {
	n := 0.0
	for _, v := range append(slices.Clone(lost), 0) {
		if v == 1 {
			n++
		} else if n > 0 {
			lengths, n = append(lengths, n), 0
		}
	}
	return lengths
}

func TestBernoulliClosedForm(t *testing.T) {
	for _, p := range []float64{0.001, 0.05, 0.5, 0.99} {
		n := packets()
		lost := losses(t, n, 100, "loss", formatPercent(p))
		near(t, "rate", mean(lost), p, math.Sqrt(p*(1-p)/float64(n)))
		for lag := 1; lag <= 5; lag++ {
			c, _ := covariance(lost, p, lag)
			near(t, "autocorrelation", c/(p*(1-p)), 0, 1/math.Sqrt(float64(n)))
		}
		lengths := runs(lost)
		for k := 1.0; k <= 4; k++ {
			share := 0.0
			for _, l := range lengths {
				if l == k {
					share++
				}
			}
			q, m := (1-p)*math.Pow(p, k-1), float64(len(lengths))
			near(t, "runs of one length", share/m, q, math.Sqrt(q*(1-q)/m)+1/m)
		}
	}
}

// A datagram in f fragments is lost with 1-(1-p)^f; those that would have come
// through whole are counted apart.
func TestFragmentsClosedForm(t *testing.T) {
	const p = 0.03
	n := packets() / 2
	l := linkOf(t, specOf(t, "loss", "3%"), 2)
	counts := map[Cause]float64{}
	data := make([]byte, 7000) // 5 fragments
	for range n {
		v := l.Send(0, data, 0)
		if v.Fragments != 5 {
			t.Fatalf("%d fragments", v.Fragments)
		}
		counts[v.Lost]++
		l.Receive(0)
	}
	all, m := 1-math.Pow(1-p, 5), float64(n)
	near(t, "lost whole", counts[Loss]/m, p, math.Sqrt(p*(1-p)/m))
	near(t, "lost by fragments", counts[Fragment]/m, all-p, math.Sqrt((all-p)*(1-all+p)/m))
}

func TestGilbertClosedForm(t *testing.T) {
	for _, c := range []struct{ mean, burst float64 }{{0.05, 2}, {0.01, 10}, {0.3, 1}, {0.5, 5}, {0.6, 1.5}} {
		n := packets()
		lost := losses(t, n, 3000, "loss", formatPercent(c.mean), "burst", formatNumber(c.burst)) // fragments change nothing
		enter, leave := Gilbert{c.mean, c.burst}.rates()
		lambda, v := 1-enter-leave, c.mean*(1-c.mean)
		near(t, "rate", mean(lost), c.mean, math.Sqrt((v+2*v*lambda/(1-lambda))/float64(n)))
		// A run is geometric with mean B and variance B(B-1).
		lengths := runs(lost)
		near(t, "mean burst", mean(lengths), c.burst, math.Sqrt(c.burst*(c.burst-1)/float64(len(lengths)))+1/float64(len(lengths)))
		for lag := 1; lag <= 3; lag++ {
			c, se := covariance(lost, c.mean, lag)
			near(t, "covariance", c, v*math.Pow(lambda, float64(lag)), se)
		}
	}
}

func TestTotalLoss(t *testing.T) {
	for _, pairs := range [][]string{{"loss", "100%"}, {"loss", "100%", "burst", "3"}} {
		if got := mean(losses(t, 10_000, 10, pairs...)); got != 1 {
			t.Errorf("%v: lost %v of all", pairs, got)
		}
	}
	if got := mean(losses(t, 10_000, 10, "burst", "3")); got != 0 {
		t.Errorf("a burst without loss lost %v of all", got)
	}
}

// delays returns n delays in units of scale, less the latency of 50 ms.
func delays(t *testing.T, n int, scale time.Duration, pairs ...string) []float64 {
	l := linkOf(t, specOf(t, append([]string{"latency", "50ms"}, pairs...)...), 4)
	x := make([]float64, n)
	for i := range x {
		v := l.Send(time.Duration(i)*ms, nil, 0)
		x[i] = float64(v.Due-time.Duration(i)*ms-50*ms) / float64(scale)
	}
	return x
}

// kolmogorov returns sqrt(N) times the greatest distance between the empirical
// distribution of x, which it sorts, and cdf.
func kolmogorov(x []float64, cdf func(float64) float64) float64 {
	slices.Sort(x)
	n, d := float64(len(x)), 0.0
	for i, v := range x {
		p := cdf(v)
		d = max(d, p-float64(i)/n, float64(i+1)/n-p)
	}
	return math.Sqrt(n) * d
}

func uniformCDF(x float64) float64 { return min(max((x+1)/2, 0), 1) }
func normalCDF(x float64) float64  { return math.Erfc(-x/math.Sqrt2) / 2 }

func TestJitterDistributions(t *testing.T) {
	for name, want := range map[string]struct {
		cdf func(float64) float64
		sd  float64
	}{"uniform": {uniformCDF, 1 / math.Sqrt(3)}, "normal": {normalCDF, 1}} {
		n := packets()
		x := delays(t, n, 8*ms, "jitter", "8ms", "distribution", name)
		near(t, name+" mean", mean(x), 0, want.sd/math.Sqrt(float64(n)))
		c, se := covariance(x, 0, 1)
		near(t, name+" covariance", c, 0, se)
		variance, se := covariance(x, 0, 0)
		near(t, name+" variance", variance, want.sd*want.sd, se)
		if d := kolmogorov(x, want.cdf); d > 2.69 {
			t.Errorf("%s: sqrt(N) D = %.2f, want at most 2.69", name, d)
		}
	}
}

// notOvertaken integrates the probability that no later packet, sent k*T after,
// arrives first: E[prod_k P(d' + kT >= d)].
func notOvertaken(cdf func(float64) float64, spacing float64) float64 {
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

// reordered returns the share of packets that are reordered in the sense of
// RFC 4737: a packet sent later came earlier.
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

func TestReorderingOfJitter(t *testing.T) {
	for name, want := range map[string]struct {
		cdf    func(float64) float64
		stated float64 // by the specification
	}{"uniform": {uniformCDF, 0.7114}, "normal": {normalCDF, 0.8331}} {
		n := packets() / 2
		ratio := reordered(t, linkOf(t, specOf(t, "latency", "50ms", "jitter", "10ms", "distribution", name), 8), n)
		near(t, name, ratio, 1-notOvertaken(want.cdf, 0.1), 0.0016*math.Sqrt(5e4/float64(n)))
		near(t, name+" as stated", ratio, want.stated, 0.0016*math.Sqrt(5e4/float64(n)))
	}
	for name, spec := range map[string]Spec{
		"no jitter": specOf(t, "latency", "50ms"),
		"kept":      specOf(t, "latency", "50ms", "jitter", "10ms", "keep_order", "on"),
		"with copies, a line and losses": specOf(t, "latency", "50ms", "jitter", "10ms", "keep_order", "on",
			"duplicate", "30%", "rate", "1mbit", "loss", "20%", "queue", "off"),
	} {
		if got := reordered(t, linkOf(t, spec, 8), 20_000); got != 0 {
			t.Errorf("%s: %v reordered, want none", name, got)
		}
	}
}

// With the reorder stage alone and a delay of four and a half spacings, a packet
// is overtaken unless it is not held, or all of the next four are held too.
func TestReorderClosedForm(t *testing.T) {
	const p = 0.1
	n := packets()
	ratio := reordered(t, linkOf(t, specOf(t, "reorder", "10%", "reorder_delay", "4500us"), 8), n)
	near(t, "reordered", ratio, p*(1-math.Pow(p, 4)), math.Sqrt(p*(1-p)/float64(n)))
}

// Copies: as many as asked for, each with losses, damage and jitter of its own.
func TestCopiesMeetTheStagesOnTheirOwn(t *testing.T) {
	n := packets() / 4
	l := linkOf(t, specOf(t, "duplicate", "30%", "duplicate_copies", "3", "loss", "20%", "jitter", "10ms", "latency", "10ms"), 6)
	made, m := 0.0, 0.0
	joint := [4][4]float64{} // lost together
	for range n {
		v := l.Send(0, nil, 0)
		if v.Copies == 0 {
			continue
		}
		made++
		fates := append([]Cause{v.Lost}, v.CopyLost[:v.Copies]...)
		for i, a := range fates {
			for j, b := range fates {
				if a != None && b != None {
					joint[i][j]++
				}
			}
		}
	}
	near(t, "duplicated", made/float64(n), 0.3, math.Sqrt(0.3*0.7/float64(n)))
	for i := range joint {
		for j := range joint {
			want := 0.2 * 0.2
			if i == j {
				want = 0.2
			}
			near(t, "lost together", joint[i][j]/made, want, math.Sqrt(want*(1-want)/made))
		}
	}
	byCopy := [4][]float64{}
	drain(l, func(d Delivery) {
		byCopy[d.Copy] = append(byCopy[d.Copy], float64(d.Due-10*ms)/float64(10*ms))
		m++
	})
	for number, x := range byCopy {
		if d := kolmogorov(x, uniformCDF); d > 2.69 {
			t.Errorf("jitter of copy %d: sqrt(N) D = %.2f", number, d)
		}
	}
	near(t, "arrived", m, 0.8*(float64(n)+3*made), math.Sqrt(0.2*0.8*(float64(n)+3*made)))
}

// Under Gilbert's model a copy finds the path as its datagram found it.
func TestCopiesShareTheBurst(t *testing.T) {
	l := linkOf(t, specOf(t, "duplicate", "50%", "loss", "20%", "burst", "4"), 6)
	for range 20_000 {
		if v := l.Send(0, nil, 0); v.Copies == 1 && v.CopyLost[0] != v.Lost {
			t.Fatalf("datagram %v, copy %v", v.Lost, v.CopyLost[0])
		}
		l.Receive(0)
	}
}

// Damage: the share of datagrams, and every bit as likely as any other.
func TestCorruptClosedForm(t *testing.T) {
	const size, flips = 50, 3
	n := packets() / 2
	l := linkOf(t, specOf(t, "corrupt", "20%", "corrupt_bits", "3"), 3)
	hits, damaged := make([]float64, size*8), 0.0
	for range n {
		l.Send(0, make([]byte, size), 0)
		d, _ := l.Receive(0)
		if d.Damaged {
			damaged++
		}
		for i := range hits {
			hits[i] += float64(d.Data[i/8] >> (i % 8) & 1)
		}
	}
	near(t, "damaged", damaged/float64(n), 0.2, math.Sqrt(0.2*0.8/float64(n)))
	chi2, want := 0.0, damaged*flips/float64(len(hits))
	for _, h := range hits {
		chi2 += (h - want) * (h - want) / want
	}
	free := float64(len(hits) - 1)
	near(t, "chi square of positions", chi2, free, math.Sqrt(2*free))
}

// Lindley's recursion, computed here in floats, gives every packet's delay.
func TestRateIsLindley(t *testing.T) {
	const size, rate, rho = 97, 1e6, 0.8
	l := linkOf(t, specOf(t, "rate", "1mbit", "queue", "off", "latency", "3ms", "loss", "5%"), 5)
	rng := rand.New(rand.NewPCG(5, 5))
	service := float64(size+28) * 8 / rate
	now, idle, waits, m := 0.0, 0.0, 0.0, 0
	n := packets()
	for range n {
		now += rng.ExpFloat64() * service / rho * 0.95 // a twentieth is lost before the queue
		sent := time.Duration(now * 1e9)
		v := l.Send(sent, make([]byte, size), 0)
		if v.Lost != None {
			continue
		}
		start := max(sent.Seconds(), idle)
		idle = start + service
		if got := v.Due.Seconds() - 0.003; math.Abs(got-idle) > 1e-6 {
			t.Fatalf("leaves at %.9f s, by Lindley's recursion %.9f s", got, idle)
		}
		waits += start - sent.Seconds()
		m++
		l.Receive(sent)
	}
	// M/D/1: Wq = rho S / (2 (1-rho)); waits are strongly correlated.
	want := rho * service / (2 * (1 - rho))
	near(t, "mean wait", waits/float64(m), want, 0.17/sigmas*want*math.Sqrt(5e4/float64(n)))
}

// Overload: 1-1/rho is lost, and what is not waits for the whole queue.
func TestOverloadClosedForm(t *testing.T) {
	const size, limit = 972, 10 // 1000 bytes on the wire, 8 ms each at 1 mbit
	l := linkOf(t, specOf(t, "rate", "1mbit", "queue", "10KB"), 5)
	lost, n := 0.0, 40_000
	for i := range n {
		now := time.Duration(i) * 4 * ms // rho = 2
		v := l.Send(now, make([]byte, size), 0)
		if v.Lost == Queue {
			lost++
		} else if delay := v.Due - now; delay > limit*8*ms || i > 100 && delay <= (limit-1)*8*ms {
			t.Fatalf("packet %d is delayed by %v; the queue is %v long", i, delay, limit*8*ms)
		}
	}
	near(t, "lost", lost/float64(n), 0.5, float64(limit)/float64(n)/sigmas)
}

// The line never sends faster than its rate, and while busy not slower, fractions
// of a nanosecond included.
func TestRateIsExactInTheLongRun(t *testing.T) {
	const size, rate = 33, 7_777_777
	spec := specOf(t, "rate", "7777777bit", "queue", "off")
	l := linkOf(t, spec, 1)
	n := 100_000
	var last Verdict
	for range n {
		last = l.Send(0, make([]byte, size), 0)
	}
	want := time.Duration(int64(n) * (size + 28) * 8 * 1e9 / rate)
	if last.Due != want {
		t.Errorf("%d packets take %v, want %v", n, last.Due, want)
	}
}

// A packet that would wait longer than MaxWait is dropped even where the queue
// has no limit.
func TestEndlessQueueIsBounded(t *testing.T) {
	l := linkOf(t, specOf(t, "rate", "1kbit", "queue", "off"), 1)
	dropped := 0
	for range 10_000 {
		if v := l.Send(0, make([]byte, 972), 0); v.Lost == Queue {
			dropped++
		} else if v.Due > MaxWait+8*time.Second {
			t.Fatalf("due at %v", v.Due)
		}
	}
	if want := 10_000 - 451; dropped != want {
		t.Errorf("%d dropped, want %d", dropped, want)
	}
}

// offBy returns how far, in standard deviations, z is from the point beyond which
// the normal distribution has probability p.
func offBy(z, p float64) float64 {
	return (math.Erfc(z/math.Sqrt2)/2 - p) * math.Sqrt(2*math.Pi) * math.Exp(z*z/2)
}

// The table and the interpolation against the integral, over the whole range.
func TestNormalTable(t *testing.T) {
	for i, got := range normalTable {
		p := math.Ldexp(1+float64(i%normalParts)/normalParts, i/normalParts-normalOctaves-1)
		if off := offBy(float64(got)/(1<<normalUnitBits), p); math.Abs(off) > 3e-9 { // half a unit, and some rounding of Erfc
			t.Fatalf("entry %d is %d, off by %g standard deviations", i, got, off)
		}
	}
	worst := 0.0
	for i := range 200_000 {
		rest := mix(uint64(i)) >> 1 >> (i % normalOctaves) // as often in each octave
		if rest < 1<<30 {
			continue // beyond the table's end
		}
		p := (float64(rest) + 0.5) / (1 << 32) / (1 << 32)
		z := float64(normal(rest, MaxDelay)) / float64(MaxDelay)
		if mirrored := normal(rest|1<<63, MaxDelay); mirrored != normal(rest, MaxDelay)*-1 {
			t.Fatalf("word %#x: not symmetric", rest)
		}
		worst = max(worst, math.Abs(offBy(-z, p)))
	}
	t.Logf("off by at most %.6f standard deviations", worst)
	if worst > 0.0001 {
		t.Errorf("the interpolation is off by up to %.6f standard deviations", worst)
	}
}

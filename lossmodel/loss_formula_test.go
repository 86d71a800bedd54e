package lossmodel

import (
	"math"
	"slices"
	"testing"
	"time"

	"wirelab/internal/units"
)

// sendAndCountLosses sends n datagrams of size bytes and returns 1 for each lost one and 0 for
// the others.
func sendAndCountLosses(t *testing.T, n, size int, pairs ...string) []float64 {
	l := newLink(t, newSpec(t, pairs...), 11)
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

// runLengths returns the lengths of the runs of losses.
func runLengths(lost []float64) (lengths []float64) {
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

// Losses of the Bernoulli model agree with the closed forms.
func TestBernoulliClosedForm(t *testing.T) {
	for _, p := range []float64{0.001, 0.05, 0.5, 0.99} {
		n := packetCount()
		lost := sendAndCountLosses(t, n, 100, "loss", units.FormatPercent(p))
		checkClose(t, "rate", mean(lost), p, math.Sqrt(p*(1-p)/float64(n)))
		for lag := 1; lag <= 5; lag++ {
			c, _ := covariance(lost, p, lag)
			checkClose(t, "autocorrelation", c/(p*(1-p)), 0, 1/math.Sqrt(float64(n)))
		}
		lengths := runLengths(lost)
		for k := 1.0; k <= 4; k++ {
			share := 0.0
			for _, l := range lengths {
				if l == k {
					share++
				}
			}
			q, m := (1-p)*math.Pow(p, k-1), float64(len(lengths))
			checkClose(t, "runs of one length", share/m, q, math.Sqrt(q*(1-q)/m)+1/m)
		}
	}
}

// A datagram of f fragments is lost with probability 1-(1-p)^f. Losses that occur only because of
// fragmentation have their own cause.
func TestFragmentsClosedForm(t *testing.T) {
	const p = 0.03
	n := packetCount() / 2
	l := newLink(t, newSpec(t, "loss", "3%"), 2)
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
	checkClose(t, "lost whole", counts[Loss]/m, p, math.Sqrt(p*(1-p)/m))
	checkClose(t, "lost by fragments", counts[Fragment]/m, all-p, math.Sqrt((all-p)*(1-all+p)/m))
}

// Losses of the Gilbert model agree with the closed forms.
func TestGilbertClosedForm(t *testing.T) {
	for _, c := range []struct{ mean, burst float64 }{{0.05, 2}, {0.01, 10}, {0.3, 1}, {0.5, 5}, {0.6, 1.5}} {
		n := packetCount()
		lost := sendAndCountLosses(t, n, 3000, "loss", units.FormatPercent(c.mean), "burst", units.FormatDecimal(c.burst)) // independent of fragmentation
		leave := 1 / c.burst
		enter := leave * c.mean / (1 - c.mean)
		lambda, v := 1-enter-leave, c.mean*(1-c.mean)
		checkClose(t, "rate", mean(lost), c.mean, math.Sqrt((v+2*v*lambda/(1-lambda))/float64(n)))
		// A run is geometric with mean B and variance B(B-1).
		lengths := runLengths(lost)
		checkClose(t, "mean burst", mean(lengths), c.burst, math.Sqrt(c.burst*(c.burst-1)/float64(len(lengths)))+1/float64(len(lengths)))
		for lag := 1; lag <= 3; lag++ {
			c, se := covariance(lost, c.mean, lag)
			checkClose(t, "covariance", c, v*math.Pow(lambda, float64(lag)), se)
		}
	}
}

// Models with 100 % loss lose every packet.
func TestTotalLoss(t *testing.T) {
	for _, pairs := range [][]string{{"loss", "100%"}, {"loss", "100%", "burst", "3"}} {
		if got := mean(sendAndCountLosses(t, 10_000, 10, pairs...)); got != 1 {
			t.Errorf("%v: loss rate %v, want 1", pairs, got)
		}
	}
	if got := mean(sendAndCountLosses(t, 10_000, 10, "burst", "3")); got != 0 {
		t.Errorf("loss rate %v with a burst and 0 %% loss, want 0", got)
	}
}

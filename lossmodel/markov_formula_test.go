package lossmodel

import (
	"fmt"
	"math"
	"testing"
	"time"

	"wirelab/lossmodel/loss"
)

// checkLosses compares a model's losses with its closed forms: loss rate, mean run, lag-1
// correlation c1, and spread (variance per packet).
func checkLosses(t *testing.T, model string, rate, meanRun, c1, spread float64) {
	t.Helper()
	n := packetCount()
	lost := sendAndCountLosses(t, n, 100, "loss", model)
	checkClose(t, model+" rate", mean(lost), rate, math.Sqrt(spread/float64(n))+1/float64(n))
	lengths := runLengths(lost)
	_, se := covariance(lengths, meanRun, 0)
	v, _ := covariance(lengths, meanRun, 0)
	checkClose(t, model+" mean run", mean(lengths), meanRun, math.Sqrt(v/float64(len(lengths)))+se/float64(len(lengths)))
	c, se := covariance(lost, rate, 1)
	checkClose(t, model+" covariance", c, c1, se)
	law, ok := loss.Analyze(newSpec(t, "loss", model).Loss)
	for what, x := range map[string][2]float64{
		"rate": {law.Rate, rate}, "mean run": {law.MeanRun, meanRun},
		"lag 1": {law.Lag1 * rate * (1 - rate), c1}, "spread": {law.Variance, spread},
	} {
		if !ok || math.Abs(x[0]-x[1]) > 1e-9*math.Max(1, math.Abs(x[1])) {
			t.Errorf("%s: Analyze gives %s = %g, computed %g", model, what, x[0], x[1])
		}
	}
}

// Losses of the Gilbert-Elliott model agree with the closed forms.
func TestGilbertElliottClosedForm(t *testing.T) {
	for _, c := range []struct {
		text       string
		p, r, h, k float64
	}{
		{"gilbert-elliott p=1% r=20%", 0.01, 0.2, 0, 1},
		{"gilbert-elliott p=2% r=30% h=25% k=99%", 0.02, 0.3, 0.25, 0.99},
		{"gilbert-elliott p=90% r=80% h=10% k=95%", 0.9, 0.8, 0.1, 0.95}, // alternating
	} {
		bad := c.p / (c.p + c.r)
		eB, eG, lambda := 1-c.h, 1-c.k, 1-c.p-c.r
		rate := bad*eB + (1-bad)*eG
		c1 := (eB - eG) * (eB - eG) * bad * (1 - bad) * lambda
		spread := rate*(1-rate) + 2*c1/(1-lambda)
		checkLosses(t, c.text, rate, rate/(rate-rate*rate-c1), c1, spread)
	}
}

// fourStates has the parameters of the four-state model.
type fourStates struct{ P13, P31, P32, P23, P14 float64 }

// fourStateSpread sums the covariances of the chain directly.
func fourStateSpread(s fourStates, pi [4]float64, rate float64) float64 {
	step := [4][4]float64{{1 - s.P13 - s.P14, 0, s.P13, s.P14}, {0, 1 - s.P23, s.P23, 0}, {s.P31, s.P32, 1 - s.P31 - s.P32, 0},
		{1, 0, 0, 0}}
	f := [4]float64{-rate, -rate, 1 - rate, 1 - rate}
	var weighted [4]float64
	for i := range pi {
		weighted[i] = pi[i] * f[i]
	}
	sum := rate * (1 - rate)
	for range 100_000 {
		var next [4]float64
		for i := range next {
			for j := range next {
				next[j] += weighted[i] * step[i][j]
			}
		}
		weighted = next
		for j, w := range weighted {
			sum += 2 * w * f[j]
		}
	}
	return sum
}

// Losses of the four-state model agree with the closed forms.
func TestFourStateClosedForm(t *testing.T) {
	for _, c := range []struct {
		text string
		s    fourStates
	}{
		{"four-state p13=1% p31=20% p32=10% p23=30% p14=0.5%", fourStates{P13: 0.01, P31: 0.2, P32: 0.1, P23: 0.3, P14: 0.005}},
		{"four-state p13=5%", fourStates{P13: 0.05, P31: 0.95, P32: 0, P23: 1, P14: 0}},
		{"four-state p13=10% p31=50% p32=50% p23=50% p14=20%", fourStates{P13: 0.1, P31: 0.5, P32: 0.5, P23: 0.5, P14: 0.2}},
	} {
		s := c.s
		if got, want := fmt.Sprintf("%+v", newSpec(t, "loss", c.text).Loss), fmt.Sprintf("%+v", s); got != want {
			t.Fatalf("%s is %s", c.text, got)
		}
		pi := [4]float64{1, s.P13 * s.P32 / (s.P31 * s.P23), s.P13 / s.P31, s.P14}
		total := pi[0] + pi[1] + pi[2] + pi[3]
		for i := range pi {
			pi[i] /= total
		}
		pi3, pi4 := pi[2], pi[3]
		rate := pi3 + pi4
		run := rate / (pi3*(s.P31+s.P32) + pi4)
		c1 := pi3*(1-s.P31-s.P32) - rate*rate
		checkLosses(t, c.text, rate, run, c1, fourStateSpread(s, pi, rate))
		// A run is a single loss with this probability, otherwise geometric.
		leave := s.P31 + s.P32
		single := pi4 / (pi4 + pi3*leave)
		lengths := runLengths(sendAndCountLosses(t, packetCount(), 1, "loss", c.text))
		for k := 1.0; k <= 4; k++ {
			want := (1 - single) * leave * math.Pow(1-leave, k-1)
			if k == 1 {
				want += single
			}
			share, m := 0.0, float64(len(lengths))
			for _, l := range lengths {
				if l == k {
					share++
				}
			}
			checkClose(t, "runs of one length", share/m, want, math.Sqrt(want*(1-want)/m)+1/m)
		}
	}
}

// The correlation and both conditional loss rates are exact for positive and negative
// correlations.
func TestCorrelatedClosedForm(t *testing.T) {
	for _, c := range []struct {
		text   string
		l, rho float64
	}{
		{"correlated p=10% rho=25%", 0.1, 0.25}, {"correlated p=0.3% rho=25%", 0.003, 0.25},
		{"correlated p=10% rho=50%", 0.1, 0.5}, {"correlated p=50% rho=-80%", 0.5, -0.8}, {"correlated p=30% rho=90%", 0.3, 0.9},
	} {
		v := c.l * (1 - c.l)
		c1 := c.rho * v
		checkLosses(t, c.text, c.l, c.l/(v-c1), c1, v+2*v*c.rho/(1-c.rho))
		lost := sendAndCountLosses(t, packetCount(), 1, "loss", c.text)
		var after, again [2]float64
		for i := 1; i < len(lost); i++ {
			after[int(lost[i-1])]++
			again[int(lost[i-1])] += lost[i]
		}
		for was, want := range [2]float64{c.l * (1 - c.rho), c.l + c.rho*(1-c.l)} {
			checkClose(t, "lost after", again[was]/after[was], want, math.Sqrt(want*(1-want)/after[was]))
		}
	}
}

// Deterministic models lose exactly the expected packets.
func TestExactLosses(t *testing.T) {
	for text, lost := range map[string]func(i int) bool{
		"periodic every=7":         func(i int) bool { return i%7 == 6 },
		"periodic every=1":         func(int) bool { return true },
		"pattern bits=00110":       func(i int) bool { return i%5 == 2 || i%5 == 3 },
		"pattern file=pattern.txt": func(i int) bool { return "0001100001"[i%10] == '1' },
		"trace file=losses.csv":    func(i int) bool { return i%5 == 1 || i%5 == 2 },
		"trace file=capture.csv":   func(i int) bool { return i%97%7 == 3 },
	} {
		for i, got := range sendAndCountLosses(t, 1000, 10, "loss", text) {
			if (got == 1) != lost(i) {
				t.Fatalf("%s: packet %d", text, i)
			}
		}
		if law, ok := loss.Analyze(newSpec(t, "loss", text).Loss); ok {
			all := sendAndCountLosses(t, 35_000, 1, "loss", text)
			if got := mean(all); math.Abs(got-law.Rate) > 1e-9 {
				t.Errorf("%s: loss rate %g, Analyze gives %g", text, got, law.Rate)
			}
		}
	}
}

// With by=time a packet has the fate of the row that was sent at that time.
func TestTraceByTime(t *testing.T) {
	l := newLink(t, newSpec(t, "trace", "capture.csv by=time"), 1)
	if l.Spec().Delay.Trace.SHA256 == "" || !l.Spec().Duplicate.Trace.ByTime {
		t.Fatalf("%+v", l.Spec())
	}
	for i := range 3000 {
		now := time.Duration(i) * 7 * ms
		row := int(now/(10*ms)) % 97
		v := l.Send(now, nil, 0)
		took := time.Duration(testDelayUS(row)) * time.Microsecond
		if lost := v.Lost != None; lost != (row%7 == 3) || !lost && v.Due-now != took {
			t.Fatalf("packet %d at row %d: %+v, took %v", i, row, v, took)
		}
		if copies := row%10 == 4 && row%7 != 3; (v.Copies == 1) != copies || copies && v.CopyLost[0] != None {
			t.Fatalf("packet %d at row %d: %d copies", i, row, v.Copies)
		}
	}
	drain(l, func(d Delivery) {
		row := int(d.Sent/(10*ms)) % 97
		if want := time.Duration(testDelayUS(row)+500*d.Copy) * time.Microsecond; d.Due-d.Sent != want {
			t.Fatalf("copy %d took %v, want %v", d.Copy, d.Due-d.Sent, want)
		}
	})
}

// Only packets that are not lost in the bad state get burst_delay.
func TestBurstDelay(t *testing.T) {
	l := newLink(t, newSpec(t, "loss", "gilbert-elliott p=5% r=20% h=50%", "burst_delay", "30ms", "latency", "5ms"), 3)
	n, slow := packetCount()/5, 0.0
	for i := range n {
		now := time.Duration(i) * ms
		v := l.Send(now, nil, 0)
		switch {
		case v.Lost != None:
		case v.Due-now == 35*ms:
			slow++
		case v.Due-now != 5*ms:
			t.Fatalf("took %v", v.Due-now)
		}
	}
	// The chain is bad with probability 0.2 and loses half of these packets; its correlation is 0.75.
	checkClose(t, "slow", slow/float64(n), 0.1, math.Sqrt(0.09*(1+2*0.75/0.25)/float64(n)))
}

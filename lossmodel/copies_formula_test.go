package lossmodel

import (
	"math"
	"slices"
	"testing"
	"time"
)

// Copies have independent losses, damage and jitter.
func TestCopiesPassStagesSeparately(t *testing.T) {
	n := packetCount() / 4
	l := newLink(t, newSpec(t, "duplicate", "30%", "duplicate_copies", "3", "loss", "20%", "jitter", "10ms", "latency", "10ms"), 6)
	made, m := 0.0, 0.0
	joint := [4][4]float64{} // by number of copies lost together
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
	checkClose(t, "duplicated", made/float64(n), 0.3, math.Sqrt(0.3*0.7/float64(n)))
	for i := range joint {
		for j := range joint {
			want := 0.2 * 0.2
			if i == j {
				want = 0.2
			}
			checkClose(t, "lost together", joint[i][j]/made, want, math.Sqrt(want*(1-want)/made))
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
	checkClose(t, "arrived", m, 0.8*(float64(n)+3*made), math.Sqrt(0.2*0.8*(float64(n)+3*made)))
}

// Under the Gilbert model a copy has the state of its datagram.
func TestCopiesShareTheBurst(t *testing.T) {
	l := newLink(t, newSpec(t, "duplicate", "50%", "loss", "20%", "burst", "4"), 6)
	for range 20_000 {
		if v := l.Send(0, nil, 0); v.Copies == 1 && v.CopyLost[0] != v.Lost {
			t.Fatalf("datagram %v, copy %v", v.Lost, v.CopyLost[0])
		}
		l.Receive(0)
	}
}

// The fraction of damaged datagrams is right, and all bits are equally likely.
func TestCorruptClosedForm(t *testing.T) {
	const size, flips = 50, 3
	n := packetCount() / 2
	l := newLink(t, newSpec(t, "corrupt", "20%", "corrupt_bits", "3"), 3)
	hits, damaged := make([]float64, size*8), 0.0
	for range n {
		l.Send(0, make([]byte, size), 0)
		d, _ := l.Receive(0)
		if d.Flipped > 0 {
			damaged++
		}
		for i := range hits {
			hits[i] += float64(d.Data[i/8] >> (i % 8) & 1)
		}
	}
	checkClose(t, "damaged", damaged/float64(n), 0.2, math.Sqrt(0.2*0.8/float64(n)))
	chi2, want := 0.0, damaged*flips/float64(len(hits))
	for _, h := range hits {
		chi2 += (h - want) * (h - want) / want
	}
	free := float64(len(hits) - 1)
	checkClose(t, "chi square of positions", chi2, free, math.Sqrt(2*free))
}

// Without jitter a copy arrives its extra delay after the datagram.
func TestCopyDelay(t *testing.T) {
	l := newLink(t, newSpec(t, "duplicate", "100%", "duplicate_copies", "2", "duplicate_delay", "7ms", "latency", "20ms"), 1)
	l.Send(0, nil, 0)
	for number, want := range []time.Duration{20 * ms, 27 * ms, 27 * ms} {
		if d, ok := l.Receive(time.Second); !ok || d.Copy != number || d.Due != want {
			t.Errorf("copy %d at %v, want copy %d at %v", d.Copy, d.Due, number, want)
		}
	}
}

// With keep_order, copies arrive with their datagrams and do not delay other packets.
func TestCopiesKeepOrder(t *testing.T) {
	send := func(pairs ...string) (dues [2][]time.Duration) {
		pairs = append(pairs, "latency", "50ms", "jitter", "40ms", "keep_order", "on")
		l := newLink(t, newSpec(t, pairs...), 2)
		for i := range 5000 {
			l.Send(time.Duration(i)*ms, nil, uint64(i))
		}
		drain(l, func(d Delivery) { dues[d.Copy] = append(dues[d.Copy], d.Due) })
		return dues
	}
	alone, doubled := send(), send("duplicate", "100%")
	if !slices.Equal(alone[0], doubled[0]) || !slices.Equal(doubled[0], doubled[1]) {
		t.Error("copies and datagrams arrive at different times")
	}
}

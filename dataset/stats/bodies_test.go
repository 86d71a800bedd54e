package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// Statistics of a few messages, against values counted by hand.
func TestBodiesByHand(t *testing.T) {
	var b Bodies
	for i, body := range []string{"ab", "ac", "ab", "", "abcd"} {
		b.Add([]time.Duration{0, 10, 20, 1020, 1520}[i]*time.Millisecond, []byte(body))
	}
	s := b.Summary()
	want := BodySummary{Messages: 5, Bytes: 10, Seconds: 1.52, Size: sizeStats{Mean: 2, Min: 0, P50: 2, P95: 4, Max: 4},
		Gap: gapStats{P50: 10, P95: 500, Max: 1000}, PerSecond: 4 / 1.52, Most: 3, Kbps: 0.08 / 1.52, Repeated: 0.2}
	got := s
	got.Order0, got.Order1, got.Places = 0, 0, nil
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("counted\n%+v, expected\n%+v", got, want)
	}
	// aaaa bbb cc d
	order0 := (4*math.Log2(10./4) + 3*math.Log2(10./3) + 2*math.Log2(5) + math.Log2(10)) / 10
	// After the beginning a four times; after a: b b c b; after b: c; after c: d.
	order1 := (3*math.Log2(4./3) + math.Log2(4)) / 10
	if math.Abs(s.Order0-order0) > 1e-12 || math.Abs(s.Order1-order1) > 1e-12 {
		t.Errorf("entropies %g and %g, expected %g and %g", s.Order0, s.Order1, order0, order1)
	}
	if len(s.Places) != 4 || s.Places[0] != (offsetStats{0, 0.8, 0, 1, 'a', 1}) || s.Places[3] != (offsetStats{3, 0.2, 0, 1, 'd', 1}) ||
		s.Places[1].Values != 2 || s.Places[1].Common != 'b' || s.Places[1].Often != 0.75 {
		t.Errorf("places %+v", s.Places)
	}
	var none Bodies
	if s := none.Summary(); s.Messages != 0 || s.Order0 != 0 || s.Places == nil {
		t.Errorf("of nothing: %+v", s)
	}
}

// Random bytes have an entropy of eight bits at every offset.
func TestBodiesOfNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var b Bodies
	body := make([]byte, 80)
	for i := range 20_000 {
		for j := range body {
			body[j] = byte(rng.Uint32())
		}
		b.Add(time.Duration(i)*time.Millisecond, body)
	}
	s := b.Summary()
	for _, p := range s.Places {
		if p.Bits < 7.98 || p.Values != 256 {
			t.Errorf("place %d: %+v", p.At, p)
		}
	}
	if len(s.Places) != maxOffsets || s.Order0 < 7.999 || s.Most != 1000 || math.Abs(s.PerSecond-1000) > 1e-9 {
		t.Errorf("%d places, order 0 %g, at most %d a second, %g on average", len(s.Places), s.Order0, s.Most, s.PerSecond)
	}
}

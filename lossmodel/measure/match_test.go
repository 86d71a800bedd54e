package measure_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/lossmodel"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/measure"
)

// matchCase is traffic over a link as two captures saw it, and the true trace.
type matchCase struct {
	sent, received []capture.Sighting
	trace          []capture.Packet // ordered by sequence number and copy
}

// contents returns n payloads of a game. Each has a counter, except for the fraction equal, which
// are keep-alives with one of two contents.
func contents(rng *rand.Rand, n int, equal float64) (list [][]byte) {
	for i := range n {
		data := make([]byte, 24)
		binary.LittleEndian.PutUint32(data, uint32(i))
		if rng.Float64() < equal {
			clear(data)
			data[5] = byte(rng.IntN(2))
		}
		list = append(list, data)
	}
	return list
}

// through sends payloads over a link. The receiver's clock has an offset and drifts by ppm.
func through(t *testing.T, spec lossmodel.Spec, seed uint64, list [][]byte, gap, offset time.Duration, ppm float64) (p matchCase) {
	t.Helper()
	var err error
	if p.trace, err = measure.Trace(spec, seed, measure.Traffic{Packets: len(list), Interval: gap, Size: 24}); err != nil {
		t.Fatal(err)
	}
	begin := time.Duration(1.7e18) // since 1970
	for i, data := range list {
		p.sent = append(p.sent, capture.Sighting{At: begin + time.Duration(i)*gap, Data: data})
	}
	for _, r := range p.trace {
		if !r.Lost {
			at := r.Arrived()
			p.received = append(p.received, capture.Sighting{At: begin + offset + at + time.Duration(float64(at)*ppm/1e6), Data: list[r.Seq]})
		}
	}
	slices.SortStableFunc(p.received, func(a, b capture.Sighting) int { return int(min(1, max(-1, a.At-b.At))) })
	return p
}

// truth counts datagrams that arrived, datagrams that were lost, and copies.
func (p *matchCase) truth() (came, lost, copies int) {
	arrivals := map[uint64]int{}
	for _, r := range p.trace {
		if !r.Lost {
			arrivals[r.Seq]++
		}
	}
	for _, n := range arrivals {
		copies += n - 1
	}
	return len(arrivals), len(p.sent) - len(arrivals), copies
}

// match matches the two captures.
func (p *matchCase) match(t *testing.T) (*capture.Capture, capture.Matching) {
	t.Helper()
	c, m, err := capture.Match(p.sent, p.received, p.received[0].At, p.received[len(p.received)-1].At+time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return c, m
}

// linkOf returns the default spec with settings.
func linkOf(t *testing.T, settings map[string]string) lossmodel.Spec {
	t.Helper()
	spec := lossmodel.DefaultSpec()
	for _, k := range lossmodel.Keys() {
		if v, ok := settings[k.Key]; ok {
			if err := spec.Set(k.Key, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	return spec
}

// If all payloads differ, the match agrees with the trace in every row, whatever the clocks.
func TestMatchAgreesWithTrace(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"loss and jitter": {"loss": "4%", "latency": "40ms", "jitter": "15ms"},
		"bursts, copies":  {"loss": "3%", "burst": "4", "latency": "20ms", "duplicate": "5%", "duplicate_delay": "70ms"},
		"reordering":      {"latency": "30ms", "reorder": "10%", "reorder_delay": "80ms", "loss": "1%"},
	} {
		p := through(t, linkOf(t, settings), 3, contents(rand.New(rand.NewPCG(1, 1)), 4000, 0), 10*time.Millisecond, -987*time.Hour, 40)
		c, m := p.match(t)
		came, lost, copies := p.truth()
		if m.Matched != came || m.Lost+m.Outside != lost || m.Outside > 2 || m.Copies != copies || m.Unmatched != 0 || m.Equal != 0 {
			t.Errorf("%s: %+v; expected %d arrived, %d lost, %d copies", name, m, came, lost, copies)
		}
		type arrival struct {
			seq  uint64
			copy int
		}
		want := map[arrival]bool{}
		seen := map[uint64]int{}
		slices.SortStableFunc(p.trace, func(a, b capture.Packet) int { return int(min(1, max(-1, a.Arrived()-b.Arrived()))) })
		for _, r := range p.trace {
			if !r.Lost {
				want[arrival{r.Seq, seen[r.Seq]}] = true
				seen[r.Seq]++
			}
		}
		for _, r := range c.Packets {
			if !r.Lost && !want[arrival{r.Seq, r.Copy}] {
				t.Fatalf("%s: row %+v is not in the trace", name, r)
			}
		}
	}
}

// With many equal payloads the counts are close to the truth and at least 97 % of the rows are
// right.
func TestMatchEqualPayloads(t *testing.T) {
	for _, x := range []struct {
		equal float64
		gap   time.Duration
	}{{0.15, 30 * time.Millisecond}, {0.5, 10 * time.Millisecond}, {1, 50 * time.Millisecond}} {
		settings := map[string]string{"loss": "3%", "latency": "35ms", "jitter": "8ms", "duplicate": "1%"}
		p := through(t, linkOf(t, settings), 5, contents(rand.New(rand.NewPCG(2, 2)), 5000, x.equal), x.gap, 3*time.Hour, 0)
		c, m := p.match(t)
		came, lost, copies := p.truth()
		near := func(a, b int) bool { return a-b <= b/10+5 && b-a <= b/10+5 }
		if !near(m.Matched, came) || !near(m.Lost+m.Outside, lost) || !near(m.Copies, copies) || m.Unmatched > 5 || m.Equal < int(4800*x.equal) {
			t.Errorf("%.0f %% equal: %+v; expected %d arrived, %d lost, %d copies", 100*x.equal, m, came, lost, copies)
		}
		took := map[string]bool{}
		for _, r := range p.trace {
			took[fmt.Sprint(r.Seq, r.Took, r.Lost)] = true
		}
		right := 0
		for _, r := range c.Packets {
			if !r.Lost {
				r.Took -= 3 * time.Hour
			}
			if took[fmt.Sprint(r.Seq, r.Took, r.Lost)] {
				right++
			}
		}
		t.Logf("%.0f %% equal: %.2f %% of rows right, %+v; expected %d arrived, %d lost, %d copies", 100*x.equal, 100*float64(right)/float64(len(c.Packets)), m, came, lost, copies)
		if right*100 < len(c.Packets)*97 {
			t.Errorf("%.0f %% equal: %d of %d rows are right", 100*x.equal, right, len(c.Packets))
		}
	}
}

// The intervals of a link fitted to two captures contain the true parameters.
func TestFitMatchedCaptures(t *testing.T) {
	settings := map[string]string{"loss": "4%", "latency": "40ms", "jitter": "10ms", "distribution": "normal", "duplicate": "2%"}
	want := map[string]float64{"loss": 0.04, "duplicate": 0.02}
	missed, total := 0, 0
	for seed := range uint64(3) {
		p := through(t, linkOf(t, settings), 10+seed, contents(rand.New(rand.NewPCG(seed, 2)), 4000, 0.1), 20*time.Millisecond, 0, 0)
		c, _ := p.match(t)
		fit, err := measure.Fit(c)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, e := range fit.Estimates {
			if v, ok := want[e.Name]; ok {
				found++
				total++
				if v < e.Low || v > e.High {
					missed++
					t.Logf("seed %d: %s %g, interval %g to %g; true value %g", seed, e.Name, e.Value, e.Low, e.High, v)
				}
			}
			if e.Name == "latency" && (e.Value < 35 || e.Value > 45) {
				t.Errorf("seed %d: latency %+v, true value 40 ms", seed, e)
			}
		}
		if found != len(want) {
			t.Errorf("seed %d: estimates %+v", seed, fit.Estimates)
		}
	}
	if missed > 1 { // each interval has a coverage of 95 %
		t.Errorf("%d of %d intervals do not contain the true value", missed, total)
	}
}

// Datagrams outside the time of either capture do not count as lost. Damaged and foreign
// datagrams match nothing.
func TestMatchBoundaries(t *testing.T) {
	list := contents(rand.New(rand.NewPCG(1, 1)), 1000, 0)
	p := through(t, linkOf(t, map[string]string{"latency": "30ms"}), 1, list, 10*time.Millisecond, 0, 0)
	sent, received := p.sent[50:], slices.Clone(p.received[100:900])
	received[300].Data = []byte("something else")
	c, m, err := capture.Match(sent, received, received[0].At, received[len(received)-1].At)
	want := capture.Matching{Sent: 950, Received: 800, Matched: 799, Lost: 1, Outside: 150, Unmatched: 1}
	if err != nil || m != want || c.Unfinished != 0 || len(c.Packets) != 800 {
		t.Errorf("%+v, %v, want %+v", m, err, want)
	}
	if _, _, err := capture.Match(p.sent[:100], p.received[500:], 0, 1<<62); !errors.Is(err, capture.ErrNoMatch) {
		t.Errorf("captures without common time: %v", err)
	}
	if _, _, err := capture.Match(nil, nil, 0, 0); !errors.Is(err, capture.ErrNoMatch) {
		t.Errorf("empty captures: %v", err)
	}
}

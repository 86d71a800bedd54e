package lossmodel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/internal/testkit"
	"wirelab/lossmodel/queue"
	"wirelab/lossmodel/traffic"
)

// newPlan parses a plan of other traffic.
func newPlan(t testing.TB, text string) traffic.Plan {
	t.Helper()
	p, err := traffic.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// outcome is what happened to a packet or a copy.
type packetOutcome struct {
	tag       uint64
	copy      int
	due, sent time.Duration
	lost      Cause
}

// outcomesOf sends packets at irregular times and returns the outcomes in the order of tag and copy.
func outcomesOf(t *testing.T, l *Link, seed uint64) (list []packetOutcome) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 5))
	add := func(d Delivery) { list = append(list, packetOutcome{d.Tag, d.Copy, d.Due, d.Sent, d.Lost}) }
	now := time.Duration(0)
	for i := range uint64(4000) {
		now += time.Duration(random.IntN(4_000_000))
		v := l.Send(now, make([]byte, random.IntN(1800)), i)
		for n, cause := range append([]Cause{v.Lost}, v.CopyLost[:v.Copies]...) {
			if cause != None {
				list = append(list, packetOutcome{i, n, 0, now, cause})
			}
		}
		for d, ok := l.Receive(now); ok; d, ok = l.Receive(now) {
			add(d)
		}
	}
	for d, ok := l.Receive(now + time.Hour); ok; d, ok = l.Receive(now + time.Hour) {
		add(d)
	}
	slices.SortFunc(list, func(a, b packetOutcome) int {
		if a.tag != b.tag {
			return int(a.tag) - int(b.tag)
		}
		return a.copy - b.copy
	})
	return list
}

// A queue that is served packet by packet, because a flow may start later, does the same as one whose times are computed
// when packets enter.
func TestLineEqualsRecursion(t *testing.T) {
	for _, pairs := range [][]string{
		{"rate", "3mbit"}, {"rate", "3mbit", "queue", "8KB"}, {"rate", "2mbit", "queue_packets", "5"},
		{"rate", "3mbit", "rate_burst", "8KB", "queue", "20KB"}, {"rate", "4mbit", "rate_cell", "48", "rate_cell_overhead", "5", "rate_overhead", "18"},
		{"rate_trace", "line.trace", "queue", "30KB"}, {"rate", "3mbit", "latency", "20ms±9ms", "loss", "5%"},
		{"rate", "3mbit", "latency", "20ms", "reorder", "10%", "duplicate", "10%", "duplicate_delay", "3ms", "corrupt", "5%"},
	} {
		spec := newSpec(t, pairs...)
		want := outcomesOf(t, newLink(t, spec, 1), 1)
		l := newLink(t, spec, 1)
		l.SetTraffic(0, newPlan(t, "1 cubic start=100h"))
		if got := outcomesOf(t, l, 1); !slices.Equal(got, want) {
			i := 0
			for got[i] == want[i] {
				i++
			}
			t.Errorf("%v: outcome %d: %+v, want %+v", pairs, i, got[i], want[i])
		}
	}
}

// With keep_order, packets that waited before a line do not overtake each other.
func TestLineKeepsOrder(t *testing.T) {
	l := newLink(t, newSpec(t, "rate", "3mbit", "latency", "20ms±15ms", "keep_order", "on", "queue_discipline", "codel"), 1)
	last := time.Duration(0)
	for _, o := range outcomesOf(t, l, 2) {
		if o.lost == None && o.due < last {
			t.Fatalf("packet %d is due at %v, after one at %v", o.tag, o.due, last)
		}
		last = max(last, o.due)
	}
}

// A link can be received from until the end of time, and used after it.
func TestLineAtTheEndOfTime(t *testing.T) {
	l := newLink(t, newSpec(t, "rate", "1mbit", "queue_discipline", "codel"), 1)
	for i := range uint64(10) {
		l.Send(time.Duration(i)*ms, make([]byte, 97), i)
	}
	for i := range uint64(10) {
		if d, ok := l.Receive(math.MaxInt64); !ok || d.Tag != i || d.Due != time.Duration(i+1)*ms {
			t.Errorf("packet %d: %+v, %v", i, d, ok)
		}
	}
	if _, ok := l.Receive(math.MaxInt64); ok {
		t.Error("a packet is delivered twice")
	}
	l.Send(time.Second, make([]byte, 97), 10)
	if d, _ := l.Receive(math.MaxInt64); d.Due != 1001*ms {
		t.Errorf("a later packet arrives at %v", d.Due)
	}
}

// A full drop-tail queue delays packets by 8 x limit / rate, whatever fills it.
func TestFullQueue(t *testing.T) {
	for limit, want := range map[string]time.Duration{"64KB": 102_400 * time.Microsecond, "256KB": 409_600 * time.Microsecond, "1MB": 1600 * ms} {
		for _, plan := range []string{"4 cubic", "16 cubic fast_convergence=0", "2 constant rate=3mbit"} {
			l := newLink(t, newSpec(t, "rate", "5mbit", "queue", limit), 1)
			l.SetTraffic(0, newPlan(t, plan))
			longest := time.Duration(0)
			for i := range 3600 {
				now := time.Duration(i) * 17 * ms
				l.Send(now, make([]byte, 50), uint64(i))
				for d, ok := l.Receive(now); ok; d, ok = l.Receive(now) {
					longest = max(longest, d.Waited)
				}
			}
			if longest > want || longest < want*97/100 {
				t.Errorf("%s, %s: the longest wait is %v, want %v", limit, plan, longest, want)
			}
		}
	}
}

// Every packet is delivered or lost once, under random changes of rate, discipline and traffic, and a copy of the link does
// the same as the original.
func TestTrafficConservation(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 6))
		pick := func(list ...string) string { return list[random.IntN(len(list))] }
		spec := newSpec(t, "rate", "2mbit", "latency", "20ms±5ms", "loss", "2%", "duplicate", "3%", "reorder", "2%")
		l := newLink(t, spec, seed)
		var sent, copies, lost, received int
		count := func(d Delivery) {
			if d.Lost != None {
				lost++
			} else {
				received++
			}
		}
		now := time.Duration(0)
		for i := range uint64(3000) {
			now += time.Duration(random.IntN(5_000_000))
			switch random.IntN(30) {
			case 0:
				l.SetTraffic(now, newPlan(t, pick("off", "1 cubic", "2 cubic, 1 cubic rtt=80ms", "1 constant rate=1mbit", "3 cubic rtt=10ms")))
			case 1:
				testkit.Set(t, &spec, "rate", pick("300kbit", "2mbit", "10mbit", "off"), "queue", pick("20KB", "64KB", "off"),
					disciplineKey, pick(queue.Texts()...), "rate_burst", pick("off", "8KB"), "rate_trace", pick("off", "off", "line.trace"),
					"keep_order", pick("on", "off"))
				if err := l.ReshapeAt(now, spec); err != nil {
					t.Fatal(err)
				}
			case 2:
				l = l.Fork(0)
			}
			v := l.Send(now, make([]byte, random.IntN(2000)), i)
			sent++
			copies += v.Copies
			for _, cause := range append([]Cause{v.Lost}, v.CopyLost[:v.Copies]...) {
				if cause != None {
					lost++
				}
			}
			last := time.Duration(0)
			for d, ok := l.Receive(now); ok; d, ok = l.Receive(now) {
				if d.Due < d.Sent || d.Due > now || d.Due < last {
					t.Fatalf("seed %d: packet %d, sent %v, due %v, received %v after one due %v", seed, d.Tag, d.Sent, d.Due, now, last)
				}
				last = d.Due
				count(d)
			}
			if sent+copies != lost+received+l.InFlight() {
				t.Fatalf("seed %d: %d sent, %d copies, %d lost, %d received, %d in flight", seed, sent, copies, lost, received, l.InFlight())
			}
			owners := QueueLength{}
			for _, o := range l.QueueByOwner(now, nil) {
				owners.Packets += o.Packets
				owners.Bytes += o.Bytes
			}
			if owners != l.Gauges(now).Queue {
				t.Fatalf("seed %d: owners have %+v of %+v", seed, owners, l.Gauges(now).Queue)
			}
		}
		l.SetTraffic(now, nil)
		a, b := l, l.Fork(0)
		var orders [2][]packetOutcome
		for k, x := range []*Link{a, b} {
			for d, ok := x.Receive(now + 10*time.Hour); ok; d, ok = x.Receive(now + 10*time.Hour) {
				orders[k] = append(orders[k], packetOutcome{0, d.Copy, d.Due, d.Sent, d.Lost})
				if k == 0 {
					count(d)
				}
			}
		}
		if !slices.Equal(orders[0], orders[1]) || sent+copies != lost+received {
			t.Errorf("seed %d: %d sent, %d copies, %d lost, %d received; a copy delivers %d of %d", seed, sent, copies, lost, received, len(orders[1]), len(orders[0]))
		}
	}
}

// In steady state a link with a queue discipline and other traffic does not allocate.
func TestTrafficAllocations(t *testing.T) {
	for _, discipline := range queue.Texts() {
		l := newLink(t, newSpec(t, "rate", "5mbit", "latency", "10ms", "queue_discipline", discipline), 1)
		l.SetTraffic(0, newPlan(t, "2 cubic, 1 constant rate=1mbit"))
		step := newStepper(l, 16*ms, 450)
		for range 60 * time.Second / (16 * ms) {
			step()
		}
		if n := testing.AllocsPerRun(1000, step); n > 0 {
			t.Errorf("%s: %g allocations in 16 ms", discipline, n)
		}
	}
}

// BenchmarkTraffic measures a packet every 1 ms beside a CUBIC flow at 5 Mbit/s.
func BenchmarkTraffic(b *testing.B) {
	for _, discipline := range queue.Texts() {
		b.Run(discipline, func(b *testing.B) {
			l := newLink(b, newSpec(b, "rate", "5mbit", "latency", "10ms", "queue_discipline", discipline), 1)
			l.SetTraffic(0, newPlan(b, "1 cubic"))
			now, data := time.Duration(0), make([]byte, 450)
			b.ReportAllocs()
			for b.Loop() {
				now += ms
				l.Send(now, data, 0)
				for _, ok := l.Receive(now); ok; _, ok = l.Receive(now) {
				}
			}
		})
	}
}

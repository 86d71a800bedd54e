package lossmodel

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"wirelab/lossmodel/tracefile"
)

// A latency with jitter is split at ±, +-, +/- or before a last word that begins with any digit.
func TestSplitJitter(t *testing.T) {
	for digit := '0'; digit <= '9'; digit++ {
		latency, jitter, ok := splitJitter(fmt.Sprintf(" 50ms\t%cms ", digit))
		if !ok || latency != "50ms" || jitter != string(digit)+"ms" {
			t.Errorf("50ms %cms is split into %q and %q, %v", digit, latency, jitter, ok)
		}
	}
	for _, text := range []string{"50ms", "50 ms", "50ms /5ms", "50ms :ms", "", " "} {
		if a, b, ok := splitJitter(text); ok {
			t.Errorf("%q is split into %q and %q", text, a, b)
		}
	}
	for _, sign := range []string{"±", "+-", "+/-"} {
		s := newSpec(t, "latency", "50ms"+sign+"9ms")
		if s.Delay.Latency != 50*ms || s.Delay.Jitter != 9*ms {
			t.Errorf("50ms%s9ms is %v and %v", sign, s.Delay.Latency, s.Delay.Jitter)
		}
	}
	var s Spec
	for _, text := range []string{"50ms±x", "x±5ms", "-1ms±5ms", "5ms±-1ms", "2h±5ms", "5ms±2h"} {
		if s.Set("latency", text) == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

// The copies of a datagram are at most MaxCopies, whether the key, a capture or both make them.
func TestCopiesAreBounded(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("seq,send_us,recv_us,copy\n")
	for n := range MaxCopies - 2 {
		fmt.Fprintf(&csv, "0,0,%d,%d\n", 100+n, n)
	}
	load := func(string) ([]byte, error) { return []byte(csv.String()), nil }
	for _, copies := range []int{1, 2, 3, 4, MaxCopies} {
		s := newSpec(t, "duplicate", "100%", "duplicate_copies", fmt.Sprint(copies), "duplicate_trace", "x.csv")
		l, err := NewLinkWith(load, s, 1, "down")
		if err != nil {
			t.Fatal(err)
		}
		traced := MaxCopies - 3 // the first of its packets is the datagram
		if v := l.Send(0, []byte("x"), 0); v.Copies != min(copies+traced, MaxCopies) {
			t.Errorf("%d copies and %d of a capture are %d", copies, traced, v.Copies)
		}
	}
}

// mulDiv is a*b/c with big integers, limited to 2^62-1.
func TestMulDiv(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		a, b, c := rng.Uint64()>>rng.IntN(64), rng.Uint64()>>rng.IntN(64), max(1, rng.Uint64()>>rng.IntN(64))
		want := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
		want.Quo(want, new(big.Int).SetUint64(c))
		if limit := big.NewInt(1<<62 - 1); want.Cmp(limit) > 0 {
			want = limit
		}
		if got := mulDiv(a, b, c); got != want.Uint64() {
			t.Fatalf("%d*%d/%d = %d, want %d", a, b, c, got, want)
		}
	}
	for _, x := range [][2]uint64{{1<<62 - 1, 1<<62 - 1}, {1 << 62, 1<<62 - 1}, {1<<62 + 5, 1<<62 - 1}} {
		if got := mulDiv(x[0], 3, 3); got != x[1] {
			t.Errorf("%d*3/3 = %d, want %d", x[0], got, x[1])
		}
	}
	if got := mulDiv(1<<40, 1<<40, 1<<16); got != 1<<62-1 {
		t.Errorf("2^80/2^16 = %d", got)
	}
}

// A delay table is either 2 to maxQuantiles rising quantiles of at most maxUnits, or a file, which has no option by=time.
func TestTableBounds(t *testing.T) {
	quantiles := func(n int) string { return strings.TrimSpace(strings.Repeat("1 ", n)) }
	file := tracefile.File{Path: "x.dist"}
	timed := file
	timed.ByTime = true
	for _, x := range []struct {
		table Table
		valid bool
	}{
		{Table{}, true}, {Table{Quantiles: quantiles(1)}, false}, {Table{Quantiles: quantiles(2)}, true}, {Table{Quantiles: quantiles(maxQuantiles)}, true},
		{Table{Quantiles: quantiles(maxQuantiles + 1)}, false}, {Table{Quantiles: "1 0"}, false}, {Table{Quantiles: "0  1"}, false}, {Table{Quantiles: "0 x"}, false},
		{Table{Quantiles: fmt.Sprintf("-%d %d", maxUnits, maxUnits)}, true}, {Table{Quantiles: fmt.Sprintf("0 %d.1", maxUnits)}, false}, {Table{Quantiles: fmt.Sprintf("-%d.1 0", maxUnits)}, false},
		{Table{File: file}, true}, {Table{File: timed}, false}, {Table{File: file, Quantiles: "0 1"}, false},
	} {
		if got := x.table.valid(); got != x.valid {
			t.Errorf("%+v is valid: %v", x.table, got)
		}
	}
	for _, text := range []string{"", "  ", "x.dist by=bogus by=time", "1 0", "5"} {
		s := DefaultSpec()
		if err := s.Set("delay_table", text); err == nil {
			t.Errorf("%q is the table %+v", text, s.Delay.Table)
		}
	}
	s := DefaultSpec()
	if err := s.Set("delay_table", "5ms"); err != nil || s.BareUnit(keyInfo(t, "delay_table")) != "" {
		t.Errorf("a file whose name looks like a time: %v, unit %q", err, s.BareUnit(keyInfo(t, "delay_table")))
	}
	for _, x := range []struct{ key, value string }{{"delay_table", `"5"`}, {"delay_trace", "5ms"}} {
		s := DefaultSpec()
		if err := s.Set(x.key, x.value); err != nil {
			t.Errorf("%s %s: %v", x.key, x.value, err)
			continue
		}
		if text, _ := s.Get(x.key); text != x.value {
			t.Errorf("%s %s is written as %s", x.key, x.value, text)
		}
	}
}

// Exactly the stages that can have an effect are on: those with a rate, a probability or a time above 0.
func TestStagesAreOnWithEffect(t *testing.T) {
	stagesOf := func(pairs ...string) (names []string) {
		l := newLink(t, newSpec(t, pairs...), 1)
		l.RecordTrails()
		l.Send(0, []byte("x"), 0)
		for _, s := range l.Trail(0).All() {
			names = append(names, s.Stage.String())
		}
		return names
	}
	if got := stagesOf(); len(got) != 0 {
		t.Errorf("a perfect link has the stages %v", got)
	}
	for _, x := range [][3]string{
		{"loss", "1%", "loss"}, {"latency", "1ms", "delay"}, {"jitter", "1ms", "delay"}, {"keep_order", "on", "delay"}, {"burst_delay", "1ms", "delay"}, {"spike_every", "1s", "delay"},
		{"delay_trace", "capture.csv", "delay"}, {"corrupt", "1%", "corrupt"}, {"corrupt_ber", "1e-9", "corrupt"}, {"rate", "1mbit", "rate"}, {"rate_trace", "line.trace", "rate"},
		{"reorder", "1%", "reorder"}, {"duplicate", "1%", "duplicate"}, {"duplicate_trace", "capture.csv", "duplicate"}, {"netem", "limit 5", "netem"},
		{"queue", "4KB", ""}, {"mtu", "576", ""}, {"reorder_delay", "9ms", ""}, {"duplicate_delay", "9ms", ""}, {"duplicate_copies", "2", ""}, {"corrupt_bits", "2", ""},
	} {
		if got := strings.Join(stagesOf(x[0], x[1]), " "); got != x[2] {
			t.Errorf("%s %s: stages %q, want %q", x[0], x[1], got, x[2])
		}
	}
}

// A trail exists for the datagram and each possible copy once trails are recorded. A copy's extra delay counts for the stage
// that made it.
func TestTrailsOfCopies(t *testing.T) {
	l := newLink(t, newSpec(t, "duplicate", "100%", "duplicate_delay", "7ms", "latency", "5ms"), 1)
	if l.Trail(0) != nil {
		t.Error("a trail without RecordTrails")
	}
	l.RecordTrails()
	l.Send(0, []byte("x"), 0)
	for _, n := range []int{-1, MaxCopies + 1} {
		if l.Trail(n) != nil {
			t.Errorf("there is a trail of copy %d", n)
		}
	}
	if l.Trail(0) == nil || l.Trail(MaxCopies) == nil {
		t.Error("trails are missing")
	}
	if got := l.Trail(1).Step(StageDuplicate); got == nil || got.Delay != 7*ms || l.Trail(1).Delay() != 12*ms || l.Trail(1).Step(StageLoss) != nil {
		t.Errorf("the copy's trail is %+v", l.Trail(1))
	}
}

// Names and numbers of the keys have bounds: just beyond them, Set refuses the value and Validate the spec.
func TestJustBeyondBounds(t *testing.T) {
	for _, x := range []struct {
		key            string
		valid, invalid []string
	}{
		{"loss", []string{"0%", "100%"}, []string{"-0.1%", "100.1%"}}, {"jitter_correlation", []string{"0%", "99.99%"}, []string{"99.991%", "-1%"}},
		{"jitter_shape", []string{"0.5", "16", "1.5"}, []string{"0.4", "0", "16.5", "1.25"}}, {"corrupt_ber", []string{"1e-15", "0.1", "off", "0"}, []string{"9e-16", "0.11", "-0.1", "-0"}},
		{"corrupt_bits", []string{"1", "64"}, []string{"0", "65"}}, {"mtu", []string{"68", "65535"}, []string{"67", "65536"}}, {"burst", []string{"1", "1000000", "off"}, []string{"0.9", "1000001"}},
		{"duplicate_copies", []string{"1", "8"}, []string{"0", "9"}}, {"reorder_distance", []string{"1", "1000"}, []string{"1001"}}, {"rate", []string{"1kbit", "1tbit"}, []string{"999bit", "1.1tbit"}},
		{"queue", []string{"1B", "1TiB"}, []string{"2TiB"}}, {"queue_packets", []string{"1", "1000000"}, []string{"1000001"}}, {"rate_overhead", []string{"-28", "1500"}, []string{"-29", "1501"}},
		{"rate_cell", []string{"1", "65535"}, []string{"65536"}}, {"rate_cell_overhead", []string{"0", "1500"}, []string{"-1", "1501"}}, {"latency", []string{"0ms", "3600s"}, []string{"-1ns", "3600.001s"}},
	} {
		for _, v := range x.valid {
			s := DefaultSpec()
			if err := s.Set(x.key, v); err != nil {
				t.Errorf("%s %s: %v", x.key, v, err)
			}
		}
		for _, v := range x.invalid {
			s := DefaultSpec()
			if err := s.Set(x.key, v); err == nil {
				t.Errorf("%s %s is accepted", x.key, v)
			}
		}
	}
	s := newSpec(t, "spike_every", "1s", "spike_length", "1s", "spike_height", "5ms")
	if err := s.Set("spike_length", "1001ms"); err != nil || s.Validate() == nil {
		t.Errorf("a spike longer than its interval: %v", s.Validate())
	}
	if s = newSpec(t, "spike_length", "5s"); s.Validate() != nil {
		t.Error("the length of spikes does not matter without spikes")
	}
	if err := newSpec(t, "jitter", "5ms").Validate(); err != nil {
		t.Error(err)
	}
	s = DefaultSpec()
	if err := s.Set("distribution", "table"); err != nil || s.Validate() == nil || s.Set("delay_table", "-1 0 1") != nil || s.Validate() != nil {
		t.Errorf("the distribution table needs a table: %v", s.Validate())
	}
}

// A spike lasts the last spike_length of each interval of spike_every: exactly that long, and from exactly that time.
func TestSpikeTimes(t *testing.T) {
	l := newLink(t, newSpec(t, "spike_every", "100ms", "spike_length", "20ms", "spike_height", "7ms"), 1)
	for at := time.Duration(0); at < 400*ms; at += ms {
		want := time.Duration(0)
		if at%(100*ms) >= 80*ms {
			want = 7 * ms
		}
		if v := l.Send(at, []byte("x"), 0); v.Due-at != want {
			t.Errorf("a packet at %v is delayed by %v, want %v", at, v.Due-at, want)
		}
	}
}

// Uniform jitter reaches both ends of its range, and its mean and variance are those of the uniform law.
func TestUniformRange(t *testing.T) {
	l := newLink(t, newSpec(t, "latency", "1ms", "jitter", "2ns"), 1)
	seen := map[time.Duration]float64{}
	const n = 50_000
	for i := range time.Duration(n) {
		v := l.Send(i*ms, []byte("x"), 0)
		seen[v.Due-i*ms-ms]++
		l.Receive(i * ms)
	}
	for d := time.Duration(-2); d <= 2; d++ {
		if math.Abs(seen[d]/n-0.2) > 5*math.Sqrt(0.2*0.8/n) {
			t.Errorf("jitter of %v: %v of all, want 20 %%", d, seen[d]/n)
		}
	}
	if len(seen) != 5 {
		t.Errorf("jitter of 2ns takes %d values", len(seen))
	}
}

// Gauges count a queue with exactly its limits: a packet that fills it is kept, one more is lost.
func TestQueueLimits(t *testing.T) {
	for _, x := range []struct {
		key, limit string
		kept       int // packets of 100 bytes on the wire that the queue holds
	}{{"queue", "1000B", 10}, {"queue", "999B", 9}, {"queue_packets", "4", 4}} {
		l := newLink(t, newSpec(t, "queue", "off", "rate", "8kbit", x.key, x.limit), 1)
		kept := 0
		for range 20 {
			if v := l.Send(0, make([]byte, 100-ipHeader-udpHeader), 0); v.Lost == None {
				kept++
			} else if v.Lost != Queue {
				t.Errorf("lost by %v", v.Lost)
			}
		}
		g := l.Gauges(0)
		if kept != x.kept || g.Queue.Packets != kept || g.Queue.Bytes != int64(100*kept) || g.Peak != g.Queue {
			t.Errorf("%s %s: %d kept, want %d; gauges %+v", x.key, x.limit, kept, x.kept, g)
		}
		// At 8 kbit/s, 100 bytes take 100 ms: one packet leaves at that time, and not before.
		if got := l.Gauges(100*ms - 1).Queue.Packets; got != kept {
			t.Errorf("just before the first has left: %d", got)
		}
		if got := l.Gauges(100 * ms).Queue.Packets; got != kept-1 {
			t.Errorf("when the first has left: %d", got)
		}
	}
}

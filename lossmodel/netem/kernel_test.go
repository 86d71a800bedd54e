package netem

import (
	"encoding/hex"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// pathDelay is the delay of the traces' machine without netem.
const pathDelay = 6400 // nanoseconds

// The lost and duplicated packets are those of the kernel. In A02 the first value of the
// correlation is unknown, so the first packets may differ.
func TestKernelLossAndDuplication(t *testing.T) {
	for name, allowed := range map[string]int{
		"A01_loss10": 0, "A05_ge_1_20_100_0": 0, "A08_state_1_20_10_30_0.5": 0,
		"A11_dup1": 0, "A12_dup10_loss10": 0, "A02_loss10_corr25": 20,
	} {
		trace, decisions := replay(t, name, 100)
		differ, lost := 0, 0
		for i, d := range decisions {
			if arrived(d) != len(trace[i].arrivals) {
				differ++
			}
			if arrived(d) == 0 {
				lost++
			}
		}
		if differ > allowed {
			t.Errorf("%s: %d of %d packets differ, expected at most %d", name, differ, len(trace), allowed)
		}
		t.Logf("%s: %d of %d packets differ; %d lost", name, differ, len(trace), lost)
	}
}

// The same for bitmaps, which need no zstd.
func TestKernelLossBitmaps(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(traceDir, "golden_loss_bitmaps.txt"))
	if err != nil {
		t.Skipf("no reference bitmaps: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if strings.HasPrefix(line, "#") || len(fields) != 2 {
			continue
		}
		want, err := hex.DecodeString(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		p, err := Parse(traceLine(t, fields[0]))
		if err != nil {
			t.Fatal(err)
		}
		q, got := New(p, 0), make([]byte, len(want))
		for i := range 8 * len(got) {
			if arrived(q.Enqueue(int64(i)*100_000, 142)) == 0 {
				got[i/8] |= 1 << (i % 8)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: lost %x, want %x", fields[0], got, want)
		}
	}
}

// The delays are those of the kernel, for uniform jitter and for tables. The traces' machine
// stalled a few times per run for up to a tick; the test allows a number of packets to differ.
func TestKernelDelays(t *testing.T) {
	for _, name := range []string{"B01_delay_50_10_uniform", "B02_delay_50_10_normal", "B03_delay_50_10_pareto"} {
		trace, decisions := replay(t, name, 100)
		off, worst := 0, 0.0
		for i, d := range decisions {
			if len(trace[i].arrivals) != 1 || d.Packet.Outcome != passed {
				t.Fatalf("%s: packet %d: %+v, in the trace %+v", name, i, d, trace[i])
			}
			e := math.Abs(float64(trace[i].arrivals[0] - d.Packet.Due - pathDelay))
			if e > 50_000 {
				off++
			} else {
				worst = max(worst, e)
			}
		}
		if off > 10 {
			t.Errorf("%s: %d packets off by more than 50 us", name, off)
		}
		t.Logf("%s: %d of %d packets off by more than 50 us, the others by at most %.1f us", name, off, len(trace), worst/1000)
	}
}

// wasReordered reports whether a packet of a run with a delay of 10 ms was sent without the
// delay.
func wasReordered(s tracePacket) bool { return s.arrivals[0]-s.at < 5_000_000 }

// The reordered packets are those of the kernel.
func TestKernelReordering(t *testing.T) {
	trace, decisions := replay(t, "C03_delay10_reorder25", 100)
	differ := 0
	for i, d := range decisions {
		if d.Packet.Overtakes != wasReordered(trace[i]) {
			differ++
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d packets differ", differ, len(trace))
	}
}

// In C01 the first value of the correlation is unknown, and because of the gap a single different
// packet shifts all later decisions. The test tries all values of the first value's top 9 bits
// and expects one to give the kernel's decisions.
func TestKernelCorrelatedReordering(t *testing.T) {
	const name = "C01_delay10_reorder25_50_gap5"
	p, err := Parse(traceLine(t, name))
	if err != nil {
		t.Fatal(err)
	}
	trace := readTrace(t, name)
	differ := func(first uint32, stop int) (n int) {
		q := New(p, 0)
		q.reorderCorr.last = first
		for _, s := range trace {
			if q.Enqueue(s.at, 142).Packet.Overtakes != wasReordered(s) {
				if n++; n == stop {
					break
				}
			}
		}
		return n
	}
	minDiffer := len(trace)
	for i := uint32(0); i < 512 && minDiffer > 0; i++ {
		minDiffer = min(minDiffer, differ(i<<23, 50))
	}
	if minDiffer > 0 {
		t.Errorf("with the best first value %d of %d packets differ", minDiffer, len(trace))
	}
	// With any other value, the fraction is the kernel's.
	q, picked, want := New(p, 0), 0.0, 0.0
	for _, s := range trace {
		if q.Enqueue(s.at, 142).Packet.Overtakes {
			picked++
		}
		if wasReordered(s) {
			want++
		}
	}
	if math.Abs(picked-want) > 5*math.Sqrt(want) {
		t.Errorf("%.0f packets reordered, %.0f in the trace", picked, want)
	}
}

// With a limit of 50 and a delay of 100 ms, the first 50 packets pass and the next 51 do not,
// because the first one is still waiting when packet 101 arrives. Later in the run packets arrive
// within microseconds of departures, and the kernel's timer, which is 1 µs late, decides. The
// delay is increased accordingly.
func TestKernelLimit(t *testing.T) {
	const name = "B10_delay_100_limit50"
	trace, decisions := replay(t, name, 100)
	for i, d := range decisions[:403] {
		if arrived(d) != len(trace[i].arrivals) {
			t.Fatalf("packet %d: %+v, in the trace %+v", i, d, trace[i])
		}
	}
	p, err := Parse(traceLine(t, name))
	if err != nil {
		t.Fatal(err)
	}
	p.Delay.Latency += time.Microsecond
	q := New(p, 0)
	lost, want, differ, first := 0, 0, 0, len(trace)
	for i, s := range trace {
		d := q.Enqueue(s.at, 142)
		if arrived(d) != len(s.arrivals) {
			differ++
			first = min(first, i)
		}
		if d.Packet.Outcome == Full {
			lost++
		}
		if len(s.arrivals) == 0 {
			want++
		}
	}
	t.Logf("%d lost, %d in the trace; %d of %d packets differ, the first is %d", lost, want, differ, len(trace), first)
	if first < 8000 || differ > len(trace)/20 || lost-want > 10 || want-lost > 10 {
		t.Errorf("%d lost, %d in the trace; %d packets differ, the first is %d", lost, want, differ, first)
	}
}

// At 1 mbit a packet with a payload of 83 bytes, 125 bytes on the wire, takes 1 ms. Due times
// follow Lindley's recursion. So do the kernel's: each packet leaves 1 ms after its arrival or
// after the previous departure. The measured previous departure is used, so that a stall of the
// machine affects only one packet.
func TestKernelRate(t *testing.T) {
	trace, decisions := replay(t, "D01_rate1mbit_poisson08", 83)
	idle, measured := int64(math.MinInt64), int64(math.MinInt64)
	off, worst := 0, 0.0
	for i, d := range decisions {
		idle = max(idle, trace[i].at) + 1_000_000
		if d.Packet.Outcome != passed || d.Packet.Due != idle {
			t.Fatalf("packet %d: %+v, want %d", i, d.Packet, idle)
		}
		leaves := max(measured, trace[i].at) + 1_000_000
		measured = trace[i].arrivals[0] - pathDelay
		if e := math.Abs(float64(measured - leaves)); e > 50_000 {
			off++
		} else {
			worst = max(worst, e)
		}
	}
	if off > 10 {
		t.Errorf("%d packets off by more than 50 us", off)
	}
	t.Logf("%d of %d packets off by more than 50 us, the others by at most %.1f us", off, len(trace), worst/1000)
}

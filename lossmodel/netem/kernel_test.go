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

// The bare path of the machine that the traces come from.
const path = 6400 // nanoseconds

// Every packet that the kernel dropped or doubled is dropped or doubled here, and
// no other. In A02 the first value of the correlation came from no seed: the
// packets may differ until it is forgotten.
func TestKernelsLossesAndDuplicates(t *testing.T) {
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
			t.Errorf("%s: %d of %d packets differ, %d allowed", name, differ, len(trace), allowed)
		}
		t.Logf("%s: %d of %d packets differ; %d lost", name, differ, len(trace), lost)
	}
}

// The same against the bitmaps, which need no zstd.
func TestKernelsLossBitmaps(t *testing.T) {
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

// Each packet is as late as the kernel made it, uniform or from a table. The
// machine of the traces stalled a few times a run, up to a tick; nothing in the
// test allows for that but the number of packets.
func TestKernelsDelays(t *testing.T) {
	for _, name := range []string{"B01_delay_50_10_uniform", "B02_delay_50_10_normal", "B03_delay_50_10_pareto"} {
		trace, decisions := replay(t, name, 100)
		off, worst := 0, 0.0
		for i, d := range decisions {
			if len(trace[i].arrivals) != 1 || d.Packet.Outcome != kept {
				t.Fatalf("%s: packet %d: %+v, in the trace %+v", name, i, d, trace[i])
			}
			e := math.Abs(float64(trace[i].arrivals[0] - d.Packet.Due - path))
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

// overtook says whether a packet of a run with a delay of 10 ms went ahead.
func overtook(s sent) bool { return s.arrivals[0]-s.at < 5_000_000 }

func TestKernelsReordering(t *testing.T) {
	trace, decisions := replay(t, "C03_delay10_reorder25", 100)
	differ := 0
	for i, d := range decisions {
		if d.Packet.Overtakes != overtook(trace[i]) {
			differ++
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d packets differ", differ, len(trace))
	}
}

// C01's correlation began with a value from no seed, and its gap makes one
// different packet move all that follow. So its decisions are those of one of all
// first values: its top 9 bits are found by trying them.
func TestKernelsCorrelatedReordering(t *testing.T) {
	const name = "C01_delay10_reorder25_50_gap5"
	p, err := Parse(traceLine(t, name))
	if err != nil {
		t.Fatal(err)
	}
	trace := readTrace(t, name)
	differ := func(first uint32, stop int) (n int) {
		q := New(p, 0)
		q.reorder.last = first
		for _, s := range trace {
			if q.Enqueue(s.at, 142).Packet.Overtakes != overtook(s) {
				if n++; n == stop {
					break
				}
			}
		}
		return n
	}
	least := len(trace)
	for i := uint32(0); i < 512 && least > 0; i++ {
		least = min(least, differ(i<<23, 50))
	}
	if least > 0 {
		t.Errorf("with the best first value %d of %d packets differ", least, len(trace))
	}
	// With any other value, the share still is the kernel's.
	q, picked, want := New(p, 0), 0.0, 0.0
	for _, s := range trace {
		if q.Enqueue(s.at, 142).Packet.Overtakes {
			picked++
		}
		if overtook(s) {
			want++
		}
	}
	if math.Abs(picked-want) > 5*math.Sqrt(want) {
		t.Errorf("%.0f packets went ahead, %.0f in the trace", picked, want)
	}
}

// With a limit of 50 and 100 ms of delay, 50 packets get in and 51 do not: the
// first still waits when the 101st comes. Later in the run packets come within
// microseconds of others' leaving, and the kernel's timer decides: it is a
// microsecond late, so the delay is made that much longer.
func TestKernelsLimit(t *testing.T) {
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

// rate 1mbit with 83 bytes of payload: 125 bytes on the wire, a millisecond each.
// Every time is Lindley's, and the kernel's is too: each packet leaves a
// millisecond after it came or after the one before it left. That one's measured
// time is taken, so that a stall of the machine counts once and not for all who
// queued behind it.
func TestKernelsRate(t *testing.T) {
	trace, decisions := replay(t, "D01_rate1mbit_poisson08", 83)
	idle, measured := int64(math.MinInt64), int64(math.MinInt64)
	off, worst := 0, 0.0
	for i, d := range decisions {
		idle = max(idle, trace[i].at) + 1_000_000
		if d.Packet.Outcome != kept || d.Packet.Due != idle {
			t.Fatalf("packet %d: %+v, want %d", i, d.Packet, idle)
		}
		leaves := max(measured, trace[i].at) + 1_000_000
		measured = trace[i].arrivals[0] - path
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

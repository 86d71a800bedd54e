package traffic

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"wirelab/internal/cubic"
	"wirelab/internal/setting"
	"wirelab/internal/testkit"
)

const ms = time.Millisecond

// flowOf returns a flow that starts at 0.
func flowOf(t testing.TB, text string) *Flow {
	t.Helper()
	k, err := Kinds.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return newFlow(k, 0, 0)
}

// runFlow runs a flow until a time. carry is called for each packet that it sends, which leaves the line at once unless
// carry returns false.
func runFlow(f *Flow, until time.Duration, carry func(at time.Duration, p Packet) bool) {
	var sent []Packet
	for at := f.Next(); at < until; at = f.Next() {
		sent = f.Run(at, sent[:0])
		for _, p := range sent {
			if carry(at, p) {
				f.Left(at, p.Number)
			} else {
				f.Lost++
			}
		}
	}
}

// With every n-th packet lost and no queue, the mean window agrees with the closed form of CUBIC without fast
// convergence: (C (4-(1-b))/(4 (1-b)))^(1/4) (RTT/p)^(3/4), but at least that of an AIMD with alpha = 0.529 (RFC 9438,
// section 5).
func TestClosedForms(t *testing.T) {
	rtts := []time.Duration{40 * ms, 200 * ms}
	if testkit.Thorough() {
		rtts = []time.Duration{40 * ms, 100 * ms, 200 * ms}
	}
	for _, rtt := range rtts {
		for _, n := range []uint64{100, 1000, 10_000} {
			f := flowOf(t, fmt.Sprintf("cubic fast_convergence=0 rtt=%v", rtt))
			f.sender.(*tcp).window.LimitSlowStart(4)
			carry := func(_ time.Duration, p Packet) bool { return p.Number%n != n-1 }
			warmUp, end := 100*time.Second, 1100*time.Second
			runFlow(f, warmUp, carry)
			before := f.Delivered
			runFlow(f, end, carry)
			window := float64(f.Delivered-before) / (end - warmUp).Seconds() * rtt.Seconds()
			p := 1 / float64(n)
			want := max(math.Pow(0.4*3.7/(4*0.3), 0.25)*math.Pow(rtt.Seconds()/p, 0.75), math.Sqrt(0.529*1.7/(2*0.3)/p))
			t.Logf("%v, p = %g: window %.2f, closed form %.2f, ratio %.3f", rtt, p, window, want, window/want)
			if r := window / want; r < 0.9 || r > 1.1 {
				t.Errorf("%v, p = %g: window %.2f, want %.2f", rtt, p, window, want)
			}
			if f.Timeouts > 0 {
				t.Errorf("%v, p = %g: %d timeouts", rtt, p, f.Timeouts)
			}
		}
	}
}

// A pause of the line longer than the timeout is undone when the acks arrive after all: nothing is lost, and the window is
// the one before.
func TestSpuriousTimeout(t *testing.T) {
	f := flowOf(t, "cubic rtt=50ms")
	tcp := f.sender.(*tcp)
	tcp.window.LimitSlowStart(tcp.window.Size())
	var held []Packet
	runFlow(f, 2*time.Second, func(time.Duration, Packet) bool { return true })
	window := tcp.window.Size()
	runFlow(f, 4*time.Second, func(_ time.Duration, p Packet) bool {
		held = append(held, p)
		return false
	})
	if f.Timeouts < 2 || tcp.window.Size() != 1 {
		t.Fatalf("%d timeouts, window %g", f.Timeouts, tcp.window.Size())
	}
	f.Lost = 0
	delivered, timeouts := f.Delivered, f.Timeouts
	for _, p := range held {
		f.Left(4*time.Second, p.Number)
	}
	runFlow(f, 4*time.Second+60*ms, func(time.Duration, Packet) bool { return true })
	if f.Spurious != 1 || tcp.window.Size() < window || f.Timeouts != timeouts {
		t.Errorf("%d spurious, window %g, before %g", f.Spurious, tcp.window.Size(), window)
	}
	// Of the packets that arrived, the retransmissions are duplicates.
	if got, want := f.Delivered-delivered, int64(len(held))-f.Retransmitted; got != want {
		t.Errorf("%d delivered, want %d of %d, of which %d are retransmissions", got, want, len(held), f.Retransmitted)
	}
}

// After an outage, timeouts double up to 64 times, and the flow recovers.
func TestBackoff(t *testing.T) {
	f := flowOf(t, "cubic rtt=50ms")
	runFlow(f, 2*time.Second, func(time.Duration, Packet) bool { return true })
	var sent []time.Duration
	runFlow(f, 62*time.Second, func(at time.Duration, _ Packet) bool {
		sent = append(sent, at)
		return false
	})
	n := len(sent)
	if f.Timeouts < 7 || f.Timeouts > 12 || sent[n-1]-sent[n-2] < 12*time.Second {
		t.Errorf("%d timeouts in 60 s, the last after %v", f.Timeouts, sent[n-1]-sent[n-2])
	}
	before := f.Delivered
	runFlow(f, 120*time.Second, func(time.Duration, Packet) bool { return true })
	if f.Delivered-before < 10_000 || f.Spurious > 0 {
		t.Errorf("%d packets after the outage, %d spurious timeouts", f.Delivered-before, f.Spurious)
	}
}

// Packets that are lost are retransmitted, once each; what arrived is what was sent without them.
func TestRetransmissions(t *testing.T) {
	f := flowOf(t, "cubic stop=60s")
	i := 0
	runFlow(f, 100*time.Second, func(time.Duration, Packet) bool { i++; return i%37 != 0 })
	open := f.Sent - f.Lost - f.Delivered
	if f.Retransmitted > f.Lost || f.Retransmitted < f.Lost-2*cubic.ReorderLimit || open != 0 || f.Sent < 5000 {
		t.Errorf("%d sent, %d lost, %d retransmitted, %d delivered", f.Sent, f.Lost, f.Retransmitted, f.Delivered)
	}
}

// A constant flow sends at its rate exactly, from its start to its stop.
func TestConstant(t *testing.T) {
	f := flowOf(t, "constant rate=1234567bit size=777B start=1s stop=9s")
	var first, last time.Duration
	runFlow(f, time.Minute, func(at time.Duration, p Packet) bool {
		if f.Sent == 1 {
			first = at
		}
		last = at
		return true
	})
	want := 8 * 1234567.0 / (777 * 8)
	if d := float64(f.Sent) - want; d < 0 || d > 1 || first != time.Second || last >= 9*time.Second || f.Bytes != f.Delivered*749 {
		t.Errorf("%d packets from %v to %v, want %.1f", f.Sent, first, last, want)
	}
}

// Flows that are still in a plan continue, others stop, new ones start 300 ms apart.
func TestUpdate(t *testing.T) {
	plan := func(text string) Plan {
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	flows := Update(nil, plan("2 cubic, 1 cubic rtt=80ms"), 0)
	flows = Update(flows, plan("3 cubic"), 5*time.Second)
	active := func(at time.Duration) (n int) {
		for _, f := range flows {
			if f.Active(at) {
				n++
			}
		}
		return n
	}
	if len(flows) != 4 || active(6*time.Second) != 3 || flows[2].Active(6*time.Second) || flows[3].Started != 5*time.Second+2*stagger {
		t.Errorf("%d flows, %d active, the last starts at %v", len(flows), active(6*time.Second), flows[3].Started)
	}
	flows = Update(flows, nil, 7*time.Second)
	if active(7*time.Second) != 0 || active(6*time.Second) != 3 {
		t.Error("flows do not stop with an empty plan")
	}
	for i := range 2000 {
		at := time.Duration(8+i) * time.Second
		flows = Update(flows, plan("64 constant rate=1kbit"), at)
		flows = Update(flows, nil, at)
	}
	if len(flows) > maxListed {
		t.Errorf("%d flows are kept", len(flows))
	}
}

// Plans are formatted as they are parsed. Errors name what was expected.
func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"off": "off", "1 cubic": "1 cubic", "cubic": "1 cubic", "4 cubic rtt=80ms, 2 constant rate=3mbit": "4 cubic rtt=80ms, 2 constant rate=3mbit",
		" 1 cubic  start=10s stop=20s ,1 constant ": "1 cubic start=10s stop=20s, 1 constant",
	} {
		p, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := strings.ReplaceAll(p.Label(), "000ms", "s"); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		if again, err := Parse(p.String()); err != nil || again.String() != p.String() {
			t.Errorf("%q becomes %q, %v", p, again, err)
		}
	}
	for text, want := range map[string]string{
		"":                              `traffic: got "", expected flows such as`,
		"65 cubic":                      `flows: got "65", expected 1 to 64 flows`,
		"0 cubic":                       `expected 1 to 64 flows`,
		"40 cubic, 30 constant":         `flows: got 70 flows, expected at most 64`,
		"1 cubic start=5s stop=5s":      `expected a stop after the start`,
		"1 bbr":                         `unknown policy "bbr": expected one of cubic, constant`,
		"1 cubic rtt=0ms":               `rtt: got "rtt=0ms", expected a time from 1ms`,
		"2":                             `expected flows such as`,
		"1 cubic,":                      `expected flows such as`,
		"99999999999999999999999 cubic": `expected 1 to 64 flows`,
	} {
		_, err := Parse(text)
		if e := (*setting.KeyError)(nil); err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &e) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A copy of a flow does the same as the original.
func TestFork(t *testing.T) {
	for _, text := range []string{"cubic", "constant"} {
		a := flowOf(t, text)
		i := 0
		lossy := func(time.Duration, Packet) bool { i++; return i%50 != 0 }
		runFlow(a, 5*time.Second, lossy)
		b := a.Fork()
		i = 0
		runFlow(a, 20*time.Second, lossy)
		i = 0
		runFlow(b, 20*time.Second, lossy)
		if a.Stats != b.Stats || a.Next() != b.Next() {
			t.Errorf("%s: %+v, want %+v", text, b.Stats, a.Stats)
		}
	}
}

// In steady state a flow does not allocate.
func TestAllocations(t *testing.T) {
	f := flowOf(t, "cubic")
	i := 0
	lossy := func(time.Duration, Packet) bool { i++; return i%200 != 0 }
	end := 20 * time.Second
	runFlow(f, end, lossy)
	var sent []Packet
	sent = append(sent, make([]Packet, 1000)...)
	if n := testing.AllocsPerRun(100, func() {
		for at := f.Next(); at < end; at = f.Next() {
			sent = f.Run(at, sent[:0])
			for _, p := range sent {
				f.Left(at, p.Number)
			}
		}
		end += 50 * ms
	}); n > 0 {
		t.Errorf("%g allocations in 50 ms", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("4 cubic rtt=80ms, 2 constant rate=3mbit start=1s stop=2s")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(p.String()); err != nil || again.String() != p.String() {
			t.Errorf("%q: %v becomes %v, %v", text, p, again, err)
		}
	})
}

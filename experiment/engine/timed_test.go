package engine

import (
	"bytes"
	"io"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
)

// bursts is a source whose ticks have their own times, some of them almost equal.
type bursts struct {
	times []time.Duration
	next  int
	loop  bool
}

func (b *bursts) Schema() *frame.Schema {
	return &frame.Schema{Name: "packets", Item: "byte", Delivery: frame.Unreliable, Timed: true, TickHz: 9}
}
func (b *bursts) Initial(f *frame.Frame) { f.Body = f.Body[:0] }
func (b *bursts) Frames() int            { return len(b.times) }

func (b *bursts) Next(f *frame.Frame) error {
	if b.next == len(b.times) && !b.loop {
		return io.EOF
	}
	f.Body = append(f.Body[:0], byte(b.next), byte(b.next>>8), 3, 4)
	b.next++
	return nil
}

func (b *bursts) Remarks() []string { return []string{"port 7 was guessed"} }

func (b *bursts) TickTime(n uint64) time.Duration {
	size := uint64(len(b.times))
	return time.Duration(n/size)*2*time.Second + b.times[n%size]
}

func (b *bursts) TickAt(at time.Duration) (n uint64) {
	for b.TickTime(n+1) <= at {
		n++
	}
	return n
}

// sentAt records when packets were sent.
type sentAt struct{ at []time.Duration }

func (s *sentAt) Sample(*meters.Sample)                  {}
func (s *sentAt) Settled(uint64)                         {}
func (s *sentAt) Packet(r *packetlog.Record, _ *Problem) { s.at = append(s.at, r.Sent) }

// Frames of a source with its own times are sent at these times, in a single pass and in a loop,
// and all of them arrive.
func TestTimedSource(t *testing.T) {
	const ms = time.Millisecond
	times := []time.Duration{0, 1, 100 * ms, 100*ms + 1, 100*ms + 2, 117 * ms, 1500 * ms, 1500*ms + 7, 1999 * ms}
	for _, loop := range []bool{false, true} {
		c := config.Default()
		c.Encoder.Name = "deflate"
		if loop {
			c.Duration = 5 * time.Second
		}
		seen := &sentAt{}
		src := &bursts{times: times, loop: loop}
		s := mustOpen(t, c, src, Options{Observer: seen})
		for !s.Done() {
			mustRun(t, s, s.NextFrame())
		}
		n := len(times)
		end := 2 * time.Second
		if loop {
			n, end = 2*n+6, 5*time.Second
		}
		r := s.Result()
		if r.Totals.Sent != int64(n) || r.Totals.Decoded != int64(n) || r.DurationNS != end || r.Totals.Wrong != 0 || r.ItemsPerFrame != 4 {
			t.Errorf("loop %v: %d sent, %d decoded in %v, want %d in %v", loop, r.Totals.Sent, r.Totals.Decoded, r.DurationNS, n, end)
		}
		if w, v := r.Warnings, s.View(1).Remarks; len(w) != 1 || w[0] != "data: port 7 was guessed" || len(v) != 1 {
			t.Errorf("the report warns of %q, the dashboard of %q", w, v)
		}
		for i, at := range seen.at {
			if at != src.TickTime(uint64(i)) {
				t.Errorf("loop %v: packet %d left at %v, want %v", loop, i, at, src.TickTime(uint64(i)))
			}
		}
	}
	c := config.Default()
	if err := c.Set("sender.rate_hz", 20); err != nil {
		t.Fatal(err)
	}
	if _, err := NewSessionFromSource(c, &bursts{times: times}, Options{}); err == nil || !bytes.Contains([]byte(err.Error()), []byte("have their own times")) {
		t.Errorf("another rate than theirs: %v", err)
	}
}

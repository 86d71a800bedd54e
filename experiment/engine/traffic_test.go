package engine

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
	"wirelab/lossmodel/queue"
)

// newTrafficSession returns a session of 40 cubes with the given settings.
func newTrafficSession(t *testing.T, opt Options, pairs ...any) *Session {
	t.Helper()
	c := config.Default()
	c.Encoder.Name = "relative-orientation"
	testkit.Set(t, c, pairs...)
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, c, labtest.NewCubeSource(40, 20, -1, 3), opt)
	return s
}

// A download fills a drop-tail queue, whose delay is then 8 x limit / rate; fq_codel keeps the session's
// delay below that of a few packets, without loss. The flow gets the rest of the line.
func TestTrafficDelaysSession(t *testing.T) {
	for _, x := range []struct {
		queue, discipline string
		most, least       float64 // of the 95 % quantile of the delay in ms, without the latency
	}{
		{"64KB", "droptail", 102.4, 92}, {"256KB", "droptail", 409.6, 370}, {"1MB", "codel", 20, 2}, {"1MB", "fq_codel", 4.8, 0},
	} {
		s := newTrafficSession(t, Options{}, "duration", "60s", "down.latency", "15ms", "up.latency", "15ms", "down.rate", "5mbit", "down.queue", x.queue,
			"down.queue_discipline", x.discipline, "traffic", "1 cubic")
		mustRun(t, s, time.Minute)
		r := s.Result()
		p95 := r.Totals.Network.DelayMS.P95 - 15
		if p95 > x.most || p95 < x.least {
			t.Errorf("%s: 95 %% of the delays are below %.1f ms, want %v to %v", x.discipline, p95, x.least, x.most)
		}
		if x.discipline == "fq_codel" && r.Totals.Lost > 0 {
			t.Errorf("fq_codel loses %d packets of the session", r.Totals.Lost)
		}
		flow := r.Traffic[0]
		if rate := flow.Mbps.Or(0) + r.Totals.WireKbps/1000; rate < 4.3 || rate > 5 || flow.Lost == 0 || flow.Retransmit == 0 {
			t.Errorf("%s: %.2f Mbit/s, %+v", x.discipline, rate, flow)
		}
	}
}

// Under every discipline, with changes of rate, discipline and traffic, all outcomes add up, nothing is
// wrong, lanes of equal encoders meet the same queue, and a replay of the report gives the same figures.
func TestTrafficReplays(t *testing.T) {
	for seed, discipline := range queue.Texts() {
		s := newTrafficSession(t, Options{}, "seed", seed, "duration", "20s", "link.latency", "10ms", "down.rate", "1mbit", "down.queue", "64KB",
			"down.jitter", "2ms", "down.loss", "1%", "down.duplicate", "2%", "down.queue_discipline", discipline, "up.rate", "100kbit",
			"up.queue_discipline", discipline, "shadow[0].name", "relative-orientation", "shadow[0].control", "off")
		for _, change := range [][2]string{{"traffic", "2 cubic"}, {"down.rate", "300kbit"}, {"down.queue_discipline", "fq_codel"},
			{"shadow", "raw"}, {"down.rate", "2mbit"}, {"traffic", "1 cubic, 1 cubic rtt=80ms, 1 constant rate=200kbit"}, {"down.queue_discipline", "codel"},
			{"traffic", "off"}, {"down.queue_discipline", "droptail"}, {"down.rate", "off"}} {
			mustRun(t, s, s.now+1700*time.Millisecond)
			var value any = change[1]
			if change[0] == "shadow" {
				value = shadowsNamed(change[1])
			}
			if err := s.Change(config.NewChange(change[0], value)); err != nil {
				t.Fatalf("%v: %v", change, err)
			}
		}
		mustRun(t, s, 20*time.Second)
		r := s.Result()
		c := r.Totals.Counts
		if c.Wrong > 0 || c.Sent+c.Duplicated != c.Decoded+c.Stale+c.Duplicate+c.Lost+c.InFlight+c.Failures.NoBaseline || c.Decoded < 300 {
			t.Errorf("%s: %+v", discipline, c)
		}
		if r.Shadows[0].Digest != r.Digest || !reflect.DeepEqual(r.Shadows[0].Traffic, r.Traffic) {
			t.Errorf("%s: a shadow of the same encoder met another queue:\n%+v\n%+v", discipline, r.Shadows[0].Traffic, r.Traffic)
		}
		if n := len(r.Traffic); n != 4 {
			t.Errorf("%s: %d flows", discipline, n)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		saved := &Result{}
		if err := json.Unmarshal(data, saved); err != nil {
			t.Fatal(err)
		}
		start, err := saved.Replayable()
		if err != nil {
			t.Fatal(err)
		}
		again := mustOpen(t, start, labtest.NewCubeSource(40, 20, -1, 3), Options{Inspect: true})
		mustRun(t, again, time.Minute)
		if got := again.Result(); got.Digests() != r.Digests() || !reflect.DeepEqual(got.Traffic, r.Traffic) {
			t.Errorf("%s: a replay gives %s and %+v, want %s and %+v", discipline, got.Digests(), got.Traffic, r.Digests(), r.Traffic)
		}
	}
}

// The samples contain the queue by owner: bytes, and a delay that is that of all bytes at the line's rate.
func TestQueueByOwner(t *testing.T) {
	s := newTrafficSession(t, Options{}, "duration", "20s", "down.rate", "2mbit", "traffic", "1 cubic, 1 constant rate=300kbit start=5s")
	mustRun(t, s, 20*time.Second)
	seen := [3]int64{}
	for _, x := range s.lanes[0].meter.Samples() {
		q := &x.Queue
		if len(q.Flows) != 2 {
			t.Fatalf("at %v the queue has %d flows", x.T, len(q.Flows))
		}
		if want := float64(q.Total()) * 8 / 2e6; math.Abs(q.Delay.Seconds()-want) > 1e-6 || q.Total() > 64_000 {
			t.Errorf("at %v: %v for %d bytes, want %v s", x.T, q.Delay, q.Total(), want)
		}
		if sum := q.DelayOf(q.Bytes) + q.DelayOf(q.Flows[0]) + q.DelayOf(q.Flows[1]); sum > q.Delay || q.Delay-sum > 3 {
			t.Errorf("at %v the parts of %v are %v", x.T, q.Delay, sum)
		}
		seen[0] += q.Bytes
		seen[1] += q.Flows[0]
		seen[2] += q.Flows[1]
	}
	if seen[0] == 0 || seen[1] < 10*seen[0] || seen[2] == 0 {
		t.Errorf("bytes by owner: %v", seen)
	}
	if lanes := s.View(10).Lanes; len(lanes[0].Traffic) != 2 || lanes[0].Traffic[1].StartS != 5 {
		t.Errorf("a snapshot has the flows %+v", lanes[0].Traffic)
	}
}

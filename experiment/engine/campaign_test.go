package engine

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/lossmodel"
)

// campaign is how long TestCampaign goes on: without it, for a few schedules.
var campaign = flag.Duration("campaign", 0, "how long TestCampaign plays random schedules")

// schedule is one random session: what it is made of comes of its seed alone.
type schedule struct {
	*testing.T
	seed    uint64
	rng     *rand.Rand
	config  *config.Config
	cubes   int
	session *Session
	ops     map[string]int
}

func newSchedule(t *testing.T, seed uint64) *schedule {
	rng := rand.New(rand.NewPCG(seed, 77))
	x := &schedule{T: t, seed: seed, rng: rng, config: config.Default(), cubes: 2 + rng.IntN(4), ops: map[string]int{}}
	c := x.config
	c.Seed, c.Sender.History, c.Receiver.History = seed, 20+rng.IntN(236), 30+rng.IntN(226)
	c.Receiver.Playout = time.Duration(rng.IntN(120)) * time.Millisecond
	c.Encoder.Name = x.codec()
	for range rng.IntN(8) {
		key, rung := x.linkSetting()
		_ = c.Set(key, rung) // one that does not go with the others is left out
	}
	if c.Validate() != nil {
		d := config.Default()
		d.Seed, d.Encoder = c.Seed, c.Encoder
		x.config = d
	}
	x.session = x.open(x.config)
	return x
}

func (x *schedule) codec() string {
	all := labtest.OfCubes()
	for {
		if c := all[x.rng.IntN(len(all))]; c.Name != "kinetic" && c.Name != "kinetic-lite" || x.rng.IntN(20) == 0 {
			return c.Name
		}
	}
}

// linkSetting returns a key of a link with one of its rungs or choices: any stage.
func (x *schedule) linkSetting() (key, rung string) {
	keys := lossmodel.Keys()
	for {
		k := keys[x.rng.IntN(len(keys))]
		words := append(append([]string{}, k.Ladder...), k.Choices...)
		if k.Key == "netem" {
			words = []string{"off", "off", "delay 30ms 8ms loss 4%", "loss gemodel 2% 30%", "duplicate 3% reorder 10% 50% delay 5ms"}
		}
		if k.Key == "checksum" || len(words) == 0 { // without a checksum damage is no fault of the lab
			continue
		}
		return [...]string{"down.", "up.", "link."}[x.rng.IntN(3)] + k.Key, words[x.rng.IntN(len(words))]
	}
}

func (x *schedule) open(c *config.Config) *Session {
	x.Helper()
	s, err := NewSessionOf(c, labtest.NewCrowd(x.cubes, 1+x.cubes/2, -1, x.seed), Options{Endless: c.Duration == 0, KeepSamples: 20,
		Inspect: x.seed%4 == 0})
	if err != nil {
		x.Fatalf("seed %d: %v", x.seed, err)
	}
	return s
}

// step does one thing at random, as a person, a script or a bad link would.
func (x *schedule) step() {
	x.Helper()
	op := [...]string{"encoder", "link", "link", "link", "param", "shadow", "setting", "undo", "outage", "back", "replay",
		"profile"}[x.rng.IntN(12)]
	x.ops[op]++
	s := x.session
	change := func(pairs ...any) {
		var ch config.Change
		for i := 0; i < len(pairs); i += 2 {
			if ch.Set(pairs[i].(string), pairs[i+1]) != nil {
				return
			}
		}
		_ = s.Change(ch) // what does not fit is refused, and changes nothing
	}
	switch op {
	case "encoder":
		change("encoder", x.codec())
	case "link":
		key, rung := x.linkSetting()
		change(key, rung)
	case "profile":
		all := lossmodel.Profiles()
		change("profile", all[x.rng.IntN(len(all))].Name)
	case "param":
		change([...]string{"params.xy_small", "params.orientation_small", "params.rate"}[x.rng.IntN(3)], 2+x.rng.IntN(8))
	case "shadow":
		if len(s.config.Shadows) < 3 && x.rng.IntN(2) == 0 {
			change("shadow", x.codec())
		} else if len(s.config.Shadows) > 0 {
			change("shadow_off", s.config.Shadows[0].Name)
		}
	case "setting":
		change("every", 1+x.rng.IntN(4), "playout_delay", fmt.Sprintf("%dms", x.rng.IntN(200)))
	case "undo":
		_, _ = s.Undo()
	case "outage":
		change("link.loss", "100%")
		x.advance(time.Duration(x.rng.IntN(6000)) * time.Millisecond)
		change("link.loss", "1%")
	case "back":
		x.lookBack()
	case "replay":
		x.replay()
	}
}

func (x *schedule) advance(d time.Duration) {
	x.Helper()
	if err := x.session.Advance(d); err != nil {
		x.Fatalf("seed %d: %v", x.seed, err)
	}
}

// lookBack plays the session again from its beginning, as a jump back in time does.
func (x *schedule) lookBack() {
	x.Helper()
	s := x.session
	if s.Now() > 20*time.Second {
		return
	}
	to := time.Duration(x.rng.Int64N(int64(s.Now()) + 1))
	again := x.open(x.config)
	again.ReplayChanges(s.Log(), to)
	x.session = again
	if err := again.RunUntil(to); err != nil {
		x.Fatalf("seed %d: %v", x.seed, err)
	}
}

// replay runs the session's report from its beginning and demands the same bytes.
func (x *schedule) replay() {
	x.Helper()
	r := x.session.Result()
	c, err := r.Replayable()
	if err != nil {
		x.Fatalf("seed %d: %v", x.seed, err)
	}
	again := x.open(c)
	if err := again.RunUntil(c.Duration); err != nil {
		x.Fatalf("seed %d: %v", x.seed, err)
	}
	if got := again.Result(); got.Digests() != r.Digests() {
		x.Fatalf("seed %d: at %v the report of the session does not replay: %s, want %s", x.seed, c.Duration, got.Digests(), r.Digests())
	}
}

// check holds every lane to the laws, and returns the packets sent.
func (x *schedule) check() (sent int64) {
	x.Helper()
	for i, l := range x.session.lanes {
		got := l.totals(x.session.Now())
		// What was under way in a link when a shadow took it over is in flight there too.
		if under := int64(l.downLink.InFlight()); got.InFlight > under || i == 0 && got.InFlight != under {
			x.Fatalf("seed %d, lane %d: %d in flight by the meter, %d by the link", x.seed, i, got.InFlight, under)
		}
		if sum := got.Decoded + got.Stale + got.Duplicate + got.Lost + got.Failures.NoBaseline + got.Failures.Corrupt +
			got.Failures.UnknownCodec +
			got.Tainted + got.Wrong + got.InFlight; sum != got.Sent+got.Duplicated {
			x.Fatalf("seed %d, lane %d: sent %d + duplicated %d, outcomes sum to %d", x.seed, i, got.Sent, got.Duplicated, sum)
		}
		if got.Wrong != 0 || got.DecodeRefused != 0 || got.EncodeFailed != 0 {
			x.Fatalf("seed %d, lane %d: wrong %d, refused %d, not encoded %d: %v", x.seed, i, got.Wrong, got.DecodeRefused,
				got.EncodeFailed, l.lastErr)
		}
		sent += got.Sent
	}
	return sent
}

// Random schedules of links (every stage), swaps, changes of params, outages, looking back,
// saves and replays: nothing is ever wrong, every packet is accounted for, and every
// report replays. With -campaign 1h it is the campaign that the release notes speak of.
func TestCampaign(t *testing.T) {
	const few = 25
	begun, told := time.Now(), time.Now()
	packets, ops := int64(0), map[string]int{}
	n := uint64(0)
	for ; n < few && *campaign == 0 || time.Since(begun) < *campaign; n++ {
		x := newSchedule(t, n)
		for range 30 {
			x.advance(time.Duration(x.rng.IntN(900)) * time.Millisecond)
			x.step()
		}
		x.replay()
		packets += x.check()
		for op, k := range x.ops {
			ops[op] += k
		}
		if *campaign > 0 && time.Since(told) > time.Minute {
			told = time.Now()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			t.Logf("%v: %d schedules, %d packets in the sessions that ended, %.1f MB live", time.Since(begun).Round(time.Second), n+1,
				packets, float64(m.HeapAlloc)/1e6)
		}
	}
	t.Logf("%d schedules, %d packets, %v", n, packets, ops)
	if len(ops) < 10 && n >= few {
		t.Errorf("only %v was done: too little was tested", ops)
	}
}

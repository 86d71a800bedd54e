package lossmodel

import (
	"slices"
	"testing"
	"time"
)

// The trails of all packets agree with the verdicts: delays add up, exactly one stage drops a
// lost packet, and an unwatched link makes the same decisions.
func TestTrailMatchesVerdict(t *testing.T) {
	for name, spec := range map[string]Spec{
		"everything": allStagesSpec(t), "fullest": allFeaturesSpec(t), "perfect": DefaultSpec(),
		"netem": newSpec(t, "netem", "delay 50ms 10ms loss 5% duplicate 5% corrupt 2% rate 20mbit seed 1"),
	} {
		t.Run(name, func(t *testing.T) {
			l, unwatched := newLink(t, spec, 3), newLink(t, spec, 3)
			l.RecordTrails()
			copies, flipped := 0, 0
			for i := range 20_000 {
				now, data := time.Duration(i)*ms, make([]byte, 100+i%2000)
				v := l.Send(now, data, 0)
				if w := unwatched.Send(now, data, 0); v != w {
					t.Fatalf("packet %d: watched %+v, unwatched %+v", i, v, w)
				}
				for number := 0; number <= v.Copies; number++ {
					trail, lost := l.Trail(number), v.Lost
					if number > 0 {
						lost = v.CopyLost[number-1]
					}
					checkTrail(t, trail, lost)
					if number == 0 && lost == None && trail.Delay() != v.Due-now {
						t.Fatalf("packet %d: delay by stages %v, by verdict %v", i, trail.Delay(), v.Due-now)
					}
					for _, s := range trail.All() {
						copies += int(s.Copies)
						if lost == None {
							flipped += int(s.Flipped)
						}
					}
				}
				copies -= v.Copies
				for d, ok := l.Receive(now); ok; d, ok = l.Receive(now) {
					flipped -= d.Flipped
				}
			}
			for d, ok := l.Receive(1 << 60); ok; d, ok = l.Receive(1 << 60) {
				flipped -= d.Flipped
			}
			if copies != 0 || flipped != 0 {
				t.Errorf("the trails have %d copies and %d flipped bits too many", copies, flipped)
			}
		})
	}
}

// checkTrail checks that the stages are in order and that exactly one of them dropped a lost
// packet.
func checkTrail(t *testing.T, trail *Trail, lost Cause) {
	t.Helper()
	by := None
	for i, s := range trail.All() {
		if i > 0 && slices.Index(stageNames, string(s.Stage)) <= slices.Index(stageNames, string(trail.Steps[i-1].Stage)) {
			t.Fatalf("%v comes after %v", s.Stage, trail.Steps[i-1].Stage)
		}
		if s.Lost != None && by != None {
			t.Fatalf("lost twice: %+v", trail.All())
		}
		by = max(by, s.Lost)
		if s.BaseDelay != 0 && s.Stage != StageDelay && s.Stage != StageNetem {
			t.Fatalf("%v has a constant delay of %v", s.Stage, s.BaseDelay)
		}
	}
	if by != lost {
		t.Fatalf("cause %v by stages, %v by verdict", by, lost)
	}
}

// The trail has the content and the limit of the queue. Three packets are sent at once over a
// slow line.
func TestTrailQueue(t *testing.T) {
	l := newLink(t, newSpec(t, "rate", "1mbit", "queue", "2500B"), 1)
	l.RecordTrails()
	data := make([]byte, 1000-28) // 1000 bytes, 8 ms, on the line
	for i, want := range []Step{
		{Stage: StageRate, Delay: 8 * ms, QueueLimit: 2500},
		{Stage: StageRate, Delay: 16 * ms, QueueAhead: QueueLength{1, 1000}, QueueLimit: 2500},
		{Stage: StageRate, Lost: Queue, QueueAhead: QueueLength{2, 2000}, QueueLimit: 2500},
	} {
		l.Send(0, data, 0)
		if got := *l.Trail(0).Step(StageRate); got != want {
			t.Errorf("packet %d: %+v, want %+v", i, got, want)
		}
	}
}

// A watched link does not allocate.
func TestWatchedLinkNoAllocations(t *testing.T) {
	l := newLink(t, allStagesSpec(t), 1)
	l.RecordTrails()
	step := newStepper(l, ms, 450)
	for range 10_000 {
		step()
	}
	if n := testing.AllocsPerRun(1000, step); n != 0 {
		t.Errorf("%v allocations per packet", n)
	}
}

func BenchmarkWatchedPipeline(b *testing.B) {
	l := newLink(b, allStagesSpec(b), 1)
	l.RecordTrails()
	step := newStepper(l, ms, 450)
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

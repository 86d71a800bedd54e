package live

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/wallclock"
)

// jumpy is a clock that a test can set.
type jumpy struct {
	real   wallclock.Clock
	offset atomic.Int64
}

func (j *jumpy) now() time.Duration { return j.real() + time.Duration(j.offset.Load()) }

// A clock that jumps by hours, forward or back, neither stops a session nor makes it jump, at any
// speed. Commands are executed and snapshots published all the time.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, clockJumps)
}

func clockJumps(t *testing.T) {
	for _, speed := range []float64{1, 0} {
		clock := &jumpy{real: labtest.WallClock()}
		c := labtest.QuickConfig(t)
		c.At, c.Duration = nil, 0
		c.Sender.RateHz = 10 // at full speed a tick runs maxSteps
		r := newLab(t, c, Options{Clock: clock.now})
		r.Start(t.Context())
		r.send(Command{Speed: &speed})
		r.await("the start", func(s *engine.Snapshot) bool { return s.Now > 100*time.Millisecond })
		for i, jump := range []time.Duration{-3 * time.Hour, 5 * time.Hour, -time.Minute, 48 * time.Hour, -1000 * time.Hour} {
			before, at := r.Snapshot(), time.Now()
			clock.offset.Add(int64(jump))
			after := r.await("time going on", func(s *engine.Snapshot) bool { return s.Now > before.Now+100*time.Millisecond })
			if limit := 2*time.Since(at) + 4*maxElapsed; speed == 1 && after.Now-before.Now > limit {
				t.Errorf("with a jump of %v, virtual time leapt %v in %v", jump, after.Now-before.Now, time.Since(at))
			}
			loss := []string{"1%", "2%", "3%", "4%", "5%"}[i]
			r.send(change("down.loss", loss))
			r.await("obedience", func(s *engine.Snapshot) bool { return len(s.Log) == i+1 })
		}
		r.Stop()
	}
}

// One tick advances virtual time by at most maxElapsed, however much time seems to have passed, and
// not at all if the clock went back.
func TestElapsedTimeIsBounded(t *testing.T) {
	now := time.Duration(0)
	r := newLab(t, endless(t), Options{Clock: func() time.Duration { return now }})
	for _, x := range []struct{ jump, most time.Duration }{{10 * time.Millisecond, 30 * time.Millisecond},
		{7 * time.Hour, maxElapsed + 20*time.Millisecond},
		{-9 * time.Hour, 20 * time.Millisecond}, {10 * time.Millisecond, 30 * time.Millisecond}} {
		from := r.current.Now()
		now += x.jump
		r.advance(t.Context())
		if went := r.current.Now() - from; went > x.most {
			t.Errorf("after %v virtual time went %v, at most %v was expected", x.jump, went, x.most)
		}
	}
}

// stoppable is a clock that a test can stop.
type stoppable struct {
	real      wallclock.Clock
	stoppedAt atomic.Int64 // time at which the clock stands; 0 while it runs
}

func (s *stoppable) now() time.Duration {
	if at := s.stoppedAt.Load(); at != 0 {
		return time.Duration(at)
	}
	return s.real()
}

// While the clock stands, a session executes commands, at any speed and during a seek, and ends when it is
// stopped. What was measured is saved, and replays.
func TestClockStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, clockStops)
}

func clockStops(t *testing.T) {
	for name, c := range map[string]Command{
		"real time": {}, "maximum speed": {Speed: new(float64)}, "seek": {Seek: new(30 * time.Minute)},
	} {
		clock := &stoppable{real: labtest.WallClock()}
		cfg := labtest.QuickConfig(t)
		cfg.At, cfg.Duration = nil, 0
		cfg.Sender.RateHz = 10 // up to maxSteps run before a command, which the replay repeats
		r := newLab(t, cfg, Options{Clock: clock.now, Reports: t.TempDir()})
		r.Start(t.Context())
		r.await("the start", func(s *engine.Snapshot) bool { return s.Now > 100*time.Millisecond })
		clock.stoppedAt.Store(int64(clock.now()))
		r.send(c)
		r.send(change("down.loss", "3%"))
		r.await("the change with the clock stopped, "+name, func(s *engine.Snapshot) bool { return len(s.Log) == 1 })
		at := r.Snapshot().Now
		if at > 10*time.Minute {
			t.Errorf("%s: the change waited until %v", name, at)
		}
		r.saveAndReplay()
		if r.Snapshot().Now < at {
			t.Errorf("%s: saved at %v of %v", name, r.Snapshot().Now, at)
		}
	}
}

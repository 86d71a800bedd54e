package engine

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// unverified is a playout.Verifier that knows no frame to be exact.
type unverified struct{}

func (unverified) Exact(uint64) bool { return false }

// A display that only computes the rows that the source changed finds the same errors as one that compares
// all frames: under loss, damage, swaps and all other changes, at any rate.
func TestErrorsFromChangedRows(t *testing.T) {
	for seed := range testkit.ChooseLong[uint64](16, 4, 2) {
		run := func(compareAll bool) (*Session, any) {
			rng := rand.New(rand.NewPCG(seed, 98))
			c := config.Default()
			c.Seed, c.Sender.RateHz = seed, []int{60, 60, 30, 1 + rng.IntN(60)}[rng.IntN(4)]
			c.Receiver.History = 20 + rng.IntN(200)
			c.Sender.History = c.Receiver.History
			if seed%2 == 0 {
				c.Receiver.Hermite = true
			}
			s := mustOpen(t, c, labtest.NewCubeSource(100, 4, -1, seed), Options{})
			if compareAll {
				l := s.lanes[0]
				l.display = playout.New(s.schema, s.cadence, l.rcv.History(), unverified{})
				l.display.Set(c.Playout(), c.PlayoutRhythm(s.schema.TickHz), c.Receiver.Hermite)
			}
			for range 40 {
				_ = s.Change(randomChange(rng)) // some are refused
				mustRun(t, s, s.now+time.Duration(rng.IntN(800))*time.Millisecond)
			}
			return s, []any{s.lanes[0].totals(s.Now()), s.lanes[0].digest.sum(), s.lanes[0].meter.Samples()}
		}
		a, plain := run(false)
		_, compared := run(true)
		if !reflect.DeepEqual(plain, compared) {
			t.Errorf("seed %d: all frames compared: %+v\nchanged rows: %+v", seed, compared, plain)
		}
		if n := a.lanes[0].meter.Display.Errors.Count(); n < 100 {
			t.Errorf("seed %d: %d errors were measured, so little was tested", seed, n)
		}
	}
}

// Every frame of a session has its changed rows, even if the source does not report them, and a
// session has no more frames than it needs.
func TestChangedRowsOfSession(t *testing.T) {
	for _, ends := range []bool{false, true} {
		crowd := labtest.NewCubeSource(80, 3, -1, 5)
		var s *Session
		var err error
		c := lossless(t)
		if ends {
			s, err = NewSessionFromSource(c, labtest.FiniteCubes{CubeSource: crowd}, Options{Endless: true})
		} else {
			s, err = NewSessionFromSource(c, crowd, Options{Endless: true})
		}
		if err != nil {
			t.Fatal(err)
		}
		was, want := s.schema.NewFrame(), frame.NewRows(80)
		was.CopyFrom(s.initial)
		made := map[*frame.Shared]bool{}
		for n := range 600 {
			mustRun(t, s, s.cadence.TickTime(uint64(n)))
			want.SetDiffering(s.feed.current.Table, was.Table, frame.CubeFields)
			if !slices.Equal(want, s.feed.current.Changed) {
				t.Fatalf("frame %d (read ahead: %v): %v are said to change, %v do", n, ends, s.feed.current.Changed, want)
			}
			was.CopyFrom(&s.feed.current.Frame)
			made[s.feed.current] = true
		}
		if most := frame.MaxHistory + 20; len(made) > most {
			t.Errorf("%d frames are in use, want %d at most", len(made), most)
		}
	}
}

func lossless(t *testing.T) *config.Config {
	t.Helper()
	c := config.Default()
	if err := c.Set("encoder.name", "relative-orientation"); err != nil {
		t.Fatal(err)
	}
	return c
}

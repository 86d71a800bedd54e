package walkoff

import (
	"context"
	"errors"
	"testing"
	"time"
)

// The reference loop has the result of the same loop in Python. A faster loop would be a different unit.
func TestReferenceIsFixed(t *testing.T) {
	if got := runReference(); got != 0x56a07a04b999b603 {
		t.Errorf("%#x", got)
	}
	if n := testing.AllocsPerRun(10, func() { runReference() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// With a clock that advances by one tick per call, an encode, a decode and a pass all take one tick, so that both
// times are two passes. A codec that is not lossless has no timing and no session.
func TestTiming(t *testing.T) {
	var last float64
	opt := Options{Clock: stepClock(), Progress: func(done, total float64) { last = done / total }}
	opt.Session = func(_ context.Context, i int, length time.Duration, progress func(float64)) (float64, error) {
		if i != 1 || length != 2*time.Second {
			t.Errorf("a session of %v with codec %d", length, i)
		}
		if progress(0.5); last != 0.875 {
			t.Errorf("progress is %v in the middle of the last session", last)
		}
		return 40, nil
	}
	board, err := Run(t.Context(), "walk", openWalk(Delay+120), codecs(t, "liar", "honest"), opt)
	if err != nil || len(board.Results) != 2 {
		t.Fatalf("%v, %+v", err, board)
	}
	if liar := board.Results[0].Timing; liar != nil {
		t.Errorf("%+v for a codec that is not lossless", liar)
	}
	if got, want := board.Results[1].Timing, (timing{ReferenceUS: 1, Passes: 2, RealTime: 40}); got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}

	// The error of a session ends the walk-off. Encoders that were scored before have results.
	broken := errors.New("broken")
	opt.Session = func(context.Context, int, time.Duration, func(float64)) (float64, error) { return 0, broken }
	board, err = Run(t.Context(), "walk", openWalk(20), codecs(t, "liar", "honest"), opt)
	if !errors.Is(err, broken) || board.Interrupted || len(board.Results) != 1 {
		t.Errorf("%v, %+v", err, board)
	}
}

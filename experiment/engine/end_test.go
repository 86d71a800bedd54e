package engine

import (
	"math"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/internal/labtest"
)

// A recording is sent completely and lasts as many ticks as it has frames. No event
// at the instant of its end is handled, so that a replay by duration agrees.
func TestEndOfData(t *testing.T) {
	for _, frames := range []int{0, 1, 6, 100} {
		c := config.Default()
		s := mustOpen(t, c, labtest.FiniteCubes{CubeSource: labtest.NewCubeSource(3, 1, frames, 1)}, Options{})
		mustRun(t, s, math.MaxInt64-1)
		r := s.Result()
		if r.Totals.Sent != int64(frames) || r.DurationNS != endpoint.TickTime(uint64(frames), 60) || !s.Done() {
			t.Errorf("%d frames: %d sent, %v long, done %v", frames, r.Totals.Sent, r.DurationNS, s.Done())
		}
		c.Duration = r.DurationNS
		again := mustOpen(t, c, labtest.NewCubeSource(3, 1, -1, 1), Options{})
		if frames == 0 {
			continue // a duration of 0 means one pass through the recording
		}
		mustRun(t, again, time.Hour)
		if got := again.Result(); got.Digest != r.Digest {
			t.Errorf("%d frames: the same by duration gives another digest", frames)
		}
	}
}

package live

import (
	"testing"
	"time"

	"wirelab/experiment/config"
)

// TestEstimatesEncoders checks that a further list continues with the same frames, that an empty list ends the
// estimation, and that the run is not affected.
func TestEstimatesEncoders(t *testing.T) {
	eachKind(t, func(t *testing.T, r lab, clock *manualClock, _ Command) {
		r.play(clock, 4*time.Second)
		estimate := func(list ...config.Encoder) {
			r.handleCommand(t.Context(), Command{Estimate: &list})
			<-r.estimation.finished
			r.publish()
		}
		rotor, wider := config.Encoder{Name: "rotor"}, config.Encoder{Name: "rotor", Params: map[string]any{"xy_large": int64(12)}}
		estimate(rotor)
		first := r.Snapshot().Estimates
		if r.session() == nil {
			if first.Err == nil {
				t.Error("the encoders of a crowd are estimated")
			}
			return
		}
		r.play(clock, time.Second)
		estimate(wider, rotor, config.Encoder{Name: "no such encoder"})
		both := r.Snapshot().Estimates
		if both.From != first.From || both.Of(rotor).Kbps != first.Of(rotor).Kbps || both.Of(wider).Kbps <= first.Of(rotor).Kbps {
			t.Errorf("first %+v, then %+v", first, both)
		}
		if last := both.List[2]; last.Err == nil || last.Kbps != 0 {
			t.Errorf("an unknown encoder costs %v kbps", last.Kbps)
		}
		estimate()
		if r.Snapshot().Estimates != nil {
			t.Error("the estimation does not end")
		}
		r.saveAndReplay()
	})
}

package engine

import (
	"encoding/json"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/internal/labtest"
)

// Trials do not change a run: with and without them, encoders, parameters and shadows that join and
// leave give the same report.
func TestTrialsDoNotChangeResults(t *testing.T) {
	report := func(trials bool) (string, int) {
		s := mustOpen(t, badLink(t, config.Default()), labtest.NewCubeSource(20, 3, -1, 1), Options{Endless: true, Trials: trials})
		mustRun(t, s, time.Second)
		changeAndRun(t, s, config.NewChange("encoder.name", "quantized"), 6*time.Second)
		changeAndRun(t, s, config.NewChange("encoder.name", "relative-orientation"), 2*time.Second)
		changeAndRun(t, s, config.NewChange("shadow", shadowsNamed("raw")), 0)
		changeAndRun(t, s, config.NewChange("encoder.params.orientation_small", 3, "down.loss", "2%"), 300*time.Millisecond)
		changeAndRun(t, s, config.NewChange("encoder.params.orientation_small", 4), 5500*time.Millisecond)
		changeAndRun(t, s, config.NewChange("encoder.name", "raw"), 6*time.Second)
		r := s.Result()
		r.Timing, r.Shadows[0].Timing = s.lanes[0].timing(), s.lanes[0].timing()
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(data) + r.Digests(), len(s.View(0).Effects)
	}
	with, n := report(true)
	without, none := report(false)
	if with != without {
		t.Errorf("with trials the report is\n%s\nwithout\n%s", with, without)
	}
	if n != 5 || none != 0 { // two trials have a second effect because a swap ends them
		t.Errorf("%d effects, without trials %d", n, none)
	}
}

// The effect of a change is measured on the same frames: the samples of the encoder before the
// change equal those of a session without the change.
func TestEffectCoversSameFrames(t *testing.T) {
	open := func() *Session {
		c := config.Default()
		c.Encoder = config.Encoder{Name: "quantized"}
		s := mustOpen(t, c, labtest.NewCubeSource(20, 3, -1, 1), Options{Endless: true, Trials: true})
		mustRun(t, s, 2050*time.Millisecond)
		return s
	}
	left, changed := open(), open()
	mustRun(t, left, 20*time.Second)
	changeAndRun(t, changed, config.NewChange("encoder.name", "raw"), time.Second)
	if snap := changed.View(0); snap.TrialAt != 2050*time.Millisecond+1 || len(snap.Lanes) != 1 || snap.PreviousEncoder.Name != "quantized" {
		t.Errorf("measured is %v, %d lanes, before %v", snap.TrialAt, len(snap.Lanes), snap.PreviousEncoder)
	}
	mustRun(t, changed, 9*time.Second)
	if list := changed.View(0).Effects; len(list) != 1 || len(list[0].Before) != 40 || list[0].Until != 7100*time.Millisecond || changed.trial == nil {
		t.Fatalf("%d effects while the trial continues", len(list))
	}
	mustRun(t, changed, 20*time.Second)
	list := changed.View(0).Effects
	if len(list) != 2 || changed.trial != nil || len(changed.running) != 1 {
		t.Fatalf("%d effects, %d lanes run", len(list), len(changed.running))
	}
	e := list[1]
	if len(e.Before) != 160 || e.Before[0].T != 3200*time.Millisecond || e.T != 2050*time.Millisecond+1 || e.Until != 19100*time.Millisecond {
		t.Errorf("%d samples from %v, of %v until %v", len(e.Before), e.Before[0].T, e.T, e.Until)
	}
	for i := range e.Before {
		at := int(e.Before[i].T/meters.SamplePeriod) - 1
		if want := left.lanes[0].meter.Samples()[at]; e.Before[i].PayloadBits != want.PayloadBits || e.Before[i].T != want.T {
			t.Errorf("at %v before it were %d bits, it would have been %d", want.T, e.Before[i].PayloadBits, want.PayloadBits)
		}
		if want := changed.lanes[0].meter.Samples()[at]; e.After[i].PayloadBits != want.PayloadBits {
			t.Errorf("at %v after it were %d bits, the lane has %d", want.T, e.After[i].PayloadBits, want.PayloadBits)
		}
	}
	changed.AllowTrials(false)
	changeAndRun(t, changed, config.NewChange("encoder.name", "quantized"), time.Second)
	if changed.trial != nil {
		t.Error("a trial runs on a machine that has no time for it")
	}
}

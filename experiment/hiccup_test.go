package experiment

import (
	"testing"
	"time"
)

// On the preset hiccup, the lane that sends everything stays in the queue, also after a minute on a good line. The lane
// with a control recovers within a second and loses nothing.
func TestHiccupPreset(t *testing.T) {
	c := must(LoadPreset("hiccup"))
	c.Duration = 70 * time.Second
	r := mustRun(t, c, RunOptions{}).Runs[0]
	stuck, free := &r.Totals, &r.Shadows[0].Totals
	if s := stuck.Control.Steps; len(s) != 2 || s[1].DrainedS.Or(-1) != -1 || stuck.AgeMS.P50 < 3000 || stuck.Network.LossRate.Or(0) < .2 {
		t.Errorf("without a control: %+v, age %v, %v lost", s, stuck.AgeMS, stuck.Network.LossRate)
	}
	if s := free.Control.Steps; len(s) != 2 || s[1].DrainedS.Or(9) > 1 || s[1].RateS.Or(9) > 1 || free.AgeMS.P50 > 150 || free.Lost > 0 {
		t.Errorf("with a control: %+v, age %v, %d lost", s, free.AgeMS, free.Lost)
	}
	if stuck.Wrong+free.Wrong != 0 {
		t.Errorf("%d frames are wrong", stuck.Wrong+free.Wrong)
	}
}

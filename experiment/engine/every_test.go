package engine

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// Sending every sixth of 60 snapshots a second equals sending 10 a second: the same
// frames, times, losses and display.
func TestEverySixthEqualsTenHertz(t *testing.T) {
	run := func(settings ...any) (figures.Totals, uint64) {
		c := config.Default()
		testkit.Set(t, c, settings...)
		if err := errors.Join(c.Set("profile", "fiedler"), c.Set("encoder.name", "quantized"),
			c.Set("receiver.playout_delay", "250ms")); err != nil {
			t.Fatal(err)
		}
		s := mustOpen(t, c, labtest.NewCubeSource(20, 4, -1, 3), Options{})
		mustRun(t, s, time.Minute)
		return s.lanes[0].totals(s.Now()), s.Result().Frames
	}
	tenth, frames := run("sender.rate_hz", 10)
	sixth, same := run("sender.every", 6)
	if !reflect.DeepEqual(tenth.Playout, sixth.Playout) || tenth.Playout.Freezes == 0 {
		t.Errorf("10 a second: %+v\nevery sixth: %+v", tenth.Playout, sixth.Playout)
	}
	if tenth.Sent != sixth.Sent || tenth.Lost != sixth.Lost || tenth.Reordered != sixth.Reordered || frames != same || sixth.Sent != 600 {
		t.Errorf("10 a second: %d sent, %d lost; every sixth: %d sent, %d lost", tenth.Sent, tenth.Lost, sixth.Sent, sixth.Lost)
	}
}

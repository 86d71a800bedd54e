package engine

import (
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
)

// Lanes are distinguished by the names of their encoders or, if these are equal, by the parameters
// that differ, in snapshots and in reports. Default values are left out.
func TestLaneNames(t *testing.T) {
	tuned := func(name string, params map[string]any) config.Encoder {
		return config.Encoder{Name: name, Params: params}
	}
	const name = "relative-orientation"
	for _, c := range []struct {
		first   config.Encoder
		shadows []config.Encoder
		want    string
		beside  string // where the first lane is already named
	}{
		{tuned(name, map[string]any{"orientation_small": 3}), nil, name, name},
		{tuned(name, map[string]any{"orientation_small": 3}), []config.Encoder{tuned("rotor", nil)}, name + ", rotor", name + ", rotor"},
		{tuned(name, nil), []config.Encoder{tuned(name, map[string]any{"orientation_small": 3}), tuned("rotor", nil),
			tuned(name, map[string]any{"orientation_small": 4})},
			name + ", " + name + " orientation_small=3, rotor, " + name + " orientation_small=4",
			name + ", orientation_small=3, rotor, orientation_small=4"},
		{tuned(name, map[string]any{"orientation_small": 3}), []config.Encoder{tuned(name, map[string]any{"orientation_small": 3,
			"orientation_large": 9}), tuned(name, nil)},
			name + " orientation_small=3, " + name + " orientation_small=3 orientation_large=9, " + name,
			name + " orientation_small=3, orientation_small=3 orientation_large=9, " + name},
	} {
		cfg := config.Default()
		cfg.Encoder, cfg.Shadows = c.first, c.shadows
		s := mustOpen(t, cfg, labtest.NewCubeSource(4, 1, -1, 1), Options{Endless: true})
		mustRun(t, s, 200*time.Millisecond)
		var names, beside []string
		snap := s.View(0)
		for i := range snap.Lanes {
			names = append(names, snap.Lanes[i].Name())
			beside = append(beside, snap.Lanes[i].ShortName(&snap.Lanes[0]))
		}
		r := s.Result()
		report := []string{r.Label}
		for i, x := range r.Shadows {
			report = append(report, x.Label)
			if x.Encoder != c.shadows[i].Name {
				t.Errorf("the report bends encoder to %q", x.Encoder)
			}
		}
		for i, x := range s.SamplesByLane() {
			if x.Name != names[i] {
				t.Errorf("samples of %q, the lane is %q", x.Name, names[i])
			}
		}
		if got := strings.Join(names, ", "); got != c.want || strings.Join(report, ", ") != c.want {
			t.Errorf("%s\nin the report %v\nwant %s", got, report, c.want)
		}
		if got := strings.Join(beside[1:], ", "); len(beside) > 1 && got != strings.SplitN(c.beside, ", ", 2)[1] {
			t.Errorf("beside: %s, want %s", got, c.beside)
		}
	}
}

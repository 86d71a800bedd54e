package engine

import (
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
)

// A lane is named by its encoder and the parameters that differ from the defaults, in snapshots, samples and
// reports.
func TestLaneNames(t *testing.T) {
	tuned := func(name string, params map[string]any) config.Encoder {
		return config.Encoder{Name: name, Params: params}
	}
	const name = "relative-orientation"
	for _, c := range []struct {
		first   config.Encoder
		shadows []config.Encoder
		want    string
	}{
		{tuned(name, map[string]any{"orientation_small": 3}), nil, name + " orientation_small=3"},
		{tuned(name, map[string]any{"orientation_small": 3}), []config.Encoder{tuned("rotor", nil)}, name + " orientation_small=3, rotor"},
		{tuned(name, map[string]any{"orientation_small": 5}), []config.Encoder{tuned(name, map[string]any{"orientation_small": "3",
			"orientation_large": 9})}, name + ", " + name + " orientation_large=9 orientation_small=3"},
	} {
		cfg := config.Default()
		cfg.Encoder, cfg.Shadows = c.first, c.shadows
		s := mustOpen(t, cfg, labtest.NewCubeSource(4, 1, -1, 1), Options{Endless: true})
		mustRun(t, s, 200*time.Millisecond)
		var names, samples []string
		snap := s.View(0)
		for i := range snap.Lanes {
			names = append(names, snap.Lanes[i].Name())
		}
		r := s.Result()
		report := []string{r.Label}
		for i, x := range r.Shadows {
			report = append(report, x.Label)
			if x.Encoder != c.shadows[i].Name {
				t.Errorf("the encoder of a shadow in the report is %q", x.Encoder)
			}
		}
		for _, x := range s.SamplesByLane() {
			samples = append(samples, x.Samples[0].Encoder)
		}
		for _, got := range [][]string{names, report, samples} {
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		}
	}
}

package engine

import (
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
)

// Undo of a profile restores the name of the links' profile, or none if there was none.
func TestUndoOfProfile(t *testing.T) {
	for _, name := range []string{"", "perfect", "lte"} {
		c := config.Default()
		c.Encoder.Name = "quantized"
		if name != "" {
			if err := c.Set("profile", name); err != nil {
				t.Fatal(err)
			}
		}
		s, err := NewSessionFromSource(c, labtest.NewCubeSource(2, 1, -1, 1), Options{Endless: true, KeepSamples: 1})
		if err != nil {
			t.Fatal(err)
		}
		changeAndRun(t, s, config.NewChange("profile", "wifi"), time.Second)
		if got := s.Config().Profile; got != "wifi" {
			t.Fatalf("%q", got)
		}
		if _, err := s.Undo(); err != nil {
			t.Fatal(err)
		}
		if err := s.Advance(time.Second); err != nil || s.Config().Profile != name {
			t.Errorf("%v; the profile is %q, and was %q", err, s.Config().Profile, name)
		}
	}
}

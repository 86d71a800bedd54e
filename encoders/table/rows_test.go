package table_test

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/entropy"
	"wirelab/encoders/internal/recording"
	"wirelab/encoders/rows"
	"wirelab/internal/testkit"
)

// TestRowsAgainstCubes checks that delta-adaptive, an untrained encoder of any table, needs no more bytes for cubes
// than adaptive, which was designed for cubes and trained with other recordings.
func TestRowsAgainstCubes(t *testing.T) {
	check := func(t *testing.T, frames []*frame.Frame) {
		any, _ := score(t, rows.DeltaAdaptive(), frames)
		own, _ := score(t, entropy.Adaptive(), frames)
		t.Logf("delta-adaptive %.1f bytes a packet, adaptive %.1f", any, own)
		if any > own {
			t.Errorf("delta-adaptive takes %.1f bytes per packet, adaptive %.1f", any, own)
		}
	}
	t.Run("demo", func(t *testing.T) { check(t, recording.Demo(t, 200, 500)) })
	if testkit.Thorough() {
		t.Run("charlie", func(t *testing.T) { check(t, recording.Load(t, "charlie", 400)) })
	}
}

// TestRotationSaves checks that knowing from the schema that fields are a rotation saves bytes: without the enum before
// them, its components are treated as ordinary numbers.
func TestRotationSaves(t *testing.T) {
	frames := recording.Demo(t, 600, 750)
	mean := func(kind frame.Kind) float64 {
		s := frame.Cubes(frame.WalkoffCubes)
		s.Fields[frame.CubeLargest].Kind = kind
		total := 0
		for _, payload := range record(t, rows.DeltaAdaptive(), s, frames, 6).payloads {
			total += len(payload)
		}
		return float64(total) / float64(len(frames)-6)
	}
	if is, without := mean(frame.Enum), mean(frame.Quantity); without < 1.05*is {
		t.Errorf("%.1f bytes per packet as a rotation, %.1f as numbers", is, without)
	}
}

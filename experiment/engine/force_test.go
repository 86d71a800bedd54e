package engine

import (
	"strings"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
)

// A session that may need more memory than most machines have is refused, with an error that
// contains the option to run it nevertheless.
func TestForceSkipsMemoryCheck(t *testing.T) {
	schema := *labtest.NewCubeSource(2, 1, -1, 1).Schema()
	schema.Rows = 65535
	c := config.Default()
	for range 60 {
		c.Shadows = append(c.Shadows, config.Encoder{Name: "raw"})
	}
	if !frame.IsCubes(&schema) {
		t.Fatal("no cubes")
	}
	err := fitToSchema(c.Clone(), &schema, false)
	if err == nil || !strings.Contains(err.Error(), "needs about 60 GB") || !strings.HasSuffix(err.Error(), "or --force with tui run") {
		t.Error(err)
	}
	if err := fitToSchema(c, &schema, true); err != nil {
		t.Errorf("forced: %v", err)
	}
}

// The memory that delta-adaptive may use for each stored frame counts, for each lane.
func TestMemoryCheckCountsMemos(t *testing.T) {
	schema := labtest.NewCubeSource(2, 1, -1, 1).Schema()
	c := config.Default()
	c.Encoder = config.Encoder{Name: "delta-adaptive", Params: map[string]any{"memory": 4096}}
	for range 3 {
		if err := checkMemory(c, schema); err != nil {
			t.Errorf("%d shadows: %v", len(c.Shadows), err)
		}
		c.Shadows = append(c.Shadows, c.Encoder)
	}
	c.Shadows = append(c.Shadows, c.Encoder) // five lanes with 510 memos of 4 MB
	err := checkMemory(c, schema)
	if err == nil || !strings.Contains(err.Error(), "needs about 9 GB: 5 encoders store 510 frames") ||
		!strings.Contains(err.Error(), "for each frame 20480 KB that they have learnt") {
		t.Error(err)
	}
	c.Sender.History = 100
	c.Receiver.History = 100
	if err := checkMemory(c, schema); err != nil {
		t.Errorf("short histories: %v", err)
	}
}

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

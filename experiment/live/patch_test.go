package live

import (
	"testing"
	"testing/synctest"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
)

// A live session waits for its patch, and accepts commands meanwhile. Then it delivers the file
// repeatedly, and its saved report can be replayed.
func TestRunnerMakesPatch(t *testing.T) { synctest.Test(t, runnerMakesPatch) }

func runnerMakesPatch(t *testing.T) {
	c := config.Default()
	c.Data.Source = labtest.WriteFiles(t, labtest.NewFileSource(100_000, 2))
	r := startLab(t, c)
	fast := 64.0
	r.Do(Command{Speed: &fast})
	r.Do(change("down.loss", "10%"))
	for {
		time.Sleep(time.Millisecond)
		snap := r.Snapshot()
		if snap.Patch != nil {
			if snap.Now != 0 || snap.Patch.Done > snap.Patch.Total || len(snap.Log) > 0 {
				t.Fatalf("at %v, with %d changes: %+v", snap.Now, len(snap.Log), snap.Patch)
			}
		}
		if x := snap.Lanes[0].Totals.Transfer; x != nil && len(x.Rounds) > 0 {
			break
		}
		if snap.Err != nil {
			t.Fatal(snap.Err)
		}
	}
	r.Stop()
	snap := r.Snapshot()
	if len(snap.Log) != 1 {
		t.Errorf("changes %v", snap.Log)
	}
	r.saveAndReplay()
}

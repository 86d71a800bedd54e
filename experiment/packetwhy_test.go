package experiment

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
	"wirelab/experiment/internal/labtest"
)

// In packets.csv every failed packet has a reason and an explanation, other packets have none, and
// packets after a swap of the encoder are explained as well.
func TestPacketsCSVExplainsFailures(t *testing.T) {
	c := labtest.QuickConfig(t)
	c.Duration = 10 * time.Second
	c.Receiver.History, c.Receiver.Playout = 4, 20*time.Millisecond // less than the round trip
	dir := t.TempDir()
	r := mustRun(t, c, RunOptions{Dir: dir}).Runs[0]
	packets := readCSV(t, filepath.Join(dir, "packets.csv"))
	count := map[string]int64{}
	for _, row := range packets.rows {
		seq, outcome := packets.text(t, row, "seq"), packets.text(t, row, "outcome")
		reason, why := packets.text(t, row, "reason"), packets.text(t, row, "why")
		bad := outcome != "decoded" && outcome != "in_flight" && outcome != "duplicate"
		if bad && (reason == "" || !strings.Contains(why, "packet "+seq) && !strings.Contains(why, "copy ")) {
			t.Errorf("packet %s was %s: %q, %q", seq, outcome, reason, why)
		}
		if (reason == "") != (why == "") {
			t.Errorf("packet %s: %q, %q", seq, reason, why)
		}
		first, _, _ := strings.Cut(reason, ";")
		first, _, _ = strings.Cut(first, ":")
		count[first]++
	}
	x := &r.Totals
	if x.Lost == 0 || x.Failures.NoBaseline == 0 {
		t.Fatalf("%d lost, %d without baseline: nothing was tested", x.Lost, x.Failures.NoBaseline)
	}
	if count["lost"] != x.Lost || count["no baseline"] != x.Failures.NoBaseline {
		t.Errorf("the rows give %v, the totals %d lost, %d without baseline", count, x.Lost, x.Failures.NoBaseline)
	}
}

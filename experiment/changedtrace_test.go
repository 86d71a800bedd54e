package experiment

import (
	"testing"
	"wirelab/experiment/internal/labtest"
)

// A replay fails if a trace has changed since the report was saved.
func TestReplayRejectsChangedTrace(t *testing.T) {
	trace := writeFile(t, "trace.csv", "seq,send_us,recv_us\n0,0,50000\n1,16667,lost\n2,33333,90000\n3,50000,99000\n")
	c := labtest.QuickConfig(t)
	c.At = nil
	if err := c.Set("down.loss", "trace file="+trace); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	first := mustRun(t, c, RunOptions{Dir: dir}).Runs[0]
	if first.Totals.Lost == 0 {
		t.Fatal("the trace loses nothing")
	}
	if got, err := Replay(t.Context(), dir+"/report.json", RunOptions{}); err != nil || !got.Same {
		t.Fatalf("%+v, %v", got, err)
	}
	overwriteFile(t, trace, "seq,send_us,recv_us\n0,0,lost\n1,16667,lost\n2,33333,90000\n3,50000,99000\n")
	if got, err := Replay(t.Context(), dir+"/report.json", RunOptions{}); err == nil {
		t.Errorf("another trace passes: %+v", got)
	}
}

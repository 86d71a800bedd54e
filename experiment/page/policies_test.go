package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/testkit"
)

// A run with playout policies and send-rate controls has a chart of the policies, and tables of both.
func TestPolicies(t *testing.T) {
	dir := saveRun(t, `
duration = "8s"
[sender]
control = "gcc"
[down]
rate = "200kbit"
loss = "5%"
[receiver]
playout_compare = ["mirror", "age quantile=99%"]
[[shadow]]
name = "rotor"
control = "ack-clock"
[[at]]
t = "4s"
down.rate = "1mbit"
`)
	page := string(readFile(t, filepath.Join(dir, "report.html")))
	checkHTML(t, "policies", page)
	for _, want := range []string{`id="playout-policies"`, "fixed delays", "age quantile=99%", `id="control"`, "ack-clock slack=50ms least=4", "gcc overuse=10ms",
		"held back: the rate of "} {
		if !strings.Contains(page, want) {
			t.Errorf("report.html lacks %q", want)
		}
	}
	rows := testkit.CheckCSV(t, "control.csv", string(readFile(t, filepath.Join(dir, "control.csv"))))
	if len(rows) != 81 {
		t.Errorf("control.csv has %d rows", len(rows))
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A sweep over policies of redundancy draws each as a point: what it costs on the wire, because the payload is the same,
// against what it gains.
func TestPoliciesOfSweep(t *testing.T) {
	r := &report.Report{Sweep: true}
	for i, policy := range []string{"none", "repeat n=1"} {
		x := &engine.Result{Set: map[string]string{"sender.redundancy": policy}}
		x.Totals.PayloadKbps, x.Totals.WireKbps = 100, float64(150+100*i)
		x.Totals.Redundancy = &figures.Redundancy{Missed100: figures.Known(.1 - .09*float64(i))}
		r.Runs = append(r.Runs, x)
	}
	var b strings.Builder
	if err := writeSweep(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"On the wire vs packets not at the receiver within 100 ms", "redundancy repeat n=1: 250"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

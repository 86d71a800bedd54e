package page

import (
	"fmt"
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
	d := loaded(t, dir)
	playout, control := sectionOf(d, "playout-policies"), sectionOf(d, "control")
	c := chartsOf(playout)[0]
	policies := columnOf(tablesOf(playout)[0], "policy")
	if len(policies) != 3 || len(c.Lines) != 4 || c.Lines[0].Name != "fixed delays" ||
		c.Lines[3].Name != "age quantile=99%" || policies[2] != "age quantile=99%" {
		t.Errorf("policies %v, lines %+v", policies, c.Lines)
	}
	if got := columnOf(tablesOf(control)[0], "control"); len(got) != 2 ||
		got[1] != "ack-clock slack=50ms least=4" || !strings.HasPrefix(got[0], "gcc overuse=10ms") {
		t.Errorf("controls %q", got)
	}
	if steps := columnOf(tablesOf(control)[1], "change at, s"); len(steps) != 1 || steps[0] != "4.0" {
		t.Errorf("changes of the links at %v", steps)
	}
	if text := fmt.Sprint(columnOf(tablesOf(control)[2], "decision")); !strings.Contains(text,
		"held back: the target of ") {
		t.Errorf("decisions %s", text)
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

// A sweep over policies of redundancy draws each as a point: what it costs on the wire, because the payload
// is the same, against what it gains.
func TestPoliciesOfSweep(t *testing.T) {
	r := &report.Report{Sweep: true}
	for i, policy := range []string{"none", "repeat n=1"} {
		x := &engine.Result{Set: map[string]string{"sender.redundancy": policy}}
		x.Totals.PayloadKbps, x.Totals.WireKbps = 100, float64(150+100*i)
		x.Totals.Redundancy = &figures.Redundancy{Missed100: figures.Known(.1 - .09*float64(i))}
		r.Runs = append(r.Runs, x)
	}
	s := sectionOf(sweepDocument(r), "pareto-redundancy-missed_100ms_ratio")
	if c := chartsOf(s); len(c) != 1 || !strings.HasSuffix(c[0].Axis, "wire, kbps") ||
		fmt.Sprint(c[0].X) != "[150 250]" || !strings.Contains(c[0].Notes[1], "redundancy repeat n=1") {
		t.Errorf("%+v", c)
	}
}

package page

import (
	"fmt"
	"strings"
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
)

// crowdResult returns the result of a crowd with n clients, of which number i has a round trip of i ms and no
// other figure.
func crowdResult(n int) *engine.Result {
	x := &engine.Result{Config: config.Default().Values()}
	x.Totals.Crowd = &figures.Crowd{Clients: n, EncodingsPerTick: figures.Known(7.25)}
	for i := range n {
		x.Clients = append(x.Clients, figures.CrowdClient{RoundTripMS: figures.Known(float64(i + 1))})
	}
	x.Totals.Crowd.SetQuantiles(x.Clients)
	x.Timing.TickUS = &figures.CrowdTiming{EncodeUS: figures.Known(300), ServerUS: figures.Known(float64(n))}
	return x
}

// TestCrowdDistributions checks the chart of the only figure that differs between clients, and the tables.
func TestCrowdDistributions(t *testing.T) {
	r := run{Result: crowdResult(200)}
	s := sectionOf(r.document(), "clients")
	list := chartsOf(s)
	if len(list) != 1 {
		t.Fatalf("%d charts, want 1", len(list))
	}
	c := list[0]
	for at, want := range map[int]value{0: 1, 50: 100, 95: 190, 100: 200} {
		if c.Lines[0].Y[at] != want || c.X[at] != axisValue(at) {
			t.Errorf("at %d %%: %v, want %v", at, c.Lines[0].Y[at], want)
		}
	}
	tables := tablesOf(s)
	if !strings.HasPrefix(tables[0].Caption, "Quantiles over clients") ||
		!strings.Contains(tables[1].Caption, "not reproducible") || tables[1].Rows[0][1].Text != "300" {
		t.Errorf("%+v", tables)
	}
}

// TestCrowdOfCSV checks that clients.csv gives the clients of the run back, and that damaged rows are no
// problem.
func TestCrowdOfCSV(t *testing.T) {
	r := run{Result: &engine.Result{}}
	newRow := report.NewRows([]string{"client", "round_trip_ms", "new_column", "loss_ratio"})
	for _, row := range [][]string{{"1", "25.5", "?", "0.125"}, {"2", "", "", "x", "surplus"}, {"3"}} {
		r.addClient(newRow(row))
	}
	for i, want := range []string{"25.5 0.125", "- -", "- -"} {
		c := &r.Result.Clients[i]
		if got := fmt.Sprintf("%v %v", c.RoundTripMS, c.LossRatio); got != want {
			t.Errorf("client %d: %s, want %s", i+1, got, want)
		}
	}
}

// TestCrowdCurve checks that a sweep over the number of clients draws the cost of a tick at even distances.
func TestCrowdCurve(t *testing.T) {
	var runs []*engine.Result
	for _, n := range []int{10_000, 1, 100} {
		x := crowdResult(n)
		x.Set = map[string]string{"crowd.clients": fmt.Sprint(n)}
		runs = append(runs, x)
	}
	for _, c := range chartsOf(sectionOf(sweepDocument(&report.Report{Runs: runs}), "lines")) {
		if strings.HasPrefix(c.Title, "Acks and baselines") {
			if got := fmt.Sprint(c.Ticks, c.X, c.Lines[0].Y); got != "[1 100 10000] [0 1 2] [1 100 10000]" {
				t.Errorf("got %s", got)
			}
			return
		}
	}
	t.Error("no chart of the server's work")
}

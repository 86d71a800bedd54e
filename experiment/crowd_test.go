package experiment

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"wirelab/experiment/config"
)

// The report of a crowd contains figures of each client and no list of packets, and a replay has the same digest on one
// core and on two. Assertions refer to quantiles over clients.
func TestCrowdReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "report")
	c, err := config.Parse("crowd.toml", []byte(`duration = "2s"
[crowd]
clients = 200
profiles = { unity-4g = "30%", unity-cable = "40%", lte = "30%" }
loss = "uniform max=10%"
uplink_rate = "60mbit"
[[client]]
turn = 3
join = "500ms"
down.loss = "gilbert mean=5% burst=3"
[[at]]
t = "1s"
clients = 230
[assert]
"crowd.p95.playout.starved_ratio" = "<= 60%"
"crowd.worst.age_ms" = "< 1"
`))
	if err != nil {
		t.Fatal(err)
	}
	r := mustRun(t, c, RunOptions{Dir: dir}).Runs[0]
	if len(r.Assertions) != 2 || !r.Assertions[0].Holds || r.Assertions[1].Holds {
		t.Errorf("assertions: %+v", r.Assertions)
	}
	for _, name := range []string{"samples.csv", "packets.csv"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("the report has %s", name)
		}
	}
	rows, err := os.ReadFile(filepath.Join(dir, "clients.csv"))
	if err != nil || strings.Count(string(rows), "\n") != 231 || !strings.Contains(string(rows), ",playout.starved_ratio,") {
		t.Errorf("%v: clients.csv has\n%.300s", err, rows)
	}
	for _, cores := range []int{1, 2} {
		before := runtime.GOMAXPROCS(cores)
		again, err := Replay(t.Context(), filepath.Join(dir, "report.json"), RunOptions{})
		runtime.GOMAXPROCS(before)
		if err != nil || !again.Same || again.Runs[0].Got != r.Digest {
			t.Errorf("on %d cores: %v, %+v; want digest %s", cores, err, again, r.Digest)
		}
	}
}

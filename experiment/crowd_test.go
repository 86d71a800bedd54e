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
	if rows := readFile(t, dir, "clients.csv"); strings.Count(rows, "\n") != 231 || !strings.Contains(rows, ",playout.starved_ratio,") {
		t.Errorf("clients.csv has\n%.300s", rows)
	}
	for _, cores := range []int{1, 2} {
		before := runtime.GOMAXPROCS(cores)
		digests := checkReplay(t, dir)
		runtime.GOMAXPROCS(before)
		if digests[0] != r.Digest {
			t.Errorf("on %d cores: %s; want digest %s", cores, digests, r.Digest)
		}
	}
}

package sweep

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
)

// However many workers of another version send a hello, the set stores and reports at most maxWorkers
// names, and reports no name twice.
func TestRefusedWorkersAreBounded(t *testing.T) {
	reports := 0
	c := &workerSet{s: &activeSweep{plan: &Plan{Version: "v1"}, opt: Options{OnNotice: func(string) { reports++ }}}, refused: map[string]bool{}}
	for i := range maxWorkers + 100 {
		c.refuse(&nats.Msg{}, hello{Name: fmt.Sprint("worker-", i), Version: "v0", Jobs: 1})
	}
	c.refuse(&nats.Msg{}, hello{Name: "worker-0", Version: "v0", Jobs: 1})
	if len(c.refused) != maxWorkers || reports != maxWorkers {
		t.Errorf("%d names stored, %d reports; expected %d of both", len(c.refused), reports, maxWorkers)
	}
}

package experiment

import (
	"encoding/json"
	"strings"
	"testing"
	"wirelab/experiment/internal/labtest"

	"wirelab/internal/testkit"
)

// On a link that loses all packets, figures without data are null in JSON and "-" in tables, and
// assertions on them do not hold.
func TestAssertionsFailWithoutData(t *testing.T) {
	c := labtest.QuickConfig(t)
	c.At, c.Assert = nil, nil
	bounds := map[string]string{"playout.starved_ratio": "<= 0.01", "playout.position_error_mm.p95": "<= 1", "age_ms.p50": "<= 100",
		"playout.late_ms.max": "<= 10", "network.delay_ms.p50": "<= 100", "network.reordered_ratio": "== 0"}
	testkit.Set(t, c, "down.loss", "100%", "up.loss", "100%")
	for name, bound := range bounds {
		noError(t, c.Set("assert."+name, bound))
	}
	report := mustRun(t, c, RunOptions{})
	failed := strings.Join(report.Failed(), "\n")
	for name := range bounds {
		if !strings.Contains(failed, "assertion "+name+" "+bounds[name]+": the run has no data for this figure") {
			t.Errorf("%s holds on a dead link; what failed is\n%s", name, failed)
		}
	}
	data := must(json.Marshal(report))
	for _, want := range []string{`"starved_ratio":null`, `"position_error_mm":null`, `"late_ms":null`, `"clock_lag_ms":null`,
		`"longest_freeze_ms":null`,
		`"loss_rate":1`, `"delay_ms":null`, `"got":null`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the JSON lacks %s:\n%s", want, data)
		}
	}
}

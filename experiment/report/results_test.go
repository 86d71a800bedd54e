package report

import (
	"encoding/json"
	"fmt"
	"testing"

	"wirelab/experiment/engine"
)

// resultFrom returns the result that has the JSON text.
func resultFrom(t *testing.T, text string) *engine.Result {
	t.Helper()
	var r engine.Result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// sentResult returns the result of a run with a seed that sent and decoded packets.
func sentResult(t *testing.T, seed, sent, decoded int) *engine.Result {
	t.Helper()
	return resultFrom(t, fmt.Sprintf(`{"seed":%d,"totals":{"sent":%d,"decoded":%d}}`, seed, sent, decoded))
}

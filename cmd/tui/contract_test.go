package main

import (
	"strings"
	"testing"
)

// The keys that scripts may rely on, as the contract of the command line has
// them. More may be added; none may go.
const (
	runKeys = `config seed duration_s frames item items_per_frame totals timing budget shadows changes digest
		totals.sent totals.duplicated totals.decoded totals.stale totals.duplicate totals.lost totals.lost_by
		totals.lost_by.loss totals.lost_by.queue totals.failures.no_baseline totals.failures.corrupt
		totals.failures.unknown_codec totals.in_flight totals.wrong totals.reordered
		totals.payload_kbps totals.wire_kbps totals.feedback_kbps totals.bits_per_item totals.bits_per_cube
		totals.bits_per_changed_cube totals.packet_bytes totals.baseline_age_ticks.p50 totals.baseline_age_ticks.p95
		totals.playout.starved_ratio totals.playout.late timing.encode_us timing.decode_us timing.real_time_factor
		budget.0.slot budget.0.bits budget.0.share shadows.0.encoder shadows.0.totals shadows.0.budget
		changes.0.t_s changes.0.change`
	walkoffKeys = `dataset.spec dataset.sha256 dataset.frames dataset.cubes results.0.encoder results.0.packets
		results.0.bytes results.0.bytes_per_packet results.0.kbps results.0.bits_per_cube
		results.0.bits_per_changed_cube results.0.changed_cubes_per_packet results.0.packet_bytes.min
		results.0.packet_bytes.p50 results.0.packet_bytes.p95 results.0.packet_bytes.p99 results.0.packet_bytes.max
		results.0.encode_us.p50 results.0.encode_us.p99 results.0.decode_us.p50 results.0.decode_us.p99
		results.0.lossless results.0.audit`
	timingKeys = ` results.0.timing.reference_us results.0.timing.passes results.0.timing.real_time_factor`
)

// lookUp returns the value at a dotted path; a number in the path is an index.
func lookUp(doc any, path string) bool {
	for _, key := range strings.Split(path, ".") {
		switch v := doc.(type) {
		case map[string]any:
			next, ok := v[key]
			if !ok {
				return false
			}
			doc = next
		case []any:
			if key != "0" || len(v) == 0 {
				return false
			}
			doc = v[0]
		default:
			return false
		}
	}
	return true
}

func TestContract(t *testing.T) {
	const run = "run --set duration=2s --set shadow[0].name=quantized --set at[0].t=1s --set at[0].down.loss=5% --json"
	for _, c := range []struct {
		name, keys, prefix, args string
	}{
		{"run", runKeys, "", run},
		{"sweep", runKeys + " set", "runs.0.", run + " --set sweep[0].key=seed --set sweep[0].values=[1,2]"},
		{"walkoff", walkoffKeys, "", "walkoff --data demo --frames 30 --json"},
		{"walkoff --time", walkoffKeys + timingKeys, "", "walkoff --frames 30 --encoder rotor --time --json"},
	} {
		o := tui(c.args)
		if o.code != exitDone || o.stderr != "" {
			t.Errorf("%s: exit %d, stderr %q", c.name, o.code, o.stderr)
			continue
		}
		var doc any
		document(t, o.stdout, &doc)
		for _, key := range strings.Fields(c.keys) {
			if !lookUp(doc, c.prefix+key) {
				t.Errorf("%s --json has no %s", c.name, c.prefix+key)
			}
		}
	}
}

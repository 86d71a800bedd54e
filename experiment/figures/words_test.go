package figures

import (
	"strings"
	"testing"
)

func TestInWords(t *testing.T) {
	for _, x := range []struct {
		key, name, unit string
		factor          float64
	}{
		{"payload_kbps", "payload", "kbps", 1},
		{"packet_bytes.p95", "packet size p95", "bytes", 1},
		{"playout.starved_ratio", "playout starved", "%", 100},
		{"network.loss_rate", "network loss", "%", 100},
		{"network.delay_ms.p50", "network delay p50", "ms", 1},
		{"transfer.time_s", "transfer time", "s", 1},
		{"failures.no_baseline", "failures no baseline", "", 1},
		{"bits_per_changed_cube", "bits per changed cube", "bits", 1},
	} {
		if name, unit, factor := InWords(x.key); name != x.name || unit != x.unit || factor != x.factor {
			t.Errorf("%s is %q in %q, times %v", x.key, name, unit, factor)
		}
	}
	seen := map[[2]string]string{}
	for key := range Names() {
		name, unit, _ := InWords(key)
		if before, ok := seen[[2]string{name, unit}]; ok {
			t.Errorf("%s and %s both are %q in %q", before, key, name, unit)
		}
		if name == "" || strings.ContainsAny(name, "._") {
			t.Errorf("%s is %q", key, name)
		}
		seen[[2]string{name, unit}] = key
	}
}

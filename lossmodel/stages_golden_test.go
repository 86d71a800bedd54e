package lossmodel

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// TestGoldenStages compares the fates of 800 packets, as SHA-256, with testdata/stages.golden:
// for every key and every model alone, and for every profile.
func TestGoldenStages(t *testing.T) {
	var got bytes.Buffer
	for _, pairs := range [][]string{
		{"loss", "5%"}, {"loss", "5%", "burst", "3"}, {"loss", "gilbert mean=5% burst=2"}, {"loss", "gilbert-elliott p=1% r=20% h=50% k=99%"},
		{"loss", "four-state p13=1% p31=20% p32=10% p23=30% p14=0.5%"}, {"loss", "correlated p=5% rho=25%"}, {"loss", "correlated p=5% rho=-3%"},
		{"loss", "periodic every=7"}, {"loss", "pattern bits=00101"}, {"loss", "pattern file=pattern.txt"}, {"loss", "trace file=losses.csv"},
		{"loss", "trace file=capture.csv by=time"},
		{"duplicate", "5%"}, {"duplicate", "5%", "duplicate_copies", "3", "duplicate_delay", "4ms"}, {"duplicate_trace", "capture.csv"},
		{"corrupt", "5%"}, {"corrupt", "5%", "corrupt_bits", "9"}, {"corrupt_ber", "1e-04"},
		{"rate", "800kbit"}, {"rate", "800kbit", "queue", "4KB"}, {"rate", "800kbit", "queue", "off", "queue_packets", "5"},
		{"rate", "800kbit", "rate_overhead", "38"}, {"rate", "800kbit", "rate_overhead", "-20"}, {"rate", "800kbit", "rate_cell", "48", "rate_cell_overhead", "5"},
		{"rate", "800kbit", "rate_burst", "8KB"}, {"rate_trace", "line.trace"},
		{"latency", "50ms"}, {"latency", "50ms±10ms"}, {"latency", "50ms±10ms", "distribution", "normal"}, {"latency", "50ms±10ms", "distribution", "pareto"},
		{"latency", "50ms±10ms", "distribution", "paretonormal"}, {"latency", "50ms±10ms", "distribution", "exponential"},
		{"latency", "50ms±10ms", "distribution", "gamma"}, {"latency", "50ms±10ms", "distribution", "gamma", "jitter_shape", "0.5"},
		{"latency", "50ms±10ms", "distribution", "table", "delay_table", "-1 0 0.5 3"}, {"latency", "50ms±10ms", "distribution", "table", "delay_table", "table.dist"},
		{"latency", "50ms±10ms", "distribution", "normal", "jitter_correlation", "90%"}, {"latency", "50ms±10ms", "jitter_correlation", "50%"},
		{"latency", "50ms±10ms", "keep_order", "on"}, {"spike_every", "500ms", "spike_height", "80ms", "spike_length", "60ms"},
		{"loss", "gilbert-elliott p=2% r=20% h=50%", "burst_delay", "30ms"}, {"delay_trace", "capture.csv"}, {"delay_trace", "capture.csv by=time"}, {"trace", "capture.csv"},
		{"reorder", "10%"}, {"reorder", "10%", "reorder_delay", "9ms"}, {"reorder", "10%", "reorder_distance", "3"}, {"mtu", "576"}, {"mtu", "300", "loss", "2%"},
		{"netem", "delay 30ms 9ms 25% loss 3% 10% duplicate 2% corrupt 1% reorder 10% 20% gap 4 seed 5"}, {"netem", "rate 1mbit 20 48 5 limit 40 delay 9ms 3ms distribution normal seed 5"},
		{"netem", "loss gemodel 1% 20% 90% 1% seed 5"}, {"netem", "loss state 1% 20% 10% 30% 0.5% seed 5"}, {"netem", "delay 9ms 3ms distribution pareto slot 20ms 25ms seed 5"},
	} {
		fmt.Fprintf(&got, "%s %s\n", hashFates(t, newSpec(t, pairs...), "down"), strings.Join(pairs, " "))
	}
	for _, p := range Profiles() {
		fmt.Fprintf(&got, "%s %s profile %s\n", hashFates(t, p.Down, "down"), hashFates(t, p.Up, "up"), p.Name)
	}
	const path = "testdata/stages.golden"
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(got.String(), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(lines) || lines[i] != line {
			t.Errorf("line %d is %q, want %q", i+1, lines[min(i, len(lines)-1)], line)
		}
	}
}

// hashFates returns the hash of the fates of 800 packets of various sizes.
func hashFates(t *testing.T, spec Spec, way string) string {
	t.Helper()
	l, err := NewLinkWith(testFiles, spec, 11, way)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	note := func(d Delivery) { fmt.Fprintln(sum, d.Tag, d.Sent, d.Due, d.Copy, d.Flipped, sha256.Sum256(d.Data)) }
	var buf []byte
	for i := range 800 {
		now := time.Duration(i)*4*ms + time.Duration(i%5)*700*time.Microsecond
		buf = pseudoRandomData(buf, uint64(i), 40+i*37%1300)
		v := l.Send(now, buf, uint64(i))
		fmt.Fprintln(sum, v.Lost, v.Due, v.Fragments, v.Wire, v.Copies, v.CopyLost)
		for d, ok := l.Receive(now); ok; d, ok = l.Receive(now) {
			note(d)
		}
	}
	drain(l, note)
	return fmt.Sprintf("%.8x", sum.Sum(nil))
}

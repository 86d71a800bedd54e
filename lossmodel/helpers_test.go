package lossmodel

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"wirelab/internal/seed"
	"wirelab/internal/testkit"
)

const ms = time.Millisecond

// packetCount is the number of packets of a statistical test. 300,000 reveal an error of about
// 0.5 %, 1,000,000 of about 0.1 %.
func packetCount() int { return testkit.ChooseLong(1_000_000, 300_000, 50_000) }

// newSpec returns the default spec with settings given as key, value pairs.
func newSpec(t testing.TB, pairs ...string) Spec {
	t.Helper()
	s := DefaultSpec()
	testkit.Set(t, &s, pairs...)
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// newLink returns a link named "down" with the files of testFiles.
func newLink(t testing.TB, spec Spec, seed uint64) *Link {
	t.Helper()
	l, err := NewLinkWith(testFiles, spec, seed, "down")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// allStagesSpec returns a spec in which every stage is on.
func allStagesSpec(t testing.TB) Spec {
	return newSpec(t, "loss", "5%", "burst", "2", "latency", "50ms±10ms", "distribution", "normal",
		"reorder", "5%", "duplicate", "5%", "duplicate_copies", "2", "duplicate_delay", "3ms",
		"corrupt", "5%", "rate", "20mbit", "queue", "64KB")
}

// allFeaturesSpec is allStagesSpec with the more complex models: two-state loss, correlated
// jitter with spikes, bit errors, a token bucket with cells, reordering by distance.
func allFeaturesSpec(t testing.TB) Spec {
	s := allStagesSpec(t)
	if err := s.SetAll(map[string]any{
		"loss": "gilbert-elliott p=2% r=30% h=20% k=99%", "jitter_correlation": "50%",
		"spike_every": "1s", "spike_height": "9ms", "spike_length": "100ms", "burst_delay": "0ms",
		"corrupt_ber": "1e-05", "rate_burst": "8KB", "rate_overhead": "14", "rate_cell": "48", "rate_cell_overhead": "5",
		"queue_packets": "100", "reorder_distance": "3",
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

// drain receives all packets in flight.
func drain(l *Link, visit func(Delivery)) {
	for {
		due, ok := l.Next()
		if !ok {
			return
		}
		waited := l.rate.line != nil // an event of the line need not deliver anything
		d, ok := l.Receive(due)
		if ok {
			visit(d)
		} else if !waited {
			panic("Receive has no delivery at the time that Next returned")
		}
	}
}

// pseudoRandomData returns a datagram of size bytes whose content depends on n. It reuses buf.
func pseudoRandomData(buf []byte, n uint64, size int) []byte {
	buf = buf[:0]
	for len(buf) < size {
		buf = binary.LittleEndian.AppendUint64(buf, seed.Derive(n+uint64(len(buf)), 0))
	}
	return buf[:size]
}

// testFiles is a loader of files that exist only in tests.
func testFiles(path string) ([]byte, error) {
	var b strings.Builder
	switch path {
	case "capture.csv": // 97 packets, 10 ms apart
		b.WriteString("seq,send_us,recv_us,copy\n")
		for i := range 97 {
			switch sent := 10_000 * i; {
			case i%7 == 3:
				fmt.Fprintf(&b, "%d,%d,lost,0\n", i, sent)
			case i%10 == 4:
				fmt.Fprintf(&b, "%d,%d,%d,0\n%d,%d,%d,1\n", i, sent, sent+testDelayUS(i), i, sent, sent+testDelayUS(i)+500)
			default:
				fmt.Fprintf(&b, "%d,%d,%d,0\n", i, sent, sent+testDelayUS(i))
			}
		}
	case "losses.csv":
		b.WriteString("lost\n0\n1\n1\n0\n0\n")
	case "line.trace":
		b.WriteString("1\n2\n2\n5\n9\n10\n")
	case "one.down":
		b.WriteString("1\n")
	case "table.dist":
		b.WriteString("# a table\n-8192 0 0 4096\n16384\n")
	case "pattern.txt":
		b.WriteString("0001\n1000 01\n")
	default:
		return nil, fs.ErrNotExist
	}
	return []byte(b.String()), nil
}

// testDelayUS returns the delay of packet i in capture.csv in microseconds.
func testDelayUS(i int) int { return 30_000 + 100*(i*i%53) }

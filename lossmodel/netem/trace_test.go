package netem

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// traceDir has traces of a real kernel; see the README.md there.
const traceDir = "../../../shared/data/netem"

// tracePacket is one packet of a trace.
type tracePacket struct {
	at       int64   // nanoseconds
	arrivals []int64 // the copies too, first come first
	order    []int   // of these arrivals among all
}

// traceLine returns the netem options of a run's command.
func traceLine(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(traceDir, "commands.txt"))
	if err != nil {
		t.Skipf("no reference traces: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "["+name+"] tc "); ok {
			return "tc " + strings.TrimSpace(rest)
		}
	}
	t.Fatalf("no command for %s", name)
	return ""
}

// readTrace reads the packets of a trace in the order of sending.
func readTrace(t *testing.T, name string) []tracePacket {
	t.Helper()
	f, err := os.Open(filepath.Join(traceDir, name+".csv.zst"))
	if err != nil {
		t.Skipf("no reference traces: %v", err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var all []tracePacket
	lines := bufio.NewScanner(z)
	lines.Scan() // the header
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ",")
		seq, err := strconv.Atoi(fields[0])
		if err != nil || seq > len(all) {
			t.Fatalf("%s: invalid line %q", name, lines.Text())
		}
		if seq == len(all) {
			all = append(all, tracePacket{at: micros(t, fields[1])})
		}
		if fields[2] != "lost" {
			p := &all[seq]
			p.arrivals = append(p.arrivals, micros(t, fields[2]))
			n, _ := strconv.Atoi(fields[3])
			p.order = append(p.order, n)
		}
	}
	return all
}

// micros parses microseconds and returns nanoseconds.
func micros(t *testing.T, text string) int64 {
	us, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return int64(math.Round(us * 1000))
}

// replay passes the packets of a trace to the Qdisc of its line.
func replay(t *testing.T, name string, payload int) ([]tracePacket, []decision) {
	t.Helper()
	p, err := Parse(traceLine(t, name))
	if err != nil {
		t.Fatal(err)
	}
	trace := readTrace(t, name)
	q := New(p, 0)
	decisions := make([]decision, len(trace))
	for i, s := range trace {
		decisions[i] = q.Enqueue(s.at, payload+42)
	}
	return trace, decisions
}

// arrived returns how many of the packet and its copy arrive.
func arrived(d decision) int {
	n := 0
	if d.Packet.Outcome == passed {
		n++
	}
	if d.Duplicated && d.Copy.Outcome == passed {
		n++
	}
	return n
}

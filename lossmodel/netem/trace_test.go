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

// The traces are of a real kernel: see README.md there.
const traceDir = "../../../shared/data/netem"

// sent is one packet of a trace.
type sent struct {
	at       int64   // nanoseconds
	arrivals []int64 // the copies too, first come first
	order    []int   // of these arrivals among all
}

// traceLine returns what a run's command says behind the word netem.
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

func readTrace(t *testing.T, name string) []sent {
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
	var all []sent
	lines := bufio.NewScanner(z)
	lines.Scan() // the header
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ",")
		seq, err := strconv.Atoi(fields[0])
		if err != nil || seq > len(all) {
			t.Fatalf("%s: bad line %q", name, lines.Text())
		}
		if seq == len(all) {
			all = append(all, sent{at: micros(t, fields[1])})
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

func micros(t *testing.T, text string) int64 {
	us, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return int64(math.Round(us * 1000))
}

// replay sends a trace's packets into the Qdisc of its command line.
func replay(t *testing.T, name string, payload int) ([]sent, []decision) {
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

// arrived counts the packet and its copy.
func arrived(d decision) int {
	n := 0
	if d.Packet.Outcome == kept {
		n++
	}
	if d.Doubled && d.Copy.Outcome == kept {
		n++
	}
	return n
}

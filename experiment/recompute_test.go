package experiment_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/remote"
	"wirelab/lossmodel"
)

// csvTable is a CSV file with a header.
type csvTable struct {
	column map[string]int
	rows   [][]string
}

func readCSV(t *testing.T, path string) csvTable {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%s: %d rows, %v", path, len(rows), err)
	}
	x := csvTable{map[string]int{}, rows[1:]}
	for i, name := range rows[0] {
		x.column[name] = i
	}
	return x
}

// text returns a cell. A missing column ends the test.
func (x csvTable) text(t *testing.T, row []string, name string) string {
	t.Helper()
	i, ok := x.column[name]
	if !ok {
		t.Fatalf("no column %s", name)
	}
	return row[i]
}

func (x csvTable) number(t *testing.T, row []string, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(x.text(t, row, name), 64)
	if err != nil {
		t.Fatalf("column %s: %v", name, err)
	}
	return v
}

// recompute returns figures of totals, by their JSON path, computed from packets.csv and from the duration and
// the number of items of a frame alone. It shares no code with the program.
func recompute(t *testing.T, packets csvTable, seconds, items float64) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	for _, name := range strings.Fields(`sent duplicated decoded stale duplicate lost tainted in_flight wrong failures.no_baseline
		failures.corrupt failures.unknown_codec lost_by.loss lost_by.burst lost_by.queue lost_by.fragment lost_by.corrupt`) {
		got[name] = 0
	}
	var payloadBits, wireBits, changed, bursts, lostPackets, unknown, sizeSum float64
	var sizes []float64
	lostBefore := false
	for _, row := range packets.rows {
		outcome := packets.text(t, row, "outcome")
		switch outcome {
		case "no_baseline", "corrupt", "unknown_codec":
			got["failures."+outcome]++
		default:
			got[outcome]++
		}
		if outcome == "lost" {
			got["lost_by."+packets.text(t, row, "cause")]++
		}
		if packets.number(t, row, "copy") > 0 {
			got["duplicated"]++
			continue // made by the link, not sent
		}
		got["sent"]++
		payload := packets.number(t, row, "payload_bytes")
		sizes, sizeSum = append(sizes, payload), sizeSum+payload
		payloadBits += 8 * payload
		wireBits += 8 * packets.number(t, row, "wire_bytes")
		changed += packets.number(t, row, "changed")
		if outcome == "unknown" { // over a network, counts as lost, but not as part of a burst
			unknown++
		}
		lost := outcome == "lost"
		if lost {
			lostPackets++
			if !lostBefore {
				bursts++
			}
		}
		lostBefore = lost
	}
	got["payload_kbps"], got["wire_kbps"] = payloadBits/1000/seconds, wireBits/1000/seconds
	got["bits_per_item"] = payloadBits / (items * got["sent"])
	if changed > 0 {
		got["bits_per_changed_cube"] = payloadBits / changed
	}
	got["network.loss_rate"] = (lostPackets + unknown) / got["sent"]
	if bursts > 0 {
		got["network.mean_burst"] = (lostPackets + unknown) / bursts
	}
	slices.Sort(sizes)
	for name, p := range map[string]float64{"min": 0, "p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1} {
		rank := max(int(math.Ceil(p*float64(len(sizes)))), 1) // nearest rank
		got["packet_bytes."+name] = sizes[rank-1]
	}
	return got
}

// lookup returns the number at a path of a JSON document. known is false if there is none, or null.
func lookup(doc map[string]any, path string) (v float64, known bool) {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		doc, _ = doc[name].(map[string]any)
	}
	v, known = doc[names[len(names)-1]].(float64)
	return v, known
}

// randomExperiment returns a configuration with random link settings of every stage, swaps, shadows and changes
// during the run.
func randomExperiment(rng *rand.Rand) string {
	var b strings.Builder
	seconds := 3 + rng.IntN(4)
	rpc := rng.IntN(2) == 0
	encoders := strings.Fields("raw rotor relative-orientation adaptive static zstd-baseline xor-rle changed-bits")
	source := "demo"
	if rpc {
		encoders, source = strings.Fields("full rpc-delta rpc-adaptive xor-rle"), "rpc"
	}
	encoder := func() string { return encoders[rng.IntN(len(encoders))] }
	setting := func() string {
		for keys := lossmodel.Keys(); ; {
			k := keys[rng.IntN(len(keys))]
			values := slices.Concat(k.Ladder, k.Choices)
			if k.Key == "netem" || k.Key == "checksum" || len(values) == 0 {
				continue
			}
			return fmt.Sprintf("%s.%s = %q\n", [...]string{"down", "up"}[rng.IntN(2)], k.Key, values[rng.IntN(len(values))])
		}
	}
	fmt.Fprintf(&b, "seed = %d\nduration = \"%ds\"\n", rng.IntN(1e6), seconds)
	for range rng.IntN(6) {
		b.WriteString(setting())
	}
	fmt.Fprintf(&b, "[data]\nsource = %q\n[encoder]\nname = %q\n", source, encoder())
	for second := 1; second < seconds; second++ {
		fmt.Fprintf(&b, "[[at]]\nt = \"%ds\"\n", second)
		switch rng.IntN(3) {
		case 0:
			fmt.Fprintf(&b, "encoder = %q\n", encoder())
		default:
			b.WriteString(setting())
		}
	}
	if rng.IntN(3) == 0 {
		fmt.Fprintf(&b, "[[shadow]]\nname = %q\n", encoder())
	}
	return b.String()
}

var recomputeFor = flag.Duration("recompute", 0, "how long TestRecomputeTotals runs random experiments; 0: a few of them")

// TestRecomputeTotals runs random experiments and recomputes the totals in report.json from packets.csv. They must be
// equal to the last digit. samples.csv, report.md and report.html must contain the same figures.
func TestRecomputeTotals(t *testing.T) {
	experiments := 20
	if testing.Short() {
		experiments = 12
	}
	compared, begun := 0, time.Now()
	for seed := 0; !t.Failed() && (compared < experiments || time.Since(begun) < *recomputeFor); seed++ {
		text := randomExperiment(rand.New(rand.NewPCG(uint64(seed), 14)))
		c, err := config.Parse("random.toml", []byte(text))
		if err != nil { // settings that exclude each other, or a key twice
			continue
		}
		compared++
		dir := filepath.Join(t.TempDir(), "report")
		if _, err := experiment.Run(context.Background(), c, experiment.RunOptions{Dir: dir}); err != nil {
			t.Errorf("seed %d: %v\n%s", seed, err, text)
			continue
		}
		compareFormats(t, fmt.Sprintf("seed %d", seed), dir)
	}
}

// TestRecomputeTotalsOverUDP compares the formats of reports of sessions with a receiver behind a UDP socket in real
// time, and with their replays, in which everything is modelled.
func TestRecomputeTotalsOverUDP(t *testing.T) {
	for seed := uint64(100); seed < 104; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			text := randomExperiment(rand.New(rand.NewPCG(seed, 14)))
			text, _, _ = strings.Cut(text, "[[shadow]]") // refused over a network
			c, err := config.Parse("random.toml", []byte(text))
			if err != nil {
				t.Skip("settings that exclude each other: ", err)
			}
			link, closeBoth, err := remote.NewLoopback(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = closeBoth() }()
			dir, begun := filepath.Join(t.TempDir(), "udp"), time.Now()
			clock := func() time.Duration { return time.Since(begun) }
			if _, err := experiment.Run(t.Context(), c, experiment.RunOptions{Dir: dir, Remote: link, Clock: clock}); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			compareFormats(t, "over UDP", dir)
			replayed, err := experiment.Replay(t.Context(), dir, experiment.RunOptions{})
			if err != nil || !replayed.Same {
				t.Errorf("replayed: %v, %+v", err, replayed)
			}
		})
	}
}

// compareFormats compares the figures in all files of a report of one run. name identifies the run in
// errors.
func compareFormats(t *testing.T, name, dir string) {
	t.Helper()
	read := func(file string) string {
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(read("report.json")), &doc); err != nil {
		t.Fatal(err)
	}
	seconds, _ := lookup(doc, "duration_s")
	items, _ := lookup(doc, "items_per_frame")
	totals := doc["totals"].(map[string]any)
	want := recompute(t, readCSV(t, filepath.Join(dir, "packets.csv")), seconds, items)
	if want["wrong"] != 0 {
		t.Errorf("%s: %v packets decoded wrong", name, want["wrong"])
	}
	for path, v := range want {
		got, known := lookup(totals, path)
		if path == "bits_per_changed_cube" && !known {
			continue // the data are not cubes
		}
		if !known && v == 0 {
			continue // left out of the JSON
		}
		if !known || got != v {
			t.Errorf("%s: %s is %v in report.json, %v recomputed from packets.csv", name, path, got, v)
		}
	}

	samples := readCSV(t, filepath.Join(dir, "samples.csv"))
	sum := map[string]float64{}
	before := 0.0
	for _, row := range samples.rows {
		end := samples.number(t, row, "t_s")
		for _, column := range strings.Fields("sent decoded stale duplicate lost no_baseline corrupt tainted wrong") {
			sum[column] += samples.number(t, row, column)
		}
		sum["bits"] += math.Round(samples.number(t, row, "payload_kbps") * 1000 * (end - before))
		before = end
	}
	for column, path := range map[string]string{"sent": "sent", "decoded": "decoded", "stale": "stale", "lost": "lost", "duplicate": "duplicate",
		"no_baseline": "failures.no_baseline", "corrupt": "failures.corrupt", "tainted": "tainted", "wrong": "wrong"} {
		if sum[column] != want[path] {
			t.Errorf("%s: %s sums to %v in samples.csv, %v in packets.csv", name, column, sum[column], want[path])
		}
	}
	if got := sum["bits"] / 1000 / seconds; got != want["payload_kbps"] {
		t.Errorf("%s: samples.csv sums to a payload of %v kbps, packets.csv to %v", name, got, want["payload_kbps"])
	}

	markdown, page := read("report.md"), read("report.html")
	for _, row := range []string{
		fmt.Sprintf("| payload | %.1f kbps |", want["payload_kbps"]),
		fmt.Sprintf("| packets sent, and copies made by the link | %.0f, %.0f |", want["sent"], want["duplicated"]),
		fmt.Sprintf("| decoded | %.0f |", want["decoded"]), fmt.Sprintf("| stale | %.0f |", want["stale"]),
		fmt.Sprintf("| lost | %.0f |", want["lost"]), fmt.Sprintf("| corrupt | %.0f |", want["failures.corrupt"]),
		fmt.Sprintf("| in flight at the end | %.0f |", want["in_flight"]), fmt.Sprintf("| **wrong** | %.0f |", want["wrong"]),
	} {
		if !strings.Contains(markdown, row) {
			t.Errorf("%s: report.md has no row %q", name, row)
		}
	}
	if lost := fmt.Sprintf("%.0f of %.0f packets", want["lost"]+want["unknown"], want["sent"]); !strings.Contains(page, lost) {
		t.Errorf("%s: report.html has no %q", name, lost)
	}
}

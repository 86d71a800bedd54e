package experiment

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

// csvTable is a CSV file with a header.
type csvTable struct {
	column map[string]int
	rows   [][]string
}

func readCSV(t *testing.T, path string) csvTable {
	t.Helper()
	f := must(os.Open(path))
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

// recompute returns figures of totals, by their JSON path, computed from packets.csv and from the
// duration and the number of items of a frame alone. It shares no code with the program.
func recompute(t *testing.T, packets csvTable, seconds, items float64) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	for _, name := range strings.Fields(`sent duplicated decoded stale duplicate lost in_flight wrong failures.no_baseline
		failures.corrupt failures.unknown_codec lost_by.loss lost_by.burst lost_by.queue lost_by.fragment`) {
		got[name] = 0
	}
	var payloadBits, wireBits, changed, bursts, lostPackets, unknown, sizeSum float64
	var sizes []float64
	lostBefore := false
	for _, row := range packets.rows {
		outcome := packets.text(t, row, "outcome")
		switch outcome {
		case "parity", "messages", "segment": // a datagram without a packet
			wireBits += 8 * packets.number(t, row, "wire_bytes")
			continue
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

// randomConfig returns a configuration of a short run of the given data, with random settings of
// everything that adds up: links of all stages, swaps, shadows, redundancy, messages, budgets and
// changes during the run. Settings that exclude earlier ones are left out.
func randomConfig(rng *rand.Rand, source string, encoders []string) *config.Config {
	c := config.Default()
	try := func(change func(*config.Config) error) {
		d := c.Clone()
		if change(d) == nil && d.Validate() == nil {
			*c = *d
		}
	}
	set := func(key, value string) { try(func(c *config.Config) error { return c.Set(key, value) }) }
	pick := func(values ...string) string { return values[rng.IntN(len(values))] }
	linkSetting := func() (key, value string) {
		for keys := lossmodel.Keys(); ; {
			k := keys[rng.IntN(len(keys))]
			values := slices.Concat(k.Ladder, k.Choices)
			if k.Key != "netem" && len(values) > 0 {
				return pick("down.", "up.") + k.Key, pick(values...)
			}
		}
	}
	redundancies := []string{"none", "repeat n=2", "xor data=4", "rs data=4 parity=2"}
	c.Seed, c.Duration = rng.Uint64N(1e6), time.Duration(500+rng.IntN(2500))*time.Millisecond
	set("data.source", source)
	set("sender.block", pick("100", "1000"))
	set("link.latency", pick("1ms", "30ms", "90ms"))
	set("encoder.name", pick(encoders...))
	for range rng.IntN(7) {
		set(linkSetting())
	}
	if rng.IntN(2) == 0 {
		set("sender.redundancy", pick(redundancies...))
	}
	isCrowd := rng.IntN(12) == 0
	if isCrowd {
		set("crowd.clients", pick("1", "3", "20"))
	}
	if !isCrowd && rng.IntN(2) == 0 {
		set("messages.rate_hz", pick("7", "60"))
		set("messages.size", pick("1B", "200B", "3KB"))
		set("messages.burst", pick("off", "50KB"))
		set("messages.pace", pick("off", "100kbit"))
		set("messages.lanes", pick("1", "2"))
		set("messages.delivery", pick("all-unacked", "resend after=30ms", "rto", "rto window=4", "stream", "stream coalesce=0 skip=1"))
	}
	if rng.IntN(3) == 0 {
		set("sender.budget", pick("3kbit", "8kbit", "24kbit", "64kbit", "500kbit"))
		set("sender.budget_burst", pick("1", "2.5", "16"))
	}
	set("sender.every", pick("1", "1", "2", "5"))
	isSnapshots := source != "text" && !strings.HasPrefix(source, "files:")
	if isSnapshots && rng.IntN(4) == 0 {
		set("sender.control", pick(endpoint.Controls.Names()...))
	}
	for range rng.IntN(3) {
		key, value := linkSetting()
		switch rng.IntN(4) {
		case 0:
			key, value = "encoder", pick(encoders...)
		case 1:
			key, value = "redundancy", pick(redundancies...)
		}
		at := config.Stamp(time.Duration(rng.Int64N(int64(c.Duration))), config.NewChange(key, value))
		try(func(c *config.Config) error {
			c.At = append(c.At, at)
			slices.SortFunc(c.At, func(a, b config.StampedChange) int { return cmp.Compare(a.T, b.T) })
			return nil
		})
	}
	if rng.IntN(3) == 0 {
		try(func(c *config.Config) error {
			c.Shadows = []config.Encoder{{Name: pick(encoders...)}}
			return nil
		})
	}
	return c
}

// cubeEncoders are encoders of cubes.
var cubeEncoders = strings.Fields("raw rotor relative-orientation adaptive changed-bits xor-rle delta-adaptive")

var (
	recomputeFor  = flag.Duration("recompute", 0, "how long TestRecomputeTotals runs random experiments; 0: a few of them")
	recomputeOnly = flag.Int("recompute-seed", -1, "the one seed that TestRecomputeTotals runs")
)

// TestRecomputeTotals runs random experiments and recomputes the totals in report.json from packets.csv.
// They must be equal to the last digit. samples.csv and report.md must contain the same figures.
// Outcomes add up to the packets and copies, nothing is wrong, a budget is kept, and each tenth
// experiment is replayed. WIRELAB_THOROUGH=2 runs 3,000 of them.
func TestRecomputeTotals(t *testing.T) {
	experiments, begun := testkit.ChooseLong(3000, 60, 30), time.Now()
	files, table := labtest.WriteFiles(t, labtest.NewFileSource(20_000, 3)), tableOf(t)
	rows := strings.Fields("delta-adaptive xor-rle zstd-baseline")
	sources := []struct {
		source   string
		encoders []string
		rateHz   float64
	}{{"demo", cubeEncoders, 60}, {table, rows, 30}, {"rpc", strings.Fields("full rpc-delta rpc-adaptive xor-rle"), 60}, {"world", cubeEncoders, 60},
		{"text", strings.Fields("receiver-adaptive deflate zstd"), 0}, {files, strings.Fields("patch whole-raw whole-zstd"), 0}}
	refused := 0
	run := func(seed int) {
		of := sources[seed%len(sources)]
		c := randomConfig(rand.New(rand.NewPCG(uint64(seed), 14)), of.source, of.encoders)
		dir := filepath.Join(t.TempDir(), "report")
		result, err := Run(t.Context(), c, RunOptions{Dir: dir})
		name := fmt.Sprintf("seed %d", seed)
		if errors.As(err, new(*config.Error)) { // settings that exclude each other with these data
			refused++
			return
		}
		if err != nil {
			text, _ := c.TOML()
			t.Errorf("%s: %v\n%s", name, err, text)
			return
		}
		if result.Runs[0].Clients == nil { // a crowd has no list of packets
			compareFormats(t, name, dir)
		}
		checkTotals(t, name, c, result.Runs[0], of.rateHz)
		if seed%10 == 0 {
			checkReplay(t, dir)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
	if *recomputeOnly >= 0 {
		run(*recomputeOnly)
		return
	}
	seed := 0
	for ; (testkit.Long() || !t.Failed()) && (seed-refused < experiments || time.Since(begun) < *recomputeFor); seed++ {
		run(seed)
	}
	t.Logf("%d of %d experiments were refused", refused, seed)
}

// checkTotals checks the sums of a run of data with the given rate that no file contains.
func checkTotals(t *testing.T, name string, c *config.Config, r *engine.Result, rateHz float64) {
	t.Helper()
	x := r.Totals
	outcomes := x.InFlight + x.Decoded + x.Stale + x.Duplicate + x.Lost + x.Failed() + x.Wrong + x.Unknown
	if x.Sent+x.Duplicated != outcomes || x.Wrong != 0 {
		t.Errorf("%s: %d packets and %d copies have %d outcomes, %d are wrong", name, x.Sent, x.Duplicated, outcomes, x.Wrong)
	}
	bits := 0.0
	for _, share := range r.Budget {
		bits += share.Bits
	}
	if payload := x.PayloadKbps * 1000 * r.DurationS; x.Transfer == nil && r.Clients == nil && math.Abs(bits-payload) > 1e-9*payload+0.001 {
		t.Errorf("%s: %f bits of payload are for %f bits", name, payload, bits)
	}
	if m := x.Messages; m != nil && (m.Wrong != 0 || m.Sent != m.Delivered+m.UnderWay) {
		t.Errorf("%s: messages %+v", name, m)
	}
	if x.View == nil {
		return
	}
	perPacket := float64(c.Sender.Budget) * float64(c.Sender.Every) / rateHz
	limit := float64(c.Sender.Budget)*r.DurationS + perPacket*float64(c.Sender.BudgetBurst)/1000
	checkUsed := func(kbps figures.Figure) {
		if used := kbps.Or(0) * 1000 * r.DurationS; used > limit+1 {
			t.Errorf("%s: %.0f bits used in %g s, the budget allows %.0f", name, used, r.DurationS, limit)
		}
	}
	for i := range r.Clients {
		checkUsed(r.Clients[i].View.UsedKbps)
	}
	if r.Clients == nil {
		checkUsed(x.View.UsedKbps)
	}
}

// compareFormats compares the figures in all files of a report of one run. name identifies the run in
// errors.
func compareFormats(t *testing.T, name, dir string) {
	t.Helper()
	var doc map[string]any
	noError(t, json.Unmarshal([]byte(readFile(t, dir, "report.json")), &doc))
	seconds, _ := lookup(doc, "duration_s")
	items, _ := lookup(doc, "items_per_frame")
	totals := doc["totals"].(map[string]any)
	packets := readCSV(t, filepath.Join(dir, "packets.csv"))
	if delivered, isKnown := lookup(totals, "transfer.time_s"); isKnown {
		// The rates of a file end when it is delivered, or 1/60 s after the last datagram. An encoder that is
		// swapped begins again.
		last := packets.rows[len(packets.rows)-1]
		first := slices.IndexFunc(packets.rows, func(row []string) bool { return packets.text(t, row, "epoch") == packets.text(t, last, "epoch") })
		seconds = max(packets.number(t, packets.rows[first], "send_us")/1e6+delivered, packets.number(t, last, "send_us")/1e6+1.0/60)
	}
	want := recompute(t, packets, seconds, items)
	if want["wrong"] != 0 {
		t.Errorf("%s: %v packets decoded wrong", name, want["wrong"])
	}
	_, redundant := totals["redundancy"]
	for path, v := range want {
		if redundant && strings.HasPrefix(path, "network.") {
			continue // of the packets' own datagrams, repaired or not
		}
		got, known := lookup(totals, path)
		if path == "bits_per_changed_cube" && !known || path == "bits_per_item" && doc["item"] == "byte" {
			continue // the data are not cubes; messages and blocks have different sizes
		}
		if !known && v == 0 {
			continue // left out of the JSON
		}
		if !known || got != v && !(doc["item"] == "byte" && math.Abs(got-v) < 1e-6*v) { // times in packets.csv have a thousandth of a us
			t.Errorf("%s: %s is %v in report.json, %v recomputed from packets.csv", name, path, got, v)
		}
	}

	samples := readCSV(t, filepath.Join(dir, "samples.csv"))
	sum := map[string]float64{}
	before := 0.0
	for _, row := range samples.rows {
		end := samples.number(t, row, "t_s")
		for _, column := range strings.Fields("sent decoded stale duplicate lost no_baseline corrupt wrong") {
			sum[column] += samples.number(t, row, column)
		}
		sum["bits"] += math.Round(samples.number(t, row, "payload_kbps") * 1000 * (end - before))
		before = end
	}
	for column, path := range map[string]string{"sent": "sent", "decoded": "decoded", "stale": "stale", "lost": "lost", "duplicate": "duplicate",
		"no_baseline": "failures.no_baseline", "corrupt": "failures.corrupt", "wrong": "wrong"} {
		if sum[column] != want[path] {
			t.Errorf("%s: %s sums to %v in samples.csv, %v in packets.csv", name, column, sum[column], want[path])
		}
	}
	isDelivered := totals["transfer"] != nil // the last sample has any length, and t_s is rounded
	if got := sum["bits"] / 1000 / seconds; got != want["payload_kbps"] && !isDelivered {
		t.Errorf("%s: samples.csv sums to a payload of %v kbps, packets.csv to %v", name, got, want["payload_kbps"])
	}

	markdown := readFile(t, dir, "report.md")
	for _, key := range strings.Fields("payload_kbps duplicated decoded stale lost failures.corrupt in_flight wrong") {
		row := regexp.MustCompile(`(?m)^\| [^|]* \| ([0-9.]+) \|.* ` + regexp.QuoteMeta(key) + ` \|$`).FindStringSubmatch(markdown)
		if row == nil {
			if want[key] != 0 { // counts of 0 are left out
				t.Errorf("%s: report.md has no %s", name, key)
			}
			continue
		}
		const rounding = 0.0501 // of one decimal
		if got, err := strconv.ParseFloat(row[1], 64); err != nil || math.Abs(got-want[key]) > rounding {
			t.Errorf("%s: %s is %s in report.md, want %v", name, key, row[1], want[key])
		}
	}
}

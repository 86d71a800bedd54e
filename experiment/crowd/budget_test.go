package crowd

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/testkit"
)

// Any schedule of losses, outages, clients that come and go, and changes of budgets, policy and encoder
// gives wrong = 0, keeps the budgets, and gives the same bytes on one core and on two.
func TestBudgetProperty(t *testing.T) {
	rng := rand.New(rand.NewPCG(30, 2))
	pick := func(list ...string) string { return list[rng.IntN(len(list))] }
	encoder := func() string { return pick("relative-orientation", "adaptive", "delta-adaptive", "kinetic-lite") }
	priority := func() string {
		return pick("accumulated", "accumulated constant=0 first=2", "round-robin", "fiedler", "unity first=1", "newest-change")
	}
	schedules := testkit.ChooseLong(40, 6, 3)
	if testing.Short() {
		schedules = 1
	}
	for range schedules {
		settings := []string{"duration", "4s", "crowd.clients", fmt.Sprint(1 + rng.IntN(30)), "seed", fmt.Sprint(rng.IntN(1000)),
			"crowd.loss", fmt.Sprintf("uniform max=%d%%", rng.IntN(61)), "crowd.rtt", fmt.Sprintf("uniform max=%dms", rng.IntN(600)),
			"crowd.jitter", fmt.Sprintf("uniform max=%dms", rng.IntN(100)), "encoder.name", encoder(), "sender.priority", priority(),
			"sender.budget", pick("24kbit", "64kbit", "300kbit"), "sender.budget_burst", pick("1", "2"), "sender.every", pick("1", "3"),
			"crowd.player_rows", pick("1", "7"), "interest.radius", pick("0", "5"),
			"client[0].turn", "1", "client[0].leave", "300ms", "client[1].turn", "2", "client[1].down.loss", "gilbert mean=40% burst=150",
			"client[2].turn", "3", "client[2].up.loss", "gilbert mean=40% burst=150", "client[3].turn", "4", "client[3].join", "1s",
			"at[0].t", "700ms", "at[0].budget", pick("16kbit", "200kbit"), "at[0].crowd_budget", pick("off", "500kbit"),
			"at[1].t", "1300ms", "at[1].encoder", encoder(), "at[2].t", "1500ms", "at[2].clients", pick("5", "61"),
			"at[3].t", "2s", "at[3].priority", priority(), "at[3].crowd_budget", pick("off", "100kbit", "1mbit"), "at[4].t", "2200ms", "at[4].budget_burst", "1.5",
			"at[5].t", "2500ms", "at[5].clients", "30", "at[6].t", "2800ms", "at[6].budget", "off", "at[6].crowd_budget", "900kbit"}
		if rng.IntN(2) == 0 {
			settings = append(settings, "crowd.profiles", "very-bad 40%, unity-leo 30%, wifi 30%", "crowd.uplink_rate", fmt.Sprintf("%dkbit", 200+rng.IntN(3000)),
				"crowd.uplink_queue", "30KB")
		}
		checkRuns(t, configure(t, settings...), settings, 1, 2)
	}
}

// A live run with changes repeats headless, to the same digest.
func TestBudgetRecorded(t *testing.T) {
	l, err := OpenLive(t.Context(), configure(t, "crowd.clients", "20", "sender.budget", "64kbit", "crowd.rtt", "uniform max=200ms", "crowd.loss", "10%"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, change := range [][2]string{{"budget", "24kbit"}, {"encoder", "adaptive"}, {"crowd_budget", "300kbit"}, {"clients", "50"}, {"priority", "fiedler first=1"},
		{"encoder", "kinetic-lite"}, {"clients", "10"}, {"budget", "off"}} {
		if err := l.RunUntil(time.Duration(i+1) * 500 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
		var ch config.Change
		if err := ch.Set(change[0], change[1]); err != nil {
			t.Fatal(err)
		}
		if err := l.Change(ch); err != nil {
			t.Fatalf("%v: %v", change, err)
		}
	}
	var off config.Change
	if err := off.Set("crowd_budget", "off"); err != nil {
		t.Fatal(err)
	}
	if CanChange(l.Config(), off) || l.Change(off) == nil {
		t.Error("the last budget was removed during the run")
	}
	if err := l.RunUntil(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	recorded := l.Recorded()
	got, err := l.Finish()
	if err != nil {
		t.Fatal(err)
	}
	want := checkRuns(t, recorded, []string{"recorded"}, 2)
	if got.Digest != want.Digest || len(got.Changes) != 8 || clientsText(t, got) != clientsText(t, want) {
		t.Errorf("%d changes: other bytes in a run of the recorded configuration", len(got.Changes))
	}
}

// The figures of clients under a budget can be asserted, and are in the totals of a run.
func TestBudgetFigures(t *testing.T) {
	r := runCrowd(t, configure(t, "duration", "2s", "crowd.clients", "9", "sender.budget", "64kbit", "crowd.rtt", "uniform max=200ms", "assert.crowd.p95.view.error", ">= 0"))
	all, names := figures.Flatten(r.Totals), figures.Keys()
	for _, field := range figures.ClientFields() {
		for _, q := range []string{"p5", "p50", "p95", "worst"} {
			key := "crowd." + q + "." + field.Key
			if _, known := all[key]; !slices.Contains(names, key) || !known {
				t.Errorf("%s: known %v, has a value %v", key, slices.Contains(names, key), known)
			}
		}
	}
	if view := all["view.mean_error_mm"]; view < all["crowd.p5.view.error"] || view > all["crowd.worst.view.error"] {
		t.Errorf("the mean error of all clients is %.1f mm, those of each are %.1f to %.1f", view, all["crowd.p5.view.error"], all["crowd.worst.view.error"])
	}
}

// The share of a budget that changes is that of its mean: at most 1, although the run uses more than the
// budget at its end. A client that comes later has the lower budget only.
func TestShareOfLoweredBudget(t *testing.T) {
	lowered := []string{"duration", "10s", "sender.budget", "48kbit", "at[0].t", "5s", "at[0].budget", "24kbit"}
	crowd := append([]string{"crowd.clients", "3", "client[0].turn", "3", "client[0].join", "5s"}, lowered...)
	r := checkRuns(t, configure(t, crowd...), crowd, 1)
	for i, mean := range []float64{36, 36, 24} {
		used, share := r.Clients[i].View.UsedKbps.Or(0), r.Clients[i].View.UsedRatio.Or(0)
		if math.Abs(share-used/mean) > 1e-12 || share > 1 || share < 0.8 {
			t.Errorf("client %d: share %g; it used %g of %g kbps", i+1, share, used, mean)
		}
	}
	s, err := engine.NewSession(t.Context(), configure(t, lowered...), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.RunUntil(time.Hour); err != nil {
		t.Fatal(err)
	}
	x := s.Result().Totals
	if key, value, impossible := figures.FindImpossible(&x); impossible || x.View.UsedKbps.Or(0) > 36 {
		t.Errorf("session: %.1f of 36 kbps used, %s is %s", x.View.UsedKbps.Or(0), key, value)
	}
}

// The mean of a limit is that of the active time since a mark, exact if the limit never changed.
func TestMeanLimit(t *testing.T) {
	l := limit{bps: 48001}
	if got := l.meanSince(limit{}, 0, 7*time.Second/3); got != 48001 {
		t.Errorf("a constant limit of 48001 has the mean %g", got)
	}
	before := l
	l.set(24000, 6*time.Second) // the mark was at 5 s
	if got := l.meanSince(before, 5*time.Second, 2*time.Second); math.Abs(got-72001./2) > 1e-6 {
		t.Errorf("mean %g since the mark, want %g", got, 72001./2)
	}
	l.set(0, 7*time.Second)
	l.set(24000, 8*time.Second)
	if got := l.meanSince(before, 5*time.Second, 4*time.Second); got != 0 {
		t.Errorf("mean %g of a time that had no limit, want 0", got)
	}
}

// fairLevel agrees with a search over all levels.
func TestFairLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		demands, total := make([]int, 1+rng.IntN(20)), rng.IntN(3000)
		for i := range demands {
			demands[i] = rng.IntN(300)
		}
		slices.Sort(demands)
		want := 0
		for level := 1; level <= 3000; level++ {
			sum := 0
			for _, d := range demands {
				sum += min(d, level)
			}
			if sum <= total {
				want = level
			}
		}
		if got := min(fairLevel(demands, total), 3000); got != want {
			t.Fatalf("%v of %d: level %d, want %d", demands, total, got, want)
		}
	}
	if got := fairLevel(nil, 100); got != endpoint.MaxDatagram {
		t.Errorf("without demands the level is %d", got)
	}
}

// Clients share a budget equally, also if it is so small that they must take turns. What the clients
// with a small sender.budget leave, the others get: there one client has another link, and all the same
// budget.
func TestSharedBudget(t *testing.T) {
	for _, c := range []struct{ clients, budget string }{{"10", "400kbit"}, {"100", "200kbit"}, {"3", "30kbit"}} {
		settings := []string{"duration", "6s", "crowd.clients", c.clients, "crowd.budget", c.budget, "link.latency", "30ms", "crowd.loss", "uniform max=20%"}
		r := checkRuns(t, configure(t, settings...), settings, 2)
		q, view := r.Totals.Crowd, r.Totals.View
		if low, high := q.P5.View.UsedKbps.Or(0), q.Worst.View.UsedKbps.Or(0); low < 0.85*high {
			t.Errorf("%v: one client used %.2f kbps, another %.2f", c, low, high)
		}
		if used := view.UsedKbps.Or(0); used > view.LimitKbps || used < 0.7*view.LimitKbps {
			t.Errorf("%v: %.1f of %.1f kbps used", c, used, view.LimitKbps)
		}
	}
}

// Clients get rows that take more than their share of the budget in turn. A row of the table takes more
// than 200 bytes, of which the budget of 100 ms has room for three.
func TestSharedBudgetOfLargeRows(t *testing.T) {
	rng, dir := rand.New(rand.NewPCG(8, 9)), t.TempDir()
	schema := "name = \"large\"\nitem = \"row\"\nrate_hz = 20\nrows = 2\nframe = \"tick\"\n"
	table, columns := strings.Builder{}, 60
	table.WriteString("tick")
	for k := range columns {
		schema += fmt.Sprintf("[[field]]\nname = \"f%d\"\nkind = \"quantity\"\nrange = [-1e9, 1e9]\nscale = 1\n", k)
		fmt.Fprintf(&table, ",f%d", k)
	}
	for n := range 200 {
		fmt.Fprintf(&table, "\n%d", n/2)
		for range columns {
			fmt.Fprintf(&table, ",%d", rng.IntN(2e9)-1e9)
		}
	}
	for name, text := range map[string]string{"large.toml": schema, "large.csv": table.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, own := range []string{"off", "60kbit"} {
		settings := []string{"duration", "5s", "crowd.clients", "6", "crowd.budget", "60kbit", "sender.budget", own, "encoder.name", "delta-adaptive",
			"data.source", "table:" + dir + "/large.toml," + dir + "/large.csv"}
		r := checkRuns(t, configure(t, settings...), settings, 2)
		for i := range r.Clients {
			// A tick of 50 ms has one packet, so that six clients get two rows each in 600 ms. That a row takes
			// more than the share is found in ticks without a packet, at most one for each packet.
			if v := r.Clients[i].View; v.LongestWaitMS.Or(9e9) > 1200 || v.RowAgeP99MS.Or(9e9) > 1200 {
				t.Errorf("sender.budget %s, client %d: %+v", own, i+1, v)
			}
		}
	}
}

// shaking moves the first three rows of a source in every tick.
type shaking struct {
	dataset.Source
	ticks int32
}

func (s *shaking) Next(f *frame.Frame) error {
	err := s.Source.Next(f)
	s.ticks++
	for row := range 3 {
		f.Table[row*frame.CubeFields+frame.CubeX] += s.ticks % 2
	}
	return err
}

// The first rows of a policy are those of each client's own player.
func TestPlayerRows(t *testing.T) {
	x, err := newSession(t.Context(), configure(t, "duration", "3s", "crowd.clients", "4", "crowd.player_rows", "3", "sender.budget", "24kbit",
		"sender.priority", "round-robin first=1"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	x.source = &shaking{Source: x.source}
	var packets [4][3]int  // with a row that the client shows
	var shown [4][3]uint64 // the packet that the client shows a row of
	for x.slot < 150 {
		if err := x.Step(); err != nil {
			t.Fatal(err)
		}
		for i := range x.shards[0].clients {
			client := x.shards[0].clients[i].viewer.receiver.View()
			if client == nil {
				continue // nothing has arrived yet
			}
			for row := range packets[i] {
				if seq, ok := client.Origin(row); ok && seq != shown[i][row] {
					packets[i][row]++
					shown[i][row] = seq
				}
			}
		}
	}
	for i, rows := range packets {
		for row, n := range rows {
			if own := rows[i%3]; row != i%3 && 2*own < 3*n {
				t.Errorf("client %d, which plays row %d: %d packets have this row, %d row %d", i+1, i%3+1, own, n, row+1)
			}
		}
	}
}

// The estimate of the memory of a client is that of the heap, up to a factor of 2.
func TestViewerBytes(t *testing.T) {
	t.Run("relative-orientation", func(t *testing.T) { checkViewerBytes(t, "relative-orientation", 100) })
	t.Run("delta-adaptive", func(t *testing.T) { checkViewerBytes(t, "delta-adaptive", 5) })
}

func checkViewerBytes(t *testing.T, encoder string, clients int64) {
	x, err := newSession(t.Context(), configure(t, "duration", "1h", "data.loop", "true", "encoder", encoder, "crowd.clients", fmt.Sprint(clients), "sender.budget", "64kbit",
		"crowd.rtt", "lognormal median=60ms sigma=0.6 min=20ms max=200ms", "crowd.loss", "uniform max=5%"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for range 300 {
		if err := x.Step(); err != nil {
			t.Fatal(err)
		}
	}
	before := testkit.HeapBytes()
	for i := range x.shards {
		for k := range x.shards[i].clients {
			x.shards[i].clients[k].viewer = nil
		}
	}
	got := (before - testkit.HeapBytes()) / clients
	want := x.viewerBytes(x.slots, x.workers[0].memoBytes)
	if got > want*2 || want > got*2 {
		t.Errorf("a client takes %d bytes, estimated are %d", got, want)
	}
	runtime.KeepAlive(x)
}

// The digests of crowds and of sessions pin the bytes under budgets: small and large budgets, where a packet has room for
// less than a row up to all rows, with every policy, several encoders, losses and rates. Each digest is of a crowd and of
// a session at 6 to 128 kbit/s. A change that only saves time or memory must keep them.
func TestBudgetBytes(t *testing.T) {
	budgets := []string{"6kbit", "8kbit", "12kbit", "16kbit", "24kbit", "64kbit", "128kbit"}
	for _, x := range []struct {
		encoder, priority, loss, rate string
		want                          uint64
	}{
		{"relative-orientation", "accumulated", "2%", "20", 0xe2c8098e3e41c14b},
		{"relative-orientation", "accumulated first=3", "20%", "60", 0xf26c88fec69f1857},
		{"relative-orientation", "newest-change", "2%", "20", 0x9b6283f76e6224b5},
		{"relative-orientation", "round-robin", "20%", "20", 0xc1f05848b7a1abb3},
		{"relative-orientation", "fiedler", "2%", "60", 0x6d8fefbad524be2b},
		{"relative-orientation", "unity", "20%", "20", 0x1bdb76164bc46865},
		{"relative-index", "accumulated", "2%", "30", 0x526a73ca8b61657c},
		{"relative-position", "accumulated", "2%", "20", 0x9dacda8220f06e76},
		{"changed-index", "accumulated", "20%", "20", 0xb4f71141ec9d33bc},
		{"rotor", "fiedler", "2%", "20", 0xca0c0feb92f586ad},
		{"adaptive", "accumulated", "20%", "20", 0x28f80d5b1cf164d0},
		{"delta-adaptive", "accumulated", "2%", "20", 0xb54349f61506b921},
	} {
		sum := fnv.New64a()
		for _, budget := range budgets {
			settings := []string{"duration", "3s", "encoder.name", x.encoder, "sender.priority", x.priority, "sender.rate_hz", x.rate, "sender.budget", budget}
			crowd := append([]string{"crowd.clients", "5", "crowd.rtt", "uniform max=200ms", "crowd.jitter", "uniform max=20ms", "crowd.loss", x.loss}, settings...)
			fmt.Fprintln(sum, runCrowd(t, configure(t, crowd...)).Digest)
			session := append([]string{"link.latency", "30ms", "link.jitter", "5ms", "link.loss", x.loss}, settings...)
			s, err := engine.NewSession(t.Context(), configure(t, session...), engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.RunUntil(time.Hour); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(sum, s.Result().Digest)
			s.Close()
		}
		if got := sum.Sum64(); got != x.want {
			t.Errorf("%s, %s, loss %s, %s Hz: the digest is %#x, want %#x", x.encoder, x.priority, x.loss, x.rate, got, x.want)
		}
	}
}

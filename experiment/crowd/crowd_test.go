package crowd

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/experiment/view"
	"wirelab/internal/testkit"
	"wirelab/internal/window"
)

// configure returns a configuration with the given settings: key, value, key, value.
func configure(t testing.TB, settings ...string) *config.Config {
	t.Helper()
	c := config.Default()
	testkit.Set(t, c, settings...)
	return c
}

func runCrowd(t testing.TB, c *config.Config) *engine.Result {
	t.Helper()
	r, err := Run(t.Context(), c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkRuns runs c on each of the given numbers of cores. It fails the test if figures are impossible, if a
// packet was wrong, refused or not encoded, or if the results differ.
func checkRuns(t *testing.T, c *config.Config, settings []string, cores ...int) *engine.Result {
	t.Helper()
	var want *engine.Result
	for _, n := range cores {
		before := runtime.GOMAXPROCS(n)
		got := runCrowd(t, c)
		runtime.GOMAXPROCS(before)
		x := &got.Totals
		if key, value, impossible := figures.FindImpossible(x); impossible || x.Wrong+x.DecodeRefused+x.EncodeFailed != 0 {
			t.Errorf("%v: %s is %s; %d wrong, %d refused, %d not encoded (%s)", settings, key, value, x.Wrong, x.DecodeRefused, x.EncodeFailed,
				got.CodecError)
		}
		if want == nil {
			want = got
		}
		if got.Digest != want.Digest || clientsText(t, got) != clientsText(t, want) {
			t.Errorf("%v: %d cores: other bytes", settings, n)
		}
	}
	return want
}

// clientsText returns the figures of all clients.
func clientsText(t *testing.T, r *engine.Result) string {
	t.Helper()
	data, err := json.Marshal(r.Clients)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// unlessShort returns whole, or with -short, which the race detector runs with, part.
func unlessShort[T any](whole, part T) T {
	if testing.Short() {
		return part
	}
	return whole
}

// mixed are the settings of a crowd with all kinds of clients.
var mixed = []string{"duration", "2s", "crowd.rtt", "lognormal median=60ms sigma=0.6 min=0ms max=300ms", "crowd.loss", "uniform max=20%",
	"crowd.jitter", "uniform min=0ms max=40ms"}

// displayAges is an engine.Observer that adds up the ages of displayed states.
type displayAges struct {
	sum time.Duration
	n   int
}

func (a *displayAges) Sample(s *meters.Sample)                 { a.sum, a.n = a.sum+s.Age, a.n+s.Aged }
func (*displayAges) Packet(*packetlog.Record, *engine.Problem) {}
func (*displayAges) Settled(uint64)                            {}

// A crowd of one client gives the figures of a session with the same links: the engine is an independent
// implementation with complete endpoints, links and histories.
func TestOneClientEqualsSession(t *testing.T) {
	cases := [][]string{
		{},
		{"link.latency", "30ms", "link.jitter", "12ms", "link.loss", "5%"},
		{"link.latency", "120ms", "link.jitter", "100ms", "link.distribution", "normal", "link.loss", "30%"},
		{"link.latency", "7ms", "down.loss", "60%", "sender.history", "20", "sender.every", "3"},
		{"link.latency", "35ms", "link.loss", "10%", "sender.rate_hz", "20", "up.loss", "70%"},
		{"link.latency", "800ms", "link.jitter", "3ms", "sender.history", "30"},
		{"link.latency", "20ms", "link.loss", "3%", "encoder.name", "raw"},
		{"link.latency", "20ms", "link.loss", "10%", "down.mtu", "200"},
		{"link.latency", "2100ms", "receiver.history", "10", "sender.rate_hz", "20"},
		{"link.latency", "300ms", "link.jitter", "60ms", "link.distribution", "normal", "receiver.history", "12", "link.loss", "10%"},
		{"link.latency", "30ms", "link.jitter", "25ms", "receiver.display_hz", "144", "receiver.playout_delay", "40ms", "link.loss", "20%"},
		{"link.latency", "30ms", "link.jitter", "25ms", "receiver.display_hz", "37.5", "receiver.playout_delay", "20ms", "sender.rate_hz", "25"},
		{"profile", "very-bad"},
		{"link.latency", "30ms", "down.loss", "gilbert mean=5% burst=3", "down.duplicate", "10%", "down.rate", "400kbit", "down.queue", "8KB", "up.corrupt", "20%"},
		{"link.latency", "20ms", "link.jitter", "15ms", "down.corrupt", "10%", "down.reorder", "10%", "up.duplicate", "5%"},
		{"sender.budget", "64kbit", "link.latency", "30ms", "link.jitter", "3ms", "link.loss", "2%"},
		{"sender.budget", "24kbit", "link.latency", "75ms", "link.jitter", "40ms", "link.loss", "30%", "sender.budget_burst", "2", "sender.every", "2"},
		{"sender.budget", "45kbit", "link.latency", "20ms", "encoder.name", "adaptive", "sender.priority", "fiedler first=1", "link.loss", "10%"},
		{"sender.budget", "45kbit", "link.latency", "100ms", "encoder.name", "kinetic-lite", "interest.radius", "4", "link.loss", "60%"},
		{"sender.budget", "64kbit", "link.latency", "30ms", "down.loss", "gilbert mean=5% burst=3", "down.duplicate", "10%", "down.rate", "60kbit",
			"down.queue", "8KB", "up.corrupt", "20%", "up.duplicate", "5%", "up.reorder", "10%"},
		{"sender.budget", "64kbit", "link.latency", "20ms", "link.jitter", "15ms", "down.corrupt", "10%", "down.reorder", "10%", "down.mtu", "100"},
		{"sender.budget", "32kbit", "link.latency", "40ms", "at[0].t", "1s", "at[0].budget", "96kbit", "at[1].t", "2s", "at[1].priority", "round-robin"},
	}
	step := testkit.ChooseLong(1, 3, 7)
	for i, p := range view.Policies {
		budgets := []string{"3kbit", "4kbit", "6kbit", "8kbit", "12kbit", "16kbit", "24kbit"}
		for k := i % step; k < len(budgets); k += step {
			cases = append(cases, []string{"sender.budget", budgets[k], "sender.priority", p.Name, "encoder.name", []string{"relative-orientation", "adaptive", "delta-adaptive"}[i%3],
				"sender.budget_burst", fmt.Sprint(1 + i%2*k), "link.latency", "30ms", "link.jitter", "3ms", "link.loss", "5%"})
		}
	}
	for _, settings := range cases {
		t.Run(fmt.Sprint(settings), func(t *testing.T) {
			c := configure(t, append([]string{"duration", unlessShort("5s", "2500ms"), "crowd.clients", "1"}, settings...)...)
			got := runCrowd(t, c)
			alone := c.Clone()
			alone.Crowd, alone.Seed = config.Default().Crowd, ClientSeed(c.Seed, 1) // the demo recording does not use the seed
			var ages displayAges
			s, err := engine.NewSession(t.Context(), alone, engine.Options{Observer: &ages})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.RunUntil(time.Hour); err != nil {
				t.Fatal(err)
			}
			want := s.Result().Totals
			type comparable struct {
				figures.Failures
				sent, decoded, stale, lost, inFlight, wrong, reordered, duplicate int64
				payload, wire, feedback                                           float64
				sizes, ages                                                       figures.Quantiles
				lossRate                                                          figures.Figure
				lostBy                                                            string
				late, displayed, freezes                                          int64
				starved, longest, behind                                          figures.Figure
			}
			of := func(x *figures.Totals) comparable {
				p := &x.Playout
				return comparable{x.Failures, x.Sent, x.Decoded, x.Stale, x.Lost, x.InFlight, x.Wrong, x.Reordered, x.Duplicate, x.PayloadKbps, x.WireKbps, x.FeedbackKbps,
					x.PacketBytes, x.BaselineAgeTicks, x.Network.LossRate, fmt.Sprint(x.LostBy), p.Late, p.Displayed, p.Freezes, p.StarvedRatio, p.LongestFreezeMS, p.ClockLagMS}
			}
			if a, b := of(&got.Totals), of(&want); a != b {
				t.Errorf("the crowd has\n%+v, the session\n%+v", a, b)
			}
			if got, want := viewText(got), viewText(s.Result()); got != want {
				t.Errorf("the display of the crowd has\n%s, that of the session\n%s", got, want)
			}
			if got, want := got.Clients[0].AgeMS.Or(-1), float64(ages.sum)/1e6/float64(ages.n); ages.n > 0 && math.Abs(got-want) > 0.001 {
				t.Errorf("mean age %v ms, the session's is %v", got, want)
			}
		})
	}
}

// viewText returns the figures under a budget that a crowd measures exactly, except that held snapshots
// do not count; "" without a budget. A client's mean error is also that of all clients.
func viewText(r *engine.Result) string {
	v := r.Totals.View
	if v == nil {
		return ""
	}
	mean := *v.MeanErrorMM
	if len(r.Clients) > 0 {
		mean = r.Clients[0].View.Error
	}
	return fmt.Sprint(v.Policy, v.LimitKbps, v.UsedKbps, v.Held, v.RowsPerPacket, v.BitsPerRow, v.FillRatio, v.Encodings, mean, v.ErrorMM.Max, v.RowAgeMS,
		v.MeanRowAgeMS, v.RestingWrong, v.LongestWaitMS, v.SettledMS)
}

// The outcomes of all packets add up, nothing is wrong, and the number of cores changes no byte.
func TestSameBytes(t *testing.T) {
	for _, more := range [][]string{
		{"crowd.clients", unlessShort("1200", "600"), "duration", "500ms"},
		{"crowd.clients", "10", "encoder.name", "adaptive"},
		{"crowd.clients", "30", "crowd.baseline", "every ticks=3", "sender.every", "2"},
		{"crowd.clients", "30", "crowd.baseline", "every ticks=4"},
		{"crowd.clients", "60", "crowd.profiles", "lte 50%, unity-4g 50%", "crowd.uplink_rate", "5mbit", "crowd.uplink_queue", "20KB", "client[0].turn", "9",
			"client[0].down.duplicate", "20%", "at[0].t", "1s", "at[0].clients", "90"},
	} {
		checkRuns(t, configure(t, append(slices.Clone(mixed), more...)...), more, unlessShort([]int{1, 2, 3}, []int{1, 3})...)
	}
}

// Any schedule of losses and delays gives wrong = 0, and the outcomes add up.
func TestProperty(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"relative-orientation", "adaptive", "kinetic-lite", "raw"}
	policies := []string{"newest", "every ticks=1", "every ticks=3", "every ticks=10"}
	for range unlessShort(12, 6) {
		settings := []string{"duration", "1200ms", "crowd.clients", fmt.Sprint(1 + rng.IntN(8)), "seed", fmt.Sprint(rng.IntN(1000)),
			"crowd.loss", fmt.Sprintf("uniform max=%d%%", rng.IntN(100)), "crowd.rtt", fmt.Sprintf("uniform max=%dms", rng.IntN(900)),
			"crowd.jitter", fmt.Sprintf("uniform max=%dms", rng.IntN(200)), "encoder.name", names[rng.IntN(len(names))],
			"crowd.baseline", policies[rng.IntN(len(policies))], "sender.history", fmt.Sprint(3 + rng.IntN(253)),
			"receiver.history", fmt.Sprint(6 + rng.IntN(250)), "receiver.playout_delay", "1ms"}
		if rng.IntN(2) == 0 {
			settings = append(settings, "crowd.profiles", "very-bad 40%, unity-leo 30%, wifi 30%", "crowd.uplink_rate", fmt.Sprintf("%dkbit", 200+rng.IntN(3000)),
				"crowd.uplink_queue", "30KB", "crowd.uplink_pace", fmt.Sprint(rng.IntN(2) == 0), "client[0].turn", "1", "client[0].leave", "300ms",
				"at[0].t", "500ms", "at[0].clients", "11", "at[1].t", "900ms", "at[1].clients", "3")
		}
		checkRuns(t, configure(t, settings...), settings, 2)
	}
}

// A packetSet agrees with a map of packets.
func TestPacketSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var receiver, server packetSet
		decoded, acked, newest := map[uint32]bool{}, map[uint32]bool{}, uint32(0)
		at, spread := rng.Uint32N(3), rng.Uint32N(100)
		for range 100 {
			at += rng.Uint32N(4)
			seq := at + rng.Uint32N(spread+1)
			receiver.Add(seq)
			decoded[seq] = true
			if rng.IntN(3) > 0 { // the ack arrives
				server.addAck(receiver.Newest, uint32(receiver.Mask))
				newest = receiver.Newest
				for n := newest; newest-n <= 32; n-- {
					acked[n] = acked[n] || decoded[n]
					if n == 0 {
						break
					}
				}
			}
			for n := receiver.Newest; receiver.Newest-n <= window.Reach; n-- {
				// A packet counts only if it was in the mask when it arrived.
				if receiver.has(n) && !decoded[n] {
					t.Fatalf("packet %d is in the set", n)
				}
				if server.Any && server.has(n) && !acked[n] {
					t.Fatalf("packet %d is acked", n)
				}
				if n == 0 {
					break
				}
			}
			if server.Any && server.Newest != newest {
				t.Fatalf("newest %d, want %d", server.Newest, newest)
			}
			k := 1 + rng.Uint32N(9)
			want, found := uint32(0), false
			for n := range acked {
				if server.has(n) && n%k == 0 && (!found || n > want) {
					want, found = n, true
				}
			}
			if !found {
				want = server.Newest
			}
			if got := server.newestMultiple(k); server.Any && got != want {
				t.Fatalf("newest multiple of %d: %d, want %d", k, got, want)
			}
		}
	}
}

// A receiver that decodes a frame older than its history does not store it, so it does not ack it
// either: as a baseline the frame would be missing.
func TestOldFramesAreNotAcked(t *testing.T) {
	const newest, history = 100, 12
	x, err := newSession(t.Context(), configure(t, "crowd.clients", "1", "receiver.history", fmt.Sprint(history)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &x.shards[0]
	for _, seq := range []uint32{newest, newest - history, newest - history - 1} {
		x.arrive(s, 0, time.Second, &packet{seq: seq, outcome: packetlog.Decoded})
	}
	c, m := &s.receivers[0], &s.counts[0]
	if stale := m.outcomes[packetlog.Stale]; !c.decoded.has(newest-history) || c.decoded.has(newest-history-1) || stale != 2 {
		t.Errorf("newest %d, mask %b: want only packet %d besides the newest; %d stale, want 2", c.decoded.Newest, c.decoded.Mask,
			newest-history, stale)
	}
	var acked packetSet
	acked.addAck(c.decoded.Newest, uint32(c.decoded.Mask))
	next := packet{seq: newest + 1, outcome: packetlog.Decoded}
	next.age = (&baselines{every: newest - history, maxAge: 255}).choose(&acked, next.seq)
	if x.arrive(s, 0, time.Second, &next); next.age != history+1 || m.outcomes[packetlog.NoBaseline] != 0 {
		t.Errorf("a baseline %d packets before is missing at the receiver", next.age)
	}
}

// The links of clients follow the distributions that are set.
func TestSpread(t *testing.T) {
	c := configure(t, append(slices.Clone(mixed), "crowd.clients", "10000", "duration", "20ms")...)
	r := runCrowd(t, c)
	median, p95 := r.Totals.Crowd.P50.RoundTripMS.Or(0), r.Totals.Crowd.P95.RoundTripMS.Or(0)
	if median < 58 || median > 62 || p95 < 155 || p95 > 168 { // 60 e^(0.6 * 1.645) = 161
		t.Errorf("round trips: median %.1f ms, p95 %.1f", median, p95)
	}
	if worst := r.Totals.Crowd.Worst.RoundTripMS.Or(0); worst > 300 {
		t.Errorf("the longest round trip is %.1f ms", worst)
	}
}

// A change to a number of clients that needs too much memory, or links that a crowd does not support, is
// refused before the run, and during it without an effect.
func TestRefusedGrowth(t *testing.T) {
	memos := []string{"crowd.clients", "2", "encoder.name", "adaptive", "sender.budget", "64kbit", "link.latency", "10s", "duration", "1s"}
	links := []string{"crowd.clients", "2", "client[0].turn", "514", "client[0].up.mtu", "700", "duration", "1s"}
	for want, settings := range map[string][]string{
		"crowd.clients: needs about ": memos,
		"client[0].up.mtu: ":          links,
	} {
		_, err := Run(t.Context(), configure(t, append(settings, "at[0].t", "500ms", "at[0].clients", "1000")...), Options{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	x, err := newSession(t.Context(), configure(t, memos...), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := x.Change(config.NewChange("crowd.clients", 1000)); err == nil || !strings.HasPrefix(err.Error(), "crowd.clients: needs about ") {
			t.Errorf("1000 clients: %v", err)
		}
	}
	if n := x.clientCount(); n != 2 || x.config.Crowd.Clients != 2 || len(x.changes) > 0 {
		t.Errorf("%d clients after a refused change, %d in the game, changes %v", n, x.config.Crowd.Clients, x.changes)
	}
	if err := x.Change(config.NewChange("crowd.clients", 3)); err != nil {
		t.Error(err)
	}
}

// What a crowd cannot do is refused in one sentence that names the key.
func TestRefusals(t *testing.T) {
	refusals := func(common []string, list map[string][]string) {
		for want, settings := range list {
			_, err := Run(t.Context(), configure(t, slices.Concat(common, settings)...), Options{})
			if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v: %v, want %s", settings, err, want)
			}
		}
	}
	refusals([]string{"crowd.clients", "10000", "duration", "5s"}, map[string][]string{
		"shadow: ":             {"shadow[0].name", "raw"},
		"at[0]: ":              {"at[0].t", "1s", "at[0].loss", "5%"},
		"client[0].up.mtu: ":   {"client[0].turn", "3", "client[0].up.mtu", "700"},
		"receiver.interpol":    {"receiver.interpolation", "hermite"},
		"budget_line: ":        {"budget_line", "64"},
		"traffic: ":            {"traffic", "1 cubic"},
		"client[0].turn: ":     {"client[0].turn", "10001", "client[0].loss", "1%"},
		"client[0].address: ":  {"client[0].address", "10.0.0.1", "client[0].loss", "1%"},
		"client[0].leave: ":    {"client[0].turn", "3", "client[0].join", "2s", "client[0].leave", "1s"},
		"crowd.profiles: ":     {"crowd.profiles", "unity-4g 30%, unity-cable 60%"},
		"encoder.name: ":       {"encoder.name", "rounded"},
		"sender.redundancy: ":  {"sender.redundancy", "repeat"},
		"messages: ":           {"messages.rate_hz", "20"},
		"receiver.playout: ":   {"receiver.playout", "mirror"},
		"crowd.clients: needs": {"sender.rate_hz", "60", "link.latency", "20s", "crowd.rtt", "20s", "crowd.jitter", "20s", "link.distribution", "normal"},
	})
	refusals([]string{"crowd.clients", "10", "duration", "5s", "sender.budget", "64kbit"}, map[string][]string{
		"crowd.baseline: ":            {"crowd.baseline", "every ticks=2"},
		"encoder.name: raw cannot":    {"encoder.name", "raw"},
		"sender.budget: 1kbit allows": {"sender.budget", "1kbit"},
		"crowd.budget: 1kbit allows":  {"crowd.budget", "1kbit"},
		"at[0]: ":                     {"at[0].t", "1s", "at[0].budget", "off"},
		"at[0]: a crowd with":         {"at[0].t", "1s", "at[0].loss", "5%"},
		"crowd.player_rows: has no":   {"sender.budget", "off", "crowd.player_rows", "5"},
		"crowd.budget: has no":        {"crowd.clients", "0", "crowd.budget", "1mbit"},
	})
}

// A crowd receives a table. Tables have no line in the chart of payloads by default, unlike cubes.
func TestCrowdOfTable(t *testing.T) {
	r := runCrowd(t, configure(t, "crowd.clients", "5", "duration", "1s", "data.source", "table:../testdata/arena.toml,../testdata/arena.csv", "data.loop", "true", "encoder.name", "delta-adaptive", "sender.budget", "32kbit"))
	if r.Totals.Wrong != 0 || r.Totals.View == nil || r.Totals.View.MeanError == nil {
		t.Errorf("%+v", r.Totals)
	}
}

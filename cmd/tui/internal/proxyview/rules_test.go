package proxyview

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/trust"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// Rates have one decimal below 10; percentages two below 10 and one above.
func TestFormats(t *testing.T) {
	for _, x := range []struct {
		n       uint64
		seconds float64
		want    string
	}{{5, 0, "-"}, {0, 0, "-"}, {5, -1, "-"}, {0, 2, "0"}, {19, 2, "9.5"}, {21, 2, "10"}, {200, 2, "100"}} {
		if got := formatRate(x.n, x.seconds); got != x.want {
			t.Errorf("%d in %g s: %s, want %s", x.n, x.seconds, got, x.want)
		}
	}
	for _, x := range []struct {
		n, all uint64
		want   string
	}{{0, 0, "-"}, {0, 5, "0.00"}, {1, 1000, "0.10"}, {99, 1000, "9.90"}, {996, 10000, "9.96"}, {1, 9, "11.1"}, {5, 5, "100.0"}} {
		if got := formatPercent(x.n, x.all); got != x.want {
			t.Errorf("%d of %d: %s, want %s", x.n, x.all, got, x.want)
		}
	}
	var h relay.Histogram
	if formatQuantile(&h, 0.5, 1) != "-" || formatSizes(&h) != "-" {
		t.Error("an empty histogram has figures")
	}
	h.Add(1200)
	if got := formatSizes(&h); !strings.HasSuffix(got, "/1200") || strings.Count(got, "/") != 2 {
		t.Errorf("one size of 1200: %s", got)
	}
	h = relay.Histogram{}
	h.Add(5 * time.Millisecond)
	if got := formatQuantile(&h, 0.5, 2); !strings.Contains(got, ".") || len(got) != 4 {
		t.Errorf("5 ms: %s", got)
	}
}

// A sample contains the rates of its seconds; the history is cut to maxSamples when it exceeds twice that.
func TestAppendSamples(t *testing.T) {
	flow := relay.Flow{Out: 30, OutWire: 2500}
	flow.LostBy[lossmodel.Queue] = 8
	flow.LineQueue.Bytes = 4500
	s := newDirectionSample(&flow, 0.4)
	if s.kbps != 50 || s.rate != 75 || s.queueKB != 4.5 || s.lost[lossmodel.Queue] != 20 || !math.IsNaN(s.p50) || !math.IsNaN(s.p95) {
		t.Errorf("%+v", s)
	}
	flow.Delay.Add(8 * time.Millisecond)
	if s = newDirectionSample(&flow, 0.1); math.Abs(s.p50-8) > 0.5 || math.Abs(s.p95-8) > 0.5 {
		t.Errorf("delays %g and %g ms, want 8", s.p50, s.p95)
	}
	var h history
	h.append(sample{}, 2*maxSamples)
	if len(h.samples) != 2*maxSamples {
		t.Errorf("%d samples are cut, want %d", len(h.samples), 2*maxSamples)
	}
	h.append(sample{s}, 1)
	if len(h.samples) != maxSamples || h.samples[maxSamples-1][0].rate != 300 || h.samples[maxSamples-2][0].rate != 0 {
		t.Errorf("%d samples remain, want the newest %d", len(h.samples), maxSamples)
	}
}

// Polls within a period add nothing. The recent figures cover at least two seconds once there are as many, and at most one poll more.
// The rates of clients are of the same time.
func TestObserve(t *testing.T) {
	var h history
	var polls []time.Duration
	at := 50 * time.Millisecond
	rng := rand.New(rand.NewPCG(3, 4))
	h.snap.Clients = []relay.ClientState{{Client: relay.Client{Number: 1}}}
	for i := range 400 {
		h.snap.Totals.At, h.snap.Totals.Flows[0].Out = at, uint64(at/time.Millisecond)
		h.snap.Clients[0].Ways[0].Out = uint64(at / time.Millisecond)
		before := h.nextIndex
		h.observe()
		if i == 0 {
			if h.nextIndex != 0 || len(h.samples) != 0 {
				t.Fatalf("the first poll adds samples: %+v", h)
			}
			polls = append(polls, at)
		} else if int64(at/period) > before {
			polls = append(polls, at)
			if h.nextIndex != int64(at/period) || len(h.samples) != int(h.nextIndex) {
				t.Fatalf("at %v: index %d, %d samples", at, h.nextIndex, len(h.samples))
			}
			first := polls[0]
			for _, p := range polls[:len(polls)-1] { // the newest poll that is at least two seconds old
				if at-p >= recentSpan {
					first = p
				}
			}
			if got := h.recentSeconds; math.Abs(got-(at-first).Seconds()) > 1e-9 || h.recent.Flows[0].Out != uint64(at/time.Millisecond)-uint64(first/time.Millisecond) {
				t.Fatalf("at %v the recent figures are of %g s, want since %v", at, got, first)
			}
			if got := h.recentTraffic(&h.snap.Clients[0])[0].Out; got != h.recent.Flows[0].Out {
				t.Fatalf("at %v a client got %d of %d", at, got, h.recent.Flows[0].Out)
			}
		} else if h.nextIndex != before {
			t.Fatalf("a poll within a period changes the index")
		}
		at += time.Duration(rng.IntN(250)) * time.Millisecond
	}
	// Every figure of a client is the difference; a client that was not there before counts in full.
	flow := relay.ClientFlow{In: 10, InBytes: 200, Out: 8, OutBytes: 150, Lost: 2, TotalDelay: 90}
	older := relay.ClientFlow{In: 4, InBytes: 50, Out: 3, OutBytes: 40, Lost: 1, TotalDelay: 30}
	now := &relay.ClientState{Client: relay.Client{Number: 3}, Ways: [2]relay.ClientFlow{flow, older}}
	earlier := []relay.ClientState{{Client: relay.Client{Number: 3}, Ways: [2]relay.ClientFlow{older, {}}}}
	h.polls[0].clients = earlier
	if got := h.recentTraffic(now); got != [2]relay.ClientFlow{{In: 6, InBytes: 150, Out: 5, OutBytes: 110, Lost: 1, TotalDelay: 60}, older} {
		t.Errorf("differences %+v", got)
	}
	h.polls[0].clients = nil
	if got := h.recentTraffic(now); got != now.Ways {
		t.Errorf("a new client: %+v", got)
	}
	copied := h.clone()
	h.samples[0][0].rate++
	h.snap.Clients[0].Number++
	if copied.samples[0] == h.samples[0] || copied.snap.Clients[0].Number == h.snap.Clients[0].Number {
		t.Error("a stopped display changes")
	}
}

// linkStatus returns a link that passed n of its datagrams, each after delay.
func linkStatus(t *testing.T, direction relay.Direction, n uint64, delay time.Duration, pairs ...string) relay.LinkStatus {
	t.Helper()
	spec := lossmodel.DefaultSpec()
	testkit.Set(t, &spec, pairs...)
	return relay.LinkStatus{Way: direction, Spec: spec, Sent: n, Passed: n, TotalDelay: time.Duration(n) * delay, First: 0, Until: 10 * time.Second, Bits: n * 8000}
}

// Links are compared per direction, without those that sent nothing, at most 64 of them. A delay may be a millisecond longer. With
// fragments the expected loss is unknown. Of several rates, the worst is reported.
func TestJudgeChecks(t *testing.T) {
	check := func(links []relay.LinkStatus, name string) *trust.Check {
		var j Judge
		for _, c := range j.Checks(links, relay.Up) {
			if c.Name == name {
				return &c
			}
		}
		return nil
	}
	exact := linkStatus(t, relay.Up, 1000, 20*time.Millisecond, "latency", "20ms")
	late := linkStatus(t, relay.Up, 1000, 20*time.Millisecond+900*time.Microsecond, "latency", "20ms")
	later := linkStatus(t, relay.Up, 1000, 20*time.Millisecond+1200*time.Microsecond, "latency", "20ms")
	early := linkStatus(t, relay.Up, 1000, 19*time.Millisecond, "latency", "20ms")
	for name, x := range map[string]struct {
		link relay.LinkStatus
		ok   bool
	}{"exact": {exact, true}, "late": {late, true}, "later": {later, false}, "early": {early, false}} {
		if c := check([]relay.LinkStatus{x.link}, "delay"); c == nil || !c.Known || c.OK != x.ok {
			t.Errorf("%s: %+v", name, c)
		}
	}
	other := later
	other.Way = relay.Down
	silent := relay.LinkStatus{Way: relay.Up, Spec: later.Spec}
	if c := check([]relay.LinkStatus{exact, other, silent}, "delay"); !c.OK || math.Abs(c.Measured-20) > 1e-9 {
		t.Errorf("with links of the other direction and silent ones: %+v", c)
	}
	lossy := exact
	lossy.Lost, lossy.Passed = 100, 900
	lossy.TotalDelay = 900 * 20 * time.Millisecond
	if c := check([]relay.LinkStatus{lossy}, "loss"); c == nil || c.OK || math.Abs(c.Measured-10) > 1e-9 {
		t.Errorf("10 %% lost of a link without loss: %+v", c)
	}
	lossy.Fragmented = 1
	if c := check([]relay.LinkStatus{lossy}, "loss"); c == nil || !c.OK || c.Known {
		t.Errorf("with a fragmented datagram: %+v", c)
	}
	if c := check([]relay.LinkStatus{exact, lossy}, "loss"); !c.OK || c.Known {
		t.Errorf("with a fragmented datagram of the second link: %+v", c)
	}
	// 64 links are compared, the 65th is not.
	var links []relay.LinkStatus
	for range maxLinksJudged {
		links = append(links, exact)
	}
	if c := check(append(links, later), "delay"); math.Abs(c.Measured-20) > 1e-9 {
		t.Errorf("the 65th link counts: %+v", c)
	}
	if c := check(append(links[1:], later), "delay"); math.Abs(c.Measured-20) < 1e-9 {
		t.Errorf("the 64th link does not count: %+v", c)
	}
	// 1000 datagrams of 8000 bits in 10 s are 800 kbit/s.
	within, faster := linkStatus(t, relay.Up, 1000, 0, "rate", "1mbit"), linkStatus(t, relay.Up, 1100, 0, "rate", "1mbit")
	beyond := linkStatus(t, relay.Up, 900, 0, "rate", "100kbit")
	for i, x := range []struct {
		links    []relay.LinkStatus
		measured float64
		ok       bool
	}{{[]relay.LinkStatus{within}, 800, true}, {[]relay.LinkStatus{within, faster}, 880, true}, {[]relay.LinkStatus{faster, within}, 880, true}, {[]relay.LinkStatus{faster, beyond}, 720, false}, {[]relay.LinkStatus{beyond, faster}, 720, false}} {
		if c := check(x.links, "rate"); c == nil || c.OK != x.ok || math.Abs(c.Measured-x.measured) > 20 {
			t.Errorf("%d: the rate is %+v, want about %g", i, c, x.measured)
		}
	}
	if c := check([]relay.LinkStatus{exact}, "rate"); c != nil {
		t.Errorf("an unlimited link has a rate: %+v", c)
	}
	var j Judge
	if got := j.Deviations([]relay.LinkStatus{exact, other}); len(got) != 1 || !strings.HasPrefix(got[0], "down: delay set 20.0, measured 21.2 ms") {
		t.Errorf("deviations %q", got)
	}
}

// The verdict compares links at most once a second, adds up the time with faults, and keeps the newest fault.
func TestJudgeNow(t *testing.T) {
	var v verdict
	var h history
	fault := linkStatus(t, relay.Up, 1000, 30*time.Millisecond, "latency", "20ms")
	right := linkStatus(t, relay.Up, 1000, 20*time.Millisecond, "latency", "20ms")
	for _, x := range []struct {
		ms     int
		link   relay.LinkStatus
		faulty bool
		sum    int // ms
	}{{100, fault, true, 0}, {600, right, true, 500}, {1099, right, true, 999}, {1100, right, false, 999}, {2099, fault, false, 999}, {2100, fault, true, 1000}, {2300, fault, true, 1200}} {
		h.snap.Totals.At = time.Duration(x.ms) * time.Millisecond
		h.snap.Links = []relay.LinkStatus{x.link}
		v.judgeNow(&h, 0)
		if (len(v.faults) > 0) != x.faulty || v.faultyFor != time.Duration(x.sum)*time.Millisecond || !strings.HasPrefix(v.lastFault, "up: delay") {
			t.Errorf("at %d ms: faults %q for %v, last %q", x.ms, v.faults, v.faultyFor, v.lastFault)
		}
	}
}

// The header reports the most severe: faults now, remarks, faults before, and otherwise how late datagrams left.
func TestSummary(t *testing.T) {
	m := newGame(t, 1, "").screen(100, 30)
	expect := func(want string) {
		t.Helper()
		if got, _ := m.summary(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	expect("as set: nothing sent on yet")
	m.live.snap.Totals.Flows[relay.Down].Out = 1
	expect("as set: nothing sent on in the last 2 s")
	m.live.recent.Flows[0].Lateness.Add(100 * time.Microsecond)
	m.live.recent.Flows[1].Lateness.Add(300 * time.Microsecond)
	if n, p99 := m.lateness(); n != 2 || p99 != m.live.recent.Flows[1].Lateness.Quantile(0.99) {
		t.Errorf("%d datagrams, %v", n, p99)
	}
	expect("as set: late p99 0.")
	m.live.recent.Flows[1].Lateness.Add(2110 * time.Microsecond) // ordinary scheduling
	expect("as set: down: proxy 2.1 ms late (p99; limit 5.0)")
	m.faultyFor, m.lastFault = 3*time.Second, "up: loss"
	m.live.snap.Totals.At = 61 * time.Second
	expect("as set now; 3 of 61 s not exact: up: loss")
	m.live.recent.Flows[relay.Up].Unreachable = 1
	expect("as set, but ")
	m.faults = []string{"down: delay"}
	expect("! NOT AS SET: down: delay; ")
}

// The header names the settings for all clients and counts the clients that differ, also after undo.
func TestHeaderDescribesAllClients(t *testing.T) {
	g := newGame(t, 3, "")
	m := g.screen(160, 48)
	g.run(m, time.Second)
	title := g.live.Script.Title
	typed(m, "client 2")
	for _, x := range []struct{ command, want string }{
		{"profile lte", title + "; 1 client differs"}, {"undo", title}, {"profile lte", "profile lte"}, {"undo", title},
		{"loss 3%", title + ", changed"}, {"undo", title},
	} {
		typed(m, x.command)
		if x.command == "undo" {
			press(m, "esc") // later changes are those of all clients
		}
		if got := m.linkName(); got != x.want {
			t.Errorf("after %s: %q, want %q", x.command, got, x.want)
		}
	}
}

// A fault quotes the value that broke the limit, not a later one within it.
func TestFaultQuotesTheValueAboveTheLimit(t *testing.T) {
	var v verdict
	var h history
	for i, late := range []time.Duration{8 * time.Millisecond, 4 * time.Millisecond, time.Millisecond} {
		h.snap.Totals.At += time.Duration(i) * judgeEvery
		h.recent.Flows[relay.Down].Lateness = relay.Histogram{}
		h.recent.Flows[relay.Down].Lateness.Add(late)
		v.judgeNow(&h, 0)
		if !strings.Contains(v.lastFault, "down: proxy 8.0 ms late") || strings.Contains(strings.Join(v.faults, " "), " 4.0 ms") {
			t.Errorf("%v late: faults %q, last %q", late, v.faults, v.lastFault)
		}
	}
}

// Persistent delays far above the medians set the scale of the chart; a single spike does not.
func TestPersistentDelaysScaleTheChart(t *testing.T) {
	for every, loose := range map[int]bool{10: false, 100: true} { // each such sample has a long delay
		m := newGame(t, 1, "").screen(160, 48)
		for i := range 150 {
			s := directionSample{p50: 5, p95: 6}
			if i%every == 0 {
				s.p95 = 67
			}
			m.live.append(sample{s, {p50: math.NaN(), p95: math.NaN()}}, 1)
		}
		m.updateAxis()
		if got := m.hasOnlySpikes(relay.Up); got != loose {
			t.Errorf("every %d samples: loose %v", every, got)
		}
	}
}

// With a client selected, the comparison of set and measured values is that of its links, and says so.
func TestComparisonFollowsTheClient(t *testing.T) {
	m := newGame(t, 2, "").screen(160, 48)
	m.live.snap.Totals.At = time.Second
	for client, latency := range map[int]time.Duration{1: 10 * time.Millisecond, 2: 40 * time.Millisecond} {
		link := linkStatus(t, relay.Up, 1000, latency, "latency", latency.String(), "rate", "1mbit")
		link.Client = client
		m.live.snap.Links = append(m.live.snap.Links, link)
	}
	for client, want := range map[int]string{0: "all clients, since last set", 1: "client 1, since last set", 2: "client 2, since last set"} {
		if err := m.setTarget(client); err != nil {
			t.Fatal(err)
		}
		m.verdict.judgeNow(&m.live, client)
		c := look.NewCanvas(60, 20)
		m.page.Slots[paneTrust].Draw(c, m.Theme(), false)
		text := ansi.Strip(strings.Join(c.Lines(m.Theme()), "\n"))
		delay := []string{"25.0 ms", "10.0 ms", "40.0 ms"}[client]
		rate := []string{"rate/client 800", "rate  800", "rate  800"}[client]
		if !strings.Contains(text, want) || !strings.Contains(text, delay) || !strings.Contains(text, rate) {
			t.Errorf("client %d: want %s, %s and %s\n%s", client, want, delay, rate, text)
		}
	}
}

// The first damaged datagram moves nothing.
func TestDamagedInPane(t *testing.T) {
	g := newGame(t, 1, "")
	m := g.screen(160, 48)
	if !strings.Contains(m.View(), "damaged, total                     0                0") {
		t.Error("no row for damaged datagrams")
	}
	g.snap.Totals.Flows[relay.Up].Damaged = 66
	g.run(m, period)
	if !strings.Contains(m.View(), "damaged, total                    66                0") {
		t.Errorf("no count of 66 damaged datagrams:\n%s", m.View())
	}
}

// On a large screen the panes fill two columns without gaps.
func TestPanesTileTheScreen(t *testing.T) {
	m := newGame(t, 3, "").screen(160, 48)
	for w := 104; w < 200; w += 13 {
		for h := 24; h < 80; h++ {
			next := map[int]int{} // by column of panes: the row after the last pane
			for _, place := range m.layOut(w, h) {
				if place.H < 4 || place.Y != next[place.X] {
					t.Fatalf("%d x %d: a pane of %d rows at row %d, the one above ends at %d", w, h, place.H, place.Y, next[place.X])
				}
				next[place.X] += place.H
			}
			if len(next) != 2 || next[0] != h || next[w-room.RightColumn(w)] != h {
				t.Fatalf("%d x %d: columns of panes end at rows %v", w, h, next)
			}
		}
	}
	places := m.layOut(160, 60) // controls and figures get all rows that they need
	if places[3].H != 13 || places[4].H != 16 || places[1].H != 12 || places[2].H != 12 {
		t.Errorf("rows of 60: %+v", places)
	}
}

// The cursor of the clients stays in the list; of a client that left, it goes to the one after it.
func TestClientCursor(t *testing.T) {
	g := newGame(t, 4, "")
	m := g.screen(160, 48)
	g.run(m, time.Second)
	m.live.snap.Clients = slices.DeleteFunc(m.live.snap.Clients, func(c relay.ClientState) bool { return c.Number == 3 })
	for _, x := range []struct{ from, rows, want int }{{0, 0, 1}, {0, 1, 2}, {1, 1, 2}, {2, 1, 4}, {4, 1, 4}, {1, -1, 1}, {2, -1, 1}, {3, 0, 4}, {9, 0, 4}} {
		m.selectedClient = x.from
		if m.moveClientCursor(x.rows); m.selectedClient != x.want {
			t.Errorf("from %d by %d: %d, want %d", x.from, x.rows, m.selectedClient, x.want)
		}
	}
	// Enter selects the client for the controls and moves the focus to them. Left and right do nothing in the list.
	m.target = relay.Client{}
	m.selectedClient = 0
	m.page.FocusOn(m.page.Slots[paneClients])
	if r := m.page.Enter(); m.target.Number != 1 || !strings.Contains(r.Notice, "client 1 only") || r.IsError {
		t.Errorf("client %d, %q", m.target.Number, r.Notice)
	}
	beat(m)
	if !strings.Contains(m.View(), "Controls of client 1 ") || m.page.FocusedIndex() != paneControls {
		t.Errorf("the focus is on pane %d:\n%s", m.page.FocusedIndex(), m.View())
	}
	m.page.Release()
	m.page.FocusOn(m.page.Slots[paneClients])
	press(m, "right", "right")
	if n := len(m.proxy.Live.Changes(0)); n != 0 {
		t.Errorf("right in the list of clients makes %d changes", n)
	}
	m.proxy.Shared = true
	if r := m.page.Enter(); m.target.Number != 0 || !r.IsError || !strings.Contains(r.Notice, "share") {
		t.Errorf("of a shared link: client %d, %q", m.target.Number, r.Notice)
	}
	empty := newGame(t, 0, "").screen(160, 48)
	if empty.moveClientCursor(1); empty.selectedClient != 0 {
		t.Error("without clients one is selected")
	}
}

// A click on a control moves the cursor of the controls to it, on large screens and on small ones.
func TestClickSelectsControl(t *testing.T) {
	for _, size := range [][2]int{{160, 48}, {80, 24}} {
		m := newGame(t, 2, linkText).screen(size[0], size[1])
		m.page.FocusOn(m.page.Slots[paneControls])
		for _, label := range []string{"Latency", "Loss", "Jitter"} {
			m.Update(room.Tick{})
			x, y := -1, -1
			for row, line := range strings.Split(m.View(), "\n") {
				if before, _, found := strings.Cut(line, label+" "); found {
					x, y = utf8.RuneCountInString(before), row
				}
			}
			m.Update(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
			m.Update(room.Tick{})
			if !strings.Contains(m.View(), m.Theme().Chosen+" "+label+" ") {
				t.Errorf("a click on %s at column %d of row %d:\n%s", label, x, y, m.View())
			}
		}
	}
}

// x explains the newest lost datagram while the display runs, otherwise the one under the cursor; a typed number explains that one.
func TestExplainedDatagram(t *testing.T) {
	g := newGame(t, 2, linkText)
	m := g.screen(160, 48)
	if r := m.explainDatagram(); !r.IsError || r.Notice != "no datagrams yet" {
		t.Errorf("%+v", r)
	}
	if err := m.openDatagram(command.Datagram{N: 0}); err == nil || !strings.Contains(err.Error(), "datagram down 0 is not stored: no datagrams yet") {
		t.Error(err)
	}
	g.run(m, 6*time.Second)
	explained := func(r room.Request) string { return r.Overlay.(*room.TextBox).Title }
	titleOf := func(d relay.TracedDatagram) string { return fmt.Sprintf("%s %d", d.Way, d.Seq) }
	var newestLost relay.TracedDatagram
	for _, d := range m.datagrams {
		if d.Lost() {
			newestLost = d
		}
	}
	if got := explained(m.explainDatagram()); got != titleOf(newestLost) {
		t.Errorf("%s is explained, want the newest lost, %s", got, titleOf(newestLost))
	}
	m.page.FocusOn(m.page.Slots[paneDatagrams])
	if got := explained(m.explainDatagram()); got != titleOf(newestLost) {
		t.Errorf("with the focus on the list %s is explained, want the newest lost", got)
	}
	m.page.Move(0, -1) // the first move stops the display
	m.page.Move(0, -3)
	if m.frozen == nil || m.datagramOffset < 3 {
		t.Fatalf("frozen %v, offset %d", m.frozen != nil, m.datagramOffset)
	}
	list := m.datagrams
	want := list[len(list)-1-m.datagramOffset]
	if got := explained(m.explainDatagram()); got != titleOf(want) {
		t.Errorf("%s is explained, want the one at the cursor", got)
	}
	m.page.FocusOn(m.page.Slots[paneCharts])
	if got := explained(m.explainDatagram()); got != titleOf(want) {
		t.Errorf("a stopped display explains %s without the focus, want the one at the cursor", got)
	}
	m.page.FocusOn(m.page.Slots[paneDatagrams])
	for range 2000 {
		m.page.Move(0, -1)
	}
	if m.datagramOffset != len(list)-1 {
		t.Errorf("offset %d of %d", m.datagramOffset, len(list))
	}
	for range 2000 {
		m.page.Move(0, 1)
	}
	if m.datagramOffset != 0 {
		t.Errorf("offset %d after moving down", m.datagramOffset)
	}
	for _, x := range []struct {
		up   bool
		n    uint64
		want string
	}{{true, want.Seq, ""}, {false, 1, ""}, {false, 1 << 40, fmt.Sprintf("the newest is %d,", g.snap.Totals.Flows[relay.Down].In-1)}} {
		err := m.openDatagram(command.Datagram{Up: x.up, N: x.n})
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v", x, err)
		}
	}
	for _, x := range []struct {
		shared bool
		want   string
	}{{false, relay.LinkName(want.Way, want.Client.Number)}, {true, relay.LinkName(want.Way, 0)}} {
		m.proxy.Shared = x.shared
		if got := m.streamName(&want); got != x.want {
			t.Errorf("shared %v: stream %s, want %s", x.shared, got, x.want)
		}
	}
	m.page.Release()
	if m.frozen != nil || m.datagramOffset != 0 {
		t.Error("the display does not continue")
	}
}

// The explanation names the setting that decided, what was drawn or queued, what would have passed, and the parts of the
// delay.
func TestExplanation(t *testing.T) {
	explanationText := func(m *model, d relay.TracedDatagram) string {
		return strings.Join(m.explanation(&d), " ")
	}
	for _, x := range []struct{ set, want string }{
		{"loss = \"30%\"", `loss: LOST: drew ([0-2]?\d(\.\d+)?) %, below 30 %; from 30 % on it would have passed \(set: loss 30%\)`},
		{"loss = \"30%\"", `loss: no effect: drew [3-9]\d(\.\d+)? %, not below 30 %`},
		{"loss = \"10%\"\nburst = 3", `LOST in a burst, .* \(set: loss 10%, burst 3\)`},
		{"loss = \"10%\"\nburst = 3", `loss: no effect: the loss model is in its good state \(set`},
		{"duplicate = \"50%\"", `duplicate: 1 copy made: drew [0-4]?\d(\.\d+)? %, below 50 % .*copy 1: sent on after`},
		{"corrupt = \"50%\"\ncorrupt_bits = 3", `corrupt: 3 bits flipped: drew .*below 50 %`},
		{"reorder = \"50%\"", `reorder: held back for 25.000 ms: drew .*below 50 %`},
		{"rate = \"30kbit\"\nqueue = \"1KB\"", `rate: LOST: the queue of 1000 bytes is full: \d+ datagrams of \d+ bytes ahead, and this one takes \d+; behind \d+ bytes or less`},
		{"rate = \"30kbit\"\nqueue_packets = 2", `rate: LOST: the queue is full: 2 datagrams of \d+ bytes ahead; behind fewer it would have passed .set: rate 30kbit, queue_packets 2`},
		{"rate = \"30kbit\"\nqueue_discipline = \"codel target=5ms\"", `rate: in the queue behind \d+ datagrams of \d+ bytes .set: rate 30kbit, queue_discipline codel target=5ms`},
		{"rate = \"300kbit\"\nlatency = \"20ms±5ms\"", `outcome: sent on after .* = sending \d+\.\d+ \+ latency 20.000 \+ jitter -?\d\.\d+ \+ this proxy 0.060 ms`},
		{"latency = \"20ms±5ms\"", `delay: \d+\.\d+ ms: latency 20.000, jitter -?\d\.\d+ \(set: latency 20ms, jitter 5ms\)`},
		{"latency = \"20ms\"", `delay: 20.000 ms: latency 20.000 \(set: latency 20ms\)`},
		{"netem = \"loss 30%\"", `netem: LOST, as set \(set: netem loss 30%`},
		{"", `link: no setting delays or changes datagrams`},
	} {
		g := newGame(t, 1, "[link]\n"+x.set)
		m := g.screen(160, 48)
		g.play(4 * time.Second)
		beat(m)
		found := slices.ContainsFunc(m.appendNewest(nil, 300), func(d relay.TracedDatagram) bool {
			return regexp.MustCompile(x.want).MatchString(explanationText(m, d))
		})
		if !found {
			t.Errorf("%s: no datagram is explained by %s; the last one: %q", x.set, x.want, explanationText(m, m.datagrams[len(m.datagrams)-1]))
		}
	}
}

// The most important charts are the last to be folded, and losses do not move the charts; bandwidth has a rule for each
// limit, one if both are equal.
func TestChartsByImportance(t *testing.T) {
	g := newGame(t, 1, "")
	m := g.screen(160, 48)
	draw := func(h int) (titles, open []string) {
		c := look.NewCanvas(100, h)
		m.drawCharts(c, false)
		for _, line := range c.Lines(m.Theme()) {
			fields := strings.Fields(ansi.Strip(line))
			if !strings.Contains(line, "2 s mean") {
				continue
			}
			titles = append(titles, strings.TrimSuffix(fields[1], ","))
			if strings.ContainsAny(fields[0], "╭├") { // not one row
				open = append(open, titles[len(titles)-1])
			}
		}
		return titles, open
	}
	for h, want := range map[int]string{12: "Wire", 16: "Wire Delay Lost/s", 20: "Wire Delay Lost/s Datagrams/s", 40: "Wire Delay Lost/s Datagrams/s Queue"} {
		titles, open := draw(h)
		if strings.Join(titles, " ") != "Wire Delay Lost/s Datagrams/s Queue" || strings.Join(open, " ") != want {
			t.Errorf("%d rows: charts %v, of which %v are open, want %s", h, titles, open, want)
		}
	}
	g.run(m, time.Second)
	_, before := draw(24)
	m.live.samples[len(m.live.samples)-1][0].lost[lossmodel.Queue] = 50
	if _, after := draw(24); !slices.Equal(before, after) {
		t.Errorf("the first loss changes the charts from %v to %v", before, after)
	}
	m.live.snap.Links = nil // before the first client, the limits are those that it will have
	for i, x := range []struct{ change, want string }{{"", ""}, {"down.rate 1mbit", "rate down 1000"}, {"up.rate 2mbit", "rate up 2000 rate down 1000"}, {"down.rate 2mbit", "rate 2000"}, {"link.netem limit 5", ""}} {
		if key, value, ok := strings.Cut(x.change, " "); ok {
			if _, err := g.live.Change(relay.Client{}, config.NewChange(key, value)); err != nil {
				t.Fatal(err)
			}
		}
		if got := ruleText(m); got != x.want {
			t.Errorf("%d: rules %s, want %s", i, got, x.want)
		}
	}
	g.run(m, time.Second)
	m.marks = []config.StampedChange{config.Stamp(0, config.NewChange("mark", "first")), config.Stamp(time.Duration(m.live.nextIndex)*period, config.NewChange("mark", "too late"))}
	if m.updateAxis(); len(m.axis.Marks) != 1 || m.axis.Marks[0].Label != "first" || m.axis.Stopped {
		t.Errorf("marks %+v, stopped %v", m.axis.Marks, m.axis.Stopped)
	}
}

// ruleText returns the names of the rules of rates.
func ruleText(m *model) string {
	var list []string
	for _, r := range m.rateRules() {
		list = append(list, r.Name)
	}
	return strings.Join(list, " ")
}

// The rule of a rate limit is the sum of the limits of all clients, as the lines are sums of their traffic; there is none
// if one client has no limit.
func TestRateRuleSumsClients(t *testing.T) {
	g := newGame(t, 1, "")
	m := g.screen(160, 48)
	link := func(client int, direction relay.Direction, pairs ...string) relay.LinkStatus {
		l := linkStatus(t, direction, 100, 0, pairs...)
		l.Client = client
		return l
	}
	for _, x := range []struct {
		links []relay.LinkStatus
		want  string
	}{
		{[]relay.LinkStatus{link(1, relay.Down, "rate", "200kbit"), link(1, relay.Up, "rate", "200kbit")}, "rate 200"},
		{[]relay.LinkStatus{link(1, relay.Down, "rate", "200kbit"), link(1, relay.Up), link(2, relay.Down, "rate", "300kbit"), link(2, relay.Up)}, "rate of 2 clients down 500"},
		{[]relay.LinkStatus{link(1, relay.Down, "rate", "200kbit"), link(1, relay.Up), link(2, relay.Down), link(2, relay.Up)}, ""},
		{[]relay.LinkStatus{link(0, relay.Down, "rate", "200kbit"), link(0, relay.Up)}, "rate down 200"}, // shared by all clients
	} {
		m.live.snap.Links = x.links
		if got := ruleText(m); got != x.want {
			t.Errorf("rules %s, want %s", got, x.want)
		}
	}
}

// A delay that is too long by chance or scheduling is no fault: the tolerance is 1 ms or 5 % of the delay. A fault
// remains until the delay is within half of the tolerance.
func TestDelayToleranceIsRelative(t *testing.T) {
	for _, x := range []struct{ set, measured, faults string }{
		{"20ms", "20.9 21.2 20.8 20.4 20.8", "01100"},
		{"100ms", "104 106 104 102 104", "01100"},
	} {
		var j Judge
		got := ""
		for _, text := range strings.Fields(x.measured) {
			delay, err := time.ParseDuration(text + "ms")
			if err != nil {
				t.Fatal(err)
			}
			if len(j.Deviations([]relay.LinkStatus{linkStatus(t, relay.Down, 1000, delay, "latency", x.set)})) > 0 {
				got += "1"
			} else {
				got += "0"
			}
		}
		if got != x.faults {
			t.Errorf("set %s, measured %s ms: faults %s, want %s", x.set, x.measured, got, x.faults)
		}
	}
}

// At most 200 marks are kept, the newest.
func TestMarksAreBounded(t *testing.T) {
	g := newGame(t, 1, "")
	m := g.screen(160, 48)
	for i := range 205 {
		if _, err := g.live.Change(relay.Client{}, config.NewChange("mark", fmt.Sprint("m", i))); err != nil {
			t.Fatal(err)
		}
	}
	m.update()
	if len(m.marks) != 200 || m.marks[0].Change.Mark() != "m5" || m.marks[199].Change.Mark() != "m204" {
		t.Errorf("%d marks, from %s", len(m.marks), m.marks[0].Change.Mark())
	}
	g.notes.Add("something failed")
	m.update()
	if m.notesShown != 1 {
		t.Errorf("%d notes shown", m.notesShown)
	}
}

// A datagram that the system dropped is a fault while it is recent, and a remark in the list after that. Each counts
// alone, and counters of the same value do not cancel each other. So is lateness above the limit.
func TestProxyFaults(t *testing.T) {
	late := func(d time.Duration) (f relay.Flow) {
		f.Lateness.Add(d)
		return f
	}
	none := relay.Flow{}
	for i, x := range []struct {
		total, recent relay.Flow
		lines, faults int
	}{{none, none, 2, 0}, {relay.Flow{KernelDrops: 5}, none, 3, 0}, {relay.Flow{KernelDrops: 5}, relay.Flow{KernelDrops: 2}, 3, 1},
		{relay.Flow{Unsent: 5}, none, 3, 0}, {relay.Flow{Unsent: 5}, relay.Flow{Unsent: 2}, 3, 1},
		{relay.Flow{OverLimit: 5}, none, 3, 0}, {relay.Flow{OverLimit: 5}, relay.Flow{OverLimit: 2}, 3, 1},
		{relay.Flow{KernelDrops: 2, Unsent: 2}, relay.Flow{KernelDrops: 2, Unsent: 2}, 3, 1},
		{relay.Flow{KernelDrops: 2, OverLimit: 2}, relay.Flow{KernelDrops: 2, OverLimit: 2}, 3, 1},
		{relay.Flow{Unsent: 2, OverLimit: 2}, relay.Flow{Unsent: 2, OverLimit: 2}, 3, 1},
		{none, late(relay.MinLateLimit / 2), 2, 0}, {none, late(relay.MinLateLimit * 2), 2, 1}} {
		m := newGame(t, 1, "").screen(160, 48)
		m.live.snap.Totals.Flows[1], m.live.recent.Flows[1] = x.total, x.recent
		m.verdict.judgeNow(&m.live, 0)
		lines, faults := m.trustLines(0), 0
		for _, line := range lines {
			if line[0].Style == look.Alarm {
				faults++
			}
		}
		if len(lines) != x.lines || faults != x.faults {
			t.Errorf("%d: %d lines, %d faults, want %d, %d", i, len(lines), faults, x.lines, x.faults)
		}
	}
}

// All panes are visible from the size on at which the other programs show theirs, without header and footer.
func TestWideFromTheSameSize(t *testing.T) {
	const headerFooterRows = 3
	g := newGame(t, 1, "")
	for _, w := range []int{80, 103, 104, 120} {
		for h := 15; h < 45; h++ {
			m := g.screen(w, h)
			_ = m.View()
			if m.page.Wide() != room.Wide(w, h-headerFooterRows) {
				t.Errorf("%d x %d: all panes visible %v, want %v", w, h, m.page.Wide(), room.Wide(w, h-headerFooterRows))
			}
		}
	}
}

// TestWheelActsUnderThePointer turns the wheel over each pane, while the controls have the focus: over charts it
// zooms, over a list it moves the cursor, over a control it sets that control, and elsewhere nothing happens.
func TestWheelActsUnderThePointer(t *testing.T) {
	g := newGame(t, 3, "")
	m := g.screen(160, 48)
	g.run(m, 18*time.Second) // more than the shortest of spans
	wheel := func(pane, dy, notches int) {
		for _, place := range m.page.Places() {
			if place.Slot == m.page.Slots[pane] {
				m.Update(tea.MouseMsg{X: place.X + 5, Y: place.Y + 2 + dy, Action: tea.MouseActionPress, Button: map[int]tea.MouseButton{1: tea.MouseButtonWheelUp, -1: tea.MouseButtonWheelDown}[notches]})
			}
		}
	}
	before := m.axis.Span()
	for _, pane := range []int{paneCharts, paneNow, paneTrust, paneClients, paneDatagrams} {
		wheel(pane, 4, 1)
		wheel(pane, 4, -1)
	}
	if n := len(m.proxy.Live.Changes(0)); n != 0 {
		t.Errorf("%d changes outside of the controls", n)
	}
	wheel(paneCharts, 4, 1)
	if m.axis.Span() >= before {
		t.Errorf("the charts show %v, before %v", m.axis.Span(), before)
	}
	m.selectedClient = 2
	if wheel(paneClients, 1, -1); m.selectedClient != 3 {
		t.Errorf("the wheel down moves to client %d", m.selectedClient)
	}
	loss := 0
	for i, line := range strings.Split(m.View(), "\n") {
		if strings.Contains(line, " Loss  ") {
			loss = i - 2 // below the header of two rows
			break
		}
	}
	for _, place := range m.page.Places() {
		if place.Slot == m.page.Slots[paneControls] {
			wheel(paneControls, loss-place.Y, 1)
		}
	}
	if list := m.proxy.Live.Changes(0); len(list) != 1 || !strings.HasPrefix(list[0].Change.Label(), "loss ") {
		t.Errorf("the wheel over Loss makes %v", list)
	}
}

// States of clients are complete on small screens, without the time of silence.
func TestClientStates(t *testing.T) {
	m := newGame(t, 1, "").screen(60, 18)
	m.live.snap.Totals.At = 4 * time.Second
	for _, x := range []struct {
		state      relay.ClientState
		short, all string
	}{{relay.ClientState{LastSeen: time.Second}, "silent", "silent 3 s"}, {relay.ClientState{LastSeen: 3 * time.Second}, "active", "active"},
		{relay.ClientState{Leaving: true}, "timed out", "timed out"}} {
		if short, all := m.clientState(&x.state, shortState)[0].Text, m.clientState(&x.state, 12)[0].Text; short != x.short || all != x.all {
			t.Errorf("%q and %q, want %q and %q", short, all, x.short, x.all)
		}
	}
}

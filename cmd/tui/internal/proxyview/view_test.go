package proxyview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/script"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/config"
	"wirelab/internal/golden"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// game simulates a proxy: each client sends 20 datagrams per second, the server answers each, and
// real links decide the outcomes. Time is virtual.
type game struct {
	t       *testing.T
	at      time.Duration
	snap    relay.Snapshot
	recent  *relay.Recent
	live    *script.Live
	links   [2]*lossmodel.Link
	late    time.Duration // how late datagrams leave after their due time
	notes   Notes
	clients int
}

const linkText = "seed = 7\n[link]\nlatency = \"20ms±8ms\"\nloss = \"4%\"\nburst = 2\nduplicate = \"1%\"\n[down]\nrate = \"300kbit\"\n"

func newGame(t *testing.T, clients int, text string) *game {
	t.Helper()
	c, err := config.Parse("game.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := script.New(c, "game.toml")
	if err != nil {
		t.Fatal(err)
	}
	g := &game{t: t, recent: relay.NewRecent(512), clients: clients}
	g.live = script.NewLive(s, func(conditions relay.Conditions) (time.Duration, error) {
		up, down := conditions(relay.Client{})
		for way, spec := range [2]lossmodel.Spec{up, down} {
			if err := g.links[way].Reshape(spec); err != nil {
				return 0, err
			}
			g.snap.Links[way] = relay.LinkStatus{Way: relay.Direction(way), Spec: spec, Since: g.at}
		}
		return g.at, nil
	})
	up, down := g.live.DefaultLinks()
	for way, spec := range [2]lossmodel.Spec{up, down} {
		if g.links[way], err = lossmodel.NewLink(spec, s.Seed, relay.LinkName(relay.Direction(way), 1)); err != nil {
			t.Fatal(err)
		}
		g.links[way].RecordTrails()
		g.snap.Links = append(g.snap.Links, relay.LinkStatus{Way: relay.Direction(way), Spec: spec})
	}
	for i := range clients {
		addr := netip.MustParseAddrPort(fmt.Sprintf("10.0.0.%d:40000", i+1))
		g.snap.Clients = append(g.snap.Clients, relay.ClientState{Client: relay.Client{Number: i + 1, Addr: addr}})
	}
	g.snap.Totals.Clients, g.snap.Totals.Joined = clients, clients
	return g
}

// play advances the simulation, not the screen.
func (g *game) play(d time.Duration) {
	end := g.at + d
	for tick := g.at + 50*time.Millisecond; tick <= end; tick += 50 * time.Millisecond {
		for way := range g.links {
			for c := range g.clients {
				g.at = tick + time.Duration(way*25+c)*time.Millisecond
				g.leave(relay.Direction(way), g.at)
				if c < 3 || g.at < 4*time.Second { // clients from the fourth on stop sending after 4 s
					g.enter(relay.Direction(way), c, 60+int(tick/time.Millisecond)%90*(1+5*way))
				}
			}
		}
	}
	g.at = end
}

// enter passes a datagram of client index c to the link and counts its outcome.
func (g *game) enter(way relay.Direction, c, size int) {
	f, x, a := &g.snap.Totals.Flows[way], &g.snap.Clients[c], &g.snap.Links[way]
	seq := f.In
	v := g.links[way].Send(g.at, make([]byte, size), uint64(c)<<48|seq)
	g.recent.Tap(&relay.Event{Kind: relay.Entered, At: g.at, Sent: g.at, Due: v.Due, Client: x.Client, Way: way, Seq: seq, Data: make([]byte, size),
		Verdict: v, Trail: g.links[way].Trail(0), Lost: v.Lost, Spec: new(g.links[way].Spec())})
	f.In, f.InBytes, f.Copies = f.In+1, f.InBytes+uint64(size), f.Copies+uint64(v.Copies)
	f.Size.Add(time.Duration(size))
	x.Ways[way].In++
	x.LastSeen = g.at
	a.Sent++
	if v.Lost != lossmodel.None {
		f.LostBy[v.Lost]++
		x.Ways[way].Lost++
		a.Lost++
		if v.Lost == lossmodel.Queue {
			a.Queue++
		}
	}
}

// leave delivers the datagrams that are due by until and counts them.
func (g *game) leave(way relay.Direction, until time.Duration) {
	f, a := &g.snap.Totals.Flows[way], &g.snap.Links[way]
	for d, ok := g.links[way].Receive(until - g.late); ok; d, ok = g.links[way].Receive(until - g.late) {
		left := d.Due + 60*time.Microsecond + g.late
		x := &g.snap.Clients[d.Tag>>48]
		g.recent.Tap(&relay.Event{Kind: relay.Left, At: left, Client: x.Client, Way: way, Seq: d.Tag & (1<<48 - 1), Copy: d.Copy, Data: d.Data})
		wire, _ := lossmodel.WireBytes(len(d.Data), 1500)
		f.Out, f.OutBytes, f.OutWire = f.Out+1, f.OutBytes+uint64(len(d.Data)), f.OutWire+uint64(wire)
		f.Lateness.Add(left - d.Due)
		f.Delay.Add(left - d.Sent)
		x.Ways[way].Out++
		if d.Copy == 0 && d.Sent >= a.Since {
			a.Passed, a.TotalDelay, a.Until, a.Bits = a.Passed+1, a.TotalDelay+left-d.Sent, left, a.Bits+8*uint64(wire)
		}
	}
}

func (g *game) snapshot(s *relay.Snapshot) {
	g.snap.Totals.At = g.at
	for way := range g.links {
		f := &g.snap.Totals.Flows[way]
		f.LineQueue, f.Queued = g.links[way].Gauges(g.at).Queue, g.links[way].InFlight()
	}
	s.Totals = g.snap.Totals
	s.Clients = append(s.Clients[:0], g.snap.Clients...)
	s.Links = append(s.Links[:0], g.snap.Links...)
}

func (g *game) screen(w, h int) *model {
	return g.screenWith(w, h, ui.Options{Renderer: labtest.PlainRenderer()})
}

func (g *game) screenWith(w, h int, opt ui.Options) *model {
	m := newModel(Proxy{Snapshot: g.snapshot, Recent: g.recent, Live: g.live, Notes: &g.notes, Listen: "127.0.0.1:27961", Server: "127.0.0.1:27960"}, opt)
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return m
}

// run advances the simulation and the screen.
func (g *game) run(m *model, d time.Duration) {
	for end := g.at + d; g.at < end; {
		g.play(period)
		beat(m)
	}
}

// boxOpen reports whether a box is open over the page.
func boxOpen(m *model) bool { return strings.Contains(m.View(), "esc close") }

// beat advances the screen by one period.
func beat(m *model) {
	m.Update(room.Tick{})
	m.Update(room.Tick{})
}

// press sends keys, with a tick after each, and reports whether one of them quits the program.
func press(m *model, keys ...string) (left bool) {
	for _, k := range keys {
		if _, cmd := m.Update(labtest.KeyMsg(k)); cmd != nil {
			if _, quits := cmd().(tea.QuitMsg); quits {
				return true
			}
		}
		m.Update(room.Tick{})
	}
	return false
}

// typed types a command line and runs it.
func typed(m *model, text string) {
	press(m, "/")
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text)})
	press(m, "enter")
	m.Update(room.Tick{})
}

// screenStates are the proxy after nine seconds and the actions of do, with the texts that the screen of 160 x 48 must
// contain, separated by "; ". Without texts, two sizes of the screen are compared with golden files.
var screenStates = []struct {
	name, want string
	do         func(g *game, m *model)
}{
	{"proxy", "", func(g *game, m *model) {
		typed(m, "down loss 12%")
		g.run(m, 4*time.Second)
	}},
	{"client", "", func(g *game, m *model) {
		press(m, "5", "down", "down", "enter", "d")
		typed(m, "up loss 30%")
		typed(m, "mark worse")
		g.run(m, 2*time.Second)
	}},
	{"datagram", "", func(_ *game, m *model) { press(m, "x") }},
	{"late", "NOT AS SET; up: proxy 8.1 ms late (p99; limit 5.0); down: proxy 8.1 ms late", func(g *game, m *model) {
		g.late = 8 * time.Millisecond
		g.run(m, 3*time.Second)
		press(m, "4")
	}},
	{"stopped", "DISPLAY STOPPED; display stopped", func(g *game, m *model) {
		press(m, "6", "up", "up", "up")
		g.run(m, time.Second)
	}},
	{"netem", "delay 30ms 5ms loss 2% seed 1; set by netem", func(g *game, m *model) {
		typed(m, "netem delay 30ms 5ms loss 2% seed 1")
		g.run(m, 2*time.Second)
		press(m, "esc", "3")
	}},
	{"profiles", "Link profile; source: ", func(_ *game, m *model) { press(m, "p", "down", "down") }},
	{"help", "stop, continue the display, not the traffic", func(_ *game, m *model) { press(m, "?") }},
	{"command", "latency", func(_ *game, m *model) { press(m, "/", "l", "tab") }},
	{"wrong command", "loss 120%; expected", func(_ *game, m *model) { typed(m, "loss 120%") }},
}

// stateScreen returns a screen of w by h with the state after do.
func stateScreen(t *testing.T, do func(g *game, m *model), w, h int, opt ui.Options) *model {
	g := newGame(t, 5, linkText)
	m := g.screenWith(1, 1, opt) // nothing is drawn while the history begins
	g.run(m, 9*time.Second)
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	do(g, m)
	beat(m)
	return m
}

// TestScreens compares each state with golden files, or looks for its texts.
func TestScreens(t *testing.T) {
	compare := func(name string, m *model) {
		golden.Compare(t, filepath.Join("testdata", name+".golden"), m.View()+"\n")
	}
	for _, s := range screenStates {
		m := stateScreen(t, s.do, 160, 48, ui.Options{Renderer: labtest.PlainRenderer()})
		if s.want == "" {
			compare(s.name+"-160x48", m)
			compare(s.name+"-80x24", stateScreen(t, s.do, 80, 24, ui.Options{Renderer: labtest.PlainRenderer()}))
			continue
		}
		for _, want := range strings.Split(s.want, "; ") {
			if !strings.Contains(strings.Join(strings.Fields(m.View()), " "), want) {
				t.Errorf("%s: no %q:\n%s", s.name, want, m.View())
			}
		}
	}
	compare("colour-160x48", stateScreen(t, screenStates[0].do, 160, 48, ui.Options{Theme: "dark", Renderer: labtest.ColourRenderer()}))
}

// TestLayout checks the layout of each state, see labtest.CheckLayout. The next pane is shown before each size, because
// small screens show one at a time.
func TestLayout(t *testing.T) {
	for i, s := range screenStates {
		for _, ascii := range []bool{false, true} {
			if ascii && s.want != "" {
				continue // ASCII characters are checked in the states with golden files
			}
			m := stateScreen(t, s.do, 160, 48, ui.Options{Renderer: labtest.PlainRenderer(), ASCII: ascii})
			hasBox := boxOpen(m)
			labtest.CheckLayout(t, uint64(i), ascii, func(w, h int) (view string, isPage bool) {
				m.Update(tea.WindowSizeMsg{Width: w, Height: h})
				isPage = !hasBox && w >= 60 && h >= 18
				if isPage {
					press(m, "tab")
				}
				return m.View(), isPage
			})
		}
	}
}

// TestKeysAtAnyTime: without clients and with many, no key makes the proxy panic or the view leave the screen.
func TestKeysAtAnyTime(t *testing.T) {
	for clients, size := range map[int][2]int{0: {60, 18}, 1: {103, 60}, 40: {240, 80}} {
		g := newGame(t, clients, linkText)
		m := g.screen(size[0], size[1])
		for _, k := range []string{"1", "2", "3", "4", "5", "down", "enter", "6", "up", "x", "x", "?", "esc", "p", "esc", "/", "esc", "z", "Z", "m", " "} {
			press(m, k)
			g.run(m, 100*time.Millisecond)
			labtest.CheckScreen(t, k, m.View(), size[0], size[1])
		}
	}
}

// Space stops the display, but neither the traffic nor the verdict on the links.
func TestSpaceStopsTheDisplayOnly(t *testing.T) {
	g := newGame(t, 2, linkText)
	m := g.screen(160, 48)
	g.run(m, 3*time.Second)
	press(m, " ")
	body := func() string { // without the verdict
		lines := strings.Split(m.View(), "\n")
		return lines[0] + strings.Join(lines[2:], "\n")
	}
	was, in := body(), g.snap.Totals.Flows[0].In
	g.late = 8 * time.Millisecond
	g.run(m, 3*time.Second)
	verdictLine := strings.Split(m.View(), "\n")[1]
	if strings.Split(body(), "Measured")[0] != strings.Split(was, "Measured")[0] || !strings.Contains(was, "DISPLAY STOPPED") {
		t.Errorf("the display moved:\n%s", body())
	}
	if g.snap.Totals.Flows[0].In < in+100 || !strings.Contains(verdictLine, "NOT AS SET") || !strings.Contains(verdictLine, "ms late (p99") {
		t.Errorf("%d datagrams came meanwhile; the verdict is %q", g.snap.Totals.Flows[0].In-in, verdictLine)
	}
	for i := range m.datagrams { // the same datagrams, each with its final outcome
		if x := &m.datagrams[i]; x.At > 3100*time.Millisecond || strings.Contains(x.Describe(0), "in flight") {
			t.Errorf("%v %d of %v: %s", x.Way, x.Seq, x.At, x.Describe(0))
		}
	}
	press(m, "x")
	if !strings.Contains(m.View(), "Numbers are drawn from random stream") {
		t.Errorf("nothing is explained:\n%s", m.View())
	}
	press(m, "x", " ")
	if body() == was || strings.Contains(m.View(), "DISPLAY STOPPED") {
		t.Error("the display does not go on")
	}
}

// TestVerdictAgreesWithTheFigures: the header and the pane show the same verdict at every poll.
func TestVerdictAgreesWithTheFigures(t *testing.T) {
	g := newGame(t, 2, linkText)
	m := g.screen(160, 48)
	both := 0
	for i := range 60 {
		if g.late = 0; i%25 > 18 {
			g.late = 8 * time.Millisecond
		}
		g.run(m, 100*time.Millisecond)
		lines := strings.SplitN(m.View(), "\n", 3)
		if strings.Contains(lines[1], "NOT AS SET") != strings.Contains(lines[2], "NOT AS SET") {
			t.Fatalf("after %v: %q, but\n%s", g.at, lines[1], lines[2])
		}
		if strings.Contains(lines[1], "NOT AS SET") {
			both++
		}
	}
	if both == 0 || both == 60 {
		t.Errorf("late %d times of 60", both)
	}
}

// TestRemarks: the header shows an unreachable server and refused clients while they last.
func TestRemarks(t *testing.T) {
	g := newGame(t, 1, "")
	m := g.screen(80, 24)
	first := func() string { return strings.Split(m.View(), "\n")[1] }
	g.run(m, time.Second)
	g.snap.Totals.Flows[relay.Up].Unreachable = 7
	g.snap.Totals.Refused = 3
	g.run(m, time.Second)
	if !strings.Contains(first(), "server unreachable: 7 times; 3 datagrams refused") {
		t.Errorf("the first line: %q", first())
	}
	g.run(m, 4*time.Second)
	if strings.Contains(first(), "unreachable") {
		t.Errorf("four seconds later: %q", first())
	}
}

// Keys and typed commands change the links of both directions, of one direction, or of one client.
func TestControlsChangeTheLinks(t *testing.T) {
	g := newGame(t, 3, "")
	m := g.screen(160, 48)
	g.run(m, time.Second)
	of := func(turn int) string {
		// loss of up and down
		c := g.live.Config(relay.Client{Number: turn, Addr: netip.MustParseAddrPort("10.0.0.9:1")})
		up, _ := c.Up.Get("loss")
		down, _ := c.Down.Get("loss")
		return up + " " + down
	}
	expect := func(after string, all, second string) {
		t.Helper()
		if of(0) != all || of(2) != second {
			t.Errorf("after %s all lose %s and client 2 %s, expected %s and %s", after, of(0), of(2), all, second)
		}
	}
	typed(m, "loss 5%")
	expect("loss 5%", "5% 5%", "5% 5%")
	typed(m, "down loss 7")
	expect("down loss 7", "5% 7%", "5% 7%")
	press(m, "u")
	expect("u", "5% 5%", "5% 5%")
	press(m, "ctrl+r")
	expect("ctrl+r", "5% 7%", "5% 7%")
	typed(m, "client 2")
	typed(m, "up loss 30%")
	expect("client 2", "5% 7%", "30% 7%")
	press(m, " ", "esc") // esc continues the display
	typed(m, "down loss 8%")
	expect("space esc", "5% 7%", "30% 8%")
	press(m, "esc")
	typed(m, "loss 1%")
	expect("esc", "1% 1%", "30% 8%")
	press(m, "3", "down", "d", "d", "right") // from the profile to the loss; down, up
	expect("d d right", "2% 1%", "30% 8%")
	typed(m, "client 9")
	if !strings.Contains(m.View(), "\n / client 9") || !strings.Contains(m.View(), "there is no client 9") {
		t.Error("client 9 was taken")
	}
	press(m, "esc")
	typed(m, "profile lte")
	if g.live.Config(relay.Client{}).Profile != "lte" || !strings.Contains(m.View(), "profile lte") {
		t.Error("no profile was taken")
	}
	typed(m, "explain down 3")
	if !strings.Contains(m.View(), "down 3") || !boxOpen(m) {
		t.Error("down 3 is not explained")
	}
	press(m, "x")
	typed(m, "explain up 100000")
	if !strings.Contains(m.View(), "the newest is") {
		t.Errorf("up 100000:\n%s", m.View())
	}
	press(m, "esc")
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 80})
	press(m, "?")
	labtest.CheckHelp(t, m.View())
	beat(m)
	if opened := boxOpen(m); !opened || press(m, "q") || boxOpen(m) {
		t.Error("q leaves the help, and the proxy with it")
	}
	if press(m, "q") || !strings.Contains(m.View(), "3 active clients will lose the connection") {
		t.Errorf("q does not ask while clients are active:\n%s", m.View())
	}
	if press(m, "esc") || press(m, "q") || !press(m, "y") || m.Err() != nil {
		t.Error("q and y does not leave")
	}
	if !press(m, "ctrl+c") || !errors.Is(m.Err(), ui.ErrInterrupted) {
		t.Error("ctrl+c does not leave")
	}
	if idle := newGame(t, 0, "").screen(160, 48); !press(idle, "q") {
		t.Error("q asks without clients")
	}
}

// Run returns nil after q and the answer y to its question, to which Enter alone means to stay, after the end of its context, and ErrInterrupted after Ctrl-C.
func TestRunEnds(t *testing.T) {
	for _, x := range []struct {
		keys  string // before the end of the input
		ended bool   // the context ends instead
		want  error
	}{{keys: "q\rqy"}, {ended: true}, {keys: "\x03", want: ui.ErrInterrupted}} {
		g := newGame(t, 1, "")
		ctx, cancel := context.WithCancel(t.Context())
		if x.ended {
			cancel()
		}
		proxy := Proxy{Snapshot: g.snapshot, Recent: g.recent, Live: g.live, Notes: &g.notes}
		in, keys := io.Pipe()
		go func() { _, _ = io.WriteString(keys, x.keys) }()
		err := Run(ctx, proxy, ui.Options{In: in, Out: io.Discard, Renderer: labtest.PlainRenderer()})
		if !errors.Is(err, x.want) {
			t.Errorf("keys %q, context ended %v: %v, want %v", x.keys, x.ended, err, x.want)
		}
		in.Close()
		cancel()
	}
}

// The current figures equal an independent count of the traffic.
func TestHistory(t *testing.T) {
	g := newGame(t, 3, linkText)
	m := g.screen(160, 48)
	g.run(m, 5*time.Second)
	was := g.snap.Totals
	g.run(m, 2*time.Second)
	for way := range m.live.recent.Flows {
		f, now, then := &m.live.recent.Flows[way], &g.snap.Totals.Flows[way], &was.Flows[way]
		if f.In != now.In-then.In || f.Out != now.Out-then.Out || f.Lost() != now.Lost()-then.Lost() || m.live.recentSeconds != 2 {
			t.Errorf("%v: %d in, %d out in %g s", relay.Direction(way), f.In, f.Out, m.live.recentSeconds)
		}
		sum := 0.0
		for i := range m.live.samples {
			sum += m.live.samples[i][way].rate * period.Seconds()
		}
		if uint64(sum+0.5) != now.Out {
			t.Errorf("%v: the samples hold %g of %d", relay.Direction(way), sum, now.Out)
		}
	}
	// A blocked terminal: one poll for many samples.
	n := len(m.live.samples)
	g.play(time.Second)
	beat(m)
	if got := len(m.live.samples); got != n+10 {
		t.Errorf("%d samples for a second without a poll", got-n)
	}
}

// TestJudge: a correct link has no faults, a link that differs from its settings has.
func TestJudge(t *testing.T) {
	g := newGame(t, 3, linkText)
	m := g.screen(160, 48)
	for range 30 {
		g.run(m, time.Second)
		if len(m.faults) > 0 {
			t.Fatalf("after %v: %v", g.at, m.faults)
		}
	}
	bad := lossmodel.DefaultSpec()
	if err := bad.Set("loss", "25%"); err != nil {
		t.Fatal(err)
	}
	if err := g.links[relay.Up].Reshape(bad); err != nil { // without changing the settings
		t.Fatal(err)
	}
	g.run(m, 30*time.Second)
	text := strings.Join(m.faults, "; ")
	if !strings.Contains(text, "up: loss set 4.00, measured") || !strings.Contains(text, "up: delay set") || strings.Contains(text, "down") {
		t.Errorf("%q", text)
	}
	if view := m.View(); strings.Count(view, "NOT AS SET") < 3 {
		t.Errorf("the fault is not shown:\n%s", view)
	}
}

func BenchmarkView(b *testing.B) {
	g := newGame(&testing.T{}, 5, linkText)
	m := g.screen(160, 48)
	g.run(m, 70*time.Second)
	b.ResetTimer()
	for range b.N {
		beat(m)
		_ = m.View()
	}
}

// TestNewestInOrder: the newest datagrams of both directions are sorted by time. With 32-bit ints
// (GOARCH=386), the difference of two times overflows an int.
func TestNewestInOrder(t *testing.T) {
	recent := relay.NewRecent(8)
	for i, way := range []relay.Direction{relay.Up, relay.Down, relay.Up, relay.Down} {
		recent.Tap(&relay.Event{Kind: relay.Entered, Sent: time.Duration(i) * 3 * time.Second, Way: way, Seq: uint64(i / 2)})
	}
	m := &model{proxy: Proxy{Recent: recent}}
	list := m.appendNewest(nil, 8)
	if len(list) != 4 || !slices.IsSortedFunc(list, func(a, b relay.TracedDatagram) int { return cmp.Compare(a.At, b.At) }) {
		t.Errorf("%d datagrams, not in order: %v", len(list), list)
	}
}

// TestHostileNames shows hostile names on the proxy's screen: addresses, the folder of the configuration, marks, and
// warnings about files. No screen contains a control character or a further line.
func TestHostileNames(t *testing.T) {
	const w, h = 160, 48
	for _, text := range testkit.HostileTexts {
		g := newGame(t, 2, linkText)
		for i := range g.snap.Clients { // the zone is the only part of an address that is text
			g.snap.Clients[i].Addr = netip.AddrPortFrom(netip.MustParseAddr("fe80::1").WithZone(text), 40000)
		}
		g.notes.Add("cannot write " + text)
		m := newModel(Proxy{Snapshot: g.snapshot, Recent: g.recent, Live: g.live, Notes: &g.notes, Listen: text, Server: text},
			ui.Options{Renderer: labtest.PlainRenderer()})
		m.Update(tea.WindowSizeMsg{Width: w, Height: h})
		g.run(m, 2*time.Second)
		for _, keys := range [][]string{{}, {"5", "down", "enter"}, {"6", "up", "x"}, {"?"}, {"esc", "m"}} {
			press(m, keys...)
			testkit.CheckScreen(t, strings.Join(keys, " "), m.View(), h)
		}
		for _, command := range []string{"mark " + text, text, "client " + text} {
			typed(m, command)
			g.run(m, 100*time.Millisecond)
			testkit.CheckScreen(t, "the command "+command, m.View(), h)
		}
	}
}

// On a small screen a key of a pane that is not shown names the pane.
func TestKeyOfAnotherPane(t *testing.T) {
	m := newGame(t, 1, "").screen(80, 24)
	if press(m, "1", "d"); !strings.Contains(m.View(), "d: pane Controls has this key; tab shows it") {
		t.Errorf("no pane is named:\n%s", m.View())
	}
}

package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/encoders"
	"wirelab/experiment"
)

// after lets a tick pass.
func after(m *Model) string {
	m.Update(tickMsg{})
	return m.View()
}

func TestGoldenBits(t *testing.T) {
	for _, c := range []struct {
		name   string
		w, h   int
		shadow bool
		keys   []string
		opt    Options
	}{
		{name: "bits-160x48", w: 160, h: 48, shadow: true},
		{name: "bits-160x48-alone", w: 160, h: 48, keys: []string{"right", "down", "down", "down"}},
		{name: "bits-160x48-ascii", w: 160, h: 48, shadow: true, keys: []string{"left", "down", "enter"}, opt: Options{ASCII: true}},
		{name: "bits-80x24", w: 80, h: 24},
		{name: "bits-80x24-shadow", w: 80, h: 24, shadow: true, keys: []string{"tab"}},
		{name: "bits-80x24-colour", w: 80, h: 24, shadow: true, opt: Options{Renderer: colourRenderer()}},
		{name: "bits-20x5", w: 20, h: 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := screen(bitsLab(c.shadow), c.w, c.h, c.opt)
			press(m, append([]string{"2"}, c.keys...)...)
			golden(t, c.name, after(m))
		})
	}
}

func TestGoldenPackets(t *testing.T) {
	for _, c := range []struct {
		name string
		w, h int
		keys []string
		opt  Options
	}{
		{name: "packets-160x48", w: 160, h: 48},
		{name: "packets-160x48-chosen", w: 160, h: 48, keys: []string{"left", "left", "up", "up"}},
		{name: "packets-160x48-ascii", w: 160, h: 48, keys: []string{"f", "left"}, opt: Options{ASCII: true}},
		{name: "packets-80x24", w: 80, h: 24, keys: []string{"up", "up", "up", "up", "up"}},
		{name: "packets-80x24-lost", w: 80, h: 24, keys: append(line("filter lost"), "up")},
		{name: "packets-80x24-colour", w: 80, h: 24, opt: Options{Renderer: colourRenderer()}},
		{name: "packets-20x5", w: 20, h: 5},
		{name: "why-160x48", w: 160, h: 48, keys: []string{"1", "x"}},
		{name: "why-80x24", w: 80, h: 24, keys: []string{"x", "down"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := screen(openingLab{packetsLab()}, c.w, c.h, c.opt)
			press(m, append([]string{"3"}, c.keys...)...)
			golden(t, c.name, after(m))
		})
	}
}

func TestNewPagesFitEverySize(t *testing.T) {
	for name, opt := range map[string]Options{"plain": {Renderer: plainRenderer()}, "colour": {Renderer: colourRenderer()}, "ascii": {Renderer: plainRenderer(), ASCII: true}} {
		for _, keys := range [][]string{{"2"}, {"2", "down", "enter", "left"}, {"3"}, {"3", "up"}, {"3", "f", "left"}, {"3", "x"}} {
			m := screen(openingLab{packetsLab()}, 80, 24, opt)
			if keys[0] == "2" {
				m = screen(bitsLab(true), 80, 24, opt)
			}
			press(m, keys...)
			after(m)
			for i, s := range sizes()[:250] {
				m.Update(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
				checkScreen(t, fmt.Sprint(name, keys), m.View(), s[0], s[1])
				if i%9 == 0 {
					press(m, "up")
				}
			}
		}
	}
}

// What people and files may bring, and what no session should: nothing breaks.
func TestHostileBitsAndPackets(t *testing.T) {
	for _, key := range []string{"2", "3", "x"} {
		lab := newFakeLab()
		m := screen(lab, 80, 24, Options{Renderer: colourRenderer()})
		*lab = *hostileLab()
		l := &lab.snap.Lanes[0]
		l.Encoder = "日本\x1b[31m" + strings.Repeat("x", 200)
		l.Recent.Budget.Units[3], l.Recent.Budget.Units[47] = math.MaxInt64/4, -5
		l.Samples[5].Budget.Units[2] = math.MinInt64 / 2
		l.Troubles = []experiment.Incident{{Reason: 250, N: -1}, {Reason: experiment.BecauseDropped, T: -1, N: 1}, {Reason: experiment.BecauseLate, N: 1 << 62, Opened: experiment.Opened{Record: experiment.PacketRecord{Outcome: 77, Arrived: -1 << 62}}}}
		lab.snap.Lanes = append(lab.snap.Lanes, experiment.Lane{Encoder: "empty"}, *l)
		lab.snap.Opened = &experiment.Opened{ID: experiment.PacketID{Seq: 1 << 63, Copy: -1}}
		press(m, key)
		for _, s := range sizes()[:120] {
			m.Update(tickMsg{})
			m.Update(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
			checkScreen(t, "hostile "+key, m.View(), s[0], s[1])
			press(m, []string{"up", "left", "tab", "pgdown", "right", "enter", "f"}[s[0]%7])
			m.over = nil
		}
		lab.snap = &experiment.Snapshot{Config: lab.snap.Config, State: experiment.Running}
		for _, k := range []string{"2", "up", "enter", "tab", "3", "up", "left", "enter", "f", "x", "enter"} {
			press(m, k)
			after(m)
		}
	}
}

// The figures of the table add up, and the difference is that of the sums.
func TestAccountAddsUp(t *testing.T) {
	lab := bitsLab(true)
	a := &account{beside: 1, chosen: -1}
	a.observe(sightOf(lab.snap))
	for i := range lab.snap.Lanes {
		l := &lab.snap.Lanes[i]
		var sum sums
		for _, k := range a.parts {
			s := spent(l, k)
			sum.kbps, sum.share, sum.changed, sum.packet = sum.kbps+s.kbps, sum.share+s.share, sum.changed+s.changed, sum.packet+s.packet
		}
		all := spent(l, encoders.MaxSlots)
		if math.Abs(sum.kbps-l.Recent.PayloadKbps) > 1e-6 || math.Abs(sum.share-100) > 1e-6 || math.Abs(sum.changed-all.changed) > 1e-6 || math.Abs(all.packet-sum.packet) > 1e-6 {
			t.Errorf("%s: parts %+v, all %+v", l.Encoder, sum, all)
		}
	}
	text, more := (&accountPane{a}).verdict()
	got := text + more
	saved := lab.snap.Lanes[0].Recent.PayloadKbps - lab.snap.Lanes[1].Recent.PayloadKbps
	if !strings.Contains(got, "kinetic takes "+fixed(saved, 1)+" kbps less") || !strings.Contains(got, "most of it on position") {
		t.Errorf("the verdict is %q, it saves %.1f", got, saved)
	}
}

// Whatever the unit, what is stacked at a moment is what was spent at it.
func TestStackIsWhatWasSpent(t *testing.T) {
	lab := bitsLab(false)
	a := &account{beside: 1, chosen: -1}
	a.observe(sightOf(lab.snap))
	p := &stackPane{account: a}
	s := &lab.snap.Lanes[0].Samples[400]
	for unit, want := range map[stackUnit]float64{byKbps: float64(s.PayloadBits) / 100, byShare: 100, byChanged: float64(s.PayloadBits) / float64(s.Changed)} {
		a.unit = unit
		sum := 0.0
		for _, k := range p.order() {
			sum += p.value(s, k)
		}
		if math.Abs(sum-want) > 1e-6*want {
			t.Errorf("unit %d: %g is stacked, %g was spent", unit, sum, want)
		}
	}
}

// In mono every part of the stack has a fill of its own.
func TestPartsAreToldApartWithoutColour(t *testing.T) {
	a := &account{beside: 1, chosen: -1}
	a.observe(sightOf(bitsLab(false).snap))
	th := plainTheme(false)
	seen := map[rune]string{}
	for _, area := range (&stackPane{account: a}).spec(a.first(), th, 100).Areas {
		if other, twice := seen[area.Fill]; twice {
			t.Errorf("%s and %s are both filled with %c", area.Name, other, area.Fill)
		}
		seen[area.Fill] = area.Name
	}
	if len(seen) != 6 {
		t.Errorf("%d parts", len(seen))
	}
}

// Each filter takes what it says, and f goes round those that take any.
func TestFilters(t *testing.T) {
	lab := packetsLab()
	page := newPacketsPage()
	m := newStage(page, openingLab{lab}, 160, 46)
	p := page.list
	seen := map[filter]int{}
	for range 12 {
		n := 0
		for i := range lab.snap.Lanes[0].Packets {
			if p.filter.takes(&lab.snap.Lanes[0].Packets[i]) {
				n++
			}
		}
		if got := len(p.shown()); got != n || n == 0 {
			t.Errorf("filter %v shows %d of %d", p.filter, got, n)
		}
		seen[p.filter] = n
		m.press("f")
	}
	if seen[filterAll] != len(lab.snap.Lanes[0].Packets) || len(seen) != 7 { // all, trouble, in flight, ok, late, lost, no baseline; duplicate if there is one
		if len(seen) != 8 {
			t.Errorf("seen %v", seen)
		}
	}
}

// A typed filter shows the page of packets with it.
func TestTypedFilters(t *testing.T) {
	m := screen(openingLab{packetsLab()}, 160, 48, Options{})
	for _, name := range filterNames() {
		press(m, "1")
		press(m, line("filter "+name)...)
		if m.open+1 != 3 || !strings.Contains(m.View(), "filter "+name+" ") {
			t.Errorf("/filter %s: page %d\n%s", name, m.open+1, m.View())
		}
	}
	press(m, line("filter los")...)
	if !strings.Contains(m.line.err, "did you mean lost?") {
		t.Errorf("a typo is answered with %q", m.line.err)
	}
}

// The arrows open packets: each wish reaches the lab, the answer shows, also while
// time stands still; left and right go from failure to failure, enter to the baseline.
func TestArrowsOpenPackets(t *testing.T) {
	lab := openingLab{packetsLab()}
	lab.snap.State = experiment.Paused
	page := newPacketsPage()
	m := newStage(page, lab, 160, 46)
	m.press("left")
	p := page.list
	first := *p.record(p.chosen)
	if !troubled(&first) || lab.got[len(lab.got)-1].Open == nil || *lab.got[len(lab.got)-1].Open != p.chosen {
		t.Fatalf("left chose %+v, the lab was asked %v", first, lab.got)
	}
	for i := range p.all { // none newer
		if r := &p.all[i]; r.Seq > first.Seq && troubled(r) {
			t.Fatalf("%d is a newer failure than %d", r.Seq, first.Seq)
		}
	}
	view := m.view()
	if !strings.Contains(view, "Packet "+strconv.FormatUint(first.Seq, 10)) || !strings.Contains(view, "packet "+strconv.FormatUint(first.Seq, 10)+" ") || !strings.Contains(view, "orientation") {
		t.Errorf("the opened packet is not shown:\n%s", view)
	}
	m.press("enter")
	if p.chosen.Seq != first.Seq-uint64(first.Baseline) {
		t.Errorf("enter went from %d to %d, its baseline is %d back", first.Seq, p.chosen.Seq, first.Baseline)
	}
	m.press("up")
	if r := p.record(p.chosen); r == nil || r.Seq > first.Seq-uint64(first.Baseline) {
		t.Errorf("up went to %+v", p.chosen)
	}
	m.click(20, 2+3)
	clicked := p.all[p.shown()[p.first]].Seq // the list may have moved to have it in the middle
	if o := lab.got[len(lab.got)-1].Open; o == nil || *o != p.chosen || p.chosen.Seq < clicked {
		t.Errorf("a click chose %v, the lab was asked for %v", p.chosen, o)
	}
	m.press("esc")
	if p.choosing || !strings.Contains(m.view(), "The last trouble") {
		t.Error("esc lets nothing go")
	}
}

// The sentence is the lab's own, on page 1 as on page 3, and enter opens the packet.
func TestWhy(t *testing.T) {
	lab := openingLab{packetsLab()}
	m := screen(lab, 160, 48, Options{})
	i := lab.snap.Lanes[0].Troubles[0]
	want := i.Opened.Explain(i.Reason, lab.snap.Config)
	for _, page := range []string{"1", "3"} {
		press(m, page, "x")
		if v := after(m); !strings.Contains(strings.Join(strings.Fields(v), " "), strings.Join(strings.Fields(want), " ")[:50]) {
			t.Errorf("page %s does not say %q:\n%s", page, want, v)
		}
		press(m, "esc")
	}
	press(m, "1", "x", "enter")
	if v := after(m); m.open+1 != 3 || !strings.Contains(v, "Packet "+strconv.FormatUint(i.Opened.ID.Seq, 10)) {
		t.Errorf("enter opens page %d", m.open+1)
	}
	press(m, "1", "tab", "left", "left") // a packet under the cursor of page 1
	_, under, told := strings.Cut(m.View(), "#")
	under, _, _ = strings.Cut(under, " ")
	press(m, "x")
	if v := after(m); !told || m.open+1 != 3 || !strings.Contains(v, "Packet "+under+" ") {
		t.Error("x does not open the packet under the cursor")
	}
	lab.snap.Lanes[0].Troubles = nil
	m = screen(newFakeLab(), 80, 24, Options{})
	press(m, "x")
	if !strings.Contains(m.View(), "nothing has gone wrong yet") {
		t.Error("nothing is not told")
	}
}

// A trouble stays in sight long enough to be read, though others follow.
func TestTroubleStaysToBeRead(t *testing.T) {
	lab := packetsLab()
	m := screen(lab, 160, 48, Options{})
	press(m, "3")
	first := after(m)
	title := first[strings.Index(first, "The last trouble"):][:40]
	next := *lab.snap
	next.Lanes = append([]experiment.Lane(nil), next.Lanes...)
	x := next.Lanes[0].Troubles[1]
	x.T = next.Now
	x.Opened.ID.Seq, x.Opened.Record.Seq = 77, 77
	next.Lanes[0].Troubles = []experiment.Incident{x}
	lab.snap = &next
	for i := range 4 * slowTicks {
		if v := after(m); !strings.Contains(v, title) {
			t.Fatalf("it was gone after %v", time.Duration(i)*tickEvery)
		}
	}
	for range 12 * slowTicks {
		after(m)
	}
	if !strings.Contains(m.View(), "trouble: packet 77") {
		t.Error("the next one never shows")
	}
}

// BenchmarkPages draws each of the pages anew, everything on it changed.
func BenchmarkBits160x48(b *testing.B)    { benchmarkPage(b, bitsLab(true), "2") }
func BenchmarkPackets160x48(b *testing.B) { benchmarkPage(b, openingLab{packetsLab()}, "3", "left") }

func benchmarkPage(b *testing.B, lab Lab, keys ...string) {
	m := screen(lab, 160, 48, Options{Renderer: colourRenderer()})
	press(m, keys...)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.wear([]string{"dark", "light"}[i%2])
		m.compose()
	}
}

// However small the screen, the list says how each packet ended, and cuts no figure.
func TestPacketListKeepsTheOutcome(t *testing.T) {
	for w := minWidth; w <= 100; w++ {
		m := screen(packetsLab(), w, 24, Options{})
		press(m, "3")
		list := strings.Split(m.View(), "\n")
		head := list[3]
		if !strings.Contains(head, "packet") || !strings.Contains(head, "took ms") || !strings.Contains(head, "outcome") {
			t.Errorf("%d columns: %q", w, head)
		}
		for _, row := range list[4:7] {
			if strings.Contains(row, "…") {
				t.Errorf("%d columns: %q", w, row)
			}
		}
	}
}

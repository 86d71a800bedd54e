package ui

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/report"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/packetfilter"
	"wirelab/cmd/tui/internal/room"

	tea "github.com/charmbracelet/bubbletea"
)

// TestHostileBitsAndPackets checks that unusual and invalid values in snapshots cannot break the
// pages.
func TestHostileBitsAndPackets(t *testing.T) {
	for _, key := range []string{"2", "3", "x"} {
		lab := labtest.NewLab()
		m := screen(lab, 80, 24, Options{Renderer: labtest.ColourRenderer()})
		*lab = *hostileLab()
		l := &lab.Snap.Lanes[0]
		l.Encoder = "日本\x1b[31m" + strings.Repeat("x", 200)
		l.Recent.Budget.Units[3], l.Recent.Budget.Units[47] = math.MaxInt64/4, -5
		l.Samples[5].Budget.Units[2] = math.MinInt64 / 2
		l.Incidents = []inspector.Incident{{Reason: inspector.BecauseWrong, N: -1}, {Reason: inspector.BecauseDropped, T: -1, N: 1},
			{Reason: inspector.BecauseLate, N: 1 << 62,
				Opened: inspector.Opened{Record: packetlog.Record{Outcome: 77, Arrived: -1 << 62}}}}
		lab.Snap.Lanes = append(lab.Snap.Lanes, engine.Lane{Encoder: "empty"}, *l)
		lab.Snap.Opened = &inspector.Opened{ID: packetlog.ID{Seq: 1 << 63, Copy: -1}}
		press(m, key)
		for _, s := range labtest.Sizes(2) {
			tick(m, 1)
			m.Update(tea.WindowSizeMsg{Width: s[0], Height: s[1]})
			labtest.CheckScreen(t, "hostile "+key, m.View(), s[0], s[1])
			press(m, []string{"up", "left", "tab", "pgdown", "right", "enter", "f"}[s[0]%7])
			m.overlay = nil
		}
		lab.Snap = &engine.Snapshot{Config: lab.Snap.Config, State: engine.Running}
		for _, k := range []string{"2", "up", "enter", "tab", "3", "up", "left", "enter", "f", "x", "enter"} {
			press(m, k)
			after(m)
		}
	}
}

// TestTypedFilters checks that a typed filter opens the page of packets.
func TestTypedFilters(t *testing.T) {
	m := large(labtest.NewPackets())
	for _, name := range packetfilter.Conditions() {
		press(m, "1")
		press(m, "/filter "+name)
		if m.open+1 != 3 || !strings.Contains(m.View(), "filter "+name+" ") {
			t.Errorf("/filter %s: page %d\n%s", name, m.open+1, m.View())
		}
	}
	press(m, "/filter losz")
	if !strings.Contains(m.line.Err, "did you mean lost?") {
		t.Errorf("a typo is answered with %q", m.line.Err)
	}
}

// TestWhy checks that the explanation of a problem is that of the lab, on pages 1 and 3, and that
// enter opens the packet.
func TestWhy(t *testing.T) {
	lab := labtest.NewPackets()
	m := large(lab)
	i := lab.Snap.Lanes[0].Incidents[0]
	want := report.Explain(&i.Opened, i.Reason, lab.Snap.Config)
	for _, page := range []string{"1", "3"} {
		press(m, page, "x")
		if v := after(m); !strings.Contains(oneLine(v), oneLine(want)[:40]) {
			t.Errorf("page %s does not say %q:\n%s", page, want, v)
		}
		press(m, "esc")
	}
	press(m, "1 x enter")
	if v := after(m); m.open+1 != 3 || !strings.Contains(v, "Packet "+strconv.FormatUint(i.Opened.ID.Seq, 10)) {
		t.Errorf("enter opens page %d", m.open+1)
	}
	press(m, "1 tab left left") // the cursor of page 1 is on a packet
	_, under, told := strings.Cut(m.View(), "#")
	under, _, _ = strings.Cut(under, " ")
	press(m, "x")
	if v := after(m); !told || m.open+1 != 3 || !strings.Contains(v, "Packet "+under+" ") {
		t.Error("x does not open the packet under the cursor")
	}
	lab.Snap.Lanes[0].Incidents = nil
	m = screen(lab, 80, 24)
	press(m, "x")
	checkShown(t, m, "nothing to explain")
}

// TestLastProblem checks that the last problem is the newest one, and that a problem that was opened stays until it is
// left.
func TestLastProblem(t *testing.T) {
	lab := labtest.NewPackets()
	m := large(lab)
	press(m, "3")
	reason := inspector.BecauseLost
	fail := func(packet int) { // a packet fails, then half a second passes
		snap := *lab.Lab.Snap
		snap.Now += time.Second / 2
		snap.Lanes = slices.Clone(snap.Lanes)
		r := &snap.Lanes[0].Packets[packet]
		x := inspector.Incident{Reason: reason, T: snap.Now, N: 1,
			Opened: inspector.Opened{ID: r.ID(), Record: *r}}
		snap.Lanes[0].Incidents = append([]inspector.Incident{x}, snap.Lanes[0].Incidents...)
		lab.Lab.Snap = &snap
		tick(m, baseTicksPerRedraw)
	}
	name := func(packet int) string { return fmt.Sprintf("acket %d ", lab.Lab.Snap.Lanes[0].Packets[packet].Seq) }
	shows := func(title string) {
		t.Helper()
		checkShown(t, m, title)
	}
	for packet := 100; packet < 110; packet++ {
		fail(packet)
		shows("Last problem: p" + name(packet))
	}
	press(m, "x enter")
	fail(120)
	shows("─ P" + name(109))
	press(m, "esc")
	shows("Last problem: p" + name(120))
	reason = inspector.BecauseWrong + 1 // the first that concerns the size
	fail(130)
	shows("Last problem: p" + name(130))
}

// BenchmarkBits160x48 draws page 2 after a complete change.
func BenchmarkBits160x48(b *testing.B) { benchmarkPage(b, labtest.NewBits(true), "2") }

func BenchmarkPackets160x48(b *testing.B) {
	benchmarkPage(b, labtest.NewPackets(), "3", "left")
}

func benchmarkPage(b *testing.B, lab room.Lab, keys ...string) {
	m := screen(lab, 160, 48, Options{Renderer: labtest.ColourRenderer()})
	press(m, keys...)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Update(tea.WindowSizeMsg{Width: 160 - i%2, Height: 48}) // all panes are drawn again
		_ = m.View()
	}
}

// TestPacketListKeepsTheOutcome checks that the list shows the outcome of each packet on the
// smallest screens and truncates no number.
func TestPacketListKeepsTheOutcome(t *testing.T) {
	for w := minWidth; w <= 100; w++ {
		m := screen(labtest.NewPackets(), w, 24)
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

package live

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// packetRateHz is the packet rate of the session of labtest.
const packetRateHz = 60

// TestNowOfMessages: items that change as a whole have one figure; the gauges of a protocol replace the
// baseline, and those of the receiver have priority.
func TestNowOfMessages(t *testing.T) {
	lane := engine.Lane{Recent: meters.Recent{BitsPerItem: 3.42, BitsPerChanged: 3.42}}
	lane.Totals.Sender = []encoders.Gauge{{Name: "models built", Value: 7}}
	p := &now{item: "byte", schema: &frame.Schema{Item: "byte"}, lane: lane}
	text := func() string {
		var b strings.Builder
		for _, row := range p.rows(panes.FiguresOf(&p.lane, p.item)) {
			b.WriteString(row.label + " " + row.run + "; ")
		}
		return b.String()
	}
	if got := text(); !strings.Contains(got, "models built 7;") || strings.Contains(got, "per changed") ||
		strings.Contains(got, "baseline") {
		t.Errorf("the sender only: %s", got)
	}
	p.lane.Totals.Receiver = []encoders.Gauge{{Name: "models built", Value: 8}, {Name: "loss seen", Unit: "%", Value: 2.25},
		{Name: "memory", Unit: "bytes", Value: 51_716}}
	if got := text(); !strings.Contains(got, "models built 8; loss seen, % 2.2; memory, KB 51.7;") {
		t.Errorf("both endpoints: %s", got)
	}
	p.lane.Totals.Sender, p.lane.Totals.Receiver = nil, nil
	if got := text(); !strings.Contains(got, "baseline") {
		t.Errorf("no protocol: %s", got)
	}
}

// TestNowKeepsItsRows: a change of the encoder moves no row and takes no value away. A figure that exists only for the run,
// or only for the last two seconds, has one value. In the past the sums are those up to the time cursor.
func TestNowKeepsItsRows(t *testing.T) {
	snap := labtest.NewLab().Snap
	before := labtest.Draw(&now{}, labtest.NewView(snap), 60, 30)
	lane := &snap.Lanes[0]
	lane.Stretches = []meters.StretchFigures{{Encoder: "raw", ToS: 60}, {Encoder: "rotor", FromS: 60, ToS: 90, PayloadKbps: 77.7}}
	if after := labtest.Draw(&now{}, labtest.NewView(snap), 60, 30); !slices.Equal(after, before) {
		t.Errorf("%s\nbefore:\n%s", strings.Join(after, "\n"), strings.Join(before, "\n"))
	}
	text := strings.Join(before, "\n")
	for _, want := range []string{"payload, kbps +11.3 +189.3│", "delay, median, ms +50.2│", "packet size, mean, bytes +23 +│"} {
		if isRow := regexp.MustCompile(want).MatchString(text); !isRow || strings.Contains(text, " - ") {
			t.Errorf("%s: %v\n%s", want, isRow, text)
		}
	}
	past := labtest.NewView(snap)
	past.Past = true
	if got := strings.Join(labtest.Draw(&now{}, past, 60, 30), "\n"); strings.ReplaceAll(got, "to cursor", "whole run") != text {
		t.Errorf("in the past it is\n%s", got)
	}
	past.Now = snap // the sums are not those of the time cursor
	if got := labtest.Draw(&now{}, past, 60, 30)[2]; !regexp.MustCompile("payload, kbps +11.3 +-│").MatchString(got) {
		t.Errorf("before the run is repeated: %s", got)
	}
}

func TestPacketKeepsItsPlace(t *testing.T) {
	// Half a second later every packet that is still shown stands where it stood.
	at := 90 * time.Second
	p := &strip{}
	before := labtest.Draw(p, labtest.NewView(labtest.Snapshot(at)), 50, 6)
	oldest := p.newest + 1 - uint64(p.capacity) + 30 + 4
	after := labtest.Draw(p, labtest.NewView(labtest.Snapshot(at+time.Second/2)), 50, 6)
	for seq := oldest; seq+6 < uint64(at.Seconds()*packetRateHz); seq++ {
		x, y := 2+int(seq)%p.capacity%p.width, 1+int(seq)%p.capacity/p.width
		a, b := []rune(before[y])[x], []rune(after[y])[x]
		if a != b {
			t.Fatalf("packet %d at (%d,%d) was %c and is %c", seq, x, y, a, b)
		}
	}
}

func TestStripShowsTheMostSevereCopy(t *testing.T) {
	snap := labtest.Snapshot(90 * time.Second)
	snap.Lanes[0].Packets = []packetlog.Record{
		{Seq: 0, Outcome: packetlog.Decoded}, {Seq: 0, Copy: 1, Outcome: packetlog.Duplicate},
		{Seq: 1, Outcome: packetlog.Lost}, {Seq: 1, Copy: 1, Outcome: packetlog.Decoded},
		{Seq: 2, Outcome: packetlog.Wrong}, {Seq: 2, Copy: 1, Outcome: packetlog.Duplicate},
		{Seq: 3, Outcome: packetlog.Corrupt},
	}
	got := labtest.Draw(&strip{}, labtest.NewView(snap), 40, 6)[1]
	if !strings.HasPrefix(got, "│ D○W!▏") {
		t.Errorf("strip is %q", got)
	}
}

func TestPacketUnderTheCursor(t *testing.T) {
	page := New(controls.NewCatalog(table.All(), lossmodel.Profiles(), lossmodel.Keys()))
	m := labtest.NewStage(page, labtest.NewLab(), 160, 46)
	_ = m.View()
	m.Press("tab", "left", "left", "left", "left", "left")
	last := uint64(90 * packetRateHz) // the packet of 90 s
	p := labtest.Pane[*strip](page)
	if !p.hasSelection || p.selected != last-5 {
		t.Fatalf("the cursor is on %d, want %d", p.selected, last-5)
	}
	if !strings.Contains(m.View(), "#5395 ") {
		t.Error("the packet is not described")
	}
	for range 40 {
		m.Press("[", "up")
	}
	if p.selected != p.oldest() {
		t.Errorf("the cursor left the strip: %d, oldest %d", p.selected, p.oldest())
	}
	m.Press("esc")
	if p.hasSelection || strings.Contains(m.View(), "#5") {
		t.Error("esc does not clear the selection")
	}
}

// TestWrongIsQuietUntilThereIsAny: wrong data are styled as an alarm, also in the legend, only if there
// are any.
func TestWrongIsQuietUntilThereIsAny(t *testing.T) {
	l, _ := look.ParseScheme("")
	th := look.NewTheme(labtest.ColourRenderer(), l, false)
	for _, wrong := range []int64{0, 2} {
		snap := labtest.Snapshot(90 * time.Second)
		snap.Lanes[0].Totals.Wrong = wrong
		p := &strip{}
		p.Observe(labtest.NewView(snap))
		c := look.NewCanvas(220, 24)
		p.Draw(c, th, false)
		text := strings.Join(c.Lines(th), "\n")
		const alarm = "48;5;160m" // the ground of an alarm
		if loud := wrong > 0; strings.Contains(text, alarm) != loud || strings.Contains(text, "WRONG") != loud ||
			strings.Contains(text, "wrong") == loud {
			t.Errorf("%d wrong: an alarm %v\n%s", wrong, strings.Contains(text, alarm), text)
		}
	}
}

// TestLegendOfPackets: an outcome that occurs for the first time does not move the others of a full legend; otherwise it
// is named before those that never occurred.
func TestLegendOfPackets(t *testing.T) {
	snap := labtest.Snapshot(90 * time.Second)
	snap.Lanes[0].Totals.Counts = figures.Counts{Sent: 9, Decoded: 7, Lost: 1, Stale: 1}
	if title := labtest.Draw(&strip{}, labtest.NewView(snap), 40, 8)[0]; !strings.Contains(title, "○ lost  ◐ stale ") {
		t.Errorf("40 columns: %s", title)
	}
	for _, width := range []int{100, 160} {
		snap := labtest.Snapshot(90 * time.Second)
		titles := map[string]bool{}
		for stale := range int64(2) {
			snap.Lanes[0].Totals.Stale = stale
			titles[labtest.Draw(&strip{}, labtest.NewView(snap), width, 8)[0]] = true
		}
		if len(titles) != 1 {
			t.Errorf("%d columns: %v", width, titles)
		}
	}
}

package ui

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment"
	"wirelab/lossmodel"
)

func TestPacketKeepsItsPlace(t *testing.T) {
	// Half a second later every packet that is still shown stands where it stood.
	at := 90 * time.Second
	p := &packetsPane{}
	before := picture(p, sightOf(fakeSnapshot(at)), 50, 6)
	oldest := p.newest + 1 - uint64(p.capacity) + 30 + 4
	after := picture(p, sightOf(fakeSnapshot(at+time.Second/2)), 50, 6)
	for seq := oldest; seq+6 < uint64(at.Seconds()*fakeHz); seq++ {
		x, y := 2+int(seq)%p.capacity%p.width, 1+int(seq)%p.capacity/p.width
		a, b := []rune(before[y])[x], []rune(after[y])[x]
		if a != b {
			t.Fatalf("packet %d at (%d,%d) was %c and is %c", seq, x, y, a, b)
		}
	}
}

func TestStripShowsTheGravestCopy(t *testing.T) {
	snap := fakeSnapshot(90 * time.Second)
	snap.Lanes[0].Packets = []experiment.PacketRecord{
		{Seq: 0, Outcome: experiment.Decoded}, {Seq: 0, Copy: 1, Outcome: experiment.Duplicate},
		{Seq: 1, Outcome: experiment.Lost}, {Seq: 1, Copy: 1, Outcome: experiment.Decoded},
		{Seq: 2, Outcome: experiment.Wrong}, {Seq: 2, Copy: 1, Outcome: experiment.Duplicate},
		{Seq: 3, Outcome: experiment.Corrupt},
	}
	got := picture(&packetsPane{}, sightOf(snap), 40, 6)[1]
	if !strings.HasPrefix(got, "│ D○W!▏") {
		t.Errorf("strip is %q", got)
	}
}

func TestPacketUnderTheCursor(t *testing.T) {
	page := newLivePage(newCatalog(table.All(), lossmodel.Profiles(), lossmodel.Keys()), 256)
	m := newStage(page, newFakeLab(), 160, 46)
	_ = m.view()
	m.press("tab", "left", "left", "left", "left", "left")
	last := uint64(90*fakeHz) - 1
	p := page.packets
	if !p.choosing || p.chosen != last-5 {
		t.Fatalf("the cursor is on %d, want %d", p.chosen, last-5)
	}
	if !strings.Contains(m.view(), "#5394 ") {
		t.Error("the packet's life is not told")
	}
	for range 40 {
		m.press("[", "up")
	}
	if p.chosen != p.oldest() {
		t.Errorf("the cursor left the strip: %d, oldest %d", p.chosen, p.oldest())
	}
	m.press("esc")
	if p.choosing || strings.Contains(m.view(), "#5") {
		t.Error("esc does not let go")
	}
}

func TestSharesOfTheBudgetAddUp(t *testing.T) {
	p := &bitsPane{}
	snap := fakeSnapshot(time.Minute)
	b := &snap.Lanes[0].Recent.Budget
	b.Bits(encoders.FieldSlot(0), 123) // a slot of the schema
	p.observe(sightOf(snap))
	sum := 0.0
	for _, part := range p.parts() {
		sum += part.share
		if part.name == "" || part.name == "other" {
			t.Errorf("a slot without a name: %+v", part)
		}
	}
	if math.Abs(sum-1) > 1e-9 || len(p.parts()) != 7 {
		t.Errorf("%d parts sum to %v", len(p.parts()), sum)
	}
}

func TestBarIsFullAndInProportion(t *testing.T) {
	p := &bitsPane{}
	lines := picture(p, sightOf(fakeSnapshot(time.Minute)), 104, 7)
	bar := []rune(lines[1])[2:102]
	counts := map[rune]int{}
	for _, r := range bar {
		counts[r]++
	}
	if counts[' '] > 2*6 { // the blanks around the names
		t.Errorf("the bar has holes: %q", string(bar))
	}
	th := plainTheme(false)
	for slot, want := range map[encoders.Slot]int{encoders.SlotPosition: 46, encoders.SlotOrientation: 39} {
		name := len(slot.Name(nil)) + 2
		if got := counts[th.shade(int(slot))] + name; got < want-1 || got > want+1 {
			t.Errorf("%s takes %d of 100 columns, want %d", slot.Name(nil), got, want)
		}
	}
}

func TestEveryControlMovesBothWays(t *testing.T) {
	cat := newCatalog(table.All(), lossmodel.Profiles(), lossmodel.Keys())
	for _, codec := range cat.codecs {
		cfg := experiment.Default()
		if err := cfg.Apply(experiment.Change{Encoder: codec.Name}); err != nil {
			t.Fatal(err)
		}
		for _, c := range cat.controls(cfg, frame.Cubes(frame.WalkoffCubes), scope{more: true}) {
			if c.step == nil {
				continue
			}
			moved := 0
			for _, n := range []int{1, -1, 4, -4} {
				cmd, ok := c.step(cfg, n)
				if !ok {
					continue
				}
				moved++
				// What a control offers must be possible, as far as one value goes.
				if err := cfg.Check(*cmd.Change); err != nil && c.word != "burst" {
					t.Errorf("%s, %s by %d: %v", codec.Name, c.label, n, err)
				}
			}
			if moved == 0 {
				t.Errorf("%s, %s does not move", codec.Name, c.label)
			}
			if c.level != nil {
				if l := c.level(cfg); !(l >= 0 && l <= 1) {
					t.Errorf("%s, %s stands at %v of its gauge", codec.Name, c.label, l)
				}
			}
			if v := c.value(cfg); v == "" || v == "?" {
				t.Errorf("%s, %s has the value %q", codec.Name, c.label, v)
			}
		}
	}
}

func TestGaugeClimbsWithTheLadder(t *testing.T) {
	cat := newCatalog(table.All(), lossmodel.Profiles(), lossmodel.Keys())
	for _, m := range mainKeys() {
		info, ok := cat.key(m.key)
		if !ok {
			t.Errorf("a link has no %q", m.key)
			continue
		}
		ctl := linkControl(m.label, info, bothDirections)
		last := -1.0
		for _, rung := range info.Ladder {
			cfg := experiment.Default()
			if err := cfg.Down.Set(m.key, rung); err != nil {
				t.Fatal(err)
			}
			if l := ctl.level(cfg); l > last {
				last = l
			} else {
				t.Errorf("%s %s stands at %v, not above %v", m.key, rung, l, last)
			}
		}
		if last != 1 {
			t.Errorf("the top of %s is %v of its gauge", m.key, last)
		}
	}
}

func TestStepParam(t *testing.T) {
	lo, hi := 2.0, 8.0
	whole := encoders.ParamInfo{Type: "int", Min: &lo, Max: &hi}
	real := encoders.ParamInfo{Type: "float", Min: &lo, Max: &hi}
	for _, c := range []struct {
		info encoders.ParamInfo
		now  any
		n    int
		want any
	}{{whole, 7, 1, int64(8)}, {whole, int64(8), 1, int64(8)}, {whole, 3, -4, int64(2)}, {real, 5.0, 1, 5.3}, {encoders.ParamInfo{Type: "bool"}, false, 1, true}, {encoders.ParamInfo{Type: "string"}, "x", 1, "x"}} {
		if got := stepParam(c.info, c.now, c.n); got != c.want {
			t.Errorf("%v by %d is %v, want %v", c.now, c.n, got, c.want)
		}
	}
}

func TestWrongIsUnmistakable(t *testing.T) {
	lab := newFakeLab()
	lab.snap.Lanes[0].Totals.Wrong = 3
	for _, size := range [][2]int{{160, 48}, {80, 24}, {60, 20}} {
		m := screen(lab, size[0], size[1], Options{Renderer: colourRenderer()})
		head, _, _ := strings.Cut(m.View(), "\n")
		if !strings.Contains(head, "WRONG DATA: 3 packets") || !strings.Contains(head, "48;5;160m") {
			t.Errorf("at %v the header is %q", size, head)
		}
	}
}

func TestSlowEngineIsSaid(t *testing.T) {
	lab := newFakeLab()
	for _, c := range []struct {
		speed, actual float64
		state         experiment.RunState
		want          string
	}{
		{1, 0.8, experiment.Running, "×0.8 of ×1"}, {1, 0.99, experiment.Running, "  ×1  "}, {0, 38.2, experiment.Running, "max ×38"},
		{1, 0.2, experiment.Paused, "PAUSED"}, {1, 0, experiment.Ended, "ENDED"}, {1, 0, experiment.Seeking, "TO 00:00.0"},
	} {
		snap := *lab.snap
		snap.Speed, snap.Actual, snap.State = c.speed, c.actual, c.state
		head, _, _ := strings.Cut(screen(&fakeLab{snap: &snap}, 160, 48, Options{}).View(), "\n")
		if !strings.Contains(head, c.want) {
			t.Errorf("header %q lacks %q", head, c.want)
		}
	}
}

func TestNoticeComesAndGoes(t *testing.T) {
	lab := newFakeLab()
	m := screen(lab, 80, 24, Options{})
	next := *lab.snap
	next.Notice = experiment.Notice{ID: 1, Text: "saved as /reports/x"}
	lab.snap = &next
	press(m)
	if !strings.Contains(m.View(), "● saved as /reports/x") {
		t.Error("the notice is not shown")
	}
	for range noteLasts {
		press(m)
	}
	if strings.Contains(m.View(), "saved as") {
		t.Error("the notice stays for ever")
	}
}

func TestRefusedFrameIsSaid(t *testing.T) {
	lab := newFakeLab()
	m := screen(lab, 120, 40, Options{})
	next := *lab.snap
	next.Lanes = slices.Clone(next.Lanes)
	next.Lanes[0].Err = errors.New("cube 7 is out of range")
	next.Lanes[0].Totals.EncodeFailed++
	lab.snap = &next
	press(m)
	if !strings.Contains(m.View(), "refused a frame: cube 7") {
		t.Error("the encoder's complaint is not shown")
	}
}

func TestDraggedControlMakesOneMark(t *testing.T) {
	mark := func(ms int, label string) experiment.Mark {
		return experiment.Mark{T: time.Duration(ms) * time.Millisecond, Label: label}
	}
	got := distinct([]experiment.Mark{mark(0, "loss 1%"), mark(100, "loss 2%"), mark(900, "loss 5%"), mark(950, "latency 5ms"), mark(5000, "latency 9ms"),
		{T: 5100 * time.Millisecond, Label: "mark 1", Kind: experiment.MarkNote}, {T: 5200 * time.Millisecond, Label: "mark 2", Kind: experiment.MarkNote}})
	var labels []string
	for _, m := range got {
		labels = append(labels, m.Label)
	}
	if s := strings.Join(labels, ", "); s != "loss 5%, latency 5ms, latency 9ms, mark 1, mark 2" {
		t.Errorf("left are %s", s)
	}
}

func TestMouse(t *testing.T) {
	lab := newFakeLab()
	m := screen(lab, 160, 48, Options{})
	find := func(text string) (x, y int) {
		for y, line := range strings.Split(m.View(), "\n") {
			if i := strings.Index(line, text); i >= 0 {
				return textWidth(line[:i]), y
			}
		}
		t.Fatalf("%q is not on the screen", text)
		return 0, 0
	}
	click := func(button tea.MouseButton, x, y int) {
		m.Update(tea.MouseMsg{X: x, Y: y, Button: button, Action: tea.MouseActionPress})
		m.Update(tickMsg{})
	}
	x, y := find("Latency")
	click(tea.MouseButtonLeft, x, y)
	click(tea.MouseButtonWheelUp, x, y)
	click(tea.MouseButtonWheelDown, x, y)
	click(tea.MouseButtonWheelDown, x, y)
	if got := spell(lab.got); got != "latency 60ms; latency 50ms; latency 40ms" {
		t.Errorf("click and wheel sent %q", got)
	}
	x, y = find("◐●")
	click(tea.MouseButtonLeft, x, y)
	if !strings.Contains(m.View(), "◐ late after") {
		t.Error("a click on a packet does not tell its life")
	}
	small := screen(newFakeLab(), 80, 24, Options{})
	small.Update(tea.MouseMsg{X: 33, Y: 2, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	if small.compose(); !strings.Contains(small.View(), "[Bits]") {
		t.Errorf("a click on a name does not open it:\n%s", small.View())
	}
}

func TestZoom(t *testing.T) {
	m := screen(newFakeLab(), 160, 48, Options{})
	if !strings.Contains(m.View(), " 60s┬") {
		t.Error("the charts do not begin with a minute")
	}
	press(m, "z")
	if !strings.Contains(m.View(), "90s┬") {
		t.Errorf("z does not show two minutes:\n%s", m.View())
	}
}

// Where there is no colour a shape is all that tells the bits of one slot from those
// of another.
func TestNoTwoSlotsHaveOneShape(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		th := bareTheme(ascii)
		seen := map[rune]int{}
		for slot := range int(encoders.FieldSlot(0)) + 26 { // more fields than letters no schema has
			r := th.shade(slot)
			if other, twice := seen[r]; twice || r == ' ' {
				t.Errorf("ascii %v: slots %d and %d both are %q", ascii, other, slot, r)
			}
			seen[r] = slot
		}
	}
}

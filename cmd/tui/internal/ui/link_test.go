package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/lossmodel"
	"wirelab/lossmodel/measure"
)

// toFold are the keys that move from the encoder to the row of less used settings.
func toFold() []string {
	const params, everyDay = 2, 9
	return slices.Repeat([]string{"down"}, params+everyDay+2)
}

// widePicture returns a picture that is wider than requested.
func widePicture(_ lossmodel.Spec, w int) string {
	return strings.Repeat("日本", w) + "\n\x1b[31m" + strings.Repeat("x", w)
}

// measured draws the picture like the program.
func measured(spec lossmodel.Spec, w int) string {
	text, err := measure.Show(spec, 1, measure.Traffic{Packets: 1500, Interval: time.Second / 60, Size: 400},
		measure.Style{Width: w})
	if err != nil {
		panic(err)
	}
	return text
}

func TestFoldOpensAndCloses(t *testing.T) {
	for _, keys := range [][2]string{{"enter", "enter"}, {"right", "left"}, {"right", "enter"}} {
		lab := labtest.NewLab()
		m := screen(lab, 160, 48, Options{})
		press(m, toFold()...)
		if !strings.Contains(m.View(), "▸ More") || strings.Contains(m.View(), "keep_order") {
			t.Fatalf("the fold is not under the cursor, or open:\n%s", m.View())
		}
		press(m, keys[0])
		if !strings.Contains(m.View(), "keep_order") {
			t.Errorf("%s does not open the fold", keys[0])
		}
		press(m, keys[1])
		if strings.Contains(m.View(), "keep_order") || len(lab.Got) > 0 {
			t.Errorf("%s does not close the fold; sent %q", keys[1], spell(lab.Got))
		}
	}
}

func TestFoldedSettingsCanBeSet(t *testing.T) {
	open := append(toFold(), "enter")
	to := func(n int, keys ...string) []string {
		return append(append(slices.Clone(open), slices.Repeat([]string{"down"}, n)...), keys...)
	}
	for _, c := range []struct {
		keys []string
		want string
	}{
		{to(2, "right"), "rate_cell_overhead 5"},
		{to(3, "right"), "distribution normal"},
		{to(3, "d", "right"), "down distribution normal"},
		{to(4, "enter", "/", "on", "enter"), "keep_order on"}, // chosen from a filtered list
		{to(6, "enter", "1400", "enter"), "mtu 1400"},
		{to(7, "right"), ""}, // text values have no steps
		{to(7, "enter", "loss 1%", "enter"), "netem loss 1%"},
		{to(7, "d", "d", "enter", "loss 1%", "enter"), "up netem loss 1%"},
		{to(1, "enter", "/", "periodic", "enter", "every=3", "enter"), "loss periodic every=3"},
	} {
		lab := labtest.NewLab()
		m := screen(lab, 160, 48, Options{})
		press(m, c.keys...)
		if got := spell(lab.Got); got != c.want {
			t.Errorf("%v sent %q, want %q\n%s", c.keys[len(open):], got, c.want, m.View())
		}
	}
}

func TestParamsOfALossModelAreControls(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 160, 48, Options{})
	press(m, line("loss gilbert-elliott p=1% r=20%")...)
	lab.Got = nil
	press(m, "down", "down", "down", "down", "down", "right") // the first parameter of the model
	press(m, "down", "]")
	want := "loss gilbert-elliott p=2% r=20% h=0% k=100%; loss gilbert-elliott p=2% r=50% h=0% k=100%"
	if got := spell(lab.Got); got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
	press(m, "enter")
	if got, want := m.line.Text(), "loss gilbert-elliott p=2% r=50% h=0% k=100%"; got != want {
		t.Errorf("enter offers %q to be mended, want %q", got, want)
	}
}

// TestNetemWarnsOnce checks that the warnings of a netem line are shown once, and again after a
// change of the line.
func TestNetemWarnsOnce(t *testing.T) {
	m := screen(labtest.NewLab(), 160, 48, Options{})
	const fault = "netem's correlation narrows the distribution of its values"
	press(m, line("netem loss 1% 25%")...)
	if n := strings.Count(m.View(), fault); n != 1 {
		t.Fatalf("both links have the fault; the warning is shown %d times:\n%s", n, m.View())
	}
	press(m, "esc")
	for range 5 {
		press(m)
	}
	if strings.Contains(m.View(), fault) {
		t.Error("the warning is shown again without a change")
	}
	press(m, line("latency 1ms")...) // refused, because netem overrides the latency
	if strings.Contains(m.View(), fault) || !strings.Contains(m.line.Err, "netem") {
		t.Errorf("a refused change: error %q\n%s", m.line.Err, m.View())
	}
	press(m, "esc")
	press(m, line("netem loss 2% 25%")...)
	if !strings.Contains(m.View(), fault) {
		t.Error("another line is not warned of")
	}
	press(m, "esc")
	if press(m, line("netem off")...); strings.TrimSpace(lastRow(m)) != "● netem off" {
		t.Errorf("no netem, yet %q", lastRow(m))
	}
}

func TestNetemOverridesControls(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 160, 48, Options{})
	press(m, line("down netem delay 20ms seed 3")...)
	press(m, "esc")
	lab.Got = nil
	view := m.View()
	if n := strings.Count(view, "set by netem"); n != 9 || !strings.Contains(view, "delay 20ms seed 3") {
		t.Errorf("%d controls are overridden, want 9:\n%s", n, view)
	}
	press(m, "down", "down", "down", "down", "down", "right")
	if len(lab.Got) != 0 || !strings.Contains(m.View(), `netem to be "off" first`) {
		t.Errorf("changing an overridden control sent %q and shows %q", spell(lab.Got), lastRow(m))
	}
	press(m, "esc", "d", "d")
	if strings.Contains(m.View(), "set by netem") {
		t.Error("the link back waits though it has no netem")
	}
	press(m, "right")
	if got := spell(lab.Got); got != "up loss 0.1%" {
		t.Errorf("the link back got %q", got)
	}
}

func TestDirectionIsShown(t *testing.T) {
	m := screen(labtest.NewLab(), 160, 48, Options{})
	for _, c := range []struct{ title, latency string }{
		{" Controls ━━", "50 ms    ■■■■■■········  ↑ 65 ms"},
		{"link down only", "50 ms    ■■■■■■········  ↑ 65 ms"},
		{"link up only", "65 ms    ■■■■■■········  ↓ 50 ms"},
		{" Controls ━━", "50 ms"},
	} {
		if view := m.View(); !strings.Contains(view, c.title) || !strings.Contains(view, c.latency) {
			t.Errorf("the controls lack %q or %q:\n%s", c.title, c.latency, view)
		}
		press(m, "d")
	}
}

// TestPreviewIsMadeOnce checks that the picture of a link is cached, because it takes a thousand
// times as long as a redraw.
func TestPreviewIsMadeOnce(t *testing.T) {
	made := 0
	m := screen(labtest.NewLab(), 160, 48, Options{Picture: func(spec lossmodel.Spec, w int) string {
		made++
		return measured(spec, w)
	}})
	press(m, "p")
	for range 20 {
		m.lab.Ticks = baseTicksPerRedraw - 1
		press(m)
	}
	if made != 1 {
		t.Errorf("made %d times for one link", made)
	}
	for _, k := range []string{"down", "down", "up", "up"} {
		press(m, k)
	}
	if made != 3 {
		t.Errorf("made %d times for three links", made)
	}
	view, p := m.View(), lossmodel.Profiles()[0]
	for _, want := range []string{p.Summary, "source: " + p.Source, "both directions:", "1500 packets", "delay, ms"} {
		if !strings.Contains(view, want) {
			t.Errorf("the preview lacks %q:\n%s", want, view)
		}
	}
	press(m, "down") // a link that differs by direction
	if !strings.Contains(m.View(), "down, to the receiver:") {
		t.Error("the direction of the link is not shown")
	}
}

func TestPreviewWithoutPictures(t *testing.T) {
	m := screen(labtest.NewLab(), 80, 24, Options{})
	press(m, "p")
	if !strings.Contains(m.View(), "source: "+lossmodel.Profiles()[0].Source) {
		t.Errorf("the source is not named:\n%s", m.View())
	}
}

// BenchmarkPreview makes the picture of a link, the slowest reaction to a key.
func BenchmarkPreview(b *testing.B) {
	p, err := lossmodel.ProfileByName("unity-congested")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		measured(p.Down, 72)
	}
}

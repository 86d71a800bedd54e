package ui

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/lossmodel"
	"wirelab/lossmodel/measure"
)

// toFold are the keys that move from the encoder to the row of less used settings.
func toFold() string {
	const params, everyDay = 2, 9
	return strings.Repeat("down ", params+everyDay+2)
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
		m := large(lab)
		press(m, toFold())
		checkShown(t, m, "▸ More")
		checkLacking(t, m, "keep_order")
		press(m, keys[0])
		checkShown(t, m, "keep_order")
		press(m, keys[1])
		if strings.Contains(m.View(), "keep_order") || len(lab.Got) > 0 {
			t.Errorf("%s does not close the fold; sent %q", keys[1], spell(lab.Got))
		}
	}
}

func TestFoldedSettingsCanBeSet(t *testing.T) {
	for _, c := range []struct {
		row        int // after that of the fold
		keys, want string
	}{
		{2, "right", "rate_cell_overhead 5"},
		{3, "right", "distribution normal"},
		{3, "d right", "down distribution normal"},
		{4, "enter / on enter", "keep_order on"}, // chosen from a filtered list
		{6, "enter 1400 enter", "mtu 1400"},
		{7, "right", ""}, // text values have no steps
		{7, "enter loss space 1% enter", "netem loss 1%"},
		{7, "d d enter loss space 1% enter", "up netem loss 1%"},
		{1, "enter / periodic enter every=3 enter", "loss periodic every=3"},
	} {
		lab := labtest.NewLab()
		m := large(lab)
		press(m, toFold(), "enter", strings.Repeat("down ", c.row), c.keys)
		checkSent(t, lab.Got, c.want)
	}
}

func TestParamsOfALossModelAreControls(t *testing.T) {
	lab := labtest.NewLab()
	m := large(lab)
	press(m, "/loss gilbert-elliott p=1% r=20%")
	lab.Got = nil
	press(m, "down down down down down right") // the first parameter of the model
	press(m, "down ]")
	want := "loss gilbert-elliott p=2% r=20% h=0% k=100%; loss gilbert-elliott p=2% r=50% h=0% k=100%"
	checkSent(t, lab.Got, want)
	press(m, "enter")
	if got, want := m.line.Text(), "loss gilbert-elliott p=2% r=50% h=0% k=100%"; got != want {
		t.Errorf("enter offers %q to be mended, want %q", got, want)
	}
}

// TestNetemWarnsOnce checks that the warnings of a netem line are shown once, and again after a
// change of the line.
func TestNetemWarnsOnce(t *testing.T) {
	m := large(labtest.NewLab())
	const fault = "netem's correlation narrows the distribution of its values"
	press(m, "/netem loss 1% 25%")
	if n := strings.Count(m.View(), fault); n != 1 {
		t.Fatalf("both links have the fault; the warning is shown %d times:\n%s", n, m.View())
	}
	press(m, "esc")
	for range 5 {
		press(m)
	}
	checkLacking(t, m, fault)
	press(m, "/latency 1ms") // refused, because netem overrides the latency
	if strings.Contains(m.View(), fault) || !strings.Contains(m.line.Err, "netem") {
		t.Errorf("a refused change: error %q\n%s", m.line.Err, m.View())
	}
	press(m, "esc")
	press(m, "/netem loss 2% 25%")
	checkShown(t, m, fault)
	press(m, "esc")
	if press(m, "/netem off"); strings.TrimSpace(lastRow(m)) != "● netem off" {
		t.Errorf("no netem, yet %q", lastRow(m))
	}
}

func TestNetemOverridesControls(t *testing.T) {
	lab := labtest.NewLab()
	m := large(lab)
	press(m, "/down netem delay 20ms seed 3")
	press(m, "esc")
	lab.Got = nil
	view := m.View()
	if n := strings.Count(view, "set by netem"); n != 9 || !strings.Contains(view, "delay 20ms seed 3") {
		t.Errorf("%d controls are overridden, want 9:\n%s", n, view)
	}
	press(m, "down down down down down right")
	if len(lab.Got) != 0 || !strings.Contains(m.View(), `netem to be "off" first`) {
		t.Errorf("changing an overridden control sent %q and shows %q", spell(lab.Got), lastRow(m))
	}
	press(m, "esc d d")
	checkLacking(t, m, "set by netem")
	press(m, "right")
	checkSent(t, lab.Got, "up loss 0.1%")
}

func TestDirectionIsShown(t *testing.T) {
	m := large(labtest.NewLab())
	for _, c := range []struct{ title, latency string }{
		{" Controls ━━", "50 ms    ■■■■■■········  ↑ 65 ms"},
		{"link down only", "50 ms    ■■■■■■········  ↑ 65 ms"},
		{"link up only", "65 ms    ■■■■■■········  ↓ 50 ms"},
		{" Controls ━━", "50 ms"},
	} {
		checkShown(t, m, c.title, c.latency)
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
		redraw(m)
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
	for _, want := range []string{p.Summary, "source: " + p.Source, "a sample of both directions:", "delay, ms"} {
		if !strings.Contains(view, want) {
			t.Errorf("the preview lacks %q:\n%s", want, view)
		}
	}
	press(m, "down") // a link that differs by direction
	checkShown(t, m, "down, to the receiver:")
}

func TestPreviewWithoutPictures(t *testing.T) {
	m := screen(labtest.NewLab(), 80, 24)
	press(m, "p")
	checkShown(t, m, "source: "+lossmodel.Profiles()[0].Source)
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

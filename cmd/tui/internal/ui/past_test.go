package ui

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/experiment"
)

func TestLookingBackStopsTimeAndComesBack(t *testing.T) {
	lab := newEchoLab()
	m := screen(lab, 160, 48, Options{})
	now := m.View()
	press(m, "<", "<", ",")
	if lab.snap.State != experiment.Paused || !m.lab.past.away || m.lab.shown().Now != 90*time.Second-2100*time.Millisecond {
		t.Fatalf("%v, away %v, at %v", lab.snap.State, m.lab.past.away, m.lab.shown().Now)
	}
	for _, want := range []string{"2.1 s AGO", "01:27.9", "end present", "space go on"} {
		if !strings.Contains(m.View(), want) {
			t.Errorf("the screen lacks %q", want)
		}
	}
	wholePicture(t, m)
	press(m, ".", ">")
	if m.lab.shown().Now != 89*time.Second {
		t.Errorf("on by 1.1 s it shows %v", m.lab.shown().Now)
	}
	for _, keys := range [][]string{{"end"}, {"esc"}, {">"}, {">", ">"}, {".", ".", ".", ".", ".", ".", ".", ".", ".", "."}, {"space"}, line("resume")} {
		press(m, "<")
		if press(m, keys...); m.lab.past.away {
			t.Errorf("%v does not lead back to the present", keys)
			m.lab.present()
		}
	}
	lab.snap.State = experiment.Running
	m.lab.dismiss()
	if press(m); m.View() != now {
		t.Error("the present looks other than before")
	}
}

// It goes back as far as the lab remembers, and no farther.
func TestLookingBackEndsWhereMemoryDoes(t *testing.T) {
	lab := newEchoLab()
	lane := &lab.snap.Lanes[0]
	lane.Samples = lane.Samples[300:]
	m := screen(lab, 80, 24, Options{})
	press(m, "home", "<", "<", ",")
	if want := lane.Samples[0].T; m.lab.shown().Now != want {
		t.Errorf("shown is %v, the oldest is %v", m.lab.shown().Now, want)
	}
	wholePicture(t, m)
	lab.snap.Lanes = nil
	m = screen(lab, 80, 24, Options{})
	press(m, "<", "home", "b", "B", ",", ".", "end")
	wholePicture(t, m)
}

func TestLookingBackFromMarkToMark(t *testing.T) {
	lab := newEchoLab()
	m := screen(lab, 160, 48, Options{})
	var at []time.Duration
	for _, key := range []string{"b", "b", "b", "b", "B", "B", "B"} {
		press(m, key)
		at = append(at, m.lab.shown().Now)
	}
	s := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
	if want := []time.Duration{s(84), s(72.4), s(48), s(48), s(72.4), s(84), s(90)}; !slices.Equal(at, want) {
		t.Errorf("it goes to %v, want %v: two seconds after each mark", at, want)
	}
}

// What is shown of a moment is what was shown at that moment.
func TestThePastIsWhatWasThePresent(t *testing.T) {
	then, lab := fakeSnapshot(80*time.Second), newFakeLab()
	lab.snap.State = experiment.Paused
	lab.snap.Lanes[0].Packets = append(fakePackets(80*time.Second), lab.snap.Lanes[0].Packets...)
	lab.snap.Lanes[0].Totals.Failures.NoBaseline = 1000 // more than this recording of the past has
	m := screen(lab, 160, 48, Options{})
	m.lab.lookAt(80 * time.Second)
	got := m.lab.shown()
	if !slices.Equal(got.Lanes[0].Samples, then.Lanes[0].Samples) || len(got.Lanes[0].Packets) != len(then.Lanes[0].Packets) {
		t.Errorf("%d samples and %d packets, want %d and %d", len(got.Lanes[0].Samples), len(got.Lanes[0].Packets), len(then.Lanes[0].Samples), len(then.Lanes[0].Packets))
	}
	if n := len(got.Marks); n != 2 || got.Marks[1].Label != "loss 5%" {
		t.Errorf("marks %v", got.Marks)
	}
	var kbps float64
	for _, s := range then.Lanes[0].Samples[780:] {
		kbps += float64(s.PayloadBits) / 2000
	}
	if v := got.Lanes[0].Recent.PayloadKbps; v < kbps-0.01 || v > kbps+0.01 {
		t.Errorf("payload %v, want %v", v, kbps)
	}
	var later int64
	for _, s := range lab.snap.Lanes[0].Samples[800:] {
		later += int64(s.Outcomes[experiment.NoBaseline])
	}
	if n := lab.snap.Lanes[0].Totals.Failures.NoBaseline - later; later == 0 || got.Lanes[0].Totals.Failures.NoBaseline != n {
		t.Errorf("%d without a baseline until then, want %d", got.Lanes[0].Totals.Failures.NoBaseline, n)
	}
}

func TestGoldenPast(t *testing.T) {
	for name, size := range map[string][2]int{"past-160x48": {160, 48}, "past-80x24": {80, 24}} {
		m := screen(newEchoLab(), size[0], size[1], Options{})
		press(m, "m")
		press(m, "b", "b", "<")
		m.lab.dismiss()
		press(m)
		golden(t, name, m.View())
	}
}

// What a lab's memory says of a moment is what the lab itself said then.
func TestThePastIsWhatTheLabSaid(t *testing.T) {
	cfg := experiment.Default()
	if err := cfg.Apply(experiment.Change{Encoder: "relative-orientation", Profile: "unity-broadband"}); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	runner, err := experiment.NewRunner(cfg, experiment.RunnerOptions{Clock: func() time.Duration { return time.Since(start) }})
	if err != nil {
		t.Fatal(err)
	}
	runner.Start(context.Background())
	defer runner.Stop()
	at := func(when time.Duration) *experiment.Snapshot {
		runner.Do(experiment.Command{Seek: &when})
		for giveUp := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
			if s := runner.Snapshot(); s.State == experiment.Paused && s.Now >= when {
				return s
			}
			if time.Now().After(giveUp) {
				t.Fatalf("it does not get to %v: %v", when, runner.Snapshot().Now)
			}
		}
	}
	runner.Do(experiment.Command{Pause: new(true)})
	then := at(7 * time.Second)
	later := at(11 * time.Second)
	want, got := then.Lanes[0].Recent, window{snap: later, to: 7 * time.Second}.cut().Lanes[0].Recent
	if got.EncodeUS <= 0 || got.EncodeUS > 100*want.EncodeUS { // the lab's is of as many packets, not of as much time
		t.Errorf("encoding took %v µs, it was %v", got.EncodeUS, want.EncodeUS)
	}
	got.EncodeUS, got.DecodeUS = want.EncodeUS, want.DecodeUS
	if math.Abs(got.BaselineAgeMS-want.BaselineAgeMS) < 1e-9 {
		got.BaselineAgeMS = want.BaselineAgeMS
	}
	if got != want || want.PayloadP95Kbps == 0 {
		t.Errorf("remembered is\n%+v\nit was\n%+v", got, want)
	}
}

// What only sums over the whole run can tell is told of the whole run: the figures
// of page 6 are of one moment, though another is looked at.
func TestLookingBackLeavesTheReportWhole(t *testing.T) {
	m := screen(newEchoLab(), 160, 48, Options{ReportsDir: t.TempDir()})
	press(m, "6")
	for range 20 {
		m.Update(tickMsg{})
	}
	figures := func() (text string) {
		for _, label := range []string{"length s", "payload kbps", "lost %"} {
			_, row, found := strings.Cut(m.View(), " "+label)
			if !found {
				t.Fatalf("no %s on the page", label)
			}
			row, _, _ = strings.Cut(row, "\n")
			text += label + row + "; "
		}
		return text
	}
	now := figures()
	press(m, "home")
	for range 20 {
		m.Update(tickMsg{})
	}
	if got := figures(); !m.lab.past.away || got != now {
		t.Errorf("away %v: %s, it was %s", m.lab.past.away, got, now)
	}
}

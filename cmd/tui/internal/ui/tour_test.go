package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"wirelab/dataset/frame"
	"wirelab/experiment"
)

// echoLab obeys like the real one, but for its frames: they are made up.
type echoLab struct{ fakeLab }

func newEchoLab() *echoLab { return &echoLab{*newFakeLab()} }

func (l *echoLab) Do(c experiment.Command) bool {
	next := *l.snap
	if c.Change != nil {
		next.Config = next.Config.Clone()
		if err := next.Config.Apply(*c.Change); err != nil {
			panic(err) // the dashboard checks before it sends
		}
		next.Marks = append(next.Marks[:len(next.Marks):len(next.Marks)], experiment.Mark{T: next.Now, Label: c.Change.Label()})
	}
	if c.Pause != nil {
		next.State = experiment.Running
		if *c.Pause {
			next.State = experiment.Paused
		}
	}
	if c.Speed != nil {
		next.Speed = *c.Speed
	}
	l.snap = &next
	return l.fakeLab.Do(c)
}

// pass lets virtual time pass.
func (l *echoLab) pass(d time.Duration) {
	made := fakeSnapshot(l.snap.Now + d)
	made.Config, made.Marks, made.State, made.Speed = l.snap.Config, l.snap.Marks, l.snap.State, l.snap.Speed
	made.Lanes[0].Encoder = made.Config.Encoder.Name
	for _, s := range made.Config.Shadows {
		shadow := made.Lanes[0]
		shadow.Encoder, shadow.Samples = s.Name, slices.Clone(shadow.Samples)
		made.Lanes = append(made.Lanes, shadow)
	}
	l.snap = made
}

// pass lets virtual time pass, and the dashboard see it.
func pass(m *Model, l *echoLab, d time.Duration) {
	l.pass(d)
	for range slowTicks {
		m.Update(tickMsg{})
	}
}

// wholePicture demands h lines of at most w columns.
func wholePicture(t *testing.T, m *Model) {
	t.Helper()
	rows := strings.Split(m.View(), "\n")
	if len(rows) != m.h {
		t.Fatalf("%d rows on a screen of %d:\n%s", len(rows), m.h, m.View())
	}
	for _, row := range rows {
		if n := ansi.StringWidth(row); n > m.w {
			t.Fatalf("a row of %d columns on a screen of %d: %q", n, m.w, row)
		}
	}
}

// driven is a tour of a made-up lab without a dashboard.
type driven struct {
	*tour
	lab *echoLab
	s   *session
	on  spot
	end bool
}

func newDriven(t *testing.T, change func(*session)) *driven {
	t.Helper()
	d := &driven{lab: newEchoLab()}
	d.s = newSession(d.lab, plainTheme(false), func() {})
	change(d.s)
	d.tick()
	var err error
	d.tour, err = newTour(d.s, func(s spot) { d.on = s }, func() { d.end = true })
	if err != nil {
		t.Fatal(err)
	}
	d.begin()
	d.tick()
	return d
}

func (d *driven) tick() {
	d.s.poll()
	if d.tour != nil && !d.end {
		d.tour.tick()
	}
	d.s.settle()
}

func (d *driven) pass(by time.Duration) {
	d.lab.pass(by)
	for range 10 {
		d.tick()
	}
}

func (d *driven) press(key tea.KeyType) {
	d.key(tea.KeyMsg{Type: key})
	d.tick()
}

func TestTourSetsItsScenesAndRestores(t *testing.T) {
	d := newDriven(t, func(s *session) {
		for _, c := range []experiment.Change{{Params: map[string]any{"xy_small": "7"}}, {Down: map[string]string{"latency": "33ms"}, Up: map[string]string{"latency": "33ms"}}} {
			if err := s.do(experiment.Command{Change: &c}); err != nil {
				t.Fatal(err)
			}
		}
		s.setSpeed(4)
	})
	was := d.was.Clone()
	for i := range tourSteps() {
		step := &d.steps[i]
		want := was.Clone()
		if err := want.Apply(step.scene); err != nil {
			t.Fatal(err)
		}
		if now := d.lab.snap.Config; !sameSettings(now, want) || d.at != i || d.lab.snap.Speed != 1 {
			t.Fatalf("step %d of %d begins with %s, %v, speed %v", d.at+1, i+1, now.Encoder.Name, now.Shadows, d.lab.snap.Speed)
		}
		d.pass(tourLead)
		if err := want.Apply(step.then); err != nil {
			t.Fatal(err)
		}
		if now := d.lab.snap.Config; !sameSettings(now, want) {
			t.Errorf("step %d makes it %s, %v", i+1, now.Encoder.Name, now.Shadows)
		}
		if d.on != step.look {
			t.Errorf("step %d shows place %d", i+1, d.on)
		}
		d.press([]tea.KeyType{tea.KeyEnter, tea.KeySpace}[i%2])
	}
	if !d.end || d.on != nowhere || !sameSettings(d.lab.snap.Config, was) || d.lab.snap.Speed != 4 {
		t.Errorf("after the tour: over %v, at place %d, %s, speed %v", d.end, d.on, d.lab.snap.Config.Encoder.Name, d.lab.snap.Speed)
	}
}

// The tour shows the pages that it speaks of, and ends where it began.
func TestTourTurnsPages(t *testing.T) {
	lab := newEchoLab()
	m := screen(lab, 160, 48, Options{})
	press(m, "4") // the world's page
	was := lab.snap.Config.Clone()
	press(m, "t")
	for i, page := range []int{1, 1, 1, 1, 1, 1, 4} {
		if m.open+1 != page {
			t.Errorf("step %d shows page %d, want %d", i+1, m.open+1, page)
		}
		press(m, []string{"enter", "space"}[i%2])
	}
	if m.tour != nil || !sameSettings(lab.snap.Config, was) || m.open+1 != 4 {
		t.Errorf("after the tour: %v, %s, page %d", m.tour != nil, lab.snap.Config.Encoder.Name, m.open+1)
	}
	if !strings.Contains(lastRow(m), "that was the tour") {
		t.Errorf("the end says %q", lastRow(m))
	}
}

// Whoever leaves in the middle, at once or after playing with the settings, has
// what was before.
func TestTourCanBeLeft(t *testing.T) {
	for _, keys := range [][]string{
		{"esc"}, {"enter", "esc"}, {"enter", "enter", "backspace", "esc"}, {"backspace", "esc"},
		append(line("loss 33%"), "esc"), append(append([]string{"enter"}, line("encoder rotor")...), "esc"),
		{"?", "esc", "esc"}, {"p", "esc", "esc"}, {"/", "esc", "esc"},
	} {
		lab := newEchoLab()
		lab.snap.State = experiment.Paused
		m := screen(lab, 80, 24, Options{})
		was := lab.snap.Config.Clone()
		press(m, "t")
		if lab.snap.State != experiment.Running {
			t.Error("time stands still in the tour")
		}
		for _, k := range keys {
			pass(m, lab, time.Second)
			press(m, k)
		}
		if m.tour != nil || !sameSettings(lab.snap.Config, was) || lab.snap.State != experiment.Paused {
			t.Errorf("%v: tour %v, %s, loss %v, paused %v", keys, m.tour != nil, lab.snap.Config.Encoder.Name, lab.snap.Config.Down, lab.snap.State == experiment.Paused)
		}
	}
}

func TestTourFitsEveryScreen(t *testing.T) {
	for _, size := range [][2]int{{160, 48}, {80, 24}, {60, 20}, {104, 30}, {20, 5}, {1, 1}, {250, 80}} {
		lab := newEchoLab()
		m := screen(lab, size[0], size[1], Options{Renderer: colourRenderer()})
		press(m, "t")
		for i := range 7 {
			wholePicture(t, m)
			pass(m, lab, 4*time.Second)
			pass(m, lab, 4*time.Second)
			wholePicture(t, m)
			if size[0] >= minWidth && size[1] >= minHeight && !strings.Contains(m.View(), fmt.Sprintf("Tour %d of 7", i+1)) {
				t.Errorf("%v, step %d: no panel", size, i+1)
			}
			press(m, "enter")
		}
	}
}

func TestTourNeedsCubes(t *testing.T) {
	lab := newFakeLab()
	lab.snap.Schema = &frame.Schema{Name: "chat", Item: "byte"}
	m := screen(lab, 80, 24, Options{Tour: true})
	if m.tour != nil || len(lab.got) > 0 || !strings.Contains(m.View(), "tui tour") {
		t.Errorf("a tour of a chat: %v, %q\n%s", m.tour != nil, spell(lab.got), m.View())
	}
}

// A step about moving cubes waits until some move; what it tells of a shadow is
// over the same frames.
func TestTourTellsWhatChanged(t *testing.T) {
	d := newDriven(t, func(*session) {})
	d.press(tea.KeyEnter)
	d.press(tea.KeyEnter)
	d.pass(tourLead)
	if got := d.outcome(plainTheme(false), &d.steps[2], 150); !d.acted || !strings.Contains(got[1].text, "measuring") {
		t.Errorf("at once it tells %v", got)
	}
	d.pass(4 * time.Second)
	samples := d.lab.snap.Lanes[1].Samples
	for i := range samples { // the encoder of before takes twice as much
		samples[i].PayloadBits *= 2
	}
	for _, tell := range []tally{tallyKbps(), tallyRatio(), tallyPacket()} {
		at, ok := d.mark()
		before, after, known := tell.compare(d.lab.snap.Lanes, d.s.from, at)
		if !ok || !known || before < 1.99*after || before > 2.01*after {
			t.Errorf("%s: %v → %v, %v %v", tell.name, before, after, ok, known)
		}
	}
	d.press(tea.KeyEnter)
	quiet := *d.lab.snap
	quiet.Lanes = append([]experiment.Lane(nil), quiet.Lanes...)
	quiet.Lanes[0].Recent.ChangedPerFrame = 1
	quiet.Now += 2 * tourLead
	d.lab.snap = &quiet
	d.tick()
	if text := strings.Join(d.panel(plainTheme(false), 160), "\n"); d.acted || !strings.Contains(text, "as soon as more cubes move") {
		t.Errorf("with no cube moving it went on: %v\n%s", d.acted, text)
	}
}

func TestGoldenTour(t *testing.T) {
	for _, c := range []struct {
		w, h, step int
		opt        Options
	}{{w: 160, h: 48, step: 1}, {w: 160, h: 48, step: 6}, {w: 80, h: 24, step: 1}, {w: 80, h: 24, step: 3}, {w: 80, h: 24, step: 6}, {w: 80, h: 24, step: 5, opt: Options{ASCII: true}}, {w: 20, h: 5, step: 1}} {
		lab := newEchoLab()
		m := screen(lab, c.w, c.h, c.opt)
		press(m, "t")
		for range c.step - 1 {
			press(m, "enter")
		}
		pass(m, lab, 4*time.Second)
		pass(m, lab, 4*time.Second)
		golden(t, fmt.Sprintf("tour-%d-%dx%d", c.step, c.w, c.h), m.View())
	}
}

// TestTourIsTrue holds the texts to the encoders that there are, and to the
// numbers that they name.
func TestTourIsTrue(t *testing.T) {
	steps := tourSteps()
	if len(steps) != 7 {
		t.Fatalf("%d steps", len(steps))
	}
	names := []string{"Quantise", "Delta", "Index", "Relative", "Entropy", "Loss", "Playout"}
	for i, s := range steps {
		cfg := experiment.Default()
		if err := cfg.Apply(s.scene); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if err := cfg.Apply(s.then); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if n := strings.Count(s.say, ". ") + 1; n < 2 || n > 4 || s.name != names[i] {
			t.Errorf("%s has %d sentences", s.name, n)
		}
		if i > 0 && i < 5 && steps[i-1].then.Encoder != s.scene.Encoder {
			t.Errorf("%s does not go on where %s ended", s.name, steps[i-1].name)
		}
	}
	const floats, whole = 10*32 + 1, 50 + 29 + 1
	if first := steps[0].say; !strings.Contains(first, fmt.Sprint(floats, " bits")) || !strings.Contains(first, fmt.Sprint("take ", whole)) {
		t.Errorf("%q: raw is %d bits a cube, quantized %d", first, floats, whole)
	}
	if kbps := frame.WalkoffCubes * 60 / 1000; !strings.Contains(steps[2].say, fmt.Sprint(frame.WalkoffCubes, " bits a packet, ", kbps, " kbps")) {
		t.Errorf("%q: one bit a cube is %d kbps", steps[2].say, kbps)
	}
}

package tour

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/session"
	"wirelab/dataset/frame"
	"wirelab/experiment/live"

	tea "github.com/charmbracelet/bubbletea"
)

// driven is a tour of a simulated lab without a dashboard.
type driven struct {
	*tour
	lab *labtest.Echo
	s   *session.Session
	on  Spot
	end bool
}

func newDriven(t *testing.T, change func(*session.Session)) *driven {
	t.Helper()
	d := &driven{lab: labtest.NewEcho()}
	d.lab.Pass(15 * time.Second) // until many cubes move
	d.s = session.New(d.lab, labtest.Theme(false), func() {})
	change(d.s)
	d.tick()
	var err error
	d.tour, err = New(d.s, func(s Spot) { d.on = s }, func() { d.end = true })
	if err != nil {
		t.Fatal(err)
	}
	d.Begin()
	d.tick()
	return d
}

func (d *driven) tick() {
	d.s.Poll()
	if d.tour != nil && !d.end {
		d.tour.Tick()
	}
	d.s.Sync()
}

func (d *driven) pass(by time.Duration) {
	d.lab.Pass(by)
	for range 10 {
		d.tick()
	}
}

func (d *driven) press(key tea.KeyType) {
	d.Key(tea.KeyMsg{Type: key})
	d.tick()
}

func TestTourSetsItsScenesAndRestores(t *testing.T) {
	d := newDriven(t, func(s *session.Session) {
		for _, c := range []config.Change{config.NewChange("encoder.params.xy_small", "7"), config.NewChange("link.latency", "33ms")} {
			if err := s.Do(live.Command{Change: &c}); err != nil {
				t.Fatal(err)
			}
		}
		s.SetSpeed(4)
	})
	was := d.original.Clone()
	for i := range steps() {
		step := &d.steps[i]
		want := was.Clone()
		if err := want.Apply(step.scene); err != nil {
			t.Fatal(err)
		}
		if now := d.lab.Snap.Config; !now.SameLive(want) || d.index != i || d.lab.Snap.Speed != 1 {
			t.Fatalf("step %d of %d begins with %s, %v, speed %v", d.index+1, i+1, now.Encoder.Name, now.Shadows, d.lab.Snap.Speed)
		}
		d.pass(sceneTime)
		if err := want.Apply(step.change); err != nil {
			t.Fatal(err)
		}
		if now := d.lab.Snap.Config; !now.SameLive(want) {
			t.Errorf("step %d makes it %s, %v", i+1, now.Encoder.Name, now.Shadows)
		}
		if !step.later.IsZero() {
			d.pass(laterTime)
			if err := want.Apply(step.later); err != nil {
				t.Fatal(err)
			}
			if now := d.lab.Snap.Config; !now.SameLive(want) {
				t.Errorf("the later change of step %d makes the rate %d", i+1, now.Down.Rate.BitsPerSecond)
			}
		}
		if d.on != step.spot {
			t.Errorf("step %d shows place %d", i+1, d.on)
		}
		d.press([]tea.KeyType{tea.KeyEnter, tea.KeySpace}[i%2])
	}
	if !d.end || d.on != Nowhere || !d.lab.Snap.Config.SameLive(was) || d.lab.Snap.Speed != 4 {
		t.Errorf("after the tour: over %v, at place %d, %s, speed %v", d.end, d.on, d.lab.Snap.Config.Encoder.Name, d.lab.Snap.Speed)
	}
}

// TestTourShowsTheEffect: a step about moving cubes waits until some move, and its figures compare the
// encoders on the same frames.
func TestTourShowsTheEffect(t *testing.T) {
	d := newDriven(t, func(*session.Session) {})
	d.press(tea.KeyEnter)
	d.press(tea.KeyEnter)
	d.pass(sceneTime)
	if got := d.outcomeSpans(labtest.Theme(false), &d.steps[2], 150); !d.changed || !strings.Contains(got[1].Text, "measuring") {
		t.Errorf("before any samples it shows %v", got)
	}
	d.pass(4 * time.Second)
	by := newFigures()
	measured := func(tally figure) [2]float64 {
		at, ok := d.changeTime()
		before, after, known := tally.measure(d.lab.Snap.Lanes, d.s.From, at)
		if !ok || !known {
			t.Errorf("%s is not known", tally.name)
		}
		return [2]float64{before, after}
	}
	tallies := []figure{by.kbps, by.ratio, by.packet}
	var once [][2]float64
	for _, tally := range tallies {
		once = append(once, measured(tally))
	}
	for i := range d.lab.Snap.Lanes[1].Samples { // the previous encoder uses twice as much
		d.lab.Snap.Lanes[1].Samples[i].PayloadBits *= 2
	}
	for i, tally := range tallies {
		if twice := measured(tally); math.Abs(twice[0]-2*once[i][0]) > 1e-6 || twice[1] != once[i][1] {
			t.Errorf("%s: %v became %v", tally.name, once[i], twice)
		}
	}
	d.press(tea.KeyEnter)
	quiet := *d.lab.Snap
	quiet.Lanes = append([]engine.Lane(nil), quiet.Lanes...)
	quiet.Lanes[0].Recent.ChangedPerFrame = 1
	quiet.Now += 2 * sceneTime
	d.lab.Snap = &quiet
	d.tick()
	if text := strings.Join(d.Panel(labtest.Theme(false), 160), "\n"); d.changed || !strings.Contains(text, "when more cubes move") {
		t.Errorf("the step changed although no cube moves: %v\n%s", d.changed, text)
	}
}

// TestTourIsTrue checks encoders, parameters and numbers in the texts.
func TestTourIsTrue(t *testing.T) {
	steps := steps()
	if len(steps) != 8 {
		t.Fatalf("%d steps", len(steps))
	}
	names := []string{"Quantise", "Delta", "Index", "Relative", "Entropy", "Loss", "Playout", "Send rate"}
	for i, s := range steps {
		cfg := config.Default()
		if err := cfg.Apply(s.scene); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if err := cfg.Apply(s.change); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if n := strings.Count(s.text, ". ") + 1; n < 2 || n > 4 || s.name != names[i] {
			t.Errorf("%s has %d sentences", s.name, n)
		}
		if i > 0 && i < 5 && steps[i-1].change.Encoder() != s.scene.Encoder() {
			t.Errorf("%s does not continue where %s ended", s.name, steps[i-1].name)
		}
	}
	const floats, whole = 10*32 + 1, 50 + 29 + 1
	if first := steps[0].text; !strings.Contains(first, fmt.Sprint(floats, " bits")) ||
		!strings.Contains(first, fmt.Sprint("take ", whole)) {
		t.Errorf("%q: raw is %d bits per cube, quantized %d", first, floats, whole)
	}
	if kbps := frame.WalkoffCubes * 60 / 1000; !strings.Contains(steps[2].text,
		fmt.Sprint(frame.WalkoffCubes, " bits per packet, ", kbps, " kbps")) {
		t.Errorf("%q: one bit per cube is %d kbps", steps[2].text, kbps)
	}
}

package ui

import (
	"errors"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"

	"github.com/charmbracelet/bubbles/key"

	"wirelab/dataset/frame"
	"wirelab/experiment"

	tea "github.com/charmbracelet/bubbletea"
)

// tour is the guided tour under way: the articles made touchable, one idea a
// step. A step sets a scene, lets it run for a moment so that there is something
// to compare with, then changes one thing, and says what to look at. All it does
// is make the same changes that keys make; leaving takes them back.
type tour struct {
	steps []tourStep
	at    int
	from  time.Duration // what came before is not shown: it would squash the charts
	acts  time.Duration // when the step changes its one thing
	acted bool
	label string // of the mark of that change

	was   *config.Config // what to restore
	speed float64
	state engine.RunState
	open  int // page
}

// tourLead is how long a scene runs before the step changes its one thing.
const tourLead = 4 * time.Second

// errNoTour: the tour shows encoders of cubes.
var errNoTour = errors.New("the tour is about snapshots of cubes; start it with tui tour, or with the demo")

// startTour begins the tour.
func (m *Model) startTour() {
	if m.snap.Schema == nil || !frame.IsCubes(m.snap.Schema) {
		m.say(errNoTour.Error(), true)
		return
	}
	m.present()
	t := &tour{steps: tourSteps(), was: m.want.config(m.snap).Clone(), speed: m.want.pace(m.snap), state: m.snap.State, open: m.open}
	m.tour = t
	if t.speed != 1 {
		one := 1.0
		m.want.askSpeed(one, m.ticks)
		m.send(experiment.Command{Speed: &one})
	}
	m.tourStep(0)
}

// tourStep sets the scene of the i-th step; beyond the last one the tour is over.
func (m *Model) tourStep(i int) {
	t := m.tour
	if i >= len(t.steps) {
		m.leaveTour("that was the tour; your settings are back. e lists the encoders, ? every key, t shows it again")
		return
	}
	t.at, t.acted, t.label = max(i, 0), false, ""
	step := &t.steps[t.at]
	m.goOn()
	t.from, t.acts = m.snap.Now, m.snap.Now+tourLead
	if m.arrange(step.scene) == "" { // it holds already: what ran so far is the comparison
		t.from = max(m.snap.Now-tourLead, 0)
		t.acts = m.snap.Now + tourLead/2
	}
	m.spotlight(step.look)
}

// goOn lets time go on, from the present.
func (m *Model) goOn() {
	m.present()
	if m.snap.State == engine.Paused {
		m.send(experiment.Command{Pause: new(bool)})
	}
}

// arrange makes everything as it was before the tour but for some changes, and
// returns the label of what that takes; "" if it is so already.
func (m *Model) arrange(list ...config.Change) string {
	target := m.tour.was.Clone()
	if len(list) > 0 {
		target.Shadows = nil
	}
	for _, ch := range list {
		if err := target.Apply(ch); err != nil {
			m.say(err.Error(), true)
			return ""
		}
	}
	ch := target.Undo(m.want.config(m.snap))
	if ch.IsZero() {
		return ""
	}
	m.flush()
	if err := m.want.ask(m.snap.Config, ch, m.ticks); err != nil {
		m.say(err.Error(), true)
	}
	m.flush()
	return ch.Label()
}

// tourTick changes the one thing when its time has come.
func (m *Model) tourTick() {
	t := m.tour
	if t == nil {
		return
	}
	if m.snap.Now < t.from { // somebody went back in time
		t.from, t.acts = m.snap.Now, m.snap.Now+tourLead
	}
	if step := &t.steps[t.at]; !t.acted && m.snap.Now >= t.acts && !m.tooQuiet() {
		t.acted, m.stale = true, true
		t.label = m.arrange(step.scene, step.then)
	}
}

// tourBusy is how many cubes must change in a frame before a step about them goes
// on, and tourPatience how long it waits for that.
const tourBusy, tourPatience = 10, 30 * time.Second

// tooQuiet reports whether the step had better wait until more cubes move.
func (m *Model) tooQuiet() bool {
	t := m.tour
	return t.steps[t.at].look == onRatio && m.snap.Now < t.acts+tourPatience && m.sight(false).lane().Recent.ChangedPerFrame < tourBusy
}

// leaveTour restores what was set before, and says why.
func (m *Model) leaveTour(why string) {
	t := m.tour
	m.spotlight(nowhere)
	m.arrange()
	m.tour = nil
	if t.speed != 1 {
		m.want.askSpeed(t.speed, m.ticks)
		m.send(experiment.Command{Speed: &t.speed})
	}
	if t.state == engine.Paused {
		yes := true
		m.send(experiment.Command{Pause: &yes})
	}
	m.turn(t.open)
	m.say(why, false)
}

// spotlight shows the place that a step is about, on its page.
func (m *Model) spotlight(s spot) {
	for i, p := range m.pages {
		if s != nowhere && p.number() == s.page() {
			m.open = i
		}
		if live, ok := p.(*livePage); ok {
			live.light(s)
		}
	}
	m.page().observe(m.sight(true))
	m.stale = true
}

// tourKeys are the keys that the tour takes for itself.
func tourKeys() []binding {
	const group = "Tour"
	return []binding{
		bind(group, []string{"enter", " "}, "enter", "the next step of the tour", act(func(m *Model) { m.tourStep(m.tour.at + 1) })).inFooter("next step").pin(),
		bind(group, []string{"backspace"}, "backspace", "the step before", act(func(m *Model) { m.tourStep(m.tour.at - 1) })).inFooter("back").pin(),
		bind(group, []string{"esc"}, "esc", "leave the tour; everything is set as it was", act(func(m *Model) { m.leaveTour("the tour is over; your settings are back") })).inFooter("leave the tour").pin(),
	}
}

// keyInTour gives a key to the tour, and reports whether it had a use for it: all
// others do what they always do.
func (m *Model) keyInTour(msg tea.KeyMsg) bool {
	for _, b := range tourKeys() {
		if key.Matches(msg, b.Binding) {
			b.do(m)
			return true
		}
	}
	return false
}

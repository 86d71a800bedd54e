package ui

import (
	"errors"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/dataset/frame"
	"wirelab/experiment"
)

// tour is the guided tour under way: the articles made touchable, one idea a
// step. A step sets a scene, lets it run for a moment so that there is something
// to compare with, then changes one thing, and says what to look at. All it does
// is make the same changes that keys make; leaving takes them back.
type tour struct {
	lab   *session
	light func(spot) // shows a place on its page
	over  func()     // the tour is over, its settings are taken back

	steps []tourStep
	at    int
	acts  time.Duration // when the step changes its one thing
	acted bool
	label string // of the mark of that change

	was   *experiment.Config // what to restore
	speed float64
	state experiment.RunState
}

// tourLead is how long a scene runs before the step changes its one thing.
const tourLead = 4 * time.Second

// errNoTour: the tour shows encoders of cubes.
var errNoTour = errors.New("the tour is about snapshots of cubes; start it with tui tour, or with the demo")

// newTour makes the tour over what is set now; step begins it. light shows a place
// on its page, over is called when the tour has ended.
func newTour(lab *session, light func(spot), over func()) (*tour, error) {
	if lab.snap.Schema == nil || !frame.IsCubes(lab.snap.Schema) {
		return nil, errNoTour
	}
	return &tour{lab: lab, light: light, over: over, steps: tourSteps(), was: lab.config().Clone(), speed: lab.speed(), state: lab.snap.State}, nil
}

// begin shows the first step, at the usual speed.
func (t *tour) begin() {
	if t.speed != 1 {
		t.lab.setSpeed(1)
	}
	t.step(0)
}

// step sets the scene of the i-th step; beyond the last one the tour is over.
func (t *tour) step(i int) {
	if i >= len(t.steps) {
		t.leave("that was the tour; your settings are back. e lists the encoders, ? every key, t shows it again")
		return
	}
	t.at, t.acted, t.label = max(i, 0), false, ""
	step := &t.steps[t.at]
	t.goOn()
	now := t.lab.snap.Now
	t.lab.from, t.acts = now, now+tourLead
	if t.arrange(step.scene) == "" { // it holds already: what ran so far is the comparison
		t.lab.from = max(now-tourLead, 0)
		t.acts = now + tourLead/2
	}
	t.light(step.look)
}

// goOn lets time go on, from the present.
func (t *tour) goOn() {
	t.lab.present()
	if t.lab.snap.State == experiment.Paused {
		t.lab.pause(false)
	}
}

// arrange makes everything as it was before the tour but for some changes, and
// returns the label of what that takes; "" if it is so already.
func (t *tour) arrange(list ...experiment.Change) string {
	target := t.was.Clone()
	if len(list) > 0 {
		target.Shadows = nil
	}
	for _, ch := range list {
		if err := target.Apply(ch); err != nil {
			t.lab.say(err.Error(), true)
			return ""
		}
	}
	ch := target.Undo(t.lab.config())
	if ch.IsZero() {
		return ""
	}
	t.lab.flush()
	if err := t.lab.ask(ch); err != nil {
		t.lab.say(err.Error(), true)
	}
	t.lab.flush()
	return ch.Label()
}

// tick changes the one thing when its time has come, and reports whether it did.
func (t *tour) tick() bool {
	now := t.lab.snap.Now
	if now < t.lab.from { // somebody went back in time
		t.lab.from, t.acts = now, now+tourLead
	}
	if t.acted || now < t.acts || t.tooQuiet() {
		return false
	}
	step := &t.steps[t.at]
	t.acted = true
	t.label = t.arrange(step.scene, step.then)
	return true
}

// tourBusy is how many cubes must change in a frame before a step about them goes
// on, and tourPatience how long it waits for that.
const tourBusy, tourPatience = 10, 30 * time.Second

// tooQuiet reports whether the step had better wait until more cubes move.
func (t *tour) tooQuiet() bool {
	lanes := t.lab.shown().Lanes
	return t.steps[t.at].look == onRatio && t.lab.snap.Now < t.acts+tourPatience && (len(lanes) == 0 || lanes[0].Recent.ChangedPerFrame < tourBusy)
}

// leave restores what was set before, and says why.
func (t *tour) leave(why string) {
	t.light(nowhere)
	t.arrange()
	t.lab.from = 0
	if t.speed != 1 {
		t.lab.setSpeed(t.speed)
	}
	if t.state == experiment.Paused {
		t.lab.pause(true)
	}
	t.over()
	t.lab.say(why, false)
}

// keys are the keys that the tour takes for itself.
func (t *tour) keys() []binding {
	const group = "Tour"
	leave := func() { t.leave("the tour is over; your settings are back") }
	return []binding{
		bind(group, []string{"enter", " "}, "enter", "the next step of the tour", quietly(func() { t.step(t.at + 1) })).inFooter("next step").pin(),
		bind(group, []string{"backspace"}, "backspace", "the step before", quietly(func() { t.step(t.at - 1) })).inFooter("back").pin(),
		bind(group, []string{"esc"}, "esc", "leave the tour; everything is set as it was", quietly(leave)).inFooter("leave the tour").pin(),
	}
}

// key gives a key to the tour, and reports whether it had a use for it: all others
// do what they always do.
func (t *tour) key(msg tea.KeyMsg) bool {
	for _, b := range t.keys() {
		if key.Matches(msg, b.Binding) {
			b.do()
			return true
		}
	}
	return false
}

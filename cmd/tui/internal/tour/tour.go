package tour

import (
	"errors"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"

	"github.com/charmbracelet/bubbles/key"

	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/session"
	"wirelab/dataset/frame"

	tea "github.com/charmbracelet/bubbletea"
)

// tour is the guided tour under way. Each step sets a scene, lets it run for a
// moment so that there is something to compare with, changes one thing, and says
// what to look at. It makes the same changes that keys make, and takes them back
// at the end.
type tour struct {
	lab   *session.Session
	light func(Spot) // shows a place on its page
	over  func()     // the tour is over, its settings are taken back

	steps []lesson
	at    int
	acts  time.Duration // when the step changes its one thing
	acted bool
	label string // of the mark of that change

	was   *config.Config // what to restore
	speed float64
	state engine.RunState
}

// lead is how long a scene runs before the step changes its one thing.
const lead = 4 * time.Second

// errNoCubes: the tour shows encoders of cubes.
var errNoCubes = errors.New("the tour is about snapshots of cubes; start it with tui tour, or with the demo")

// New makes the tour over what is set now; step begins it. light shows a place
// on its page, over is called when the tour has ended.
func New(lab *session.Session, light func(Spot), over func()) (*tour, error) {
	if lab.Snap.Schema == nil || !frame.IsCubes(lab.Snap.Schema) {
		return nil, errNoCubes
	}
	return &tour{lab: lab, light: light, over: over, steps: steps(), was: lab.Config().Clone(), speed: lab.Speed(),
		state: lab.Snap.State}, nil
}

// Begin shows the first step, at the usual speed.
func (t *tour) Begin() {
	if t.speed != 1 {
		t.lab.SetSpeed(1)
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
	now := t.lab.Snap.Now
	t.lab.From, t.acts = now, now+lead
	if t.arrange(step.scene) == "" { // it holds already: what ran so far is the comparison
		t.lab.From = max(now-lead, 0)
		t.acts = now + lead/2
	}
	t.light(step.look)
}

// goOn lets time go on, from the present.
func (t *tour) goOn() {
	t.lab.Present()
	if t.lab.Snap.State == engine.Paused {
		t.lab.Pause(false)
	}
}

// arrange makes everything as it was before the tour but for some changes, and
// returns the label of what that takes; "" if it is so already.
func (t *tour) arrange(list ...config.Change) string {
	target := t.was.Clone()
	if len(list) > 0 {
		target.Shadows = nil
	}
	for _, ch := range list {
		if err := target.Apply(ch); err != nil {
			t.lab.Say(err.Error(), true)
			return ""
		}
	}
	if t.lab.Snap.To != "" {
		target.Shadows = nil // a network treats no two encoders alike: before and after must do
	}
	ch := target.Undo(t.lab.Config())
	if ch.IsZero() {
		return ""
	}
	t.lab.Flush()
	if err := t.lab.Ask(ch); err != nil {
		t.lab.Say(err.Error(), true)
	}
	t.lab.Flush()
	return ch.Label()
}

// Tick changes the one thing when its time has come, and reports whether it did.
func (t *tour) Tick() bool {
	now := t.lab.Snap.Now
	if now < t.lab.From { // somebody went back in time
		t.lab.From, t.acts = now, now+lead
	}
	if t.acted || now < t.acts || t.tooQuiet() {
		return false
	}
	step := &t.steps[t.at]
	t.acted = true
	t.label = t.arrange(step.scene, step.then)
	return true
}

// busy is how many cubes must change in a frame before a step about them goes
// on, and patienceForCubes how long it waits for that.
const busy, patienceForCubes = 10, 30 * time.Second

// tooQuiet reports whether the step had better wait until more cubes move.
func (t *tour) tooQuiet() bool {
	lanes := t.lab.Shown().Lanes
	return t.steps[t.at].look == OnRatio && t.lab.Snap.Now < t.acts+patienceForCubes &&
		(len(lanes) == 0 || lanes[0].Recent.ChangedPerFrame < busy)
}

// leave restores what was set before, and says why.
func (t *tour) leave(why string) {
	t.light(Nowhere)
	t.arrange()
	t.lab.From = 0
	if t.speed != 1 {
		t.lab.SetSpeed(t.speed)
	}
	if t.state == engine.Paused {
		t.lab.Pause(true)
	}
	t.over()
	t.lab.Say(why, false)
}

// Group is what the keys of the tour stand under in the help.
const Group = "Tour"

// Keys are the keys that the tour takes for itself.
func (t *tour) Keys() []room.Binding {
	const group = Group
	leave := func() { t.leave("the tour is over; your settings are back") }
	return []room.Binding{
		room.Bind(group, []string{"enter", " "}, "enter", "the next step of the tour",
			room.Quietly(func() { t.step(t.at + 1) })).InFooter("next step").Pin(),
		room.Bind(group, []string{"backspace"}, "backspace", "the step before",
			room.Quietly(func() { t.step(t.at - 1) })).InFooter("back").Pin(),
		room.Bind(group, []string{"esc"}, "esc", "leave the tour; everything is set as it was",
			room.Quietly(leave)).InFooter("leave the tour").Pin(),
	}
}

// Key gives a key to the tour, and reports whether it had a use for it: all others
// do what they always do.
func (t *tour) Key(msg tea.KeyMsg) bool {
	for _, b := range t.Keys() {
		if key.Matches(msg, b.Binding) {
			b.Do()
			return true
		}
	}
	return false
}

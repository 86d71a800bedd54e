package tour

import (
	"errors"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"

	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/session"
	"wirelab/dataset/frame"

	tea "github.com/charmbracelet/bubbletea"
)

// tour is the state of a guided tour. Each step configures a scene, lets it run for comparison, and
// changes one setting. The changes are those that keys make; the original settings are restored at
// the end.
type tour struct {
	lab       *session.Session
	highlight func(Spot) // opens the page of a spot and highlights the spot
	finished  func()     // called when the tour has ended

	steps        []step
	index        int
	changeAt     time.Duration // virtual time of the step's change
	changed      bool          // the change of the step was applied
	changedLater bool          // the later change of the step was applied
	label        string        // label of the mark that the lab sets for the step's change

	original *config.Config // the configuration to restore
	speed    float64        // to restore
	state    engine.RunState
}

// sceneTime is how long a scene runs before the change.
const sceneTime = 4 * time.Second

// laterTime is the time between the change of a step and its later change.
const laterTime = 2 * time.Second

// errNoCubes means that the session does not suit the tour.
var errNoCubes = errors.New("the tour needs snapshots of cubes and one receiver; run tui tour, or use the demo data")

// Suits reports whether a session sends cubes to one receiver.
func Suits(snap *engine.Snapshot) bool {
	return snap.Crowd == nil && snap.Schema != nil && frame.IsCubes(snap.Schema)
}

// New returns a tour of the session; Begin starts it. highlight opens the page of a spot and highlights the
// spot, finished is called when the tour has ended. The settings of the session are restored at the end. It
// fails if the session does not suit the tour.
func New(lab *session.Session, highlight func(Spot), finished func()) (*tour, error) {
	if !Suits(lab.Snap) {
		return nil, errNoCubes
	}
	return &tour{lab: lab, highlight: highlight, finished: finished, steps: steps(), original: lab.Config().Clone(), speed: lab.Speed(),
		state: lab.Snap.State}, nil
}

// Begin starts the first step, at real-time speed.
func (t *tour) Begin() {
	if t.speed != 1 {
		t.lab.SetSpeed(1)
	}
	t.startStep(0)
}

// startStep configures the scene of step i, of the first step if i is -1, and schedules its change; after the
// last step it ends the tour. If the scene is configured already, the samples so far count as part of it.
func (t *tour) startStep(i int) {
	if i >= len(t.steps) {
		t.end("the tour has ended; your settings are restored. e lists the encoders, ? lists all keys, /tour repeats the tour")
		return
	}
	t.index, t.changed, t.changedLater, t.label = max(i, 0), false, false, ""
	step := &t.steps[t.index]
	t.resume()
	now := t.lab.Snap.Now
	t.lab.From, t.changeAt = now, now+sceneTime
	if t.applyChanges(step.scene) == "" { // nothing had to change
		t.lab.From = max(now-sceneTime, 0)
		t.changeAt = now + sceneTime/2
	}
	t.highlight(step.spot)
}

// resume continues virtual time at the present.
func (t *tour) resume() {
	t.lab.ReturnToPresent()
	const pause = true
	if t.lab.Snap.State == engine.Paused {
		t.lab.Pause(!pause)
	}
}

// applyChanges sets the original configuration with the changes of list applied. Without changes it
// restores the original configuration, shadows included. It returns the label of the resulting change,
// "" if nothing had to change.
func (t *tour) applyChanges(list ...config.Change) string {
	const isError = true
	target := t.original.Clone()
	if len(list) > 0 {
		target.Shadows = nil // a step has only the shadows that its change adds
	}
	for _, ch := range list {
		if err := target.Apply(ch); err != nil {
			t.lab.Say(err.Error(), isError)
			return ""
		}
	}
	if t.lab.Snap.To != "" {
		target.Shadows = nil // not possible over a network; the time before the change is compared instead
	}
	ch := target.Undo(t.lab.Config()) // the change from the present configuration to target
	if ch.IsZero() {
		return ""
	}
	t.lab.Flush() // so that ch is not combined with other changes
	if err := t.lab.RequestChange(ch); err != nil {
		t.lab.Say(err.Error(), isError)
	}
	t.lab.Flush()
	return ch.Label()
}

// Tick applies the change of the step when it is due, and reports whether it did.
func (t *tour) Tick() bool {
	now := t.lab.Snap.Now
	if now < t.lab.From { // the session was rewound
		t.lab.From, t.changeAt = now, now+sceneTime
	}
	step := &t.steps[t.index]
	if t.changed && !t.changedLater && !step.later.IsZero() && now >= t.changeAt+laterTime {
		t.changedLater = true
		t.applyChanges(step.scene, step.change, step.later)
		return true
	}
	if t.changed || now < t.changeAt || t.tooQuiet() {
		return false
	}
	t.changed, t.changeAt = true, now
	t.label = t.applyChanges(step.scene, step.change)
	return true
}

// A step about bits per changed cube waits until minChanging cubes change per frame, but at most
// maxQuietWait.
const minChanging, maxQuietWait = 10, 30 * time.Second

// tooQuiet reports whether the change of the current step should wait until more cubes move: only of a step about
// bits per changed cube, which are meaningless while few cubes change.
func (t *tour) tooQuiet() bool {
	lanes := t.lab.Shown().Lanes
	return t.steps[t.index].spot == OnRatio && t.lab.Snap.Now < t.changeAt+maxQuietWait &&
		(len(lanes) == 0 || lanes[0].Recent.ChangedPerFrame < minChanging)
}

// end restores the original settings, speed and run state, calls finished and shows a notice.
func (t *tour) end(notice string) {
	t.highlight(Nowhere)
	t.applyChanges() // without changes: restores the original configuration
	t.lab.From = 0   // show all samples again
	if t.speed != 1 {
		t.lab.SetSpeed(t.speed)
	}
	const pause, isError = true, false
	if t.state == engine.Paused {
		t.lab.Pause(pause)
	}
	t.finished()
	t.lab.Say(notice, isError)
}

func (t *tour) Keys() []room.Binding {
	next := func(step int) room.Request {
		t.startStep(t.index + step)
		return room.Request{}
	}
	leave := func() { t.end("the tour has ended; your settings are restored") }
	return []room.Binding{
		room.Pair("backspace", "enter space", "next step; backspace: previous step", next).Labelled("enter").InFooter("next step").Pin(),
		room.Bind("esc", "end the tour and restore all settings", room.WithoutRequest(leave)).InFooter("end tour").Pin(),
	}
}

// Key handles a key of the tour, and reports whether msg is one. Other keys keep their meaning.
func (t *tour) Key(msg tea.KeyMsg) bool {
	b := room.FindBinding(t.Keys(), msg)
	if b != nil {
		b.Press(msg)
	}
	return b != nil
}

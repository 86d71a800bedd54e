package playout

import (
	"slices"
	"time"

	"wirelab/dataset/frame"
	"wirelab/dataset/world"
)

// Picture is a copy of the cubes at both endpoints at one time, for the dashboard. Only sessions of
// cubes have one.
type Picture struct {
	Sent  []Pose // the sender's cubes now, the player's cube first
	Shown []Pose // the cubes on the receiver's display; nil before the display begins

	// Error is the position error of each displayed cube in millimetres; nil if unknown.
	Error   []float32
	Behind  time.Duration // lag of the displayed time behind the sender
	Starved bool          // there is no snapshot to interpolate to, so the display stands still

	Live      bool        // the source accepts the user's input
	Autopilot bool        // the source's script plays, not the user
	Keys      world.Input // keys held in the newest frame
}

// Pose is the position and rotation of a cube, precise enough for display.
type Pose struct {
	X, Y, Z     float32    // metres, z is up
	Rot         [4]float32 // unit quaternion x y z w
	Interacting bool
}

// displayPose converts a cubePose to the lower precision of Pose.
func displayPose(p *cubePose) Pose {
	q := p.rot
	return Pose{
		X: float32(p.pos.X), Y: float32(p.pos.Y), Z: float32(p.pos.Z),
		Rot: [4]float32{float32(q.X), float32(q.Y), float32(q.Z), float32(q.W)}, Interacting: p.interacting,
	}
}

// Picture returns a copy of the cubes at both endpoints; 60 KB for 901 cubes. sent is the sender's newest
// frame and must be a frame of cubes, t has the source's frames, and now is the time of the display. Before the display
// begins, only Sent is set. The caller sets Live, Autopilot and Keys.
func (d *Display) Picture(sent *frame.Frame, t *Truths, now time.Duration) *Picture {
	x := &d.screen
	p := &Picture{Sent: make([]Pose, x.rows)}
	for i := range p.Sent {
		var pose cubePose
		pose.setRow(cubeRowAt(sent, i), nil)
		p.Sent[i] = displayPose(&pose)
	}
	w := x.findWindow(x.moment)
	if !d.clock.running || !x.hasState {
		return p
	}
	p.Behind = now - x.moment
	p.Starved = w[2].entry == nil
	b := newBlend(x, &w, x.moment)
	b.setTruth(t, &w, x.moment, x.cadence.TickHz)
	p.Shown = make([]Pose, x.rows)
	for i := range p.Shown {
		pose := b.shownPose(i)
		p.Shown[i] = displayPose(&pose)
	}
	if !b.hasTruth {
		return p
	}
	p.Error = make([]float32, x.rows)
	for i := range p.Error {
		um, _, _ := b.cubeError(i)
		p.Error[i] = float32(um) / 1000
	}
	return p
}

// Frames contains copies of the sender's newest frame and of the frame that the receiver displays,
// for data that are neither cubes nor files. The copies have at most maxCells values and maxBody
// bytes; frames with a field of role frame.Position, which are drawn as a map, have all values.
type Frames struct {
	Sent    frame.Frame
	Shown   *frame.Frame  // nil before the display begins, or if the frame is no longer in the history
	Age     time.Duration // since the sender captured Shown
	Starved bool          // no newer frame has arrived
	Keys    []string      // the user's ids of the things in the rows; nil if they have none

	// Next is the frame after Shown in the receiver's history, and Weight from 0 to 1 is how much of the
	// time between both has passed: a game that interpolates shows positions and angles between them,
	// Behind the sender's present. Next is nil while the display is starved, and for schemas without
	// interpolated columns.
	Next   *frame.Frame
	Weight float64
	Behind time.Duration
}

// Limits of a copy in Frames: maxCells values of the table, except for maps, and maxBody bytes of the body.
const maxCells, maxBody = 4096, 4096

// Frames returns copies of the frames at both endpoints, with at most maxCells values of the table unless
// the schema has positions, which are displayed as a map. s is the schema of sent, the sender's newest
// frame, and now is the time of the display.
func (d *Display) Frames(s *frame.Schema, sent *frame.Frame, now time.Duration) *Frames {
	cells := maxCells
	hasPositions := slices.ContainsFunc(s.Fields, func(f frame.Field) bool { return f.Hint.Role == frame.Position })
	if hasPositions {
		cells = s.Cells()
	}
	f := &Frames{Sent: copyPrefix(sent, cells)}
	x := &d.screen
	if !d.clock.running || !x.hasState {
		return f
	}
	f.Age, f.Starved = now-x.cadence.TickTime(x.cadence.Tick(x.shownSeq)), x.starved
	if e := x.history.Get(x.shownSeq); e != nil {
		shown := copyPrefix(&e.Frame, cells)
		f.Shown = &shown
	}
	if w := x.findWindow(x.moment); x.columns != nil && f.Shown != nil && w[1].entry != nil && w[2].entry != nil && w[1].entry.Seq == x.shownSeq && w[1].at < w[2].at {
		next := copyPrefix(&w[2].entry.Frame, cells)
		f.Next, f.Behind = &next, now-x.moment
		f.Weight = float64(x.moment-w[1].at) / float64(w[2].at-w[1].at)
	}
	return f
}

// copyPrefix returns a copy of a frame with at most cells values and maxBody bytes.
func copyPrefix(f *frame.Frame, cells int) frame.Frame {
	return frame.Frame{Tick: f.Tick, Table: slices.Clone(f.Table[:min(len(f.Table), cells)]),
		Body: slices.Clone(f.Body[:min(len(f.Body), maxBody)])}
}

package playout

import (
	"slices"
	"time"

	"wirelab/dataset/frame"
	"wirelab/dataset/world"
)

// Picture is the world at both ends at one moment, for display. Only sessions of cube
// snapshots have one.
type Picture struct {
	Sent  []Pose // the sender's cubes now, the player's cube first
	Shown []Pose // the receiver's display; nil before it begins

	// Error is the position error of each cube on display, in millimetres; nil if unknown.
	Error   []float32
	Moment  time.Duration // source time on display
	Starved bool          // there is no snapshot to interpolate to, so the display freezes

	Live      bool        // the source takes player input
	Autopilot bool        // the script plays, not the user
	Keys      world.Input // keys held in the newest frame
}

// Pose is the position and rotation of a cube, precise enough for display.
type Pose struct {
	X, Y, Z     float32    // metres, z is up
	Rot         [4]float32 // unit quaternion x y z w
	Interacting bool
}

func displayPose(p *cubePose) Pose {
	q := p.rot
	return Pose{
		X: float32(p.pos.X), Y: float32(p.pos.Y), Z: float32(p.pos.Z),
		Rot: [4]float32{float32(q.X), float32(q.Y), float32(q.Z), float32(q.W)}, Interacting: p.interacting,
	}
}

// Picture returns a copy, of about 60 KB, of the cubes at both ends. sent is the sender's newest
// frame and must be a frame of cubes. Before the display begins, only Sent is set. Live, Autopilot
// and Keys are left to the caller.
func (d *Display) Picture(sent *frame.Frame) *Picture {
	p := &Picture{Sent: make([]Pose, len(sent.Table)/frame.CubeFields)}
	for i := range p.Sent {
		var at cubePose
		at.setRow(cubeRowAt(sent, i))
		p.Sent[i] = displayPose(&at)
	}
	x := &d.screen
	if !d.clock.running || x.poses == nil {
		return p
	}
	p.Moment, p.Starved = x.moment, x.starved
	p.Shown = make([]Pose, len(x.poses))
	for i := range x.poses {
		p.Shown[i] = displayPose(&x.poses[i])
	}
	if !x.truthKnown {
		return p
	}
	p.Error = make([]float32, len(x.errorUM))
	for i, um := range x.errorUM {
		p.Error[i] = float32(um) / 1000
	}
	return p
}

// Frames holds the newest frame at the sender and the frame that the receiver shows, for data that
// are neither cubes nor files. It holds at most the first maxCells values and maxBody bytes of each
// frame, but all values if the schema has a field with the role frame.Place.
type Frames struct {
	Sent    frame.Frame
	Shown   *frame.Frame  // nil before the display begins, or if the frame is no longer in the history
	Age     time.Duration // since the sender captured Shown
	Starved bool          // no newer frame has arrived
}

const maxCells, maxBody = 4096, 4096

// Frames returns copies of the frames at both ends. sent is the sender's newest frame; now is virtual time.
func (d *Display) Frames(s *frame.Schema, sent *frame.Frame, now time.Duration) *Frames {
	cells := maxCells
	if slices.ContainsFunc(s.Fields, func(f frame.Field) bool { return f.Hint.Role == frame.Place }) {
		cells = s.Cells()
	}
	f := &Frames{Sent: copyPrefix(sent, cells)}
	x := &d.screen
	if !d.clock.running || !x.hasState {
		return f
	}
	f.Age, f.Starved = now-x.capturedAt, x.starved
	if e := x.history.Get(x.shownSeq); e != nil {
		shown := copyPrefix(&e.Frame, cells)
		f.Shown = &shown
	}
	return f
}

// copyPrefix copies the first cells values and the first maxBody bytes of a frame.
func copyPrefix(f *frame.Frame, cells int) frame.Frame {
	return frame.Frame{Tick: f.Tick, Table: slices.Clone(f.Table[:min(len(f.Table), cells)]),
		Body: slices.Clone(f.Body[:min(len(f.Body), maxBody)])}
}

package engine

import (
	"time"

	"wirelab/dataset/world"
)

// Picture is the world at both ends at one moment, for display. Only sessions of cube
// snapshots have one.
type Picture struct {
	Sent  []Pose // the sender's cubes now, the player's cube first
	Shown []Pose // the receiver's display; nil before it begins

	// Error is the position error of each cube on display, in millimetres; nil while
	// that is not known.
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

func poseOf(p *place) Pose {
	q := p.rot
	return Pose{
		X: float32(p.pos.X), Y: float32(p.pos.Y), Z: float32(p.pos.Z),
		Rot: [4]float32{float32(q.X), float32(q.Y), float32(q.Z), float32(q.W)}, Interacting: p.interacting,
	}
}

// picture returns the world at both ends now; nil if the data are no cubes, and
// before the first frame. It is a copy of 60 KB and is never modified.
func (s *Session) picture() *Picture {
	if !s.cubes || s.ticks == 0 {
		return nil
	}
	p := &Picture{Sent: make([]Pose, s.schema.Rows)}
	for i := range p.Sent {
		var at place
		at.set(rowOf(&s.cur.Frame, i))
		p.Sent[i] = poseOf(&at)
	}
	if s.steered != nil {
		p.Live, p.Autopilot, p.Keys = true, !s.keys.manual, s.steered.Keys()
	}
	s.lanes[0].depict(p)
	return p
}

// depict fills in the receiver's side of p.
func (l *lane) depict(p *Picture) {
	x := &l.screen
	if !l.play.running || x.places == nil {
		return
	}
	p.Moment, p.Starved = x.moment, x.starved
	p.Shown = make([]Pose, len(x.places))
	for i := range x.places {
		p.Shown[i] = poseOf(&x.places[i])
	}
	if !x.known {
		return
	}
	p.Error = make([]float32, len(x.off))
	for i, um := range x.off {
		p.Error[i] = float32(um) / 1000
	}
}

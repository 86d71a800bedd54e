package engine

import (
	"time"

	"wirelab/dataset/world"
)

// Picture is the world at both ends at one moment, for a person to look at. It is
// made for cube snapshots only.
type Picture struct {
	Sent  []Pose // what the sender has now, the player's cube first
	Shown []Pose // what the receiver displays; nil before it begins

	// Error is how far each cube is displayed from where it was at the moment on
	// display, in millimetres; nil while that is not known.
	Error   []float32
	Moment  time.Duration // on display, in source time
	Starved bool          // there is no snapshot to interpolate to: the display stands still

	Live      bool        // somebody may play it
	Autopilot bool        // the script does
	Keys      world.Input // held in the newest frame
}

// Pose is where a cube is and how it lies, as precisely as a screen can show it.
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

// picture is what there is to see now; nil if the data are no cubes, and before
// the first frame. It is a copy of 60 KB that nobody writes to again.
func (s *Session) picture() *Picture {
	if !s.cubes || s.ticks == 0 {
		return nil
	}
	p := &Picture{Sent: make([]Pose, s.schema.Rows)}
	for i := range p.Sent {
		at := placeOf(rowOf(s.cur, i))
		p.Sent[i] = poseOf(&at)
	}
	if s.steered != nil {
		p.Live, p.Autopilot, p.Keys = true, !s.keys.manual, s.steered.Keys()
	}
	s.lanes[0].depict(p)
	return p
}

// depict fills in the receiver's side.
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

package labtest

import (
	"math"
	"time"

	"wirelab/dataset/world"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/figures"
)

// WorldPicture is a made-up world, a function of the time alone: the player goes
// round in a circle, what is near interacts, and what it has passed is heaped.
func WorldPicture(now time.Duration) *playout.Picture {
	p := &playout.Picture{Live: true, Autopilot: true, Keys: world.Input{Left: true, Push: true},
		Moment: now - 124*time.Millisecond, Sent: poses(now), Shown: poses(now - 124*time.Millisecond)}
	late := poses(now - 130*time.Millisecond)
	for i := range p.Shown {
		d := math.Hypot(float64(p.Shown[i].X-late[i].X), float64(p.Shown[i].Y-late[i].Y))
		p.Error = append(p.Error, float32(1000*d))
	}
	return p
}

func poses(now time.Duration) []playout.Pose {
	const radius = 9
	angle := now.Seconds() / 3
	turn := func(about float64) [4]float32 {
		return [4]float32{2: float32(math.Sin(about / 2)), 3: float32(math.Cos(about / 2))}
	}
	me := playout.Pose{X: float32(radius * math.Cos(angle)), Y: float32(radius * math.Sin(angle)), Z: 1.9, Rot: turn(angle),
		Interacting: true}
	list := []playout.Pose{me}
	for i := range 900 {
		x, y := float64(i%30)-14.5, float64(i/30)-14.5
		at := playout.Pose{X: float32(x), Y: float32(y), Z: 0.2, Rot: turn(0)}
		if d := math.Hypot(x-float64(me.X), y-float64(me.Y)); d < 4 {
			away := float32((4 - d) / 4)
			at.X, at.Y = at.X+away*(at.X-me.X), at.Y+away*(at.Y-me.Y)
			at.Z, at.Rot, at.Interacting = 0.2+away, turn(x*angle), true
		}
		list = append(list, at)
	}
	return list
}

// NewWorld is a lab that shows the live world, on a display that starves for
// half a second every ten.
func NewWorld() *Lab {
	lab := NewLab()
	lab.Snap.World = WorldPicture(lab.Snap.Now)
	lab.Snap.Config.Data.Source = "world"
	lane := &lab.Snap.Lanes[0]
	for i := range lane.Samples {
		s := &lane.Samples[i]
		s.Displayed, s.Aged, s.Age, s.Oldest = 6, 6, 6*124*time.Millisecond, 124*time.Millisecond
		if i%100 >= 60 && i%100 < 65 {
			s.Starved, s.Late, s.Oldest = 4, 1, time.Duration(124+17*(i%100-59))*time.Millisecond
			s.PositionErrorMM, s.OrientationErrorDeg = float64(20*(i%100-59)), float64(i%100-59)
		}
	}
	lane.Totals.AgeMS = figures.Quantiles{N: 1, P50: 124, P99: 209}
	lane.Recent.StarvedRatio, lane.Recent.PositionErrorMM = 0.031, 80
	return lab
}

package labtest

import (
	"math"
	"time"

	"wirelab/dataset/world"
	"wirelab/experiment/engine/playout"
)

// WorldPicture returns a fake world as a function of time: the player moves in a circle, and
// cubes near the player interact and are lifted.
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

// poses returns the player and a grid of 900 cubes.
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

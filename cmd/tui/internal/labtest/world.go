package labtest

import (
	"math"
	"time"

	"wirelab/dataset/world"
	"wirelab/experiment/engine/playout"
)

// WorldPicture returns a fake world as a function of time: the player moves in a circle, and
// cubes near the player interact and are lifted. The receiver's display is 124 ms late, and its
// position error is a movement of 6 ms.
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

// poses returns the pose of the player and of 900 cubes in a grid. Cubes within 4 m of the player
// are pushed away and lifted.
func poses(now time.Duration) []playout.Pose {
	const radius = 9
	angle := now.Seconds() / 3
	rotation := func(about float64) [4]float32 { // quaternion of a rotation about the z axis
		return [4]float32{2: float32(math.Sin(about / 2)), 3: float32(math.Cos(about / 2))}
	}
	player := playout.Pose{X: float32(radius * math.Cos(angle)), Y: float32(radius * math.Sin(angle)), Z: 1.9, Rot: rotation(angle),
		Interacting: true}
	list := []playout.Pose{player}
	for i := range 900 {
		x, y := float64(i%30)-14.5, float64(i/30)-14.5
		cube := playout.Pose{X: float32(x), Y: float32(y), Z: 0.2, Rot: rotation(0)}
		if d := math.Hypot(x-float64(player.X), y-float64(player.Y)); d < 4 {
			push := float32((4 - d) / 4)
			cube.X, cube.Y = cube.X+push*(cube.X-player.X), cube.Y+push*(cube.Y-player.Y)
			cube.Z, cube.Rot, cube.Interacting = 0.2+push, rotation(x*angle), true
		}
		list = append(list, cube)
	}
	return list
}

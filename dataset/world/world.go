// Package world is the cube world of Fiedler's networked-physics demonstration,
// rebuilt: 900 small cubes lie in a grid, and a player's cube, which may roll,
// hover over them and blow them apart, or gather them up, disturbs them. Its
// snapshots, quantised as in the walk-off's recordings, are what the lab sends.
//
//	world        the state of the world and one step of it
//	player       how the keys move the player
//	reach        the push and the pull on what is around
//	interacting  which cubes the player has to do with
//	quantise     from metres and quaternions to integers
//	script       what is played when no user holds the keys
//	pilot        what then holds the keys;
//	drift, chase ways of steering
//	source       all of it as a source of frames
//
// What the cubes then do is physics: see package physics, whose law is that of the
// recordings. The same seed and script give the same snapshots to the bit, on any
// machine.
//
// To an encoder the world looks like the recordings alpha, bravo and charlie, in
// which the player hovers: the script "random" costs 2 % fewer bits per changed cube, 7 %
// fewer cubes change, and large differences are as large to 10 %. Median differences are
// up to 21 % smaller, for this player also rolls, gathers and rests; where the one of a
// recording does, they are the same. `tui datasets stats world --against FILE` shows
// it all side by side.
package world

import (
	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// The layout of the world, in metres.
const (
	side        = 30 // cubes along one side of the grid
	cubes       = side*side + 1
	spacing     = 1.0
	cubeHalf    = 0.2
	cubeHeight  = 0.201 // of the centres at first: a hair above the floor, as in the recordings
	playerHalf  = 0.75
	startHeight = 10.0

	stepsPerSecond = 60
)

// player is the player's cube; the grid follows.
const player = 0

// sim is a world that is played.
type sim struct {
	scene       *physics.Scene
	tick        int // steps made
	interacting [cubes]bool
	rested      [cubes]uint8 // steps for which an interacting cube has been asleep
	table       [cubes * frame.CubeFields]int32
	changed     frame.Rows // the rows that the last step changed
}

// law returns what the world obeys: what the recordings do. Only the speed limit
// is lower, as in the demonstration, and no step is cut short: a heap that a
// forecast may give up on is here what has to be forecast.
func law() physics.Rigid {
	l := physics.Recorder()
	l.MaxSpeed, l.Effort = 32, 8
	return l
}

// newSim returns a world with the grid at rest and the player above it.
func newSim() *sim {
	s := &sim{scene: physics.NewScene(cubes), changed: frame.NewRows(cubes)}
	l := law()
	s.scene.Reset(l, nil)
	upright := physics.Quat{W: 1}
	s.scene.Place(player, playerHalf, physics.Vec{Z: startHeight}, upright, physics.Vec{}, physics.Vec{}, 0)
	const first = -spacing * (side - 1) / 2
	for i := range side * side {
		at := physics.Vec{X: first + float64(i%side), Y: first + float64(i/side), Z: cubeHeight}
		s.scene.Place(1+i, cubeHalf, at, upright, physics.Vec{}, physics.Vec{}, l.RestTime)
	}
	s.interacting[player] = true
	for i := range cubes {
		s.quantise(i)
	}
	return s
}

// Player returns the player's cube.
func (s *sim) Player() *physics.Body { return s.scene.Body(player) }

// Step advances the world by a sixtieth of a second with these keys held.
func (s *sim) Step(in Input) {
	s.drive(in)
	if in.Push {
		s.hover()
		s.push(in.Pull)
	}
	if in.Pull {
		s.pull()
	}
	s.scene.Step(1.0 / stepsPerSecond)
	s.spread()
	s.changed.Clear()
	for i := range cubes {
		row := (*[frame.CubeFields]int32)(s.table[i*frame.CubeFields:])
		was := *row
		if b := s.scene.Body(i); !b.Asleep() {
			b.Pos = confined(b.Pos)
			s.quantise(i)
		}
		row[frame.CubeInteracting] = int32(held(s.interacting[i]))
		if *row != was {
			s.changed.Add(i)
		}
	}
	s.tick++
}

// confined returns p, limited to the positions that snapshots can express.
func confined(p physics.Vec) physics.Vec {
	const wide, high = 256, 32
	return physics.Vec{X: max(-wide, min(p.X, wide)), Y: max(-wide, min(p.Y, wide)), Z: max(0, min(p.Z, high))}
}

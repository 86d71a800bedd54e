// Package world simulates the cube world of Fiedler's networked-physics demonstration: 900 small cubes
// in a grid, and a player's cube that rolls through them, hovers over them and blows them apart, or
// gathers them up. Its snapshots, quantised as in the walk-off's recordings, are frames for the lab.
//
//	world        the state of the world and one step
//	player       how the keys move the player
//	reach        the push and the pull on the cubes nearby
//	interacting  which cubes the player interacts with
//	quantise     conversion of metres and quaternions to integers
//	script       scripts, which play when no user holds the keys
//	pilot        plays a script
//	drift, chase ways of steering
//	source       the world as a source of frames
//
// The motion of the cubes is simulated by package physics, with the parameters of the recordings. The
// same seed and script give the same snapshots to the bit on every machine.
//
// For an encoder the world resembles the recordings alpha, bravo and charlie, in which the player
// hovers: with the script "random" a changed cube costs 2 % fewer bits, 7 % fewer cubes change, and
// large differences agree within 10 %. Median differences are up to 21 % smaller, since this player
// also rolls, gathers and rests; where the player of a recording does so, they agree.
// `tui datasets stats world --against FILE` prints the comparison.
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
	cubeHeight  = 0.201 // initial height of the centres: just above the floor, as in the recordings
	playerHalf  = 0.75
	startHeight = 10.0

	stepsPerSecond = 60
)

// player is the index of the player's cube; the cubes of the grid have the indices after it.
const player = 0

// sim is the simulation of a world.
type sim struct {
	scene       *physics.Scene
	tick        int // number of steps so far
	interacting [cubes]bool
	sleptSteps  [cubes]uint8                    // steps for which an interacting cube has been asleep
	fields      []frame.Field                   // of the snapshots
	table       [cubes * frame.CubeFields]int32 // table of the current snapshot
	residual    [cubes * frame.CubeFields]float32
	changed     frame.Rows // rows that the last step changed
}

// physicsParams returns the physical parameters: those of the recordings, but with the lower speed
// limit of the demonstration, and with limits on work that are not reached, since the world must
// not depend on them.
func physicsParams() physics.Params {
	params := physics.RecorderParams()
	params.MaxSpeed, params.Effort = 32, 8
	return params
}

// newSim returns a world with the grid at rest and the player above it.
func newSim() *sim {
	s := &sim{scene: physics.NewScene(cubes), fields: frame.Cubes(cubes).Fields, changed: frame.NewRows(cubes)}
	params := physicsParams()
	s.scene.Reset(params, nil)
	upright := physics.Quat{W: 1}
	s.scene.Place(player, playerHalf, physics.Vec{Z: startHeight}, upright, physics.Vec{}, physics.Vec{}, 0)
	const first = -spacing * (side - 1) / 2
	for i := range side * side {
		pos := physics.Vec{X: first + float64(i%side), Y: first + float64(i/side), Z: cubeHeight}
		s.scene.Place(1+i, cubeHalf, pos, upright, physics.Vec{}, physics.Vec{}, params.RestTime) // still for RestTime: the cube is asleep
	}
	s.interacting[player] = true
	for i := range cubes {
		s.quantise(i)
	}
	return s
}

// Player returns the player's cube.
func (s *sim) Player() *physics.Body { return s.scene.Body(player) }

// Step advances the world by a sixtieth of a second during which the keys of in are held. It updates the
// table of the snapshot and the set of changed rows.
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
	s.spreadInteracting()
	s.changed.Clear()
	for i := range cubes {
		row := (*[frame.CubeFields]int32)(s.table[i*frame.CubeFields:])
		was := *row
		if b := s.scene.Body(i); !b.Asleep() {
			b.Pos = clampPosition(b.Pos)
			s.quantise(i)
		}
		row[frame.CubeInteracting] = int32(keyValue(s.interacting[i]))
		if *row != was {
			s.changed.Add(i)
		}
	}
	s.tick++
}

// clampPosition returns p limited to the range of positions in snapshots.
func clampPosition(p physics.Vec) physics.Vec {
	const wide, high = 256, 32
	return physics.Vec{X: max(-wide, min(p.X, wide)), Y: max(-wide, min(p.Y, wide)), Z: max(0, min(p.Z, high))}
}

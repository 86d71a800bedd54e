// Package world is the cube world of Fiedler's networked-physics demonstration,
// made anew: 900 small cubes lie in a grid, and a player's cube, which may roll,
// hover over them and blow them apart, or gather them up, disturbs them. Its
// snapshots, quantised as in the walk-off's recordings, are what the lab sends.
//
//	sim          the state of the world and one step of it
//	player       how the keys move the player
//	reach        the push and the pull on what is around
//	interacting  which cubes the player has to do with
//	quantise     from metres and quaternions to integers
//	script       what is played when nobody is there
//	pilot        who then presses the keys
//	source       all of it as a source of frames
//
// The same seed and script give the same snapshots to the bit, on any machine.
package world

import "wirelab/dataset/physics"

// The layout of the world, in metres.
const (
	side        = 30 // cubes along one side of the grid
	Cubes       = side*side + 1
	spacing     = 1.0
	cubeHalf    = 0.2
	cubeHeight  = 0.201 // of the centres at first: a hair above the floor, as in the recordings
	playerHalf  = 0.75
	startHeight = 10.0
	density     = 1.0 // kilograms per cubic metre: the cubes are toys
)

// player is the player's cube; the grid follows.
const player = 0

// Sim is a world being played. It is not a source of frames yet: see Source.
type Sim struct {
	phys        *physics.World
	tick        int // steps made
	interacting [Cubes]bool
	rested      [Cubes]uint8 // steps for which an interacting cube has been asleep
}

// NewSim returns a world with the grid at rest and the player above it.
func NewSim() *Sim {
	s := &Sim{phys: physics.New(physics.Default())}
	s.phys.AddCube(physics.Vec{Z: startHeight}, playerHalf, density)
	const first = -spacing * (side - 1) / 2
	for row := range side {
		for column := range side {
			at := physics.Vec{X: first + float64(column), Y: first + float64(row), Z: cubeHeight}
			s.phys.Body(s.phys.AddCube(at, cubeHalf, density)).Sleep()
		}
	}
	s.interacting[player] = true
	return s
}

// Tick returns how many steps have been made.
func (s *Sim) Tick() int { return s.tick }

// Player returns the player's cube.
func (s *Sim) Player() *physics.Body { return s.phys.Body(player) }

// Awake counts the cubes that are being simulated.
func (s *Sim) Awake() int {
	n := 0
	for i := range s.phys.Len() {
		if !s.phys.Body(i).Asleep() {
			n++
		}
	}
	return n
}

// Step advances the world by a sixtieth of a second with these keys held.
func (s *Sim) Step(in Input) {
	s.drive(in)
	if in.Push {
		s.hover()
		s.push(in.Pull)
	}
	if in.Pull {
		s.pull()
	}
	s.phys.Step()
	s.spread()
	s.tick++
}

package recording

import (
	"math"
	"math/rand/v2"

	"wirelab/dataset/frame"
	"wirelab/dataset/physics"
)

// crowdWarmUp is the number of steps after which the motion of a crowd is stationary.
const crowdWarmUp = 90

// Crowd returns frames of a world of any size: cubes in a grid around a player at rest, of which about
// movers move at any time. Resting cubes are kicked up at random among the 4*movers cubes around the player,
// so that motion is equally dense for any number of movers. The cubes fly, land on others, tumble and come
// to rest, with the physics of the recordings. The same arguments give the same frames.
func Crowd(cubes, movers, frames int) []*frame.Frame {
	c := newCrowd(cubes, movers)
	for range crowdWarmUp {
		c.step()
	}
	list := make([]*frame.Frame, frames)
	for n := range list {
		c.step()
		list[n] = &frame.Frame{Tick: uint32(n), Table: append([]int32(nil), c.table...)}
	}
	return list
}

// crowd is a world in which cubes are kicked.
type crowd struct {
	scene    *physics.Scene // the simulated cubes
	rng      *rand.Rand     // chooses the cubes to kick and their speeds
	cubes    int            // number of cubes, the player included
	movers   int            // number of cubes to be kept in motion
	kickable []int          // cubes near the player
	table    []int32        // the current frame
}

// newCrowd returns a world with all cubes at rest.
func newCrowd(cubes, movers int) *crowd {
	c := &crowd{scene: physics.NewScene(cubes), rng: rand.New(rand.NewPCG(uint64(cubes), uint64(movers))), cubes: cubes,
		movers: movers, table: make([]int32, cubes*frame.CubeFields)}
	rigid := physics.RecorderParams()
	rigid.Effort = 8 + cubes/100 // enough contacts and sweeps for every step
	c.scene.Reset(rigid, nil)
	upright := physics.Quat{W: 1}
	const playerHalf, cubeHalf = 0.75, 0.2 // half the sides, in metres
	c.scene.Place(0, playerHalf, physics.Vec{Z: playerHalf}, upright, physics.Vec{}, physics.Vec{}, rigid.RestTime)
	side := int(math.Ceil(math.Sqrt(float64(cubes - 1))))
	kickDistance := math.Sqrt(float64(4*movers)) / 2 // metres from the centre; there is a cube in each square metre
	for i := 1; i < cubes; i++ {
		pos := physics.Vec{X: float64((i-1)%side-side/2) + 0.5, Y: float64((i-1)/side-side/2) + 0.5, Z: 0.201} // 1 mm above the floor
		if max(math.Abs(pos.X), math.Abs(pos.Y)) < 1 {
			pos.Z += 1.5 // lies on the player
		}
		c.scene.Place(i, cubeHalf, pos, upright, physics.Vec{}, physics.Vec{}, rigid.RestTime)
		if max(math.Abs(pos.X), math.Abs(pos.Y)) < kickDistance {
			c.kickable = append(c.kickable, i)
		}
	}
	for i := range cubes { // write the first frame
		c.quantise(i)
	}
	return c
}

// step kicks resting cubes while fewer than c.movers move, and simulates a sixtieth of a second.
func (c *crowd) step() {
	awake := 0
	for i := range c.cubes {
		if !c.scene.Body(i).Asleep() {
			awake++
		}
	}
	// At most a thirtieth in one step, so that cubes do not move in unison.
	for k := 0; k < min(c.movers-awake, c.movers/30+1) && len(c.kickable) > 0; k++ {
		i := c.kickable[c.rng.IntN(len(c.kickable))]
		if c.scene.Body(i).Asleep() {
			c.kick(i)
		}
	}
	c.scene.Step(1.0 / 60)
	for i := range c.cubes {
		if !c.scene.Body(i).Asleep() {
			c.quantise(i)
		}
	}
}

// kick gives cube i a random speed upwards and sideways and a random spin, by an acceleration in the next
// step.
func (c *crowd) kick(i int) {
	// A random speed between two bounds, as the acceleration that gives it in a step of 1/60 s.
	random := func(low, high float64) float64 { return 60 * (low + float64(c.rng.Float64()*(high-low))) }
	c.scene.Accelerate(i, physics.Vec{X: random(-3, 3), Y: random(-3, 3), Z: random(3, 6)})
	c.scene.Twist(i, physics.Vec{X: random(-8, 8), Y: random(-8, 8), Z: random(-8, 8)})
}

// The format of the recordings: see frame.Cubes.
const (
	minorComponent = 1 / math.Sqrt2 // bound of the components of a quaternion other than the largest
	componentSteps = 511            // from -minorComponent to minorComponent, whose distance is math.Sqrt2
	minCoordinate  = -1 << 17       // smallest x and y; z is at least 0
)

// quantise updates the row of cube i, in the format of the recordings: an orientation as the smallest three
// components, the position and the interacting flag.
func (c *crowd) quantise(i int) {
	b := c.scene.Body(i)
	q := [4]float64{b.Rot.X, b.Rot.Y, b.Rot.Z, b.Rot.W}
	largest := 0
	for k, v := range q {
		if math.Abs(v) > math.Abs(q[largest]) {
			largest = k
		}
	}
	sign := math.Copysign(1, q[largest])
	row := c.table[i*frame.CubeFields : i*frame.CubeFields : (i+1)*frame.CubeFields]
	row = append(row, int32(largest))
	for k, v := range q {
		if k != largest {
			step := math.Floor(float64((float64(v*sign)+minorComponent)/math.Sqrt2*componentSteps) + 0.5)
			row = append(row, int32(max(0, min(step, componentSteps))))
		}
	}
	for _, v := range [...]float64{b.Pos.X, b.Pos.Y, b.Pos.Z} { // cubes do not get beyond the upper bounds within seconds
		row = append(row, int32(max(math.Floor(float64(v*frame.UnitsPerMetre)+0.5), minCoordinate)))
	}
	const notInteracting = 0
	row = append(row, notInteracting)
	row[frame.CubeZ] = max(row[frame.CubeZ], 0)
}

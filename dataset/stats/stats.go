// Package stats counts what makes snapshots of cubes cheap or dear to send: how
// many cubes change, how often a cube turned but did not move, how large the
// differences are, whether the cubes that change stay the same ones.
//
// Two sources of snapshots that agree in these numbers look alike to an encoder.
// That is how the world of our own is held against the walk-off's recordings,
// which were made by another physics engine.
package stats

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/internal/quantile"
)

// age is how many frames before its own the frame lies that a frame is compared
// with: the walk-off's tenth of a second.
const age = 6

// ActiveCubes is how many cubes change in a frame that is called active. In the
// others everything has settled, or nearly so, and a mean over them says more of
// the player's patience than of physics.
const ActiveCubes = 10

// counter takes the frames of one source, in order.
type counter struct {
	rows   int
	past   [age]frame.Frame // frame n at n mod Age
	frames int              // compared so far

	changes   quantile.Counts // cubes that changed, of each frame
	interacts int64           // cubes with the flag, of all frames

	position, orientation, interacting int64 // cubes that changed in this, of all frames
	both                               int64 // in position and orientation
	sameLargest                        int64 // orientation changed, its largest component did not

	deltas [frame.CubeFields]quantile.Counts

	lasted  []int64         // per cube: for how many frames it has changed without a pause
	inTime  quantile.Counts // such stretches that have ended
	inOrder quantile.Counts // stretches of changed cubes with consecutive numbers
}

// New begins with the initial state, which counts as the frames before the first.
// It panics if s does not describe cubes.
func New(s *frame.Schema, initial *frame.Frame) *counter {
	if !frame.IsCubes(s) {
		panic(fmt.Sprintf("stats: %s are no cubes", s.Name))
	}
	c := &counter{rows: s.Rows, lasted: make([]int64, s.Rows)}
	for i := range c.past {
		c.past[i].CopyFrom(initial)
	}
	return c
}

// Add counts the next frame.
func (c *counter) Add(f *frame.Frame) {
	base := &c.past[c.frames%age]
	changed, stretch := int64(0), int64(0)
	for i := range c.rows {
		at := i * frame.CubeFields
		now, before := (*[frame.CubeFields]int32)(f.Table[at:]), (*[frame.CubeFields]int32)(base.Table[at:])
		c.interacts += int64(now[frame.CubeInteracting])
		if *now == *before {
			endRun(&c.inTime, &c.lasted[i])
			endRun(&c.inOrder, &stretch)
			continue
		}
		c.compare(now, before)
		c.lasted[i]++
		stretch++
		changed++
	}
	endRun(&c.inOrder, &stretch)
	c.changes.Add(changed)
	base.CopyFrom(f)
	c.frames++
}

// compare counts in what a cube that changed did so, and by how much.
func (c *counter) compare(now, before *[frame.CubeFields]int32) {
	moved := [3]int32(now[frame.CubeX:]) != [3]int32(before[frame.CubeX:])
	turned := [4]int32(now[:]) != [4]int32(before[:])
	if moved {
		c.position++
		c.measure(now, before, frame.CubeX)
	}
	if turned {
		c.orientation++
		if now[frame.CubeLargest] == before[frame.CubeLargest] {
			c.sameLargest++
			c.measure(now, before, frame.CubeA)
		}
	}
	if moved && turned {
		c.both++
	}
	if now[frame.CubeInteracting] != before[frame.CubeInteracting] {
		c.interacting++
	}
}

// measure notes the differences in three columns, from first on.
func (c *counter) measure(now, before *[frame.CubeFields]int32, first int) {
	for k := first; k < first+3; k++ {
		d := int64(now[k]) - int64(before[k])
		c.deltas[k].Add(max(d, -d))
	}
}

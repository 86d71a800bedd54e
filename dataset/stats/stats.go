// Package stats computes the statistics of snapshots of cubes that determine how well they
// compress: how many cubes change, how often a cube turns without moving, how large the differences
// are, and for how long the same cubes change. Type Bodies does the same for messages.
//
// Two sources with equal statistics are about equally hard for an encoder. The statistics were used to
// compare the cube world with the walk-off's recordings, which another physics engine made.
package stats

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/internal/quantile"
)

// age is the distance in frames over which changes are counted: the age of baselines in the walk-off's
// rules, a tenth of a second.
const age = 6

// ActiveCubes is the number of changed cubes from which a frame is active. In other frames nearly
// everything is at rest; a mean over all frames would depend mostly on how long the player pauses.
const ActiveCubes = 10

// counter collects the statistics of one source.
type counter struct {
	cubes  int
	ring   [age]frame.Frame // frame n at index n mod age
	frames int              // number of frames added

	changes          quantile.Counts // number of changed cubes of each frame
	interactingCubes int64           // cubes with the interacting flag, over all frames

	positionChanged, orientationChanged, flagChanged int64 // cubes whose position, orientation or flag changed, over all frames
	bothChanged                                      int64 // cubes whose position and orientation changed
	sameLargest                                      int64 // cubes whose orientation changed but not the index of its largest component

	deltas [frame.CubeFields]quantile.Counts // magnitudes of differences by field

	runLength []int64         // by cube: number of successive frames in which it has changed
	runFrames quantile.Counts // lengths of completed runs of frames in which a cube changed
	runCubes  quantile.Counts // lengths of runs of changed cubes with consecutive indices in a frame
}

// New returns a counter. The frames before the first one are taken to be equal to initial. It panics if
// s is not a schema of cubes.
func New(s *frame.Schema, initial *frame.Frame) *counter {
	if !frame.IsCubes(s) {
		panic(fmt.Sprintf("stats: %s is not a schema of cubes", s.Name))
	}
	c := &counter{cubes: s.Rows, runLength: make([]int64, s.Rows)}
	for i := range c.ring {
		c.ring[i].CopyFrom(initial)
	}
	return c
}

// Add adds the next frame: it compares each cube with the same cube age frames before.
func (c *counter) Add(f *frame.Frame) {
	base := &c.ring[c.frames%age]
	changed, cubeRun := int64(0), int64(0) // changed cubes of the frame; of these, the successive ones up to cube i
	for i := range c.cubes {
		at := i * frame.CubeFields
		now, before := (*[frame.CubeFields]int32)(f.Table[at:]), (*[frame.CubeFields]int32)(base.Table[at:])
		c.interactingCubes += int64(now[frame.CubeInteracting])
		if *now == *before {
			endRun(&c.runFrames, &c.runLength[i])
			endRun(&c.runCubes, &cubeRun)
			continue
		}
		c.countChange(now, before)
		c.runLength[i]++
		cubeRun++
		changed++
	}
	endRun(&c.runCubes, &cubeRun)
	c.changes.Add(changed)
	base.CopyFrom(f)
	c.frames++
}

// countChange counts which components of a changed cube differ, and by how much. now and before are the fields of
// the cube, in the order of frame.Cubes.
func (c *counter) countChange(now, before *[frame.CubeFields]int32) {
	moved := [3]int32(now[frame.CubeX:]) != [3]int32(before[frame.CubeX:]) // x, y, z
	turned := [4]int32(now[:]) != [4]int32(before[:])                      // index of the largest component, and the other three
	if moved {
		c.positionChanged++
		c.addDeltas(now, before, frame.CubeX)
	}
	if turned {
		c.orientationChanged++
		if now[frame.CubeLargest] == before[frame.CubeLargest] {
			c.sameLargest++
			c.addDeltas(now, before, frame.CubeA)
		}
	}
	if moved && turned {
		c.bothChanged++
	}
	if now[frame.CubeInteracting] != before[frame.CubeInteracting] {
		c.flagChanged++
	}
}

// addDeltas adds the magnitudes of the differences in the three columns from first on, such as x, y and z.
func (c *counter) addDeltas(now, before *[frame.CubeFields]int32, first int) {
	for k := first; k < first+3; k++ {
		d := int64(now[k]) - int64(before[k])
		c.deltas[k].Add(max(d, -d))
	}
}

package entropy

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/rotation"
)

// orientationGrid is the grid of the smallest three (Gaffer on Games, "Snapshot Compression"): 511
// steps from -1/sqrt(2) to 1/sqrt(2), which is 361.33 steps to 1. Zero lies between two steps.
var orientationGrid = rotation.SmallestThree{Scale: stepsToOne, Zero: zeroStep}

const (
	stepsToOne = 361.33
	zeroStep   = 255.5
)

func orientation(q *cube.Row) rotation.Quaternion {
	return orientationGrid.Decode(q[frame.CubeLargest], q[frame.CubeA:frame.CubeX])
}

// dot returns the scalar product of p and q.
func dot(p, q *rotation.Quaternion) float64 {
	return float64(p[0]*q[0]) + float64(p[1]*q[1]) + float64(p[2]*q[2]) + float64(p[3]*q[3])
}

// numMargins is the number of values of marginClass.
const numMargins = 12

// marginClass returns a class of the difference between the magnitudes of the largest and the second
// largest component, in steps of 1/40.
func marginClass(p *rotation.Quaternion, largest, second int) int {
	return min(int(float64(min(math.Abs(p[largest])-math.Abs(p[second]), 1)*40)), numMargins-1)
}

// floatSignClass is signClass for a float; magnitudes up to 0.001 count as zero.
func floatSignClass(v float64) int {
	return 1 + rangecoder.Flag(v > 0.001) - rangecoder.Flag(v < -0.001)
}

// gridStep returns the nearest step of orientationGrid for component v.
func gridStep(v float64) int32 {
	return int32(min(max(math.Floor(float64(v*stepsToOne)+(zeroStep+0.5)), 0), 1<<cube.SmallBits-1))
}

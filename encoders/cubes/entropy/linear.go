package entropy

import "wirelab/encoders/rangecoder"

// linear predicts a number as a weighted sum of features. The weights of each class are
// trained for the least absolute error; the squared error would be dominated by
// collisions, which cannot be predicted. Drag, gravity, the floor, rolling and joint
// motion are all captured so.
type linear struct {
	features int
	weights  []int32 // by class and feature, in units of 1/weightOne
}

const (
	weightBits = 14
	weightOne  = 1 << weightBits
)

// maxGuess bounds predictions.
const maxGuess = 1 << 15

// predict returns the sum for one class.
func (l *linear) predict(class int, features []int32) int32 {
	var sum int64
	for i, w := range l.weights[class*l.features:][:len(features)] {
		sum += int64(w) * int64(features[i])
	}
	return int32(min(max((sum+weightOne/2)>>weightBits, -maxGuess), maxGuess))
}

// Classes of linear predictions.
const (
	heights = 5 // of a cube above the floor
	classes = 2 * 2 * 3 * heights

	shiftFeatures = 9
	turnFeatures  = 4
)

// height returns a class of the height: flat on the floor, tilted, on an edge or corner,
// in a pile, in the air.
func height(z int32) int {
	switch {
	case z < 108:
		return 0
	case z < 150:
		return 1
	case z < 190:
		return 2
	case z < 320:
		return 3
	}
	return 4
}

// class returns the class of one axis of a cube.
func (k *cubeContext) class(axis int) int {
	return ((k.height*3+min(max(k.far-6, 0)/2, 2))*2+rangecoder.Flag(k.step != nil))*2 + rangecoder.Flag(axis == 2)
}

// shiftFeatures returns the features that predict the shift along an axis.
func (k *cubeContext) shiftFeatures(j int) (f [shiftFeatures]int32) {
	const cap = 1 << 14
	axis := 4 + j
	f[0] = 64
	f[1] = min(max(k.v[j], -cap), cap)
	if k.step != nil {
		f[2] = int32(k.step.miss[j])
	}
	if k.near != nil {
		f[3] = min(max(k.near.miss[j], -cap), cap)
	}
	f[4] = min(max(k.drive[j], -cap), cap)
	// Away from the player: the direction, and the force of its push.
	away := int64(k.base[axis] - k.player[axis])
	f[5] = int32(away * 64 / (k.distance + 1))
	f[6] = int32((away*2 - int64(k.drive[j])) << 13 / (k.distance*k.distance + 4096))
	switch {
	case j == 2:
		f[7] = min(max(k.base[axis]-102, -512), 512)
		f[8] = min(max(k.v[0], -k.v[0])+max(k.v[1], -k.v[1]), cap)
	case k.near != nil:
		f[7] = min(max(k.near.shift[j], -cap), cap)
	}
	return f
}

// turnFeatures returns the features that predict the turn about an axis: the last turn,
// the turn of a cube that rolls, the same for the motion before, and the residual of the
// neighbour's turn.
func (k *cubeContext) turnFeatures(axis int, spin, shift [3]int32) (f [turnFeatures]int32) {
	const cap = 1 << 14
	f[0] = spin[axis]
	roll := func(v [3]int32) int32 {
		switch axis {
		case 0:
			return -min(max(v[1], -cap/8), cap/8) * 8
		case 1:
			return min(max(v[0], -cap/8), cap/8) * 8
		}
		return 0
	}
	f[1], f[2] = roll(shift), roll(k.v)
	if k.near != nil {
		f[3] = k.near.turnMiss[axis]
	}
	return f
}

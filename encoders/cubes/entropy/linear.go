package entropy

import (
	"math"
	"math/bits"

	"wirelab/encoders/rangecoder"
)

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

// fits holds the samples of predictions for a trainer.
type fits struct{ shift, turn fit }

// fit finds the weights of each class with the least absolute error, by iteratively
// reweighted least squares: in each pass a sample counts less the larger its error was.
//
// Every product that is added is converted, so that all machines find the same.
type fit struct {
	features int
	soft     float64     // errors below it weigh alike
	xx, xy   [][]float64 // by class
}

func newFit(features int, soft float64) fit {
	f := fit{features, soft, make([][]float64, classes), make([][]float64, classes)}
	for c := range classes {
		f.xx[c], f.xy[c] = make([]float64, features*features), make([]float64, features)
	}
	return f
}

// add adds a sample: the features, the truth, and the error of the present weights.
func (t *fit) add(class int, features []int32, truth, miss int32) {
	w := 1 / (t.soft + math.Abs(float64(miss)))
	for i, v := range features {
		v := float64(float64(v) * w)
		for j, u := range features {
			t.xx[class][i*t.features+j] += float64(v * float64(u))
		}
		t.xy[class][i] += float64(v * float64(truth))
	}
}

// weights returns the best weights in units of 1/weightOne.
func (t *fit) weights() []int32 {
	var out []int32
	for c := range classes {
		for _, w := range solve(t.xx[c], t.xy[c]) {
			out = append(out, int32(math.Round(min(max(float64(w*weightOne), -1<<24), 1<<24))))
		}
	}
	return out
}

// solve returns x with a x = b, where a is symmetric and positive semidefinite, by
// elimination. A small diagonal term gives features that never occurred a weight of
// zero.
func solve(a, b []float64) []float64 {
	n := len(b)
	a, b = append([]float64(nil), a...), append([]float64(nil), b...)
	for i := range n {
		a[i*n+i] += float64(1e-3*a[i*n+i]) + 1e-3
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			f := a[j*n+i] / a[i*n+i]
			for k := i; k < n; k++ {
				a[j*n+k] -= float64(f * a[i*n+k])
			}
			b[j] -= float64(f * b[i])
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		s := b[i]
		for k := i + 1; k < n; k++ {
			s -= float64(a[i*n+k] * x[k])
		}
		x[i] = s / a[i*n+i]
	}
	return x
}

// scale predicts the size of a residual: the logarithm is the sum of one trained weight
// for each feature. It makes one context of many features, whose product would be far
// too many contexts.
type scale struct {
	weights   []int32 // by kind and feature, in units of 1/65536 of a doubling
	rate      int32   // of a trainer: learning rate, of 65536; 0 in a codec
	at        [scaleFeatures]int32
	predicted int32
}

const (
	scaleFeatures = 13
	buckets       = 32 // of each feature
	scaleSize     = kinds * scaleFeatures * buckets
)

// expect returns the predicted logarithm of 1+|residual| of a number of this kind, in
// units of 1/65536.
func (s *scale) expect(kind int, in *[scaleFeatures]int) int32 {
	begin := kind * scaleFeatures * buckets
	w := (*[scaleFeatures * buckets]int32)(s.weights[begin:])
	s.predicted = 0
	for i, b := range in {
		s.predicted += w[i*buckets+min(max(b, 0), buckets-1)]
	}
	if s.rate != 0 { // in a trainer
		for i, b := range in {
			s.at[i] = int32(begin + i*buckets + min(max(b, 0), buckets-1))
		}
	}
	return s.predicted
}

// learn trains the weights by the residual that the last prediction was for.
func (s *scale) learn(miss int32) {
	if s.rate == 0 {
		return
	}
	step := int32(int64(logMagnitude(miss)-s.predicted) * int64(s.rate) >> 16)
	for _, at := range s.at {
		s.weights[at] += step
	}
}

// logMagnitude returns the logarithm of 1+|v| in units of 1/65536, interpolated between
// powers of two.
func logMagnitude(v int32) int32 {
	u := uint64(max(v, -v)) + 1
	n := bits.Len64(u) - 1
	return int32(n<<16 + int((u<<16)>>n) - 1<<16)
}

// bucket returns the class of a predicted logarithm, below most, with steps classes to a doubling.
func bucket(guess int32, steps, most int) int {
	return min(max(int(guess)*steps>>16, 0), most-1)
}

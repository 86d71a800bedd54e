package entropy

import (
	"math"
	"math/bits"

	"wirelab/dataset/frame"
	"wirelab/encoders/rangecoder"
)

// linear predicts a number as a weighted sum of features. Each class of cubes has its own weights,
// trained for the least absolute error. Least squares would fit mostly the collisions, which have
// large errors and cannot be predicted. The weights capture drag, gravity, the floor, rolling and
// common motion.
type linear struct {
	features int     // number of features
	weights  []int32 // of each feature of class 0, then of class 1 and so on, in units of 1/weightOne
}

const (
	weightBits = 14
	weightOne  = 1 << weightBits // a weight of 1
)

// maxPrediction bounds predictions.
const maxPrediction = 1 << 15

// predict returns the weighted sum of features for one class, rounded.
func (l *linear) predict(class int, features []int32) int32 {
	var sum int64
	for i, w := range l.weights[class*l.features:][:len(features)] {
		sum += int64(w) * int64(features[i])
	}
	return int32(min(max((sum+weightOne/2)>>weightBits, -maxPrediction), maxPrediction))
}

// The classes of linear predictions, see cubeContext.linearClass, and the numbers of their features.
const (
	numHeights       = 5 // values of heightClass
	numLinearClasses = 2 * 2 * 3 * numHeights

	numShiftFeatures = 9
	numTurnFeatures  = 4
)

// heightClass returns a class of the height of a cube's centre, in units of 1/512 m: flat on the floor
// (half a side is 102), tilted, on an edge (145) or a corner (177), on another cube (307), in the air.
func heightClass(z int32) int {
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

// linearClass returns the class of a cube for predictions along or about an axis: by height, distance
// from the player, whether it changed in the baseline, and whether the axis is z.
func (k *cubeContext) linearClass(axis int) int {
	return ((k.heightClass*3+min(max(k.distanceClass-6, 0)/2, 2))*2+rangecoder.Flag(k.lastStep != nil))*2 +
		rangecoder.Flag(axis == 2)
}

// shiftFeatures returns the features that predict the shift along axis j: a constant, the shift at the
// last velocity, the last residual, the neighbour's residual, the player's shift, and the direction
// and force of the player's push. For z follow the height above the floor and the horizontal speed,
// for x and y the neighbour's shift.
func (k *cubeContext) shiftFeatures(j int) (f [numShiftFeatures]int32) {
	const bound = 1 << 14   // bounds the sum of products in linear.predict
	axis := frame.CubeX + j // the column of the coordinate
	f[0] = 64               // the constant, of the size of the other features
	f[1] = min(max(k.predictedShift[j], -bound), bound)
	if k.lastStep != nil {
		f[2] = int32(k.lastStep.residual[j])
	}
	if k.neighbour != nil {
		f[3] = min(max(k.neighbour.residual[j], -bound), bound)
	}
	f[4] = min(max(k.playerShift[j], -bound), bound)
	// The component of the direction away from the player, and a force that falls with the distance.
	away := int64(k.base[axis] - k.player[axis])
	f[5] = int32(away * 64 / (k.distance + 1))
	// 4096, the square of 64 units (1/8 m), limits it near the player.
	f[6] = int32((away*2 - int64(k.playerShift[j])) << 13 / (k.distance*k.distance + 4096))
	switch {
	case j == 2:
		f[7] = min(max(k.base[axis]-102, -512), 512) // 102 is the height of a cube on the floor
		f[8] = min(max(k.predictedShift[0], -k.predictedShift[0])+max(k.predictedShift[1], -k.predictedShift[1]), bound)
	case k.neighbour != nil:
		f[7] = min(max(k.neighbour.shift[j], -bound), bound)
	}
	return f
}

// turnFeatures returns the features that predict the turn about an axis: the last turn, the turn of a
// cube that rolls without sliding (by its shift, and by its last velocity), and the neighbour's
// residual. shift is the cube's shift, which is coded before its orientation. A cube that rolls along y
// turns about x in the negative sense, along x about y in the positive sense; the factor of 8 brings
// shifts closer to the size of turns.
func (k *cubeContext) turnFeatures(axis int, lastTurn, shift [3]int32) (f [numTurnFeatures]int32) {
	const bound = 1 << 14 // limits the sum of products
	f[0] = lastTurn[axis]
	roll := func(v [3]int32) int32 {
		switch axis {
		case 0:
			return -min(max(v[1], -bound/8), bound/8) * 8
		case 1:
			return min(max(v[0], -bound/8), bound/8) * 8
		}
		return 0
	}
	f[1], f[2] = roll(shift), roll(k.predictedShift)
	if k.neighbour != nil {
		f[3] = k.neighbour.turnResidual[axis]
	}
	return f
}

// fits are the fits of both linear predictions, in training.
type fits struct{ shift, turn fit }

// fit finds the weights of each class with the least absolute error, by iteratively reweighted least
// squares: in each pass over the samples a sample counts less the larger its error was with the
// weights of the pass before.
//
// Every product that is added is converted to prevent fusing, so that all machines find the same.
type fit struct {
	features  int
	softening float64     // errors well below it have the same weight
	xx, xy    [][]float64 // of each class: weighted sums of feature products, and of feature times truth
}

// newFit returns a fit for one pass over samples with the given number of features.
func newFit(features int, softening float64) fit {
	f := fit{features, softening, make([][]float64, numLinearClasses), make([][]float64, numLinearClasses)}
	for c := range numLinearClasses {
		f.xx[c], f.xy[c] = make([]float64, features*features), make([]float64, features)
	}
	return f
}

// addSample adds a sample of a class: the features, the true number, and the residual with the
// current weights. The sample counts less the larger that residual is.
func (t *fit) addSample(class int, features []int32, truth, residual int32) {
	w := 1 / (t.softening + math.Abs(float64(residual)))
	for i, v := range features {
		weighted := float64(float64(v) * w)
		for j, u := range features {
			t.xx[class][i*t.features+j] += float64(weighted * float64(u))
		}
		t.xy[class][i] += float64(weighted * float64(truth))
	}
}

// solveWeights returns the weights of all classes, laid out as linear.weights.
func (t *fit) solveWeights() []int32 {
	var out []int32
	for c := range numLinearClasses {
		for _, w := range solve(t.xx[c], t.xy[c]) {
			out = append(out, int32(math.Round(min(max(float64(w*weightOne), -1<<24), 1<<24))))
		}
	}
	return out
}

// solve returns the x with a*x = b by Gaussian elimination. a is a symmetric, positive semidefinite
// matrix of len(b) rows. A small number is added to its diagonal (ridge regression), which gives
// features that never occurred a weight of zero.
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
	x := make([]float64, n) // by back substitution, from the last row
	for i := n - 1; i >= 0; i-- {
		s := b[i]
		for k := i + 1; k < n; k++ {
			s -= float64(a[i*n+k] * x[k])
		}
		x[i] = s / a[i*n+i]
	}
	return x
}

// sizeModel predicts the size of a residual. The predicted logarithm is the sum of one trained weight
// for each feature. So it condenses 13 features to one context; a context for each combination of
// their values would need far too many counters.
type sizeModel struct {
	weights   []int32                // of each kind, feature and bucket, in units of 1/65536 of a factor of two
	rate      int32                  // learning rate in training, in units of 1/65536; 0 in a codec
	used      [numSizeFeatures]int32 // in training: indices of the weights of the last prediction
	predicted int32                  // in training: the last prediction, in units of 1/65536 of a factor of two
}

const (
	numSizeFeatures = 13
	numBuckets      = 32 // values of each feature
	numSizeWeights  = numKinds * numSizeFeatures * numBuckets
)

// predict returns the predicted binary logarithm of 1+|residual| for a number of the given kind, in
// units of 1/65536. Features are clamped to 0..numBuckets-1.
func (s *sizeModel) predict(kind int, in *[numSizeFeatures]int) int32 {
	begin := kind * numSizeFeatures * numBuckets
	w := (*[numSizeFeatures * numBuckets]int32)(s.weights[begin:])
	s.predicted = 0
	for i, b := range in {
		s.predicted += w[i*numBuckets+min(max(b, 0), numBuckets-1)]
	}
	if s.rate != 0 { // in training
		for i, b := range in {
			s.used[i] = int32(begin + i*numBuckets + min(max(b, 0), numBuckets-1))
		}
	}
	return s.predicted
}

// train moves the weights of the last prediction towards the residual that it was for. It does
// nothing in a codec.
func (s *sizeModel) train(residual int32) {
	if s.rate == 0 {
		return
	}
	step := int32(int64(logMagnitude(residual)-s.predicted) * int64(s.rate) >> 16)
	for _, index := range s.used {
		s.weights[index] += step
	}
}

// logMagnitude returns the binary logarithm of 1+|v| in units of 1/65536, interpolated linearly
// between powers of two.
func logMagnitude(v int32) int32 {
	u := uint64(max(v, -v)) + 1
	n := bits.Len64(u) - 1
	return int32(n<<16 + int((u<<16)>>n) - 1<<16)
}

// bucket returns the class, 0 to n-1, of a predicted binary logarithm in units of 1/65536, with
// perDoubling classes for each factor of two.
func bucket(logSize int32, perDoubling, n int) int {
	return min(max(int(logSize)*perDoubling>>16, 0), n-1)
}

package entropy

import "math/bits"

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

package entropy

import "math/bits"

// scale guesses how far off a prediction will be: the logarithm of the miss is
// taken for a sum of what each circumstance adds to it. It makes one context of
// many circumstances, which together would have far too many.
type scale struct {
	weights   []int32 // by kind and circumstance, in units of 1/65536 of a doubling
	rate      int32   // of a trainer: how fast they learn, of 65536; 0 in a codec
	at        [scaleFeatures]int32
	predicted int32
}

// The circumstances, each of which has so many buckets.
const (
	scaleFeatures = 13
	buckets       = 32
	scaleSize     = kinds * scaleFeatures * buckets
)

// expect returns the logarithm of 1+|miss| that is to be expected of a number of
// this kind, in units of 1/65536.
func (s *scale) expect(kind int, in *[scaleFeatures]int) int32 {
	s.predicted = 0
	for i, b := range in {
		s.at[i] = int32((kind*scaleFeatures+i)*buckets + min(max(b, 0), buckets-1))
		s.predicted += s.weights[s.at[i]]
	}
	return s.predicted
}

// learn tells how far off the prediction was that the last guess was about.
func (s *scale) learn(miss int32) {
	if s.rate == 0 {
		return
	}
	step := int32(int64(logMagnitude(miss)-s.predicted) * int64(s.rate) >> 16)
	for _, at := range s.at {
		s.weights[at] += step
	}
}

// doublings returns the logarithm of 1+|v|, straight between powers of two, in
// units of 1/65536.
func logMagnitude(v int32) int32 {
	u := uint64(max(v, -v)) + 1
	n := bits.Len64(u) - 1
	return int32(n<<16 + int((u<<16)>>n) - 1<<16)
}

// size returns which of so many contexts a guess is in, the finest of which are
// steps to a doubling.
func bucket(guess int32, steps, most int) int {
	return min(max(int(guess)*steps>>16, 0), most-1)
}

package view

import (
	"math"
	"math/bits"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders/rotation"
)

// ErrorUnit is the number of units of a row's error per millimetre, for cubes, and per quantum of a field, for other
// tables. Errors are integers, so that priorities are the same on every machine.
const ErrorUnit = 16

// Metric measures how much two values of a row differ.
type Metric struct {
	cubes     bool
	fields    []frame.Field
	weights   []uint32 // see Weights.resolve
	equal     []uint32 // weights of 1, for Distance
	constants []uint32 // tolerances of the fields in ErrorUnit; nil for cubes, or if no field has one
}

// NewMetric returns the metric for rows of schema s.
func NewMetric(s *frame.Schema) Metric {
	m := Metric{cubes: frame.IsCubes(s), fields: s.Fields}
	m.equal = slices.Repeat([]uint32{weightUnit}, len(s.Fields))
	m.weights = m.equal
	hasTolerance := func(f frame.Field) bool { return f.Tolerance > 0 }
	if !m.cubes && slices.ContainsFunc(s.Fields, hasTolerance) {
		for i := range s.Fields {
			m.constants = append(m.constants, fieldConstant(&s.Fields[i]))
		}
	}
	return m
}

// fieldConstant returns the tolerance of a field in ErrorUnit; that of one quantum if it has none.
func fieldConstant(f *frame.Field) uint32 {
	if f.Tolerance == 0 {
		return ErrorUnit
	}
	return uint32(max(1, math.Round(ErrorUnit*f.Tolerance/f.Step())))
}

// maxError bounds the error of a row, so that sums over many ticks do not overflow.
const maxError = 1 << 22

// turnMillimetres is the error of a turn by one radian: the way of a point that is 200 mm from the axis, such as the
// corner of a cube.
const turnMillimetres = 200

// cubeRotations is the grid of the orientations of cubes; see frame.Cubes.
var cubeRotations = rotation.SmallestThree{Scale: 361.33, Zero: 256}

// UnitOf returns the unit of errors of rows of schema s, which may be nil.
func UnitOf(s *frame.Schema) string {
	if s != nil && frame.IsCubes(s) {
		return "mm"
	}
	return "steps"
}

// Distance returns the error of showing row b instead of row a, in ErrorUnit: for cubes the distance of their
// positions, and turnMillimetres for each radian between their orientations; for other rows the sum of the differences
// of their fields. It is at least 1 if the rows differ.
func (m *Metric) Distance(a, b []int32) uint32 { return m.distance(a, b, m.equal) }

// weighted is Distance with the weights of fields.
func (m *Metric) weighted(a, b []int32) uint32 { return m.distance(a, b, m.weights) }

// distance is Distance with the given weights.
func (m *Metric) distance(a, b []int32, weights []uint32) uint32 {
	sum := uint64(0)
	if m.cubes {
		x, y := (*[frame.CubeFields]int32)(a), (*[frame.CubeFields]int32)(b)
		turn := uint32(ErrorUnit * turnMillimetres * cubeTurn(x, y))
		sum = uint64(positionError(x, y))*uint64(weights[0]) + uint64(turn)*uint64(weights[1])
		return uint32(min(max(sum/weightUnit, 1), maxError))
	}
	for i := range m.fields {
		if a[i] != b[i] {
			sum += min(ErrorUnit*fieldDistance(&m.fields[i], a[i], b[i]), maxError) * uint64(weights[i])
		}
	}
	return uint32(min(1+sum/weightUnit, maxError))
}

// constant returns what a constant of 1 adds to the error of a row, in ErrorUnit: 20 mm for cubes, the largest tolerance
// of the fields in which two rows differ, or one quantum if no field has a tolerance.
func (m *Metric) constant(a, b []int32) uint64 {
	switch {
	case m.cubes:
		return 20 * ErrorUnit
	case m.constants == nil:
		return ErrorUnit
	}
	largest := uint32(0)
	for i, c := range m.constants {
		if a[i] != b[i] {
			largest = max(largest, c)
		}
	}
	return uint64(largest)
}

// Turn returns the angle between the orientations of two cubes in radians; 0 for other rows.
func (m *Metric) Turn(a, b []int32) float64 {
	if !m.cubes {
		return 0
	}
	return cubeTurn((*[frame.CubeFields]int32)(a), (*[frame.CubeFields]int32)(b))
}

// Error returns the error of showing row b instead of row a of the source, in ErrorUnit: for cubes the distance of their
// positions, for other rows the sum of the differences of their fields. residual is that of row a, see frame.Frame; nil
// means that the source does not round.
func (m *Metric) Error(a []int32, residual []float32, b []int32) uint32 {
	first := 0
	end := len(m.fields)
	if m.cubes {
		first = frame.CubeX
		end = frame.CubeInteracting
	}
	sum := 0.0
	squares := 0.0
	for i := first; i < end; i++ {
		f := &m.fields[i]
		if f.Kind != frame.Quantity && f.Kind != frame.Angle {
			if a[i] != b[i] {
				sum += float64(fieldDistance(f, a[i], b[i]))
			}
			continue
		}
		steps := float64(int64(a[i]) - int64(b[i]))
		if residual != nil {
			steps += float64(residual[i]) / f.Step()
		}
		if f.Kind == frame.Angle {
			_, span := f.Span()
			steps = math.Remainder(steps, float64(span)+1)
		}
		sum += math.Abs(steps)
		squares += float64(steps * steps)
	}
	if m.cubes {
		sum = float64(1000.0 / frame.UnitsPerMetre * math.Sqrt(squares))
	}
	return uint32(min(ErrorUnit*sum, maxError))
}

// positionError returns the distance of two cubes in ErrorUnit.
func positionError(a, b *[frame.CubeFields]int32) uint32 {
	x, y, z := int64(a[frame.CubeX]-b[frame.CubeX]), int64(a[frame.CubeY]-b[frame.CubeY]), int64(a[frame.CubeZ]-b[frame.CubeZ])
	const unitsPerStep = float64(1000*ErrorUnit) / frame.UnitsPerMetre
	return uint32(unitsPerStep * math.Sqrt(float64(x*x+y*y+z*z)))
}

// cubeTurn returns about the angle between the orientations of two cubes in radians: twice the distance of their
// quaternions. It uses only operations that IEEE 754 rounds exactly.
func cubeTurn(a, b *[frame.CubeFields]int32) float64 {
	if a[frame.CubeLargest] == b[frame.CubeLargest] {
		x, y, z := int64(a[frame.CubeA]-b[frame.CubeA]), int64(a[frame.CubeB]-b[frame.CubeB]), int64(a[frame.CubeC]-b[frame.CubeC])
		if d := x*x + y*y + z*z; d < 400 { // the largest component hardly differs
			return 2 / 361.33 * math.Sqrt(float64(d))
		}
	}
	p, q := cubeRotations.DecodeUnit(a[0], a[1:4]), cubeRotations.DecodeUnit(b[0], b[1:4])
	dot := float64(p[0]*q[0]) + float64(p[1]*q[1]) + float64(p[2]*q[2]) + float64(p[3]*q[3])
	return 2 * math.Sqrt(2*max(0, 1-math.Abs(dot)))
}

// fieldDistance returns the difference of two values of a field in quanta; 1 for values without an order.
func fieldDistance(f *frame.Field, a, b int32) uint64 {
	switch f.Kind {
	case frame.Quantity:
		return uint64(abs(int64(a) - int64(b)))
	case frame.Angle:
		_, span := f.Span()
		d := uint64(abs(int64(a) - int64(b)))
		return min(d, uint64(span)+1-d)
	case frame.Float32:
		return uint64(bits.Len32(uint32(a ^ b)))
	}
	return 1
}

// bits estimates the number of bits that an encoder needs for row a if the reference has b, up to a factor that
// depends on the encoder: the lengths of the differences.
func (m *Metric) bits(a, b []int32) int {
	if !m.cubes {
		n := 8
		for i := range m.fields {
			if a[i] != b[i] {
				n += 2 + bits.Len64(fieldDistance(&m.fields[i], a[i], b[i]))
			}
		}
		return n
	}
	const index, sign, wholeRotation = 8, 3, 29
	length := func(i int) int { return bits.Len32(uint32(abs(int64(a[i] - b[i])))) }
	n := index + sign + 2*max(length(frame.CubeX), length(frame.CubeY)) + length(frame.CubeZ)
	if a[frame.CubeLargest] != b[frame.CubeLargest] {
		return n + wholeRotation
	}
	return n + sign + 3*max(length(frame.CubeA), length(frame.CubeB), length(frame.CubeC))
}

// abs returns the absolute value of v.
func abs(v int64) int64 { return max(v, -v) }

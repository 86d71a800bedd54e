package mdn

import (
	"math"
	"math/rand/v2"

	"wirelab/encoders/nn"
)

// wide is how many outputs are summed side by side, in registers.
const wide = 8

// layer holds the weights of a layer and what Adam knows of them.
type layer struct {
	in, out, blocks int
	// w holds, for each block of wide outputs, for each input and then for the
	// constant one (the bias), the weights of the block's outputs. Outputs beyond
	// out stay zero.
	w, mean, square []float32
}

func newLayer(rng *rand.Rand, in, out int, gain float64) *layer {
	l := &layer{in: in, out: out, blocks: (out + wide - 1) / wide}
	n := l.blocks * (in + 1) * wide
	l.w, l.mean, l.square = make([]float32, n), make([]float32, n), make([]float32, n)
	spread := gain * math.Sqrt(3/float64(in)) // of uniform numbers with deviation gain/sqrt(in)
	for k := range out {
		for i := range in {
			l.w[l.index(i, k)] = float32(spread * (2*float64(rng.Float64()) - 1))
		}
	}
	return l
}

// index is where the weight from input i to output k is; i = in is the bias.
func (l *layer) index(i, k int) int { return (k/wide*(l.in+1)+i)*wide + k%wide }

func (l *layer) dense() nn.Dense {
	d := nn.Dense{In: l.in, Out: l.out, Weight: make([]float32, l.in*l.out), Bias: make([]float32, l.out)}
	for k := range l.out {
		for i := range l.in {
			d.Weight[k*l.in+i] = l.w[l.index(i, k)]
		}
		d.Bias[k] = l.w[l.index(l.in, k)]
	}
	return d
}

// forward sets sums to the layer's sums for each row of rows. Sums are laid out
// as deltas are: for each block, for each row, wide values.
func (l *layer) forward(sums []float32, rows *sparse) {
	n := rows.len()
	for b := range l.blocks {
		w := l.w[b*(l.in+1)*wide : (b+1)*(l.in+1)*wide]
		for r := range n {
			val, at := rows.row(r)
			*(*[wide]float32)(sums[(b*n+r)*wide:]) = combine(w, val, at)
		}
	}
}

// combine returns the sum of val[i] times the wide numbers at at[i] of from. It is
// where learning spends its time.
func combine(from, val []float32, at []int32) [wide]float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	at = at[:len(val)]
	for i, v := range val {
		w := (*[wide]float32)(from[at[i]:])
		s0 += float32(w[0] * v)
		s1 += float32(w[1] * v)
		s2 += float32(w[2] * v)
		s3 += float32(w[3] * v)
		s4 += float32(w[4] * v)
		s5 += float32(w[5] * v)
		s6 += float32(w[6] * v)
		s7 += float32(w[7] * v)
	}
	return [wide]float32{s0, s1, s2, s3, s4, s5, s6, s7}
}

// gradient sets g, which is laid out as w, to the sum over n rows of each input
// times each delta; columns holds the rows' inputs, transposed.
func (l *layer) gradient(g, deltas []float32, columns *sparse, n int) {
	for i := range l.in + 1 {
		val, at := columns.row(i)
		for b := range l.blocks {
			*(*[wide]float32)(g[(b*(l.in+1)+i)*wide:]) = combine(deltas[b*n*wide:(b+1)*n*wide], val, at)
		}
	}
}

// back sets before, the deltas of the layer before, of which there are n rows, to
// what l's own deltas come to there. The bend of that layer is not yet in it.
func (l *layer) back(before, deltas []float32, n int) {
	clear(before)
	for b := range l.blocks {
		w := l.w[b*(l.in+1)*wide:]
		for r := range n {
			d := (*[wide]float32)(deltas[(b*n+r)*wide:])
			for i := range l.in {
				before[(i/wide*n+r)*wide+i%wide] += dot(d, (*[wide]float32)(w[i*wide:]))
			}
		}
	}
}

func dot(a, b *[wide]float32) float32 {
	return float32(a[0]*b[0]) + float32(a[1]*b[1]) + float32(a[2]*b[2]) + float32(a[3]*b[3]) +
		(float32(a[4]*b[4]) + float32(a[5]*b[5]) + float32(a[6]*b[6]) + float32(a[7]*b[7]))
}

// Adam's constants: how slowly it forgets the mean and the square of a gradient,
// what keeps it from dividing by zero, and how weights decay.
const (
	keepMean   = 0.9
	keepSquare = 0.998
	adamFloor  = 1e-7
	decay      = 1e-4
)

// adam moves the weights from..to against the gradient g, which is a sum over
// 1/scale samples. biasMean and biasSquare make up for the means' start at zero.
func (l *layer) adam(g0, g1 []float32, from, to int, rate, scale, biasMean, biasSquare float32) {
	w, mean, square := l.w[from:to], l.mean[from:to], l.square[from:to]
	g0, g1 = g0[from:to], g1[from:to]
	for i, was := range w {
		d := (g0[i] + g1[i]) * scale
		m := float32(keepMean*mean[i]) + float32((1-keepMean)*d)
		s := float32(keepSquare*square[i]) + float32(float32((1-keepSquare)*d)*d)
		mean[i], square[i] = m, s
		step := m*biasMean/(float32(math.Sqrt(float64(s*biasSquare)))+adamFloor) + float32(decay*was)
		w[i] = was - float32(rate*step)
	}
}

// sparse holds rows of numbers of which zeros are left out: row r is val and at
// from start[r] to start[r+1]. at is where what a number is multiplied with
// begins, in units of single floats.
type sparse struct {
	val   []float32
	at    []int32
	start []int32
}

func (s *sparse) len() int { return len(s.start) - 1 }

func (s *sparse) row(r int) (val []float32, at []int32) {
	from, to := s.start[r], s.start[r+1]
	return s.val[from:to], s.at[from:to]
}

// reset empties s.
func (s *sparse) reset() {
	s.val, s.at = s.val[:0], s.at[:0]
	s.start = append(s.start[:0], 0)
}

func (s *sparse) add(v float32, column int) {
	if v != 0 {
		s.val, s.at = append(s.val, v), append(s.at, int32(column*wide))
	}
}

// end completes a row with the constant one, whose weight is the bias.
func (s *sparse) end(columns int) {
	s.add(1, columns)
	s.start = append(s.start, int32(len(s.val)))
}

// transpose makes s the columns of rows, of which there are that many: the numbers
// of each in the order of rows.
func (s *sparse) transpose(rows *sparse, columns int) {
	s.val = append(s.val[:0], rows.val...)
	s.at = append(s.at[:0], rows.at...)
	s.start = append(s.start[:0], make([]int32, columns+2)...)
	for _, at := range rows.at {
		s.start[at/wide+2]++
	}
	for c := range columns {
		s.start[c+2] += s.start[c+1]
	}
	for r := range rows.len() {
		val, at := rows.row(r)
		for i, v := range val {
			slot := &s.start[at[i]/wide+1] // where the column goes on; at last, where it ends
			s.val[*slot], s.at[*slot] = v, int32(r*wide)
			*slot++
		}
	}
	s.start = s.start[:columns+1]
}

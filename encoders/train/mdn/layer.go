package mdn

import (
	"math"
	"math/rand/v2"

	"wirelab/encoders/nn"
)

// lanes is the number of outputs in a block, whose sums are computed side by side in registers.
const lanes = 8

// layer holds the weights of a layer and Adam's state.
type layer struct {
	in, out, blocks int // numbers of inputs, outputs and blocks of outputs
	// w has for each block of outputs, for each input and then for the constant input 1 (the bias), the
	// weights to the outputs of the block. Weights to outputs beyond out stay zero. mean and square, laid
	// out like w, are Adam's moving averages of the gradient and of its square.
	w, mean, square []float32
}

// newLayer returns a layer with random weights of standard deviation gain/sqrt(in) and biases of 0.
func newLayer(rng *rand.Rand, in, out int, gain float64) *layer {
	l := &layer{in: in, out: out, blocks: (out + lanes - 1) / lanes}
	n := l.blocks * (in + 1) * lanes
	// The weights, and the moving averages of Adam.
	l.w, l.mean, l.square = make([]float32, n), make([]float32, n), make([]float32, n)
	spread := gain * math.Sqrt(3/float64(in)) // a uniform number in [-spread, spread] has this deviation
	for k := range out {
		for i := range in {
			l.w[l.index(i, k)] = float32(spread * (2*float64(rng.Float64()) - 1))
		}
	}
	return l
}

// index returns the index in w of the weight from input i to output k; i = in is the bias.
func (l *layer) index(i, k int) int { return (k/lanes*(l.in+1)+i)*lanes + k%lanes }

// toDense returns the layer for package nn.
func (l *layer) toDense() nn.Dense {
	d := nn.Dense{In: l.in, Out: l.out, Weight: make([]float32, l.in*l.out), Bias: make([]float32, l.out)}
	for k := range l.out {
		for i := range l.in {
			d.Weight[k*l.in+i] = l.w[l.index(i, k)]
		}
		d.Bias[k] = l.w[l.index(l.in, k)]
	}
	return d
}

// forward sets sums to the layer's outputs before activation. rows has the inputs, a row for each sample. The
// layout of sums is that of worker: blocks of outputs, in each the samples, in each the outputs of the block.
func (l *layer) forward(sums []float32, rows *sparse) {
	n := rows.len()
	for b := range l.blocks {
		w := l.w[b*(l.in+1)*lanes : (b+1)*(l.in+1)*lanes]
		for r := range n {
			val, offsets := rows.row(r)
			*(*[lanes]float32)(sums[(b*n+r)*lanes:]) = weightedSum(w, val, offsets)
		}
	}
}

// weightedSum returns the sum over i of val[i] times the block of numbers at from[offsets[i]:]. Training spends
// most of its time here.
func weightedSum(from, val []float32, offsets []int32) [lanes]float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	offsets = offsets[:len(val)]
	for i, v := range val {
		w := (*[lanes]float32)(from[offsets[i]:])
		s0 += float32(w[0] * v)
		s1 += float32(w[1] * v)
		s2 += float32(w[2] * v)
		s3 += float32(w[3] * v)
		s4 += float32(w[4] * v)
		s5 += float32(w[5] * v)
		s6 += float32(w[6] * v)
		s7 += float32(w[7] * v)
	}
	return [lanes]float32{s0, s1, s2, s3, s4, s5, s6, s7}
}

// gradient sets grads, laid out like w, to the derivatives of the loss by the weights: for each input and output
// the sum over n samples of the input times the delta of the output, which is the derivative of the loss by the
// output before activation. columns are the inputs, transposed: a row for each input, the constant 1 last.
func (l *layer) gradient(grads, deltas []float32, columns *sparse, n int) {
	for i := range l.in + 1 {
		val, offsets := columns.row(i)
		for b := range l.blocks {
			*(*[lanes]float32)(grads[(b*(l.in+1)+i)*lanes:]) = weightedSum(deltas[b*n*lanes:(b+1)*n*lanes], val, offsets)
		}
	}
}

// backward sets previous to the derivatives of the loss by the inputs of l, given the deltas of l for n samples:
// the derivatives by its outputs before activation. In both, the value of input or output k of sample r is at
// (k/lanes*n+r)*lanes+k%lanes. The caller multiplies previous by the derivative of the activation function.
func (l *layer) backward(previous, deltas []float32, n int) {
	clear(previous)
	for b := range l.blocks {
		w := l.w[b*(l.in+1)*lanes:]
		for r := range n {
			d := (*[lanes]float32)(deltas[(b*n+r)*lanes:])
			for i := range l.in {
				previous[(i/lanes*n+r)*lanes+i%lanes] += dot(d, (*[lanes]float32)(w[i*lanes:]))
			}
		}
	}
}

// dot returns the scalar product of two blocks. The order of the sums is fixed.
func dot(a, b *[lanes]float32) float32 {
	return float32(a[0]*b[0]) + float32(a[1]*b[1]) + float32(a[2]*b[2]) + float32(a[3]*b[3]) +
		(float32(a[4]*b[4]) + float32(a[5]*b[5]) + float32(a[6]*b[6]) + float32(a[7]*b[7]))
}

// The constants of Adam with weight decay (Kingma and Ba, 2015; Loshchilov and Hutter, 2019).
const (
	beta1       = 0.9   // of the moving average of the gradient
	beta2       = 0.998 // of the moving average of its square
	epsilon     = 1e-7  // prevents a division by zero
	weightDecay = 1e-4
)

// adam makes a step for the weights with indices from to to-1, at the learning rate rate. g0+g1 is the gradient,
// summed over a batch by two workers; scale is 1 divided by the number of samples of the batch. The averages start
// at 0 and so are too small at first; biasMean and biasSquare are the factors that correct this.
func (l *layer) adam(g0, g1 []float32, from, to int, rate, scale, biasMean, biasSquare float32) {
	w, mean, square := l.w[from:to], l.mean[from:to], l.square[from:to]
	g0, g1 = g0[from:to], g1[from:to]
	for i, weight := range w {
		gradient := (g0[i] + g1[i]) * scale
		m := float32(beta1*mean[i]) + float32((1-beta1)*gradient)
		s := float32(beta2*square[i]) + float32(float32((1-beta2)*gradient)*gradient)
		mean[i], square[i] = m, s
		step := m*biasMean/(float32(math.Sqrt(float64(s*biasSquare)))+epsilon) + float32(weightDecay*weight)
		w[i] = weight - float32(rate*step)
	}
}

// sparse is a sparse matrix in compressed row format: row r has the values val[start[r]:start[r+1]]. The same
// elements of offset are their columns times lanes, which is the offset of the block that weightedSum
// multiplies the value with.
type sparse struct {
	val    []float32
	offset []int32
	start  []int32
}

// len returns the number of rows.
func (s *sparse) len() int { return len(s.start) - 1 }

// row returns the values and offsets of row r.
func (s *sparse) row(r int) (val []float32, offsets []int32) {
	start, end := s.start[r], s.start[r+1]
	return s.val[start:end], s.offset[start:end]
}

// reset empties s.
func (s *sparse) reset() {
	s.val, s.offset = s.val[:0], s.offset[:0]
	s.start = append(s.start[:0], 0)
}

// add adds a value to the current row, unless it is 0. Columns must be added in ascending order.
func (s *sparse) add(v float32, column int) {
	if v != 0 {
		s.val, s.offset = append(s.val, v), append(s.offset, int32(column*lanes))
	}
}

// endRow completes a row of the given number of columns with the constant input 1, whose weight is the bias.
func (s *sparse) endRow(columns int) {
	s.add(1, columns)
	s.start = append(s.start, int32(len(s.val)))
}

// transpose makes s the transpose of rows, a matrix with the given number of columns. It is a counting sort,
// so the values of a column are in the order of rows.
func (s *sparse) transpose(rows *sparse, columns int) {
	s.val = append(s.val[:0], rows.val...)
	s.offset = append(s.offset[:0], rows.offset...)
	s.start = append(s.start[:0], make([]int32, columns+2)...)
	for _, offset := range rows.offset {
		s.start[offset/lanes+2]++ // counts the values of each column, two elements later than its start
	}
	for c := range columns {
		s.start[c+2] += s.start[c+1]
	}
	for r := range rows.len() {
		val, offsets := rows.row(r)
		for i, v := range val {
			slot := &s.start[offsets[i]/lanes+1] // the next index of the column; its end when all are placed
			s.val[*slot], s.offset[*slot] = v, int32(r*lanes)
			*slot++
		}
	}
	s.start = s.start[:columns+1]
}

// Package mdn trains mixture-density nets (Bishop, "Mixture Density Networks", 1994). From the features
// of a cube such a net predicts the joint distribution of three integers. The loss is the number of bits
// that an entropy coder with this distribution would need for the true integers.
//
// The distribution is a mixture of five components. Each component is a product of three discretised
// logistic distributions, one for each axis. So the mixture can express that the cube either rests on all
// three axes or continues to move on all three. For each component the net's outputs are a weight, three
// offsets and three widths, relative to predictions of the caller: a sample has a base for each component
// and a Jacobian that maps offsets to the coded axes.
//
// Training uses Adam on batches, in float32, on two goroutines. The assignment of work and the order of
// sums are fixed, the package has its own exponential functions, and conversions prevent fused products.
// So the same set, configuration and seed give the same net, to the bit, on any processor.
package mdn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"wirelab/encoders/nn"
	"wirelab/internal/seed"
)

// Config configures Train.
type Config struct {
	Hidden [2]int // widths of the two hidden layers
	Epochs int    // passes over the set
	Batch  int    // samples per step; 0 means 128
	Seed   uint64 // of the initial weights and of the order of samples

	// Step is called with the number of samples done and the total, several times per second; Point is
	// called after each epoch. Both may be nil.
	Step  func(done, total int64)
	Point func(Point)
}

// Point is the loss after an epoch, in bits per sample. Train is the mean during the epoch, while the
// weights change; Held is that of the held-out samples after the epoch, NaN without held-out samples.
type Point struct {
	Epoch       int     // number of the epoch, from 1
	Train, Held float64 // losses in bits per sample
}

const (
	defaultBatch = 128
	maxRate      = 0.002 // largest learning rate
	finalRate    = 1e-5  // learning rate at the end
	warmUpSteps  = 200   // number of steps in which the learning rate rises to its maximum
	stepEvery    = 64    // batches between two calls of Step
)

// Train trains a net with set and quantises it. held are the held-out samples, nil if none. Train panics if
// a width or the number of epochs is not positive, or if the set is empty.
func Train(ctx context.Context, set, held *Set, cfg Config) (*nn.Net, error) {
	layers, err := trainFloat(ctx, set, held, cfg)
	if err != nil {
		return nil, err
	}
	return nn.Quantise(layers)
}

// trainFloat is Train without quantisation: it returns the layers in float32.
func trainFloat(ctx context.Context, set, held *Set, cfg Config) ([]nn.Dense, error) {
	cfg = cfg.withDefaults(set)
	rng := rand.New(seed.Tagged(cfg.Seed, "mdn"))
	net := newNet(rng, []int{set.inputs, cfg.Hidden[0], cfg.Hidden[1], Outputs})
	workers := newPool(net, cfg.Batch)
	defer workers.close()
	order := make([]uint32, set.Len())
	for i := range order {
		order[i] = uint32(i)
	}
	batches := (len(order) + cfg.Batch - 1) / cfg.Batch
	for epoch := range cfg.Epochs {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		total := 0.0
		for b := range batches {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			done := epoch*batches + b
			batch := order[b*cfg.Batch : min((b+1)*cfg.Batch, len(order))]
			total += workers.step(set, batch, learningRate(done, cfg.Epochs*batches))
			if cfg.Step != nil && done%stepEvery == 0 {
				cfg.Step(int64(done)*int64(cfg.Batch), int64(cfg.Epochs)*int64(len(order)))
			}
		}
		if cfg.Point != nil {
			cfg.Point(Point{Epoch: epoch + 1, Train: total / float64(len(order)), Held: workers.measure(held)})
		}
	}
	return net.denseLayers(), nil
}

// withDefaults returns cfg with defaults filled in. It panics if a hidden width or the number of epochs is not
// positive, or if the set is empty.
func (cfg Config) withDefaults(set *Set) Config {
	if cfg.Hidden[0] < 1 || cfg.Hidden[1] < 1 || cfg.Epochs < 1 || set.Len() == 0 {
		panic(fmt.Sprintf("mdn: %d samples, %d epochs and hidden widths %d, expected at least 1 of each",
			set.Len(), cfg.Epochs, cfg.Hidden))
	}
	if cfg.Batch <= 0 {
		cfg.Batch = defaultBatch
	}
	return cfg
}

// learningRate returns the learning rate after done of total steps. It follows cosine annealing, but with
// the cubic polynomial of the same end points and slopes, whose value is the same on every machine.
func learningRate(done, total int) float64 {
	t := float64(done) / float64(total)
	decay := 1 - float64(float64(t*t)*(3-float64(2*t)))
	rate := float64(maxRate*decay) + finalRate
	if done < warmUpSteps {
		rate = rate * float64(done+1) / warmUpSteps
	}
	return rate
}

// net is a net in training.
type net struct{ layers []*layer }

// newNet returns a net with random weights; shape has the number of inputs and the widths of the layers. The
// weights of the last layer are small, so that at first the biases decide: they make component 0 narrow (for
// cubes that rest or are predicted exactly) and the last component wide (for outliers).
func newNet(rng *rand.Rand, shape []int) *net {
	const hiddenGain, outputGain = 1.2, 0.1 // of the standard deviations, see newLayer
	n := &net{}
	last := len(shape) - 2
	for i := range last {
		n.layers = append(n.layers, newLayer(rng, shape[i], shape[i+1], hiddenGain))
	}
	output := newLayer(rng, shape[last], shape[last+1], outputGain)
	for k := range Components {
		width := float32(1) // the initial logarithm of the width, as a bias
		switch k {
		case 0:
			width = -1
		case Components - 1:
			width = 3
		}
		for a := range 3 {
			output.w[output.index(output.in, k*perComponent+4+a)] = width // outputs 4 to 6 of a component are its widths
		}
	}
	n.layers = append(n.layers, output)
	return n
}

// denseLayers returns the layers for package nn.
func (n *net) denseLayers() []nn.Dense {
	var layers []nn.Dense
	for _, l := range n.layers {
		layers = append(layers, l.toDense())
	}
	return layers
}

// pool trains with two workers, each on a goroutine. Each worker computes the gradients of one half of a
// batch; these are added in a fixed order, and each worker then updates half of the weights. So the result
// does not depend on timing.
type pool struct {
	net             *net
	workers         [2]*worker
	jobs            chan func()   // work for the second goroutine
	done            chan struct{} // the second goroutine completed a job
	biasPowerMean   float64       // beta1 to the power of the number of steps, for Adam's bias correction
	biasPowerSquare float64       // beta2 to the power of the number of steps
}

// newPool returns a pool for batches of at most batch samples and starts the goroutine that runs half of the work.
// Call close to stop it.
func newPool(n *net, batch int) *pool {
	t := &pool{net: n, jobs: make(chan func()), done: make(chan struct{}), biasPowerMean: 1, biasPowerSquare: 1}
	for i := range t.workers {
		t.workers[i] = newWorker(n, (batch+1)/2)
	}
	go func() {
		for job := range t.jobs {
			job()
			t.done <- struct{}{}
		}
	}()
	return t
}

// close stops the second goroutine.
func (t *pool) close() { close(t.jobs) }

// runBoth runs job(0) on this goroutine and job(1) on the other, and waits for both.
func (t *pool) runBoth(job func(i int)) {
	t.jobs <- func() { job(1) }
	job(0)
	<-t.done
}

// step makes one step of Adam with a batch, at the learning rate rate. It returns the loss of the batch before
// the step, in bits, summed over the samples. batch has indices of samples in set.
func (t *pool) step(set *Set, batch []uint32, rate float64) float64 {
	halves := [2][]uint32{batch[:len(batch)/2], batch[len(batch)/2:]}
	var bits [2]float64
	t.runBoth(func(i int) { bits[i] = t.workers[i].gradients(set, halves[i]) })
	t.biasPowerMean = float64(t.biasPowerMean * beta1)
	t.biasPowerSquare = float64(t.biasPowerSquare * beta2)
	biasMean, biasSquare := float32(1/(1-t.biasPowerMean)), float32(1/(1-t.biasPowerSquare))
	scale := float32(1 / float64(len(batch))) // turns sums over the batch into means
	t.runBoth(func(i int) {
		for k, l := range t.net.layers {
			half := len(l.w) / 2
			from, to := i*half, (i+1)*half // the weights that worker i updates; len(l.w) is even
			l.adam(t.workers[0].grads[k], t.workers[1].grads[k], from, to, float32(rate), scale, biasMean, biasSquare)
		}
	})
	return bits[0] + bits[1]
}

// measure returns the mean loss of a set in bits per sample, NaN if it is empty.
func (t *pool) measure(set *Set) float64 {
	n := set.Len()
	if n == 0 {
		return math.NaN()
	}
	var bits [2]float64
	// Worker 0 measures the samples up to n/2, worker 1 the others.
	t.runBoth(func(i int) { bits[i] = t.workers[i].measure(set, i*(n/2), n/2+i*(n-n/2)) })
	return (bits[0] + bits[1]) / float64(n)
}

// worker computes losses and gradients of half batches. Sums and deltas of a layer are laid out in blocks:
// for each block of outputs (see lanes) and each sample, the values of the block's outputs. So the value of
// output k for the r-th of n samples is at (k/lanes*n+r)*lanes+k%lanes.
type worker struct {
	net     *net
	maxRows int         // maximum number of samples
	rows    []sparse    // of each layer: its inputs, a row for each sample
	columns sparse      // the inputs of one layer, transposed
	sums    [][]float32 // of each layer: its outputs before activation
	deltas  [][]float32 // of each layer: the derivatives of the loss by sums
	grads   [][]float32 // of each layer: the derivatives of the loss by the weights
	ids     []uint32    // memory of measure: indices of samples
}

// newWorker returns a worker for at most limit samples.
func newWorker(n *net, limit int) *worker {
	w := &worker{net: n, maxRows: limit, rows: make([]sparse, len(n.layers))}
	for _, l := range n.layers {
		w.sums = append(w.sums, make([]float32, limit*l.blocks*lanes))
		w.deltas = append(w.deltas, make([]float32, limit*l.blocks*lanes))
		w.grads = append(w.grads, make([]float32, len(l.w)))
	}
	return w
}

// gradients sets w.grads for the samples ids of a set and returns their loss in bits (backpropagation).
func (w *worker) gradients(set *Set, ids []uint32) float64 {
	w.forward(set, ids)
	bits := w.lossSum(set, ids, withDeltas)
	n := len(ids)
	for i := len(w.net.layers) - 1; i >= 0; i-- {
		l := w.net.layers[i]
		deltas := w.deltas[i][:n*l.blocks*lanes]
		w.columns.transpose(&w.rows[i], l.in+1)
		l.gradient(w.grads[i], deltas, &w.columns, n)
		if i > 0 {
			previous := w.deltas[i-1][:n*w.net.layers[i-1].blocks*lanes]
			l.backward(previous, deltas, n)
			leakyReLUBackward(previous, w.sums[i-1])
		}
	}
	return bits
}

// measure returns the loss in bits of samples from to to-1.
func (w *worker) measure(set *Set, from, to int) float64 {
	bits := 0.0
	for from < to {
		w.ids = w.ids[:0]
		for ; from < to && len(w.ids) < w.maxRows; from++ {
			w.ids = append(w.ids, uint32(from))
		}
		w.forward(set, w.ids)
		bits += w.lossSum(set, w.ids, withoutDeltas)
	}
	return bits
}

// forward evaluates the net for the samples ids of a set. It sets w.rows and w.sums of each layer.
func (w *worker) forward(set *Set, ids []uint32) {
	w.rows[0].reset()
	for _, id := range ids {
		for i, v := range set.sampleAt(id).x {
			w.rows[0].add(float32(v)/(1<<nn.InputBits), i)
		}
		w.rows[0].endRow(set.inputs)
	}
	for i, l := range w.net.layers {
		l.forward(w.sums[i], &w.rows[i])
		if i+1 < len(w.net.layers) {
			w.rows[i+1].reset()
			for r := range ids {
				for k := range l.out { // output k of sample r is at (k/lanes*n+r)*lanes+k%lanes, where n is len(ids)
					w.rows[i+1].add(leakyReLU(w.sums[i][(k/lanes*len(ids)+r)*lanes+k%lanes]), k)
				}
				w.rows[i+1].endRow(l.out)
			}
		}
	}
}

// The parameter derivatives of lossSum.
const withDeltas, withoutDeltas = true, false

// lossSum returns the sum of the losses of the samples ids in bits, after forward for the same samples. If
// derivatives is true, it also sets the deltas of the last layer: the derivatives of the loss by the outputs. In
// sums and deltas, the value of output k for sample r of n is at (k/lanes*n+r)*lanes+k%lanes.
func (w *worker) lossSum(set *Set, ids []uint32, derivatives bool) float64 {
	var output, gradient [Outputs]float32
	last, n, bits := len(w.net.layers)-1, len(ids), 0.0
	sums, deltas := w.sums[last], w.deltas[last]
	for r, id := range ids {
		for k := range output {
			output[k] = sums[(k/lanes*n+r)*lanes+k%lanes]
		}
		if !derivatives {
			bits += loss(&output, set.sampleAt(id).target, nil)
			continue
		}
		bits += loss(&output, set.sampleAt(id).target, &gradient)
		for k, v := range gradient {
			deltas[(k/lanes*n+r)*lanes+k%lanes] = v
		}
		for k := Outputs; k%lanes != 0; k++ { // unused outputs of the last block
			deltas[(k/lanes*n+r)*lanes+k%lanes] = 0
		}
	}
	return bits
}

// leakyReLU is the activation function of package nn, without its rounding.
func leakyReLU(v float32) float32 {
	switch { // faster than min and max, which have to treat NaN and negative zero
	case v > nn.HiddenMax:
		return nn.HiddenMax
	case v >= 0:
		return v
	case v < -nn.HiddenMax:
		return -nn.HiddenMax * nn.Slope
	}
	return v * nn.Slope
}

// leakyReLUBackward multiplies deltas by the derivatives of leakyReLU at sums.
func leakyReLUBackward(deltas, sums []float32) {
	for i := range deltas {
		switch v := sums[i]; {
		case v > nn.HiddenMax || v < -nn.HiddenMax:
			deltas[i] = 0
		case v < 0:
			deltas[i] *= nn.Slope
		}
	}
}

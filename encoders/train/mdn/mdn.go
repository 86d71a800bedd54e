// Package mdn learns mixture-density nets: from what is known of a cube, such a
// net gives the probability of every outcome of three integers at once. An entropy
// coder turns that into bits, so the loss is measured in bits and a point of the
// curve is what a cube would cost.
//
// The density is a mixture of five components. Each is a product of three
// discretised logistics, one an axis, so that the mixture can say "either it
// rests, on all three axes, or it went on, on all three". The net's output gives,
// for component k, its weight and where it stands and how wide it is relative to
// what the caller predicts: a Sample brings a base for each component and a
// Jacobian that maps the net's offsets to the axes coded.
//
// Learning is Adam on batches, in float32, on two goroutines. Which one does what
// and in which order sums are added is fixed, exponentials are our own, and no
// product can fuse with a sum: the same set, config and seed give the same net, to
// the bit, on any number of processors of any kind.
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
	Batch  int    // samples a step, 0 is 128
	Seed   uint64 // of the first weights and of the order of samples

	// Step hears of progress in samples, some times a second; Point of each epoch.
	// Both may be nil.
	Step  func(done, total int64)
	Point func(Point)
}

// Point is the loss after one pass, in bits a sample: over the pass itself, while
// learning, and over the samples held out, by the net as it then was. Held is NaN
// if none.
type Point struct {
	Epoch       int // from 1
	Train, Held float64
}

const (
	defaultBatch = 128
	highestRate  = 0.002 // of learning
	leastRate    = 1e-5  // at the end
	warmUp       = 200   // steps in which the rate rises to its highest
	stepEvery    = 64    // batches between two calls of Step
)

// Train learns a net from set and quantises it. held may be nil. It panics if a
// width or the number of epochs is not positive or the set is empty: nothing can be
// learnt from that.
func Train(ctx context.Context, set, held *Set, cfg Config) (*nn.Net, error) {
	layers, err := learn(ctx, set, held, cfg)
	if err != nil {
		return nil, err
	}
	return nn.Quantise(layers)
}

// learn is Train without quantising.
func learn(ctx context.Context, set, held *Set, cfg Config) ([]nn.Dense, error) {
	cfg = cfg.complete(set)
	rng := rand.New(seed.Tagged(cfg.Seed, "mdn"))
	net := newNet(rng, []int{set.inputs, cfg.Hidden[0], cfg.Hidden[1], Outputs})
	team := newPool(net, cfg.Batch)
	defer team.close()
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
			total += team.learn(set, batch, learningRate(done, cfg.Epochs*batches))
			if cfg.Step != nil && done%stepEvery == 0 {
				cfg.Step(int64(done)*int64(cfg.Batch), int64(cfg.Epochs)*int64(len(order)))
			}
		}
		if cfg.Point != nil {
			cfg.Point(Point{Epoch: epoch + 1, Train: total / float64(len(order)), Held: team.measure(held)})
		}
	}
	return net.dense(), nil
}

// complete fills defaults in and refuses what no caller can mean.
func (cfg Config) complete(set *Set) Config {
	if cfg.Hidden[0] < 1 || cfg.Hidden[1] < 1 || cfg.Epochs < 1 || set.Len() == 0 {
		panic(fmt.Sprintf("mdn: %d samples, %d epochs and hidden widths %d make no net", set.Len(), cfg.Epochs, cfg.Hidden))
	}
	if cfg.Batch <= 0 {
		cfg.Batch = defaultBatch
	}
	return cfg
}

// learningRate returns the rate after done of total steps. It falls as a cosine
// does, but by the cubic with the same ends and slopes: products alone are equal
// everywhere.
func learningRate(done, total int) float64 {
	t := float64(done) / float64(total)
	fall := 1 - float64(float64(t*t)*(3-float64(2*t)))
	rate := float64(highestRate*fall) + leastRate
	if done < warmUp {
		rate = rate * float64(done+1) / warmUp
	}
	return rate
}

// net is a net that learns.
type net struct{ layers []*layer }

// newNet draws first weights. The last layer's are small and its widths begin
// where outcomes are: component 0 is narrow, the last is wide.
func newNet(rng *rand.Rand, shape []int) *net {
	n := &net{}
	last := len(shape) - 2
	for i := range last {
		n.layers = append(n.layers, newLayer(rng, shape[i], shape[i+1], 1.2))
	}
	l := newLayer(rng, shape[last], shape[last+1], 0.1)
	for k := range Components {
		width := float32(1)
		switch k {
		case 0:
			width = -1
		case Components - 1:
			width = 3
		}
		for a := range 3 {
			l.w[l.index(l.in, k*perComponent+4+a)] = width
		}
	}
	n.layers = append(n.layers, l)
	return n
}

func (n *net) dense() []nn.Dense {
	var layers []nn.Dense
	for _, l := range n.layers {
		layers = append(layers, l.dense())
	}
	return layers
}

// pool is the two goroutines that train. Each batch is cut in two halves, each
// worker takes its own, and what both found is added in their order; then each
// updates half of the weights. So it does not matter who is faster.
type pool struct {
	net       *net
	workers   [2]*worker
	jobs      chan func()
	done      chan struct{}
	decayMean float64 // keepMean to the power of the steps made
	decaySq   float64
}

func newPool(n *net, batch int) *pool {
	t := &pool{net: n, jobs: make(chan func()), done: make(chan struct{}), decayMean: 1, decaySq: 1}
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

func (t *pool) close() { close(t.jobs) }

// both runs a job on each worker, one of them here.
func (t *pool) both(job func(i int)) {
	t.jobs <- func() { job(1) }
	job(0)
	<-t.done
}

// learn makes one step and returns the bits of the batch before it.
func (t *pool) learn(set *Set, batch []uint32, rate float64) float64 {
	halves := [2][]uint32{batch[:len(batch)/2], batch[len(batch)/2:]}
	var bits [2]float64
	t.both(func(i int) { bits[i] = t.workers[i].learn(set, halves[i]) })
	t.decayMean = float64(t.decayMean * keepMean)
	t.decaySq = float64(t.decaySq * keepSquare)
	biasMean, biasSquare := float32(1/(1-t.decayMean)), float32(1/(1-t.decaySq))
	scale := float32(1 / float64(len(batch)))
	t.both(func(i int) {
		for k, l := range t.net.layers {
			half := len(l.w) / 2
			from, to := i*half, (i+1)*half // len(l.w) is even
			l.adam(t.workers[0].grads[k], t.workers[1].grads[k], from, to, float32(rate), scale, biasMean, biasSquare)
		}
	})
	return bits[0] + bits[1]
}

// measure returns the bits a sample of a set; NaN if none.
func (t *pool) measure(set *Set) float64 {
	n := set.Len()
	if n == 0 {
		return math.NaN()
	}
	var bits [2]float64
	t.both(func(i int) { bits[i] = t.workers[i].measure(set, i*(n/2), n/2+i*(n-n/2)) })
	return (bits[0] + bits[1]) / float64(n)
}

// worker computes half batches.
type worker struct {
	net     *net
	limit   int         // rows at most
	rows    []sparse    // inputs of each layer
	columns sparse      // one layer's, transposed
	sums    [][]float32 // of each layer
	deltas  [][]float32 // the loss's derivatives by them, laid out alike
	grads   [][]float32 // its derivatives by the weights
	ids     []uint32
}

func newWorker(n *net, limit int) *worker {
	w := &worker{net: n, limit: limit, rows: make([]sparse, len(n.layers))}
	for _, l := range n.layers {
		w.sums = append(w.sums, make([]float32, limit*l.blocks*wide))
		w.deltas = append(w.deltas, make([]float32, limit*l.blocks*wide))
		w.grads = append(w.grads, make([]float32, len(l.w)))
	}
	return w
}

// learn finds the gradients of a half batch and returns its bits.
func (w *worker) learn(set *Set, ids []uint32) float64 {
	w.forward(set, ids)
	bits := w.score(set, ids, true)
	n := len(ids)
	for i := len(w.net.layers) - 1; i >= 0; i-- {
		l := w.net.layers[i]
		deltas := w.deltas[i][:n*l.blocks*wide]
		w.columns.transpose(&w.rows[i], l.in+1)
		l.gradient(w.grads[i], deltas, &w.columns, n)
		if i > 0 {
			before := w.deltas[i-1][:n*w.net.layers[i-1].blocks*wide]
			l.back(before, deltas, n)
			leakyReLUBackward(before, w.sums[i-1])
		}
	}
	return bits
}

// measure returns the bits of samples from..to.
func (w *worker) measure(set *Set, from, to int) float64 {
	bits := 0.0
	for from < to {
		w.ids = w.ids[:0]
		for ; from < to && len(w.ids) < w.limit; from++ {
			w.ids = append(w.ids, uint32(from))
		}
		w.forward(set, w.ids)
		bits += w.score(set, w.ids, false)
	}
	return bits
}

// forward runs the net.
func (w *worker) forward(set *Set, ids []uint32) {
	w.rows[0].reset()
	for _, id := range ids {
		for i, v := range set.at(id).x {
			w.rows[0].add(float32(v)/(1<<nn.InputBits), i)
		}
		w.rows[0].end(set.inputs)
	}
	for i, l := range w.net.layers {
		l.forward(w.sums[i], &w.rows[i])
		if i+1 < len(w.net.layers) {
			w.rows[i+1].reset()
			for r := range ids {
				for k := range l.out {
					w.rows[i+1].add(leakyReLU(w.sums[i][(k/wide*len(ids)+r)*wide+k%wide]), k)
				}
				w.rows[i+1].end(l.out)
			}
		}
	}
}

// score sums the loss of what the net said and, to learn, takes its derivatives.
func (w *worker) score(set *Set, ids []uint32, learn bool) float64 {
	var y, g [Outputs]float32
	last, n, bits := len(w.net.layers)-1, len(ids), 0.0
	sums, deltas := w.sums[last], w.deltas[last]
	for r, id := range ids {
		for k := range y {
			y[k] = sums[(k/wide*n+r)*wide+k%wide]
		}
		if !learn {
			bits += loss(&y, set.at(id).target, nil)
			continue
		}
		bits += loss(&y, set.at(id).target, &g)
		for k, v := range g {
			deltas[(k/wide*n+r)*wide+k%wide] = v
		}
		for k := Outputs; k%wide != 0; k++ {
			deltas[(k/wide*n+r)*wide+k%wide] = 0
		}
	}
	return bits
}

// leakyReLU is the activation of package nn without its rounding.
func leakyReLU(v float32) float32 {
	switch { // min and max would think of NaN and of negative zero
	case v > nn.HiddenMax:
		return nn.HiddenMax
	case v >= 0:
		return v
	case v < -nn.HiddenMax:
		return -nn.HiddenMax * nn.Slope
	}
	return v * nn.Slope
}

// leakyReLUBackward multiplies deltas by the derivative of leakyReLU at sums.
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

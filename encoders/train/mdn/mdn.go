// Package mdn learns mixture-density nets: from what is known of a cube, such a
// net says how likely every outcome of three integers at once is. An entropy
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
	"math/rand/v2"

	"wirelab/encoders/nn"
	"wirelab/internal/seed"
)

// Config says how to learn.
type Config struct {
	Hidden [2]int  // widths of the two hidden layers
	Epochs int     // passes over the set
	Batch  int     // samples a step, 0 is 128
	Rate   float64 // of learning at its highest, 0 is 0.002
	Seed   uint64  // of the first weights and of the order of samples

	// Step hears of progress in samples, some times a second; Point of each epoch.
	// Both may be nil.
	Step  func(done, total int64)
	Point func(Point)
}

// Point is the loss after one pass, in bits a sample: over the pass itself, while
// learning, and over the samples held out, by the net as it then was. Held is NaN
// if there are none.
type Point struct {
	Epoch       int // from 1
	Train, Held float64
}

const (
	defaultBatch = 128
	defaultRate  = 0.002
	leastRate    = 1e-5 // at the end
	warmUp       = 200  // steps in which the rate rises to its highest
	stepEvery    = 64   // batches between two calls of Step
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
			total += team.learn(set, batch, cfg.rate(done, cfg.Epochs*batches))
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
	if cfg.Rate <= 0 {
		cfg.Rate = defaultRate
	}
	return cfg
}

// rate is the rate of learning after done of total steps. It falls as a cosine
// does, but by the cubic with the same ends and slopes: products alone are equal
// everywhere.
func (cfg Config) rate(done, total int) float64 {
	t := float64(done) / float64(total)
	fall := 1 - float64(float64(t*t)*(3-float64(2*t)))
	rate := float64(cfg.Rate*fall) + leastRate
	if done < warmUp {
		rate = rate * float64(done+1) / warmUp
	}
	return rate
}

package kinetic

import (
	"context"
	"fmt"
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/train"
	"wirelab/encoders/train/mdn"
)

// Trainers returns the trainers of kinetic-lite and kinetic.
func Trainers() []train.Trainer {
	return []train.Trainer{
		(&recipe{name: "lite", hidden: [2]int{48, 32}, samples: 2_000_000, epochs: 14}).trainer("kinetic-lite"),
		(&recipe{name: "kinetic", law: defaultLaw(), hidden: [2]int{112, 64}, samples: 2_000_000, epochs: 14}).trainer("kinetic"),
	}
}

// recipe configures the training of one codec. First the nets learn from samples of
// cubes that moved, then the weights of decisions are fitted by encoding the clips.
type recipe struct {
	name    string
	law     *law
	hidden  [2]int
	samples int // at most, for each net
	epochs  int
}

const heldSamples = 50_000

func (s *recipe) trainer(encoder string) train.Trainer {
	return train.Trainer{Encoder: encoder, Folder: "encoders/cubes/kinetic", Train: s.train}
}

// training is one run of a recipe.
type training struct {
	recipe
	job train.Job
	log train.Log
	m   *model
}

func (s *recipe) train(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	l := &training{recipe: *s, job: job, log: log, m: untrainedModel()}
	if job.Quick {
		l.samples, l.epochs = 2000, 1
	}
	if len(job.Clips) == 0 {
		return nil, fmt.Errorf("kinetic: no recordings to learn from")
	}
	if err := l.nets(ctx); err != nil {
		return nil, err
	}
	if err := l.weights(ctx); err != nil {
		return nil, err
	}
	return train.PackAll([]train.File{
		{Name: s.name + ".place.net", Data: l.m.place.Append(nil)},
		{Name: s.name + ".pose.net", Data: l.m.pose.Append(nil)},
		{Name: s.name + ".tables", Data: appendTables(nil, l.m)},
	})
}

// nets gathers samples and trains both nets.
func (l *training) nets(ctx context.Context) error {
	var sets, held [2]*mdn.Set
	if err := l.gather(ctx, l.job.Clips, &sets, l.samples); err != nil {
		return err
	}
	if l.job.Held != nil {
		if err := l.gather(ctx, []train.Clip{*l.job.Held}, &held, heldSamples); err != nil {
			return err
		}
	}
	for k, part := range []string{"position net", "orientation net"} {
		if sets[k].Len() == 0 {
			return fmt.Errorf("kinetic: nothing moves in the recordings")
		}
		net, err := mdn.Train(ctx, sets[k], held[k], l.config(part))
		if err != nil {
			return err
		}
		if k == 0 {
			l.m.place = net
		} else {
			l.m.pose = net
		}
		sets[k], held[k] = nil, nil
	}
	return nil
}

func (l *training) config(part string) mdn.Config {
	c := mdn.Config{Hidden: l.hidden, Epochs: l.epochs, Seed: l.job.Seed}
	if l.log.Step != nil {
		c.Step = func(done, total int64) { l.log.Step(part, done, total) }
	}
	if l.log.Point != nil {
		c.Point = func(p mdn.Point) {
			l.log.Point(train.Point{Part: part, Epoch: p.Epoch, Train: p.Train, Held: p.Held})
		}
	}
	return c
}

// gather fills the sample set of each net from clips.
func (l *training) gather(ctx context.Context, clips []train.Clip, sets *[2]*mdn.Set, limit int) error {
	var x [maxFeatures]float32
	sample := func(coordinate int, in []int32, g *mixtureBases, y [3]float64) {
		set := &sets[coordinate/3]
		if *set == nil {
			*set = mdn.NewSet(len(in), limit, l.job.Seed+uint64(coordinate))
		}
		for i, v := range in {
			x[i] = float32(v) / 1024
		}
		t := target(g, y)
		(*set).Add(x[:len(in)], &t)
	}
	for i := range clips {
		if err := l.encodeClip(ctx, "gathering", &clips[i], i, len(clips), &learner{sample: sample}); err != nil {
			return err
		}
	}
	return nil
}

func target(g *mixtureBases, y [3]float64) (t mdn.Target) {
	for k := range g.base {
		for a := range 3 {
			t.Base[k][a] = float32(g.base[k][a])
		}
	}
	for a := range 3 {
		for b := range 3 {
			t.J[3*a+b] = float32(g.rows[a][b])
		}
		t.Y[a] = float32(y[a])
	}
	return t
}

// decisionRate is the learning rate of the weights of decisions, in one pass.
const decisionRate = 0.2

// weights fits the slopes and weights of decisions.
func (l *training) weights(ctx context.Context) error {
	p := newLearner(len(l.m.weights))
	bits := func(what string, rate float64, clips []train.Clip) (float64, error) {
		p.rate, p.bits, p.moved = rate, 0, 0
		for i := range clips {
			if err := l.encodeClip(ctx, what, &clips[i], i, len(clips), p); err != nil {
				return 0, err
			}
		}
		return p.bits / float64(max(p.moved, 1)), nil
	}
	point := train.Point{Part: "decisions", Epoch: 1}
	var err error
	if point.Train, err = bits("decisions", decisionRate, l.job.Clips); err != nil {
		return err
	}
	point.Held, err = l.job.MeasureHeld(func(c train.Clip) (float64, error) { return bits("held out", 0, []train.Clip{c}) })
	if err != nil {
		return err
	}
	l.log.Report(point)
	p.export(l.m)
	return nil
}

// encodeClip encodes a clip by the walk-off's rules while p observes.
func (l *training) encodeClip(ctx context.Context, what string, clip *train.Clip, k, of int, p *learner) error {
	e := newCoder(l.m, clip.Schema.Rows, l.law)
	e.learner = p
	return clip.Chain(0, func(n int, cur, base *frame.Frame, memo, spare encoders.Memo) (encoders.Memo, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := e.compare(cur, base, nil)
		if err == nil {
			err = e.code(cur, base, []encoders.Ref{{Frame: base, Memo: memo}}, spare)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, frame %d: %w", clip.Name, n, err)
		}
		if n%64 == 63 {
			l.log.Progress(what+" "+clip.Name, int64(k), int64(of))
		}
		return e.end(), nil
	})
}

// learner observes an encoder in training. It gathers samples for the nets or fits the
// weights of decisions.
type learner struct {
	sample  func(coordinate int, x []int32, g *mixtureBases, y [3]float64) // nil: fit weights
	slopes  [slopes]float64
	weights []float64
	slopeG  [slopes]float64 // sums of squared gradients
	weightG []float64
	rate    float64
	bits    float64 // cost so far
	moved   int     // cubes that moved
}

func newLearner(weights int) *learner {
	p := &learner{weights: make([]float64, weights), weightG: make([]float64, weights)}
	for i := range p.slopes {
		p.slopes[i] = 1
	}
	return p
}

// observe gathers a sample: the features of a cube and what was coded.
func (p *learner) observe(e *coder, q, base *cube.Row, coordinate int) {
	if p.sample == nil {
		p.moved += rangecoder.Flag(coordinate == 0)
		return
	}
	var y [3]float64
	for a := range y {
		if coordinate == 0 {
			y[a] = float64(q[frame.CubeX+a] - base[frame.CubeX+a])
		} else {
			y[a] = float64(q[frame.CubeA+a])
		}
	}
	p.sample(coordinate, e.features.v[:e.features.n], &e.bases, y)
}

// slopeRate is the learning rate of slopes relative to weights.
const slopeRate = 0.02

// decide replaces coder.decide in training: it adds up the cost and takes a gradient
// step.
func (p *learner) decide(bit int, z int32, c *contexts) int {
	if p.sample != nil {
		return bit
	}
	logit := float64(z) / nat
	sum := float64(logit * p.slopes[c.slope])
	for _, w := range c.weights[:c.n] {
		sum += p.weights[w]
	}
	q := 1 / (1 + exp(-min(max(sum, -11), 11)))
	if bit == 1 {
		p.bits -= math.Log2(q)
	} else {
		p.bits -= math.Log2(1 - q)
	}
	if p.rate == 0 {
		return bit
	}
	slip := float64(bit) - q
	g := float64(slip * logit)
	p.slopeG[c.slope] += float64(g * g)
	p.slopes[c.slope] += float64(slopeRate*p.rate*g) / math.Sqrt(p.slopeG[c.slope]+100)
	for _, w := range c.weights[:c.n] {
		p.weightG[w] += float64(slip * slip)
		p.weights[w] += float64(p.rate*slip) / math.Sqrt(p.weightG[w]+1)
	}
	return bit
}

// export quantises the weights into m.
func (p *learner) export(m *model) {
	for i, s := range p.slopes {
		m.slopes[i] = int16(math.Round(min(max(s*slopeUnit, 0), math.MaxInt16)))
	}
	for i, w := range p.weights {
		m.weights[i] = int16(math.Round(min(max(w*nat, -math.MaxInt16), math.MaxInt16)))
	}
}

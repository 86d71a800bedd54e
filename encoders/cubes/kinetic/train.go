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
		// The nets of kinetic are larger because they have the features of the simulation too.
		(&recipe{
			name: "kinetic", simulation: defaultSimulation(), hidden: [2]int{112, 64}, samples: 2_000_000, epochs: 14,
		}).trainer("kinetic"),
	}
}

// recipe configures the training of one codec. First the nets are trained with samples of cubes
// that moved. Then all clips are encoded with these nets, and the weights of decisions are fitted.
type recipe struct {
	name       string            // prefix of the names of the model's files
	simulation *simulationConfig // the simulated physics; nil for kinetic-lite
	hidden     [2]int            // widths of the nets' hidden layers
	samples    int               // largest number of samples for each net
	epochs     int               // passes over the samples in the training of a net
}

// maxHeldSamples is the largest number of samples of the held-out clip, for each net.
const maxHeldSamples = 50_000

// trainer returns the trainer of the codec named encoder.
func (s *recipe) trainer(encoder string) train.Trainer {
	return train.Trainer{
		Encoder: encoder, Suits: frame.IsCubes, From: "snapshots of cubes, such as file:FILE", Train: s.train,
	}
}

// training is one run of a recipe.
type training struct {
	recipe
	job train.Job
	log train.Log
	m   *model // the model with the parts that were trained so far
}

// train trains the nets and the weights of decisions and returns the files of the model.
func (s *recipe) train(ctx context.Context, job train.Job, log train.Log) ([]train.File, error) {
	l := &training{recipe: *s, job: job, log: log, m: untrainedModel()}
	if job.Quick { // a test of the training, not for use
		l.samples, l.epochs = 2000, 1
	}
	if len(job.Clips) == 0 {
		return nil, fmt.Errorf("kinetic: no recordings to train with")
	}
	if err := l.trainNets(ctx); err != nil {
		return nil, err
	}
	if err := l.fitWeights(ctx); err != nil {
		return nil, err
	}
	return train.PackAll([]train.File{
		{Name: s.name + ".place.net", Data: l.m.positionNet.Append(nil)},
		{Name: s.name + ".pose.net", Data: l.m.orientationNet.Append(nil)},
		{Name: s.name + ".tables", Data: appendTables(nil, l.m)},
	})
}

// trainNets gathers samples and trains both nets: index 0 is the position net, 1 the orientation
// net. It releases the samples of each net after its training, because they take much memory.
func (l *training) trainNets(ctx context.Context) error {
	var sets, held [2]*mdn.Set
	if err := l.gatherSamples(ctx, l.job.Clips, &sets, l.samples); err != nil {
		return err
	}
	if l.job.Held != nil {
		if err := l.gatherSamples(ctx, []train.Clip{*l.job.Held}, &held, maxHeldSamples); err != nil {
			return err
		}
	}
	for k, part := range []string{"position net", "orientation net"} {
		if sets[k].Len() == 0 {
			return fmt.Errorf("kinetic: no cube moves in the recordings")
		}
		net, err := mdn.Train(ctx, sets[k], held[k], l.netConfig(part))
		if err != nil {
			return err
		}
		if k == 0 {
			l.m.positionNet = net
		} else {
			l.m.orientationNet = net
		}
		sets[k], held[k] = nil, nil
	}
	return nil
}

// netConfig returns the configuration of a net's training; part names the net in the log.
func (l *training) netConfig(part string) mdn.Config {
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

// gatherSamples creates the sample sets of both nets and fills them by encoding clips. Of more than
// limit samples a set keeps a random choice. A set stays nil if no cube moves.
func (l *training) gatherSamples(ctx context.Context, clips []train.Clip, sets *[2]*mdn.Set, limit int) error {
	var x [maxFeatures]float32
	sample := func(coordinate int, in []int32, g *mixtureBases, y [3]float64) {
		set := &sets[coordinate/3] // coordinate is 0 for a position, 3 for an orientation
		if *set == nil {
			*set = mdn.NewSet(len(in), limit, l.job.Seed+uint64(coordinate))
		}
		for i, v := range in {
			x[i] = float32(v) / 1024 // the fixed point of featureVector
		}
		t := newTarget(g, y)
		(*set).Add(x[:len(in)], &t)
	}
	for i := range clips {
		if err := l.encodeClip(ctx, "gathering", &clips[i], i, len(clips), &learner{sample: sample}); err != nil {
			return err
		}
	}
	return nil
}

// newTarget returns the target of a sample: the bases of the mixture and the outcome y.
func newTarget(bases *mixtureBases, y [3]float64) (t mdn.Target) {
	for k := range bases.base {
		for a := range 3 {
			t.Base[k][a] = float32(bases.base[k][a])
		}
	}
	for a := range 3 {
		for b := range 3 {
			t.J[3*a+b] = float32(bases.jacobian[a][b])
		}
		t.Y[a] = float32(y[a])
	}
	return t
}

// decisionRate is the initial learning rate of the weights of decisions. There is one pass.
const decisionRate = 0.2

// fitWeights fits the slopes and weights of decisions by encoding all clips once, and reports the
// cost in bits per cube that moved: over this pass, and then of the held-out clip with fixed weights.
func (l *training) fitWeights(ctx context.Context) error {
	fitted := newLearner(len(l.m.weights))
	encodeAll := func(activity string, rate float64, clips []train.Clip) (float64, error) {
		fitted.rate, fitted.costBits, fitted.moved = rate, 0, 0
		for i := range clips {
			if err := l.encodeClip(ctx, activity, &clips[i], i, len(clips), fitted); err != nil {
				return 0, err
			}
		}
		return fitted.costBits / float64(max(fitted.moved, 1)), nil
	}
	point := train.Point{Part: "decisions", Epoch: 1}
	var err error
	if point.Train, err = encodeAll("decisions", decisionRate, l.job.Clips); err != nil {
		return err
	}
	const fixedWeights = 0 // learning rate
	point.Held, err = l.job.MeasureHeld(func(c train.Clip) (float64, error) {
		return encodeAll("held out", fixedWeights, []train.Clip{c})
	})
	if err != nil {
		return err
	}
	l.log.Report(point)
	fitted.export(l.m)
	return nil
}

// encodeClip encodes a clip, each frame with the frame six before it as the baseline, and passes every cube and
// decision to observer. activity, done and total are for the progress log: done of total clips are complete.
func (l *training) encodeClip(ctx context.Context, activity string, clip *train.Clip, done, total int,
	observer *learner) error {
	e := newCoder(l.m, clip.Schema.Rows, l.simulation)
	e.learner = observer
	const allFrames = 0
	return clip.Chain(allFrames, func(n int, cur, base *frame.Frame, memo, spare encoders.Memo) (encoders.Memo, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := e.findChanges(cur, base, nil) // the changed cubes are not known
		if err == nil {
			err = e.codeFrame(cur, base, []encoders.Ref{{Frame: base, Memo: memo}}, spare)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, frame %d: %w", clip.Name, n, err)
		}
		if n%64 == 63 { // log rarely
			l.log.Progress(activity+" "+clip.Name, int64(done), int64(total))
		}
		return e.endFrame(), nil
	})
}

// learner observes a coder in training: the coder calls observe for each cube that moved and decide
// for each decision. It either passes samples for the nets to sample, or fits the slopes and weights
// of decisions by Adagrad (Duchi et al., 2011): stochastic gradient descent in which the step of each
// weight is divided by the square root of its sum of squared gradients.
type learner struct {
	// sample receives the features x, the bases g and the outcome y of a cube that moved. coordinate
	// is 0 for the position and 3 for the orientation. If sample is nil, weights are fitted.
	sample            func(coordinate int, x []int32, g *mixtureBases, y [3]float64)
	slopes            [numSlopes]float64 // factors of logits
	weights           []float64          // weights of contexts, in nats
	slopeGradSquares  [numSlopes]float64 // sum of the squared gradients of each slope
	weightGradSquares []float64
	rate              float64 // learning rate; 0 only measures the cost
	costBits          float64 // cost of all decisions so far
	moved             int     // number of cubes that moved so far
}

// newLearner returns a learner that fits the given number of weights, starting at slopes of 1 and
// weights of 0.
func newLearner(weights int) *learner {
	p := &learner{weights: make([]float64, weights), weightGradSquares: make([]float64, weights)}
	for i := range p.slopes {
		p.slopes[i] = 1
	}
	return p
}

// observe receives a cube of e that moved: q, with its baseline. coordinate is 0 before the position
// is coded and 3 before the orientation. The features and bases of e are set.
func (p *learner) observe(e *coder, q, base *cube.Row, coordinate int) {
	if p.sample == nil { // fitting weights, which needs only the number of cubes
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

// slopeRate is the learning rate of slopes relative to that of weights.
const slopeRate = 0.02

// decide replaces coder.decide in training. It adds the cost of the decision and, unless the rate is
// 0, makes a gradient step. Nothing is encoded, and there are no adaptive weights.
func (p *learner) decide(bit int, z int32, c *contexts) int {
	if p.sample != nil { // only samples are gathered
		return bit
	}
	logit := float64(z) / nat
	sum := float64(logit * p.slopes[c.slope])
	for _, w := range c.trained[:c.nTrained] {
		sum += p.weights[w]
	}
	q := 1 / (1 + exp(-min(max(sum, -11), 11))) // P(1); the bound is about that of 16-bit probabilities
	if bit == 1 {
		p.costBits -= math.Log2(q)
	} else {
		p.costBits -= math.Log2(1 - q)
	}
	if p.rate == 0 {
		return bit
	}
	// Adagrad. The constants 100 and 1 limit the first steps, when the sums of squares are small.
	residual := float64(bit) - q
	slopeGradient := float64(residual * logit) // the gradient by the slope; by each weight it is residual
	p.slopeGradSquares[c.slope] += float64(slopeGradient * slopeGradient)
	p.slopes[c.slope] += float64(slopeRate*p.rate*slopeGradient) / math.Sqrt(p.slopeGradSquares[c.slope]+100)
	for _, w := range c.trained[:c.nTrained] {
		p.weightGradSquares[w] += float64(residual * residual)
		p.weights[w] += float64(p.rate*residual) / math.Sqrt(p.weightGradSquares[w]+1)
	}
	return bit
}

// export sets the slopes and weights of m, quantised to 16 bits.
func (p *learner) export(m *model) {
	for i, s := range p.slopes {
		m.slopes[i] = int16(math.Round(min(max(s*slopeUnit, 0), math.MaxInt16)))
	}
	for i, w := range p.weights {
		m.weights[i] = int16(math.Round(min(max(w*nat, -math.MaxInt16), math.MaxInt16)))
	}
}

package kinetic

import (
	"math"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
)

// flagTables are the context tables of the "moved" flag.
type flagTables struct {
	forecastMove, place, size, run, touch, player contextTable
	adaptMove, adaptRun                           contextTable
}

// contextClasses are the classes that contexts of a cube are made of.
type contextClasses struct {
	history      int // 0..11: how long it has been still, now and before its last motion
	near         int // 0..9: distance of the nearest cube that moved; 9: none
	player       int // 0..15: distance of the player
	size         int // 0..7: size of its last motion
	forecastMove int // 0..11: size of the forecast motion
	touch        int // 0..7: forecast contacts with floor, player, cubes
	interacting  int // 0 or 1: whether the nearest cube that moved interacts
	miss         int // 0..15: size of the last residual, and contacts
}

const (
	histories     = 12
	nearClasses   = 10
	players       = 16
	sizes         = 8
	forecastMoves = 12
	runs          = 64
)

// classify computes the classes of cube i.
func (s *scene) classify(i int) (c contextClasses) {
	a := s.past.age(i)
	c.history = min(a.still(), 3)*3 + min(a.before(), 2)
	base := cube.At(s.base, i)
	c.near, c.player = nearClasses-1, players-1
	if i > 0 {
		if d, j := s.closest(i); d >= 0 {
			c.near = min(max(d-160+24, 0)/24, nearClasses-2)
			c.interacting = int(cube.At(s.cur, int(j))[frame.CubeInteracting] & 1)
		}
		if d := cube.Distance2(cube.At(s.cur, 0), base); d < (players*100)*(players*100) {
			c.player = min(isqrt(d)/100, players-1)
		}
	}
	if s.forecast != nil && i > 0 {
		s.classifyForecast(&c, i, base)
	}
	if t := s.last(i); t != nil {
		move, turn := s.lastMotion(i)
		if moved := move.sum() + turn.sum(); moved > 0 {
			c.size = min(1+log2Class(moved+1, 30), sizes-1)
		}
		move, turn = unpackAll(&t.miss)
		c.miss = min(log2Class(move.sum()+turn.sum(), 5)*3, 12)
	}
	c.miss += c.touch >> 1
	return c
}

// classifyForecast adds the classes that depend on the forecast.
func (s *scene) classifyForecast(c *contextClasses, i int, base *cube.Row) {
	if s.motions[i] != moves {
		return // and touches nothing
	}
	o := &s.forecast[i]
	c.touch = o.touched()
	as := orientation(base)
	e := o.at.minus(position(base)).sum()
	for k := range as {
		e += float64(300 * math.Abs(o.as[k]-as[k]))
	}
	c.forecastMove = 1 + log2Class(e*32, forecastMoves-2)
}

// codeMoved codes whether cube i has another pose than in the baseline.
func (e *coder) codeMoved(answer bool, i int, c *contextClasses) bool {
	t := &e.model.flag
	e.ctx.reset(flagSlope, flagRate)
	e.ctx.use(t.forecastMove, (c.history*forecastMoves+c.forecastMove)*nearClasses+c.near)
	e.ctx.use(t.place, (c.history*nearClasses+c.near)*players+c.player)
	e.ctx.use(t.size, (c.size*nearClasses+c.near)*2+int(cube.At(e.scene.base, i)[frame.CubeInteracting]&1))
	e.ctx.use(t.run, e.run*histories+c.history)
	e.ctx.use(t.touch, (c.forecastMove*8+c.touch)*4+c.history/3)
	e.ctx.use(t.player, (c.size*players+c.player)*4+c.history/3)
	e.ctx.adaptive(t.adaptMove, c.history*forecastMoves+c.forecastMove)
	e.ctx.adaptive(t.adaptRun, e.run)
	moved := e.decide(rangecoder.Flag(answer), 0, &e.ctx)
	e.run = (e.run<<1 | moved) % runs
	return moved != 0
}

// interactTables are the context tables of the interacting flag.
type interactTables struct {
	age, blow, player, near, neighbour contextTable
	adaptAge, adaptNear                contextTable
}

const (
	interactAges  = 32
	interactBlows = 8
)

// blowBounds are class boundaries of the squared distance, in m2, from the point where the player
// pushes; the force ends at 4.
var blowBounds = [interactBlows - 1]float64{2.5, 3.2, 3.8, 4.0, 4.2, 5, 8}

// codeInteracting codes the interacting flag of cube i.
func (e *coder) codeInteracting(v int32, i int, moved bool, c *contextClasses) int32 {
	s, t := &e.scene, &e.model.interact
	base, q, p := cube.At(s.base, i), cube.At(s.cur, i), cube.At(s.cur, 0)
	was := int(base[frame.CubeInteracting] & 1)
	still := 0
	if !moved {
		still = min(s.past.age(i).still()+s.growth, interactAges-1)
	}
	arm := position(q).minus(position(p))
	arm[2] = float64(q[frame.CubeZ]) + blowBelow
	square := arm.square() / (frame.UnitsPerMetre * frame.UnitsPerMetre)
	blow := 0
	for _, b := range blowBounds {
		blow += rangecoder.Flag(square > b)
	}
	if i == 0 {
		blow = 0
	}
	state := (was*2+rangecoder.Flag(moved))*2 + rangecoder.Flag(s.past.age(i).still() == 0)
	e.ctx.reset(interactSlope, flagRate)
	e.ctx.use(t.age, ((was*2+rangecoder.Flag(moved))*interactAges+still)*2+rangecoder.Flag(i == 0))
	e.ctx.use(t.blow, (state*interactBlows+blow)*4+min(still, 3))
	e.ctx.use(t.player, state*players+c.player)
	e.ctx.use(t.near, (state*2+c.interacting)*nearClasses+c.near)
	e.ctx.use(t.neighbour, ((state*2+c.interacting)*2+s.past.age(i).interacting())*8+c.touch)
	e.ctx.adaptive(t.adaptAge, (was*2+rangecoder.Flag(moved))*interactAges+still)
	e.ctx.adaptive(t.adaptNear, (state*2+c.interacting)*nearClasses+c.near)
	return int32(e.decide(int(v), 0, &e.ctx))
}

// largestTables are the context tables of the largest component.
type largestTables struct{ margin, size, err, ratio, second, adapt contextTable }

// ratios is the number of classes of the margin relative to the net's scale.
const ratios = 16

// codeLargest codes which component is the largest: that of the predicted orientation,
// its second largest, or one of the other two. The orientation's net has been evaluated.
func (e *coder) codeLargest(v int, as quat, was int, c *contextClasses) int {
	t := &e.model.largest
	first, second := as.Largest()
	lead := math.Abs(as[first]) - math.Abs(as[second])
	margin := int(min(lead*60, 15))
	ratio := min(halfLog2Class(lead*(4*smallScale)/spread(&e.out)), ratios-1)
	e.ctx.reset(largestSlope, flagRate)
	e.ctx.use(t.margin, margin*2+rangecoder.Flag(first == was))
	e.ctx.use(t.size, margin*sizes+c.size)
	e.ctx.use(t.err, margin*misses+c.miss)
	e.ctx.use(t.ratio, ratio*2+rangecoder.Flag(first == was))
	e.ctx.adaptive(t.adapt, margin)
	if e.decide(rangecoder.Flag(v != first), 0, &e.ctx) == 0 {
		return first
	}
	e.ctx.reset(largestSlope, flagRate)
	e.ctx.use(t.second, ratio)
	e.ctx.use(t.err, 16*misses+c.miss)
	if e.decide(rangecoder.Flag(v != second), 0, &e.ctx) == 0 {
		return second
	}
	var rest [2]int
	n := 0
	for k := range 4 {
		if k != first && k != second {
			rest[n] = k
			n++
		}
	}
	e.ctx.reset(largestSlope, flagRate)
	e.ctx.use(t.second, 16)
	return rest[e.decide(rangecoder.Flag(v == rest[1]), 0, &e.ctx)]
}

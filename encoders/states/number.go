package states

import (
	"math/bits"
	"sync"

	"wirelab/dataset/frame"
	"wirelab/encoders/column"
	"wirelab/encoders/rangecoder"
)

// numeric codes a number: of a float its class, then the index of its value among those of the
// class, relative to a first guess. skip means that it is not old.
func (r *row) numeric(k int, c *fieldPlan, old int32, skip bool) error {
	m, cell := r.m, &r.cells[k-r.part.field]
	fresh := flag(r.fresh)
	want := uint32(r.cur[k])
	cls, oldClass := whole, c.classOf(uint32(old))
	if c.kind == frame.Float32 {
		cls = r.class(c, c.classOf(want), uint32(k)<<9|fresh<<8|markClass, uint32(oldClass), uint32(cell.miss))
		if cls == strange {
			r.cur[k] = int32(r.Direct(uint64(want), 32))
			return nil
		}
	}
	g := c.grid(cls, int(m.unit[c.alike]))
	primary := r.predict(k, c, old, cls)
	list := r.predictors.list()
	i0 := g.nearest(primary)
	skip = skip && oldClass == cls && i0 == g.index(uint32(old))
	apart := uint32(0) // half octaves between the first two predictions
	if len(list) > 1 {
		d := uint64(magnitude(list[0].at[0]-list[1].at[0])) >> uint(max(g.fine()-2, 0))
		apart = uint32(min(halfOctaves(d+1), 40))
	}
	key := (uint32(c.alike)<<9|fresh<<8)<<3 | uint32(cls)
	r.x.Begin()
	r.x.AddContext(key, r.kind, markNumber, 0)
	r.x.AddContext(key, uint32(cell.miss), apart/2, 1)
	r.x.AddContext(key, r.kind, apart, 3)
	n := numberCoder{mixer: &r.x, list: list, logs: r.logs, grid: &g, fine: g.fine(), i0: i0, dir: 1,
		set: rangecoder.Hash(key, uint32(cell.best), r.best, 9)}
	i := n.code(g.index(want), skip)
	b := g.bits(i)
	r.cur[k] = int32(b)
	if c.kind != frame.Float32 && i != int64(int32(i)) {
		return column.Error(r.schema, k, int64(int32(i)))
	}
	cell.best = nearest(list, r.fixed(k, int32(b)))
	r.best = 0
	if c.group >= 0 {
		r.best = uint32(cell.best) + 1
	}
	miss := uint32(min(halfOctaves(uint64(magnitude(i-i0))+1), 63)) / 2
	cell.miss = uint8(miss)
	r.miss = r.miss<<6&0xfff | miss
	if c.role == frame.Velocity {
		r.lastSym = rangecoder.Hash(uint32(k), 1, 2, 0)
	}
	if c.kind == frame.Float32 {
		if unit := floatReach - 1 - exponent(b); unit < int(m.unit[c.alike]) {
			m.unit[c.alike] = int8(max(unit, -96))
		}
	}
	return nil
}

// class codes the class of a float: for each class in turn whether it is that one.
func (r *row) class(c *fieldPlan, cls class, id, old, miss uint32) class {
	x := &r.x
	x.Begin()
	x.AddContext(id, r.kind, old, 0)
	x.AddContext(id, r.kind, old, miss+1)
	x.AddContext(id, r.sym, old, 2)
	for k := whole; k < strange; k++ {
		if k == stepped && c.step == 0 {
			continue
		}
		if x.CodeFlag(cls == k, uint32(k), id<<3|uint32(k), 3) {
			return k
		}
	}
	return strange
}

// fixed returns a value of a field in fixed point.
func (r *row) fixed(k int, v int32) int64 {
	c := &r.cols[k]
	if c.kind == frame.Float32 {
		return fix(uint32(v), int(r.m.unit[c.alike]))
	}
	return int64(v) << integerUnit
}

// nearest returns the lane of the predictor that was nearest to a value. A later one must be
// nearer by a quarter.
func nearest(list []predictor, v int64) uint8 {
	best, least := 0, int64(1<<62)
	for i := range list {
		p := &list[i]
		for k := range p.places {
			if d := magnitude(v - p.at[k]); d < least-least/4 {
				best, least = p.lane, d
			}
		}
	}
	return uint8(best)
}

// Decisions of a number.
const (
	nodeSame = 1
	nodeUp   = 2
	nodeSize = 8  // and 31 more
	nodeRest = 64 // bits below the highest
)

// A numberCoder codes an index: whether it is the first guess i0, whether it is above, the
// number of bits of its distance by a binary tree of five levels, and the bits below the
// highest. Before each decision every predictor predicts it.
type numberCoder struct {
	mixer   *rangecoder.StateMixer
	list    []predictor
	logs    *logarithms
	grid    *grid
	fine    int // see grid.fine
	i0, dir int64
	set     uint32 // of weights
}

// code codes index i. skip means that it is not i0.
func (n *numberCoder) code(i int64, skip bool) int64 {
	x, logs, list, fine := n.mixer, n.logs, n.list, n.fine
	lane := 0
	for i := range list {
		lane = max(lane, list[i].lane)
	}
	x.ReservePredictors(lane + 1)
	low, high := n.grid.below(n.i0), n.grid.below(n.i0+1)
	for k := range list {
		p := &list[k]
		p.prepare()
		p.last, p.first = p.mass(low, fine), p.mass(high, fine)
	}
	if !skip {
		for k := range list {
			p := &list[k]
			in := p.first - p.last
			x.Predict(p.lane, logs.logOdds(in, p.high-in))
		}
		if x.CodeFlag(i == n.i0, nodeSame, n.set+nodeSame, 3) {
			n.learn(n.i0)
			return n.i0
		}
	}
	for k := range list {
		p := &list[k]
		x.Predict(p.lane, logs.logOdds(p.high-p.first, p.last))
	}
	up := x.CodeFlag(i > n.i0, nodeUp, n.set+nodeUp, 3)
	for k := range list {
		if p := &list[k]; up {
			p.low = p.first
		} else {
			p.high = p.last
		}
	}
	if !up {
		n.dir = -1
	}
	i = n.i0 + n.dir*n.distance((i-n.i0)*n.dir)
	if n.grid.class != integer {
		most := n.grid.most()
		i = min(max(i, -most), most)
	}
	n.learn(i)
	return i
}

// distance codes the distance from the first guess, at least 1.
func (n *numberCoder) distance(far int64) int64 {
	size := 0
	if far > 0 {
		size = bits.Len64(uint64(far)) - 1
	}
	node, length := uint32(1), 0
	for d := 4; d >= 0; d-- {
		split := length + 1<<d
		n.predict(1 << split)
		b := n.mixer.CodeBit(size>>d&1, nodeSize+node, n.set+nodeSize+node, 3)
		n.narrow(b == 1)
		if b == 1 {
			length = split
		}
		node = node<<1 | uint32(b)
	}
	return n.lower(far, length)
}

// lower codes the bits of a distance below the highest, of which there are length. They are
// coded directly once the predictors have been of no use for two bits.
func (n *numberCoder) lower(far int64, length int) int64 {
	so := int64(1) << length
	even := 0
	for d := length - 1; d >= 0; d-- {
		depth := length - 1 - d
		if even >= 2 && d > 0 && depth > 3 || depth > 24 {
			rest := uint(d + 1)
			return so | int64(n.mixer.Coder.Direct(uint64(far)&(1<<rest-1), rest))
		}
		even++
		if !n.predict(so + 1<<d) {
			even = 0
		}
		contexts, node := 2, nodeRest+uint32(length)<<8+uint32(min(depth, 6))<<4
		if depth >= 3 {
			contexts = 1
		} else {
			node |= uint32(so>>(d+1)) & 7
		}
		b := n.mixer.CodeBit(int(far>>d&1), node, n.set+nodeRest+uint32(min(depth, 6)), contexts)
		n.narrow(b == 1)
		if b == 1 {
			so += 1 << d
		}
	}
	return so
}

// predict sets the predictions of whether the distance is at least split. It reports whether all
// are about even.
func (n *numberCoder) predict(split int64) bool {
	v := n.i0 + split
	if n.dir < 0 {
		v = n.i0 - split + 1
	}
	x, logs, list, fine, down := n.mixer, n.logs, n.list, n.fine, n.dir < 0
	at := n.grid.below(v)
	flat := true
	for k := range list {
		p := &list[k]
		p.last = p.mass(at, fine)
		yes, no := p.high-p.last, p.last-p.low
		if down {
			yes, no = no, yes
		}
		logit := int32(0)
		if yes+no > 2 {
			logit = logs.logOdds(yes, no)
		}
		x.Predict(p.lane, logit)
		flat = flat && logit < 41 && logit > -41
	}
	return flat
}

// narrow restricts what is possible to distances at least as far as the last decision's, or to
// nearer ones.
func (n *numberCoder) narrow(far bool) {
	above, list := far == (n.dir > 0), n.list
	for k := range list {
		if p := &list[k]; above {
			p.low = p.last
		} else {
			p.high = p.last
		}
	}
}

// learn counts the errors of all predictors, each from its nearest place.
func (n *numberCoder) learn(i int64) {
	v := (n.grid.below(i) + n.grid.below(i+1)) / 2
	for k := range n.list {
		p := &n.list[k]
		by := v - p.at[0]
		for _, at := range p.at[1:p.places] {
			if magnitude(v-at) < magnitude(by) {
				by = v - at
			}
		}
		p.errors.add(by, n.fine)
	}
}

// errorDist is the distribution of the errors of predictors of one sort, in half octaves of
// their magnitude. Books hold it in this order.
type errorDist struct {
	Count [maxOctave]uint16 // the first is of errors next to none
	Above uint16            // share of positive errors, of 65536
	Total uint16
}

const (
	maxOctave  = 62 // half octaves
	errorCount = 32 // the count of one error
	maxTotal   = 1 << 13
)

func newErrorDist() (e errorDist) {
	rangecoder.Fill(e.Count[:], 1)
	e.Count[0] = 8
	e.Total = maxOctave + 7
	e.Above = 1 << 15
	return e
}

// add counts an error. Errors below 2^fine count as none. A third of the count goes to the
// neighbouring half octaves; at maxTotal all counts are halved.
func (e *errorDist) add(by int64, fine int) {
	at := 0
	if m := uint64(magnitude(by)); m>>uint(fine) != 0 {
		at = min(halfOctaves(m)-2*fine+1, maxOctave-1)
	}
	if at == 0 {
		e.Count[0] += errorCount
	} else {
		e.Count[at] += errorCount - 2*(errorCount/6)
		e.Count[at-1] += errorCount / 6
		e.Count[min(at+1, maxOctave-1)] += errorCount / 6
		if by > 0 {
			e.Above += (1<<16 - 1 - e.Above) >> 5
		} else {
			e.Above -= e.Above >> 5
		}
	}
	e.Total += errorCount
	if e.Total < maxTotal {
		return
	}
	e.Total = 0
	for i, c := range e.Count {
		e.Count[i] = max(c-c/2, 1)
		e.Total += e.Count[i]
	}
}

// A predictor predicts a number: at up to maxPlaces places, with the distribution of the errors
// that such predictors made so far. It answers each binary decision on the way to the number
// with the ratio of the masses of both outcomes.
type predictor struct {
	at     [maxPlaces]int64
	weight [maxPlaces]uint32 // of 256
	places int
	lane   int // which of a number's predictors it is, and its input of the mixer
	errors *errorDist

	// Of the distribution, scaled to a sum of 1<<24.
	sum    [maxOctave + 1]uint32 // of the half octaves below each
	center uint32                // mass of errors next to none
	under  uint32                // mass of negative errors
	above  uint64                // share of positive errors, of 65536

	// Masses while a number is coded.
	low, high int64 // below the begin and the end of the values that are still possible
	last      int64 // below the value of the last decision
	first     int64 // below the end of the first guess
}

const (
	scaledTotal = 1 << 24
	maxPlaces   = 4
)

// predictorList are the predictors of a number.
type predictorList struct {
	all    [rangecoder.MaxPredictors]predictor
	n      int
	errors []errorDist
	key    uint32 // of error distributions
	turn   int64  // values wrap at it; 0 if they do not
}

// list returns the predictors.
func (l *predictorList) list() []predictor { return l.all[:l.n] }

// add adds a predictor of one place. extra selects its error distribution, with the lane.
func (l *predictorList) add(lane int, extra uint32, at int64) *predictor {
	p := &l.all[l.n]
	l.n++
	p.lane, p.places = lane, 1
	p.at[0] = min(max(at, -maxPlace), maxPlace)
	p.errors = &l.errors[rangecoder.Hash(l.key|uint32(lane), extra, 3, 0)>>(32-errorBits)]
	return p
}

// addPoint adds a predictor of a place, and where values wrap of the same one turn away.
func (l *predictorList) addPoint(lane int, extra uint32, at int64) {
	p := l.add(lane, extra, at)
	if l.turn == 0 {
		return
	}
	p.places = 2
	p.at[1] = p.at[0] - l.turn
	if at < 0 {
		p.at[1] = p.at[0] + l.turn
	}
	p.weight[0], p.weight[1] = 232, 24
}

// prepare computes the scaled distribution.
func (p *predictor) prepare() {
	scale := uint32(scaledTotal) / uint32(p.errors.Total)
	sum := uint32(0)
	for i, c := range p.errors.Count {
		p.sum[i] = sum
		sum += uint32(c) * scale
	}
	p.sum[maxOctave] = sum
	p.center = p.sum[1]
	p.above = uint64(p.errors.Above)
	p.under = uint32(uint64(sum-p.center) * (1<<16 - p.above) >> 16)
	p.low, p.high = 0, int64(sum)
}

// mass returns the mass below a value.
func (p *predictor) mass(v int64, fine int) int64 {
	if p.places == 1 {
		return p.errorMass(v-p.at[0], fine)
	}
	sum := int64(0)
	for i := range p.places {
		sum += p.errorMass(v-p.at[i], fine) * int64(p.weight[i])
	}
	return sum >> 8
}

// errorMass returns the mass of errors below v, interpolated linearly within a half octave.
func (p *predictor) errorMass(v int64, fine int) int64 {
	minus := v >> 63 // all ones or zero
	m := uint64(v ^ minus - minus)
	if m>>uint(fine) == 0 {
		return int64(p.under) + (int64(p.center)*(v+1<<uint(fine)))>>uint(fine+1)
	}
	n := bits.Len64(m) - 1
	top := m << uint(63-n)
	i := 2*(n-fine) + 1
	// Without branches, because processors cannot predict the half of an octave and the sign.
	begin, slope := uint64(1<<63), uint64(158217) // 65536/(sqrt 2-1) = 158218
	_, below := bits.Sub64(top, rootTwo, 0)
	upper := below - 1 // all ones or zero
	begin += upper & (rootTwo - 1<<63)
	slope -= upper & (158217 - 111893) // 65536/(2-sqrt 2) = 111885
	i += int(upper & 1)
	part := (top - begin) >> 32 * slope >> 31 // of the half octave, of 65536
	var mag uint64
	if i >= maxOctave {
		mag = uint64(p.sum[maxOctave] - p.center)
	} else {
		mag = uint64(p.sum[i]-p.center) + (uint64(p.sum[i+1]-p.sum[i])*min(part, 1<<16))>>16
	}
	share := p.above ^ uint64(minus) + uint64(minus)&(1<<16+1)
	return int64(p.under) + int64(p.center)&^minus + (int64(mag*share>>16) ^ minus - minus)
}

// logOdds returns the logit of a decision with these masses of 1 and 0.
func (l *logarithms) logOdds(yes, no int64) int32 {
	return min(max(l.ln(yes)-l.ln(no), -maxLogOdds), maxLogOdds)
}

const maxLogOdds = 23000

// ln returns ln(v+1) in units of 1/2048.
func (l *logarithms) ln(v int64) int32 {
	u := uint64(max(v, 0)) + 1
	n := bits.Len64(u) - 1
	return l[u<<uint(63-n)>>(63-logBits)&(1<<logBits-1)] + int32(n*90852>>6) // 2048*64*ln(2)
}

const logBits = 8

// logarithms holds ln(1 + (i+1/2)/256) in units of 1/2048.
type logarithms [1 << logBits]int32

var logTable = sync.OnceValue(func() *logarithms {
	t := new(logarithms)
	for i := range t {
		v := uint32(1<<(logBits+1) + 2*i + 1)
		log2 := rangecoder.Log2(v) - (logBits+1)<<16 // in units of 1/65536
		t[i] = int32(log2 * 1420 >> 16)              // 2048*ln(2)
	}
	return t
})

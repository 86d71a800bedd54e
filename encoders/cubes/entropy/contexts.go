package entropy

import (
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/rangecoder"
	"wirelab/encoders/rotation"
)

// contextCoder is the traversal of static and adaptive. Every decision has one context
// and every context one counter. The contexts follow Giesen's program: whether the cube
// changed against its own baseline, its distance from the player, its last motion, and
// the residuals of its coordinates that are already known.
type contextCoder struct {
	fixed  []rangecoder.Counter // probabilities of static; nil in adaptive
	limit  int                  // limit of Counter.Update; 0 in static, where counters do not adapt
	counts *decisionCounts      // where a trainer counts the decisions; nil in a codec

	e        *coder
	counters []rangecoder.Counter
	at       numberContexts // the contexts of the present number
}

// Sizes and offsets of the context tables among the counters.
const (
	spins          = 10 // lengths of a turn, in steps of a component
	misses         = 10 // lengths of a residual
	histories      = 12 // see contextCube.history
	recentPatterns = 8  // which of the last three rows changed

	ctxChanged     = 0
	ctxMoved       = ctxChanged + idleClasses*distanceClasses*recentPatterns*2
	ctxTurned      = ctxMoved + idleClasses*speeds
	ctxInteracting = ctxTurned + idleClasses*speeds
	ctxLargest     = ctxInteracting + idleClasses*2*4
	ctxFirst       = ctxLargest + margins*spins*2 // x
	ctxShift       = ctxFirst + speeds*histories*lengthNodes
	ctxTurn        = ctxShift + 2*misses*speeds*lengthNodes
	ctxSign        = ctxTurn + 3*misses*spins*lengthNodes
	ctxTop         = ctxSign + 6*3*3
	ctxSize        = ctxTop + 6*topNodes
)

// numberContexts are the offsets of a number's counters.
type numberContexts struct{ length, sign, top int }

// bit codes a decision in context at.
func (l *contextCoder) bit(at, v int) int {
	k := &l.counters[at]
	v = l.e.Bit(v, k.P())
	if l.limit != 0 {
		k.Update(v, l.limit)
	}
	if l.counts != nil {
		l.counts.count(at, v)
	}
	return v
}

// tree codes n bits of v, the highest first, as a binary tree whose root is context at+1.
func (l *contextCoder) tree(at, v int, n uint) int {
	v = l.e.Tree(l.counters[at:], v, n, l.limit)
	if l.counts != nil {
		for node := v | 1<<n; node > 1; node >>= 1 {
			l.counts.count(at+node>>1, node&1)
		}
	}
	return v
}

// frame codes the cubes in order of rows: whether each changed, and the new values of those that did.
func (l *contextCoder) frame(e *coder, cur, base *frame.Frame, past, next *memo) error {
	l.e, l.counters = e, next.counters
	if l.fixed != nil {
		l.counters = l.fixed
	}
	player, steps, recent := cube.At(base.Table, 0), past.moved, 0
	k := contextCube{e: e, coder: l, lastTicks: past.ticks, ticks: next.ticks}
	for i := 0; i < e.rows; i++ {
		if past.idle[i] > 0 && l.counts == nil {
			i, recent = l.codeResting(base, past, next, player, i, recent)
			if i == e.rows {
				break
			}
		}
		q, b := cube.At(cur.Table, i), cube.At(base.Table, i)
		var s *step // last step of the cube; nil if it did not move. steps are in order of rows
		if len(steps) > 0 && int(steps[0].row) == i {
			s, steps = &steps[0], steps[1:]
		}
		idle, far := idleClass(past.idle[i]), distanceClass(distance2(b, player))
		var v [3]int32
		if s != nil {
			v = s.scaled(past.ticks, next.ticks)
		}
		at := ctxChanged + (changeContext(idle, far, v)*2+int(b[frame.CubeInteracting]))*recentPatterns + recent
		changed := l.bit(at, e.changes.Bit(i))
		e.Charge(encoders.SlotFlags)
		recent = (recent<<1 | changed) & (recentPatterns - 1)
		if changed == 0 {
			next.noteUnchanged(i)
			continue
		}
		if err := e.admit(i, q); err != nil {
			return err
		}
		k.q, k.base, k.step, k.v, k.idle, k.far, k.missed = q, b, s, v, idle, far, 0
		k.codeChanged()
		if err := e.accept(i, q, b); err != nil {
			return err
		}
		next.noteChanged(i, q, b).turnMiss = uint8(k.missed)
		if i == 0 {
			player = q
		}
	}
	return nil
}

// restBatch is the maximum number of cubes at rest that one call of Zeros codes.
const restBatch = 32

// codeResting codes the "changed" flags of the cubes from i up to the first cube that changed in the
// base frame or changes now. It returns the row of that cube and the new value of recent.
func (l *contextCoder) codeResting(base *frame.Frame, past, next *memo, player *cube.Row, i, recent int) (int, int) {
	e := l.e
	for full := true; full; {
		var at [restBatch]int32
		n := 0
		for list := past.idle[i:min(i+restBatch, e.rows)]; n < len(list) && list[n] > 0 && e.changes.Bit(i+n) == 0; n++ {
			idle, b := list[n], cube.At(base.Table, i+n)
			next.idle[i+n] = idle + uint8(rangecoder.Flag(idle < forever))
			ctx := idleClass(idle)*distanceClasses + distanceClass(distance2(b, player))
			at[n] = int32(ctxChanged + (ctx*2+int(b[frame.CubeInteracting]))*recentPatterns + recent)
			recent = recent << 1 & (recentPatterns - 1)
		}
		done := e.Zeros(l.counters, at[:n], l.limit)
		i += done
		if done < n {
			recent = int(at[done] & (recentPatterns - 1))
		}
		full = done == restBatch && i < e.rows
	}
	e.Charge(encoders.SlotFlags)
	return i, recent
}

// contextCube is a changed cube and the values of its contexts.
type contextCube struct {
	e                *coder
	coder            *contextCoder
	q, base          *cube.Row
	step             *step
	lastTicks, ticks int32
	v                [3]int32 // shift predicted from the last velocity
	idle, far        int      // classes of the time at rest and of the distance from the player
	missed           int      // greatest length of the position residuals so far
}

// changeContext returns the context of the "changed" flag: by predicted speed for a cube
// that changed last, otherwise by the time at rest and the distance from the player.
func changeContext(idle, far int, v [3]int32) int {
	if idle == 0 {
		return span(v, speeds-1)
	}
	return idle*distanceClasses + far
}

// history returns a context from the cube's past: its last residual if it moved,
// otherwise its distance from the player.
func (k *contextCube) history() int {
	if k.step == nil {
		return histories - 1 - k.far/3
	}
	return min(int(k.step.turnMiss), histories-1-distanceClasses/3)
}

// codeChanged codes a cube that changed, in both directions: an encoder writes the values of k.q,
// a decoder stores the values that it reads there. The order is a flag for the position, the
// position if it changed, a flag for the orientation, the orientation if it changed, and whether the
// interacting flag flipped. The counters are chosen by motion, the time at rest and predicted speed.
func (k *contextCube) codeChanged() {
	l, motion := k.coder, k.idle*speeds+span(k.v, speeds-1)
	moved := l.bit(ctxMoved+motion, rangecoder.Flag(!cube.SamePosition(k.q, k.base)))
	k.e.Charge(encoders.SlotFlags)
	if moved != 0 {
		k.codePosition()
		k.e.Charge(encoders.SlotPosition)
	}
	turned := l.bit(ctxTurned+motion, rangecoder.Flag(!cube.SameOrientation(k.q, k.base)))
	k.e.Charge(encoders.SlotFlags)
	if turned != 0 {
		k.codeOrientation()
		k.e.Charge(encoders.SlotOrientation)
	}
	flipped := 1 // not coded for a cube that neither moved nor turned: the flag must have flipped
	if moved|turned != 0 {
		at := ctxInteracting + (k.idle*2+int(k.base[frame.CubeInteracting]))*4 + k.far*4/distanceClasses
		flipped = l.bit(at, int(k.q[frame.CubeInteracting]^k.base[frame.CubeInteracting]))
	}
	k.q[frame.CubeInteracting] = k.base[frame.CubeInteracting] ^ int32(flipped)
	k.e.Charge(encoders.SlotInteracting)
}

// codePosition codes the position as residuals of the position that the last velocity predicts.
func (k *contextCube) codePosition() {
	speed, last := span(k.v, speeds-1), 1
	for j, v := range k.v {
		at := ctxFirst + (speed*histories+k.history())*lengthNodes
		if j > 0 {
			at = ctxShift + (((j-1)*misses+min(k.missed, misses-1))*speeds+speed)*lengthNodes
		}
		k.coder.at = numberContexts{at, ctxSign + (j*3+sign(v))*3 + last, ctxTop + j*topNodes}
		p := &k.q[frame.CubeX+j]
		guess := clampCoordinate(j, k.base[frame.CubeX+j]+v)
		miss := k.coder.number(*p - guess)
		*p = guess + miss
		k.missed, last = max(k.missed, length(miss, 32)), sign(miss)
	}
}

// codeOrientation codes the orientation: which component is the largest, and the other three as
// residuals of a linear extrapolation from the last step.
func (k *contextCube) codeOrientation() {
	l, q, b := k.coder, k.q, k.base
	is := orientation(b)
	was := is
	if k.step != nil {
		var from cube.Row
		cube.UnpackOrientation(&from, k.step.from)
		was = orientation(&from)
		if dot(&was, &is) < 0 {
			was = was.Negative()
		}
	}
	var by rotation.Quaternion
	ahead, spin := float64(k.ticks)/float64(k.lastTicks), 0
	for i := range is {
		by[i] = is[i] - was[i]
		spin = max(spin, length(int32(float64(by[i]*stepsToOne)), spins-1))
		is[i] += float64(by[i] * ahead)
	}
	k.codeLargest(&is, spin)
	if is[q[frame.CubeLargest]] < 0 {
		is, by = is.Negative(), by.Negative()
	}
	off, last := 0, 1
	for i, j := int32(0), 0; i < 4; i++ {
		if i == q[frame.CubeLargest] {
			continue
		}
		ctx := spin // plus the residuals of the position, or of the components coded before
		if j == 0 {
			ctx += min(k.missed, misses-1) * spins
		} else {
			ctx += (j*misses + min(off, misses-1)) * spins
		}
		l.at = numberContexts{ctxTurn + ctx*lengthNodes, ctxSign + ((3+j)*3+signOf(by[i]))*3 + last, ctxTop + (3+j)*topNodes}
		p := &q[frame.CubeA+j]
		guess := gridStep(is[i])
		miss := l.number(*p - guess)
		*p = guess + miss
		off, last = max(off, length(miss, 32)), sign(miss)
		j++
	}
}

// codeLargest codes which component is the largest: the largest of guess, the second largest, or another.
func (k *contextCube) codeLargest(guess *rotation.Quaternion, spin int) {
	first, second := guess.Largest()
	at := ctxLargest + (margin(guess, first, second)*spins+spin)*2
	q := &k.q[frame.CubeLargest]
	switch {
	case k.coder.bit(at, rangecoder.Flag(int(*q) != first)) == 0:
		*q = int32(first)
	case k.coder.bit(at+1, rangecoder.Flag(int(*q) != second)) == 0:
		*q = int32(second)
	default:
		*q = int32(k.e.Direct(uint64(*q), cube.LargestBits))
	}
}

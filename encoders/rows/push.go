package rows

import "math"

// A velocity with drag is predicted as games move players: drag slows it, and then a push in some direction
// accelerates it until its component in that direction reaches a speed (PM_Friction and PM_Accelerate of
// Quake III), or by a fixed amount. The frequent speeds and amounts are learnt. Given axis 0, few values of
// axis 1 agree with them. All are in units of 2^-pushUnit.
const pushUnit = 13

const (
	pushes      = 16 // predicted values of axis 1: with and without drag, two for each of two speeds and two lengths
	pushFlags   = 5  // number of likely pushes that are coded
	hitRate     = 5  // hits are means over about 32 values
	firstHits   = 1 << 11
	minPush     = 64
	nearSpeed   = 64 // speeds that differ less are one
	maxVelocity = 1 << 26
)

// A vector holds axes 0 and 1 of a velocity.
type vector [2]int64

func (v vector) minus(w vector) vector { return vector{v[0] - w[0], v[1] - w[1]} }

func (v vector) dot(w vector) int64 { return v[0]*w[0] + v[1]*w[1] }

func (v vector) length() int64 { return int64(math.Sqrt(float64(v.dot(v)))) }

// speeds holds frequent speeds and their weights.
type speeds struct{ speed, weight [4]int32 }

// add counts a speed: the nearest stored one moves towards it, or it replaces the rarest.
func (s *speeds) add(v int32) {
	rarest := 0
	for i := range s.speed {
		s.weight[i] -= s.weight[i] >> 9
		if d := v - s.speed[i]; d < nearSpeed && d > -nearSpeed {
			s.weight[i] += 1 << 16
			s.speed[i] += d >> 3
			return
		}
		if s.weight[i] < s.weight[rarest] {
			rarest = i
		}
	}
	s.speed[rarest] = v
	s.weight[rarest] = 1 << 15
}

// best returns the two most frequent speeds, the most frequent first.
func (s *speeds) best() [2]int64 {
	first := 0
	second := 1
	for i, weight := range s.weight {
		switch {
		case weight > s.weight[first]:
			first, second = i, first
		case i != first && weight > s.weight[second]:
			second = i
		}
	}
	return [2]int64{int64(s.speed[first]), int64(s.speed[second])}
}

// pushModel holds what is learnt about the pushes of a group.
type pushModel struct {
	speed  speeds         // that pushes reach
	length [2]speeds      // of pushes, after drag and without drag
	hits   [pushes]uint16 // share of the values that were near to each prediction, of 65536
}

// velocityOf returns axes 0 and 1 of the velocity of a group.
func (r *rowState) velocityOf(g *group, values []int32) (v vector) {
	for axis := range v {
		k := g.velocity[axis]
		speed := roundShift(r.toFixed(k, values[k]), r.unit(&r.columns[k])-pushUnit)
		v[axis] = min(max(speed, -maxVelocity), maxVelocity)
	}
	return v
}

// slowed returns the velocity of a group in base after drag for the elapsed time.
func (r *rowState) slowed(g *group) vector {
	v := r.velocityOf(g, r.base)
	speed := v.length()
	if speed == 0 {
		return v
	}
	lost := g.drag * min(max(r.next.elapsed, 0), 1<<8) // share of the speed, in units of 2^-32
	if speed < g.stopSpeed {
		lost = lost * g.stopSpeed / speed
	}
	left := max(1<<32-lost, 0)
	return vector{v[0] * left >> 32, v[1] * left >> 32}
}

// learnPush learns from the velocities of a row that changed.
func (r *rowState) learnPush() {
	for _, n := range r.part.groups {
		g := &r.groups[n]
		if g.drag == 0 || r.isNew || r.next.elapsed <= 0 {
			continue
		}
		from := r.velocityOf(g, r.base)
		to := r.velocityOf(g, r.cur)
		push := to.minus(r.slowed(g))
		length := push.length()
		if length <= minPush || to == from {
			continue
		}
		m := &r.next.pushes[n]
		m.speed.add(int32(to.dot(push) / length))
		m.length[0].add(int32(length))
		m.length[1].add(int32(to.minus(from).length()))
	}
}

// predictPushes sets the predicted indices of axis 1 of a velocity, given axis 0. Games apply drag only on the ground, so
// the pushes are from the velocity with and without it.
func (r *rowState) predictPushes(c *fieldPlan, p *prediction) {
	g := &r.groups[c.group]
	m := &r.next.pushes[c.group]
	x := r.velocityOf(g, r.cur)[0]
	p.pushed = 0
	next := 0
	add := func(values []int64) {
		for i, y := range values {
			p.pushes[next+i] = p.grid.nearestIndex(y << uint(max(p.grid.unit-pushUnit, 0)))
			p.pushed |= 1 << (next + i)
		}
		next += 2
	}
	for i, from := range [2]vector{r.slowed(g), r.velocityOf(g, r.base)} {
		for _, speed := range m.speed.best() {
			roots, n := solvePush(from, x, speed)
			add(roots[:n])
		}
		for _, length := range m.length[i].best() {
			dx := x - from[0]
			square := length*length - dx*dx
			dy := int64(math.Sqrt(float64(max(square, 0))))
			values := [2]int64{from[1] + dy, from[1] - dy}
			add(values[:2*flag(square > 0)])
		}
	}
}

// solvePush returns up to two values y such that a push from a velocity to (x, y) reaches the speed along
// its direction. They are those nearest to the velocity, one on each side.
func solvePush(from vector, x, speed int64) (roots [2]int64, n int) {
	excess := func(y int64) int64 { // 0 at a root
		to := vector{x, y}
		push := to.minus(from)
		return to.dot(push) - speed*push.length()
	}
	const steps = 12
	reach := speed/2 + 4<<pushUnit
	for _, side := range [2]int64{reach, -reach} {
		near := from[1]
		negative := excess(near) < 0
		for i := int64(1); i <= steps; i++ {
			far := from[1] + side*i*i/(steps*steps)
			if (excess(far) < 0) == negative {
				near = far
				continue
			}
			for abs(far-near) > 1 { // bisection
				middle := (near + far) / 2
				if (excess(middle) < 0) == negative {
					near = middle
				} else {
					far = middle
				}
			}
			roots[n] = near
			n++
			break
		}
	}
	return roots, n
}

// codePush codes which of the likeliest pushes is near to the value of field k, axis 1 of a velocity, and makes it the
// prediction.
func (r *rowState) codePush(k int, c *fieldPlan, h *cell, p *prediction) {
	r.predictPushes(c, p)
	actual := p.grid.index(uint32(r.cur[k]))
	nearest, least := -1, nearPush(p.grid.class)
	for i, index := range p.pushes {
		if d := abs(actual - index); p.pushed>>i&1 != 0 && d < least {
			nearest, least = i, d
		}
	}
	x := &r.mixer
	hits := &r.next.pushes[c.group].hits
	last := uint32(h.push)
	h.push = 0
	for n := uint32(0); n < pushFlags && p.pushed != 0; n++ {
		best := -1
		for i := range hits {
			if p.pushed>>i&1 != 0 && (best < 0 || hits[i] > hits[best]) {
				best = i
			}
		}
		p.pushed &^= 1 << best
		id := uint32(best)<<16 | uint32(c.statsField)<<8 | decisionPush
		x.Begin(k)
		x.AddContext(id, n, uint32(r.maxResidual), 0)
		x.AddContext(id, n, uint32(hits[best])>>11, 0)
		x.AddContext(id, n, last, 0)
		if x.Flag(guessNode+int(n), best == nearest) {
			hits[best] += (1<<16 - 1 - hits[best]) >> hitRate
			h.push = uint8(best) + 1
			p.guess = p.pushes[best]
			p.second = 0
			p.best = predictors + best
			r.expected = pushExpected
			return
		}
		hits[best] -= hits[best] >> hitRate
	}
}

// pushExpected stands for the expected length of residuals from a push.
const pushExpected = 30

// nearPush returns the distance, in indices of a class, from which on a push is not near.
func nearPush(class floatClass) int64 {
	switch class {
	case classOther:
		return 1 << 13
	case classEighth:
		return 4
	}
	return 2
}

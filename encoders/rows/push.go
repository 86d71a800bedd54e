package rows

import "math"

// A velocity with drag is predicted as games move players: drag slows it, and then a push in some direction
// accelerates it until its component in that direction reaches a speed (PM_Friction and PM_Accelerate of
// Quake III), or by a fixed amount. The frequent speeds and amounts are learnt. Given axis 0, few values of
// axis 1 agree with them. All are in units of 2^-pushUnit.
const pushUnit = 13

const (
	pushes      = 6 // predicted values of axis 1: two for a speed, two for each of two lengths
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
	speed  speeds // that pushes reach
	length speeds // of pushes, after drag
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
	lost := g.drag * min(max(r.elapsed, 0), 1<<8) // share of the speed, in units of 2^-32
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
		if g.drag == 0 || r.isNew || r.elapsed <= 0 {
			continue
		}
		to := r.velocityOf(g, r.cur)
		push := to.minus(r.slowed(g))
		length := push.length()
		if length <= minPush || to == r.velocityOf(g, r.base) {
			continue
		}
		m := &r.next.pushes[n]
		m.speed.add(int32(to.dot(push) / length))
		m.length.add(int32(length))
	}
}

// predictPushes sets the predicted indices of axis 1 of a velocity, given axis 0.
func (r *rowState) predictPushes(c *fieldPlan, p *prediction) {
	g := &r.groups[c.group]
	m := &r.next.pushes[c.group]
	from := r.slowed(g)
	x := r.velocityOf(g, r.cur)[0]
	p.pushed = 0
	add := func(i int, y int64) {
		p.pushes[i] = p.grid.nearestIndex(y << uint(max(p.grid.unit-pushUnit, 0)))
		p.pushed |= 1 << i
	}
	if speed := m.speed.best()[0]; speed > 0 {
		roots, n := solvePush(from, x, speed)
		for i, y := range roots[:n] {
			add(i, y)
		}
	}
	for i, length := range m.length.best() {
		dx := x - from[0]
		if square := length*length - dx*dx; square > 0 {
			dy := int64(math.Sqrt(float64(square)))
			add(2+2*i, from[1]+dy)
			add(3+2*i, from[1]-dy)
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
		for i := int64(1); i <= steps; i++ {
			far := from[1] + side*i*i/(steps*steps)
			if (excess(near) < 0) == (excess(far) < 0) {
				near = far
				continue
			}
			for abs(far-near) > 1 { // bisection
				middle := (near + far) / 2
				if (excess(middle) < 0) == (excess(near) < 0) {
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

// codePush codes which of the pushes is near to the value of field k, axis 1 of a velocity, and makes it
// the prediction.
func (r *rowState) codePush(k int, c *fieldPlan, p *prediction) {
	x := &r.mixer
	id := uint32(c.statsField)<<8 | decisionPush
	r.predictPushes(c, p)
	actual := p.grid.index(uint32(r.cur[k]))
	nearest := -1
	least := nearPush(p.grid.class)
	for i, index := range p.pushes {
		if d := abs(actual - index); p.pushed>>i&1 != 0 && d < least {
			nearest = i
			least = d
		}
	}
	for i, index := range p.pushes {
		if p.pushed>>i&1 == 0 {
			continue
		}
		x.Begin(k)
		x.AddContext(id, uint32(i), uint32(r.maxResidual), 0)
		x.AddContext(id, uint32(i), p.pushed, 0)
		if x.Flag(guessNode+i, i == nearest) {
			p.guess = index
			p.second = 0
			p.best = predictors + i
			r.expected = pushExpected
			return
		}
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

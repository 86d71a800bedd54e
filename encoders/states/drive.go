package states

import (
	"sync"

	"wirelab/dataset/frame"
)

// A driven thing has a velocity that drag slows and that is pushed in a direction, up to a
// speed in that direction, as players of Quake are. Drag is the schema's; speeds and pushes are
// learnt. Vectors are of the first two axes, with components of up to 29 bits; directions are in
// units of 2^-24.

const (
	driveShift = 3 // of a float's fixed point
	maxDrive   = 1 << 29
	one        = 1 << 24
	nearStep   = 1 << 15 // steps and pushes nearer than that count as equal
	nearPush   = 1 << 12
)

type vector [2]int64

// length returns the length of a vector.
func (v vector) length() int64 { return int64(sqrt(uint64(v[0]*v[0] + v[1]*v[1]))) }

// along returns the component of a vector in a direction.
func (v vector) along(d vector) int64 { return (v[0]*d[0] + v[1]*d[1]) >> 24 }

// direction returns the direction of a vector, given its length.
func (v vector) direction(length int64) vector {
	return vector{v[0] << 24 / length, v[1] << 24 / length}
}

// cluster is an adaptive set of the most frequent numbers. Books hold it in this order.
type cluster struct {
	At     [6]int64
	Weight [6]uint32
}

// add counts a number: at the first that differs by less than near, or else in place of the
// rarest.
func (c *cluster) add(x, near int64) {
	low := 0
	for i := range c.At {
		c.Weight[i] -= c.Weight[i] >> 10
		if d := x - c.At[i]; d < near && d > -near {
			c.Weight[i] += 1 << 16
			c.At[i] += d >> 3
			return
		}
		if c.Weight[i] < c.Weight[low] {
			low = i
		}
	}
	c.At[low], c.Weight[low] = x, 1<<15
}

// mostFrequent returns the two most frequent numbers, and their weights of 256.
func (c *cluster) mostFrequent() (at [2]int64, weight [2]uint32) {
	a, b := 0, 1
	if c.Weight[1] > c.Weight[0] {
		a, b = 1, 0
	}
	for i := 2; i < len(c.At); i++ {
		if c.Weight[i] > c.Weight[a] {
			a, b = i, a
		} else if c.Weight[i] > c.Weight[b] {
			b = i
		}
	}
	share := (uint64(c.Weight[a]) + 1<<12) << 8 / (uint64(c.Weight[a]) + uint64(c.Weight[b]) + 1<<13)
	first := uint32(min(max(share, 1), 255))
	return [2]int64{c.At[a], c.At[b]}, [2]uint32{first, 256 - first}
}

// drive is the last push of a row.
type drive struct {
	direction [2]int32
	speed     int32
	known     bool
}

func (d *drive) vector() vector { return vector{int64(d.direction[0]), int64(d.direction[1])} }

// observe records a push: the velocity is v and would have been u without it.
func (d *drive) observe(u, v vector, speeds, pushes *cluster) {
	push := vector{v[0] - u[0], v[1] - u[1]}
	n := push.length()
	d.known = n > 64
	if !d.known {
		return
	}
	to := push.direction(n)
	d.direction = [2]int32{int32(to[0]), int32(to[1])}
	d.speed = int32(v.along(to))
	if speeds != nil {
		speeds.add(int64(d.speed), nearPush)
	}
	pushes.add(n, nearPush)
}

// dragged returns a velocity after some time of drag.
func (g *group) dragged(v vector, lapse int64, stop int64) vector {
	s := v.length()
	if s == 0 {
		return v
	}
	share := g.drag * min(lapse, 1<<16)
	if s < stop {
		share = scaled(share, stop<<20/s, 20)
	}
	left := max(1<<32-share, 0)
	return vector{scaled(v[0], left, 32), scaled(v[1], left, 32)}
}

// velocity returns the velocity of a group in the table of a row.
func (r *row) velocity(g *group, values []int32) vector {
	var v vector
	for a := range v {
		k := g.velocity[a]
		v[a] = r.driven(k, r.fixed(k, values[k]))
	}
	return v
}

// driven returns a component of a velocity, in fixed point, as vectors have it.
func (r *row) driven(k int, x int64) int64 {
	if r.cols[k].kind == frame.Float32 {
		x >>= driveShift
	}
	return min(max(x, -maxDrive), maxDrive)
}

// undriven is the inverse of driven.
func (r *row) undriven(k int, x int64) int64 {
	if r.cols[k].kind == frame.Float32 {
		x <<= driveShift
	}
	return x
}

// stop returns the speed below which drag no longer falls.
func (r *row) stop(g *group) int64 {
	k := g.velocity[0]
	shift := r.unit(&r.cols[k]) - 8
	if r.cols[k].kind == frame.Float32 {
		shift -= driveShift
	}
	if shift < 0 {
		return g.stop >> uint(min(-shift, 63))
	}
	return min(g.stop<<uint(min(shift, 30)), maxDrive)
}

// observe records how a row was driven, with drag and without.
func (r *row) observe(n int, g *group) {
	from, to := r.velocity(g, r.base), r.velocity(g, r.cur)
	if from == to {
		return
	}
	r.owner.drive[0].observe(g.dragged(from, r.lapse, r.stop(g)), to, &r.m.speeds[n], &r.m.pushes[n][0])
	r.owner.drive[1].observe(from, to, nil, &r.m.pushes[n][1])
}

// predictVelocity adds the predictors of a velocity, and returns the first guess.
func (r *row) predictVelocity(k int, c *fieldPlan, last int64, scale uint32) (first int64) {
	first = last
	if g := &r.groups[c.group]; g.driven && c.axis == 0 {
		r.predictDriven0(k, c.group, scale)
	} else if g.driven && c.axis == 1 {
		if likely, ok := r.predictDriven1(c.group, scale); ok {
			first = likely
		}
	}
	at, weight := r.m.steps[c.steps].mostFrequent()
	p := r.predictors.add(laneE, scale, last+at[0])
	p.places, p.at[1], p.weight[0], p.weight[1] = 2, last+at[1], weight[0], weight[1]
	return first
}

// predictDriven0 predicts the first component of a driven velocity.
func (r *row) predictDriven0(k, group int, scale uint32) {
	l, g := &r.predictors, &r.groups[group]
	from := r.velocity(g, r.base)
	u := g.dragged(from, r.lapse, r.stop(g))
	d, free := &r.owner.drive[0], &r.owner.drive[1]
	if d.known {
		common, _ := r.m.speeds[group].mostFrequent()
		to := d.vector()
		w := u.along(to)
		l.add(laneA, scale, r.undriven(k, u[0]+(int64(d.speed)-w)*to[0]>>24))
		l.add(laneB, scale, r.undriven(k, u[0]+(common[0]-w)*to[0]>>24))
	}
	if free.known {
		push, _ := r.m.pushes[group][1].mostFrequent()
		l.add(laneC, scale, r.undriven(k, from[0]+push[0]*int64(free.direction[0])>>24))
	}
}

// predictDriven1 predicts the second component of a driven velocity from the first. It returns
// the likeliest value, if any.
func (r *row) predictDriven1(group int, scale uint32) (likely int64, ok bool) {
	g := &r.groups[group]
	from := r.velocity(g, r.base)
	u := g.dragged(from, r.lapse, r.stop(g))
	d := &r.owner.drive[0]
	x := r.driven(g.velocity[0], r.fixed(g.velocity[0], r.cur[g.velocity[0]]))
	var s spread
	if d.known {
		s.addDriven(u, x, int64(d.speed), d.vector(), 256)
		s.flush(r, g.velocity[1], laneA, scale)
	}
	common, share := r.m.speeds[group].mostFrequent()
	for j := range common {
		s.addDriven(u, x, common[j], d.vector(), share[j])
	}
	likely, ok = s.flush(r, g.velocity[1], laneB, scale)
	for j, w := range [2]vector{u, from} {
		push, share := r.m.pushes[group][j].mostFrequent()
		positive := uint32(128) // share of pushes in the positive direction, of 256
		if e := &r.owner.drive[j]; e.known && e.direction[1] >= 0 {
			positive = 205
		} else if e.known {
			positive = 51
		}
		for i := range push {
			if square := push[i]*push[i] - (x-w[0])*(x-w[0]); square > 0 {
				q := int64(sqrt(uint64(square)))
				s.add(w[1]+q, share[i]*positive)
				s.add(w[1]-q, share[i]*(256-positive))
			}
		}
		s.flush(r, g.velocity[1], laneC+j, 0)
	}
	return likely, ok
}

// spread collects the places of a predictor.
type spread struct {
	at     [maxPlaces]int64
	weight [maxPlaces]uint32
	n      int
}

// add adds a place. Beyond maxPlaces it replaces the least likely.
func (s *spread) add(at int64, weight uint32) {
	if s.n < maxPlaces {
		s.at[s.n], s.weight[s.n] = at, weight
		s.n++
		return
	}
	low := 0
	for i := range s.weight {
		if s.weight[i] < s.weight[low] {
			low = i
		}
	}
	if weight > s.weight[low] {
		s.at[low], s.weight[low] = at, weight
	}
}

// flush adds a predictor of the places, if any, and removes them. It returns the likeliest.
func (s *spread) flush(r *row, k, lane int, extra uint32) (int64, bool) {
	n := s.n
	s.n = 0
	if n == 0 {
		return 0, false
	}
	x := r.predictors.add(lane, extra, 0)
	var sum, best uint64
	for i := range n {
		sum += uint64(s.weight[i]) + 1
	}
	left := uint32(256)
	at := 0
	for i := range n {
		if uint64(s.weight[i]) > best {
			at, best = i, uint64(s.weight[i])
		}
		x.at[i] = min(max(r.undriven(k, s.at[i]), -maxPlace), maxPlace)
		x.weight[i] = uint32((uint64(s.weight[i]) + 1) * 256 / sum)
		left -= x.weight[i]
	}
	x.weight[at] += left
	x.places = n
	return x.at[at], true
}

// addDriven adds what the second component may be if the first is x, the velocity before the push
// is u, and the speed along the push is speed. Near the direction last it is likelier.
func (s *spread) addDriven(u vector, x, speed int64, last vector, share uint32) {
	c := circle()
	miss := func(d vector) int64 { return ((speed-u.along(d))*d[0])>>24 - (x - u[0]) }
	before := miss(c[0])
	for i, a := range c {
		b := c[(i+1)%len(c)]
		now := miss(b)
		if (before < 0) != (now < 0) {
			d := root(miss, a, b, before, now)
			off := vector{d[0] - last[0], d[1] - last[1]}.length()
			w := uint32((1 << 30) / (one*3/100 + off))
			s.add(u[1]+((speed-u.along(d))*d[1])>>24, (w*share)>>8+1)
		}
		before = now
	}
}

// root finds, by five steps of the false position, a direction between a and b where miss is
// nearly 0. fa and fb are miss of a and b, of different signs.
func root(miss func(vector) int64, a, b vector, fa, fb int64) vector {
	for range 5 {
		if fa == fb {
			break
		}
		// Where the chord crosses 0, taken back to the circle.
		t := fa << 24 / (fa - fb)
		mid := vector{a[0] + (b[0]-a[0])*t>>24, a[1] + (b[1]-a[1])*t>>24}
		n := mid.length()
		if n == 0 {
			break
		}
		mid = mid.direction(n)
		fm := miss(mid)
		if (fm < 0) == (fa < 0) {
			a, fa = mid, fm
		} else {
			b, fb = mid, fm
		}
		if fm < 2 && fm > -2 {
			break
		}
	}
	if magnitude(fb) < magnitude(fa) {
		return b
	}
	return a
}

// circle returns 48 directions all around.
var circle = sync.OnceValue(func() *[48]vector {
	t := &[48]vector{0: {one, 0}, 12: {0, one}, 24: {-one, 0}, 36: {0, -one}}
	// The direction halfway is that of the sum. A third of the way is nearly that of the
	// weighted mean; exact directions are not needed.
	for step := 12; step > 3; step /= 2 {
		for i := 0; i < 48; i += step {
			t[i+step/2] = between(t[i], t[(i+step)%48], 1, 1, 1)
		}
	}
	for i := 0; i < 48; i += 3 {
		a, b := t[i], t[(i+3)%48]
		t[i+1], t[i+2] = between(a, b, 2, 1, 3), between(a, b, 1, 2, 3)
	}
	return t
})

// between returns the direction of (wa*a + wb*b) / by.
func between(a, b vector, wa, wb, by int64) vector {
	m := vector{(wa*a[0] + wb*b[0]) / by, (wa*a[1] + wb*b[1]) / by}
	return m.direction(m.length())
}

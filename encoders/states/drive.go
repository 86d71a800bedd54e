package states

import "wirelab/dataset/frame"

// Things that are driven: a velocity that drag slows and that is pushed along a direction, up
// to a speed in that direction. Drag is the schema's; speeds and pushes are learnt. Vectors
// are of the first two axes, with components of up to 29 bits; directions have 24 below one.

const (
	driveShift = 3 // of a float's fixed point
	driveMost  = 1 << 29
	one        = 1 << 24
	alikeStep  = 1 << 15
	alikePush  = 1 << 12
)

type vector [2]int64

// length returns the length of a vector.
func (v vector) length() int64 { return int64(sqrt(uint64(v[0]*v[0] + v[1]*v[1]))) }

// along returns the component of a vector in a direction.
func (v vector) along(d vector) int64 { return (v[0]*d[0] + v[1]*d[1]) >> 24 }

// direction returns the direction of a vector of some length.
func (v vector) direction(length int64) vector {
	return vector{v[0] << 24 / length, v[1] << 24 / length}
}

// cluster remembers numbers that come again and again.
type cluster struct {
	At     [6]int64
	Weight [6]uint32
}

// see counts a number.
func (c *cluster) see(x, near int64) {
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

// two returns the two numbers seen most, and their weights of 256.
func (c *cluster) two() (at [2]int64, weight [2]uint32) {
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

// drive is what is remembered of how a row is driven.
type drive struct {
	direction [2]int32
	speed     int32
	known     bool
}

func (d *drive) vector() vector { return vector{int64(d.direction[0]), int64(d.direction[1])} }

// observe learns from a velocity that has become v, and would have been u.
func (d *drive) observe(u, v vector, speeds, pushes *cluster) {
	push := vector{v[0] - u[0], v[1] - u[1]}
	n := push.length()
	if d.known = n > 64; !d.known {
		return
	}
	to := push.direction(n)
	d.direction = [2]int32{int32(to[0]), int32(to[1])}
	d.speed = int32(v.along(to))
	if speeds != nil {
		speeds.see(int64(d.speed), alikePush)
	}
	pushes.see(n, alikePush)
}

// dragged returns what drag leaves of a velocity after some time.
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

// driven returns a velocity as vectors have it.
func (r *row) driven(k int, x int64) int64 {
	if r.cols[k].kind == frame.Float32 {
		x >>= driveShift
	}
	return min(max(x, -driveMost), driveMost)
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
	shift := integerUnit - 8
	if r.cols[k].kind == frame.Float32 {
		shift = int(r.m.unit[r.cols[k].alike]) - driveShift - 8
	}
	if shift < 0 {
		return g.stop >> uint(min(-shift, 63))
	}
	return min(g.stop<<uint(min(shift, 30)), driveMost)
}

// observe learns how a row was driven.
func (r *row) observe(n int, g *group) {
	from, to := r.velocity(g, r.base), r.velocity(g, r.cur)
	if from == to {
		return
	}
	r.owner.drive[0].observe(g.dragged(from, r.lapse, r.stop(g)), to, &r.m.speeds[n], &r.m.pushes[n][0])
	r.owner.drive[1].observe(from, to, nil, &r.m.pushes[n][1])
}

// predictVelocity adds what experts on velocities say.
func (r *row) predictVelocity(k int, c *column, last int64, scale uint32, add func(lane int, extra uint32, at int64) *expert) (first int64) {
	first = last
	g, n := &r.groups[c.group], c.group
	if g.driven && c.axis < 2 {
		from := r.velocity(g, r.base)
		stop := r.stop(g)
		u := g.dragged(from, r.lapse, stop)
		d, free := &r.owner.drive[0], &r.owner.drive[1]
		common, share := r.m.speeds[n].two()
		if c.axis == 0 {
			if d.known {
				to := d.vector()
				w := u.along(to)
				add(laneA, scale, r.undriven(k, u[0]+(int64(d.speed)-w)*to[0]>>24))
				add(laneB, scale, r.undriven(k, u[0]+(common[0]-w)*to[0]>>24))
			}
			if free.known {
				push, _ := r.m.pushes[n][1].two()
				add(laneC, scale, r.undriven(k, from[0]+push[0]*int64(free.direction[0])>>24))
			}
		} else {
			k0 := g.velocity[0]
			x := r.driven(k0, r.fixed(k0, r.cur[k0]))
			var s spread
			if d.known {
				s.rests(u, x, int64(d.speed), d.vector(), 256)
				s.give(r, k, laneA, scale, add)
			}
			for j := range 2 {
				s.rests(u, x, common[j], d.vector(), share[j])
			}
			if best, ok := s.give(r, k, laneB, scale, add); ok {
				first = best
			}
			for j, w := range [2]vector{u, from} {
				push, share := r.m.pushes[n][j].two()
				for i := range 2 {
					square := push[i]*push[i] - (x-w[0])*(x-w[0])
					if square <= 0 {
						continue
					}
					q := int64(sqrt(uint64(square)))
					t := uint32(128)
					if e := &r.owner.drive[j]; e.known && e.direction[1] >= 0 {
						t = 205
					} else if e.known {
						t = 51
					}
					s.add(w[1]+q, share[i]*t)
					s.add(w[1]-q, share[i]*(256-t))
				}
				s.give(r, k, laneC+j, 0, add)
			}
		}
	}
	at, weight := r.m.steps[c.steps].two()
	x := add(laneE, scale, last+at[0])
	x.places, x.at[1], x.weight[0], x.weight[1] = 2, last+at[1], weight[0], weight[1]
	return first
}

// spread collects places where a number may be.
type spread struct {
	at     [maxPlaces]int64
	weight [maxPlaces]uint32
	n      int
}

// add adds a place; of too many the least likely are left out.
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

// give makes an expert of the places, and begins anew. It returns the likeliest.
func (s *spread) give(r *row, k, lane int, extra uint32, add func(lane int, extra uint32, at int64) *expert) (int64, bool) {
	n := s.n
	s.n = 0
	if n == 0 {
		return 0, false
	}
	x := add(lane, extra, 0)
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
		x.at[i] = min(max(r.undriven(k, s.at[i]), -1<<45), 1<<45)
		x.weight[i] = uint32((uint64(s.weight[i]) + 1) * 256 / sum)
		left -= x.weight[i]
	}
	x.weight[at] += left
	x.places = n
	return x.at[at], true
}

// rests adds what the second component may be if the first is x, u was before the push and the
// speed along the push is s; it is likely to go on in direction last.
func (s *spread) rests(u vector, x, speed int64, last vector, share uint32) {
	miss := func(d vector) int64 { return ((speed-u.along(d))*d[0])>>24 - (x - u[0]) }
	before := miss(circle[0])
	for i := range circle {
		b := circle[(i+1)%len(circle)]
		now := miss(b)
		if (before < 0) != (now < 0) {
			a, fa, fb := circle[i], before, now
			for range 5 {
				if fa == fb {
					break
				}
				// Where the chord crosses, taken back to the circle.
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
			d := a
			if magnitude(fb) < magnitude(fa) {
				d = b
			}
			off := vector{d[0] - last[0], d[1] - last[1]}.length()
			w := uint32((1 << 30) / (one*3/100 + off))
			s.add(u[1]+((speed-u.along(d))*d[1])>>24, (w*share)>>8+1)
			b = circle[(i+1)%len(circle)]
		}
		before = now
	}
}

// circle holds directions all around.
var circle = func() (t [48]vector) {
	// Halves of the angle between two directions are their sum; of thirds, three of them are
	// the angle: a 48th of a turn is a third of a 16th.
	t[0], t[12], t[24], t[36] = vector{one, 0}, vector{0, one}, vector{-one, 0}, vector{0, -one}
	half := func(a, b vector) vector {
		m := vector{a[0] + b[0], a[1] + b[1]}
		return m.direction(m.length())
	}
	for step := 12; step > 3; step /= 2 {
		for i := 0; i < 48; i += step {
			t[i+step/2] = half(t[i], t[(i+step)%48])
		}
	}
	for i := 0; i < 48; i += 3 {
		a, b := t[i], t[(i+3)%48]
		// A third, nearly: exact directions are not needed.
		m := vector{(2*a[0] + b[0]) / 3, (2*a[1] + b[1]) / 3}
		t[i+1] = m.direction(m.length())
		m = vector{(a[0] + 2*b[0]) / 3, (a[1] + 2*b[1]) / 3}
		t[i+2] = m.direction(m.length())
	}
	return t
}()

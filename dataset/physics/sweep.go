package physics

// round is how many sweeps go in the same order; convergence is checked after the last of them. Most islands are
// one cube on the floor, and converge in a few sweeps.
const round = 8

// fullWork, times the effort, bounds sweeps times contacts in a step for each thousand
// cubes: a large heap of them is solved less exactly, not for longer. Only a player that
// carries 170 cubes of 901 reaches the bound.
const fullWork = 32 * 1024

// Thousands returns for how many times a thousand cubes the work is bounded, 1 at least.
func Thousands(cubes int) int { return max(cubes/1024, 1) }

// solve sweeps over all contacts, at most so many times.
func (s *lcp) solve(iterations int) {
	work := s.work()
	if work > 0 {
		iterations = min(iterations, max(s.law.Effort*s.room/work, 1))
	}
	s.findBound()
	for it := range iterations {
		if it%round == 0 {
			s.shuffle()
		}
		checked := it%round == round-1
		if checked {
			for _, k := range s.bound {
				s.before[k] = s.motion[k]
			}
		}
		s.spent += work
		s.sweep()
		if checked && s.dropResting() {
			work = s.work()
			if work == 0 {
				return
			}
		}
	}
}

// work returns what a sweep costs, in contacts with the floor.
func (s *lcp) work() (n int) {
	for k := range maxPoints {
		n += len(s.floor[k]) + 2*len(s.rows[k][0])
	}
	return n
}

// pass is one list of contacts to be corrected: of the k-th points of all pairs,
// what is in one direction.
type pass struct{ k, what uint8 }

const (
	tangent1 = iota // the first three index rows
	tangent2
	normals
	floorX
	floorY
	floorZ
	kinds
)

// orderPasses begins with the passes in order.
func (s *lcp) orderPasses() {
	s.seed = 1
	for i := range s.passes {
		s.passes[i] = pass{k: uint8(i / kinds), what: uint8(i % kinds)}
	}
}

// shuffle puts the passes into another order, as the original does: a fixed order
// would leave the error at the same contacts each time.
func (s *lcp) shuffle() {
	for i := len(s.passes) - 1; i > 0; i-- {
		s.seed = s.seed*6364136223846793005 + 1442695040888963407 // Knuth's
		j := s.seed >> 33 % uint64(i+1)
		s.passes[i], s.passes[j] = s.passes[j], s.passes[i]
	}
}

// sweep corrects every impulse once.
func (s *lcp) sweep() {
	for _, p := range s.passes {
		switch p.what {
		case floorX:
			solveFloorX(s.floor[p.k], s.motion)
		case floorY:
			solveFloorY(s.floor[p.k], s.motion)
		case floorZ:
			solveFloorZ(s.floor[p.k], s.motion)
		default:
			solveRows(s.rows[p.k][p.what], s.motion)
		}
	}
}

// findBound lists the bodies of islands that have contacts. All others fall freely: no
// sweep changes them.
func (s *lcp) findBound() {
	clear(s.busy[:len(s.motion)])
	for k := range s.motion {
		s.island[k] = s.root(int32(k))
	}
	for k := range maxPoints {
		for i := range s.floor[k] {
			s.busy[s.island[s.floor[k][i].slot]] = true
		}
		for i := range s.rows[k][0] {
			s.busy[s.island[s.rows[k][0][i].a]] = true
		}
	}
	s.bound = s.bound[:0]
	for k := range s.motion {
		if s.busy[s.island[k]] {
			s.bound = append(s.bound, int32(k))
		}
	}
}

// dropResting drops the contacts of islands that have come to rest, and reports whether there
// are any.
func (s *lcp) dropResting() bool {
	clear(s.busy[:len(s.motion)])
	for _, k := range s.bound {
		if busy := &s.busy[s.island[k]]; !*busy {
			a, b := &s.motion[k], &s.before[k]
			*busy = !a.vel.within(s.law.Converged, b.vel) || !a.spin.within(s.law.Converged, b.spin)
		}
	}
	kept := s.bound[:0]
	for _, k := range s.bound {
		if s.busy[s.island[k]] {
			kept = append(kept, k)
		}
	}
	if len(kept) == len(s.bound) {
		return false
	}
	s.bound = kept
	for k := range maxPoints {
		s.floor[k] = keep(s.floor[k], func(f *floorContact) bool { return s.busy[s.island[f.slot]] })
		for d := range s.rows[k] {
			s.rows[k][d] = keep(s.rows[k][d], func(h *row) bool { return s.busy[s.island[h.a]] })
		}
	}
	return true
}

// keep removes the elements of list for which kept is false.
func keep[T any](list []T, kept func(*T) bool) []T {
	n := 0
	for k := range list {
		if kept(&list[k]) {
			if n < k { // most often all are kept in place
				list[n] = list[k]
			}
			n++
		}
	}
	return list[:n]
}

// within reports whether no component of a differs from b's by more than most.
func (a Vec) within(most float64, b Vec) bool {
	return abs(a.X-b.X) <= most && abs(a.Y-b.Y) <= most && abs(a.Z-b.Z) <= most
}

// solveRowsPlain corrects the impulses of rows. It is the reference of solveRows, which
// does so in vector instructions where there are any.
func solveRowsPlain(rows []row, motion []motion) {
	for k := range rows {
		h := &rows[k]
		a, b := &motion[h.a], &motion[h.b]
		along := float64(h.dir.X*(a.vel.X-b.vel.X)) + float64(h.dir.Y*(a.vel.Y-b.vel.Y)) + float64(h.dir.Z*(a.vel.Z-b.vel.Z))
		turnA := float64(h.twistA.X*a.spin.X) + float64(h.twistA.Y*a.spin.Y) + float64(h.twistA.Z*a.spin.Z)
		turnB := float64(h.twistB.X*b.spin.X) + float64(h.twistB.Y*b.spin.Y) + float64(h.twistB.Z*b.spin.Z)
		j := float64(h.keep*h.impulse) + h.bias - float64(h.gain*(along+(turnA-turnB)))
		if j < h.low {
			j = h.low
		} else if j > h.high {
			j = h.high
		}
		d := j - h.impulse
		h.impulse = j
		a.vel.X += float64(h.dir.X * d)
		a.vel.Y += float64(h.dir.Y * d)
		a.vel.Z += float64(h.dir.Z * d)
		a.spin.X += float64(h.twistA.X * d)
		a.spin.Y += float64(h.twistA.Y * d)
		a.spin.Z += float64(h.twistA.Z * d)
		if h.share == 0 {
			continue
		}
		d = float64(d * h.share)
		b.vel.X -= float64(h.dir.X * d)
		b.vel.Y -= float64(h.dir.Y * d)
		b.vel.Z -= float64(h.dir.Z * d)
		b.spin.X -= float64(h.twistB.X * d)
		b.spin.Y -= float64(h.twistB.Y * d)
		b.spin.Z -= float64(h.twistB.Z * d)
	}
}

// solveFloorX corrects the friction of floor contacts along x. It has no limit: the
// floor's friction would hold a hundred cubes.
func solveFloorX(floor []floorContact, motion []motion) {
	for k := range floor {
		f := &floor[k]
		a := &motion[f.slot]
		speed := a.vel.X + (float64(f.arm.Z*a.spin.Y) - float64(f.arm.Y*a.spin.Z))
		j := float64(f.x.keep*f.x.impulse) - float64(f.x.gain*speed)
		d := j - f.x.impulse
		f.x.impulse = j
		a.vel.X += d
		a.spin.Y += float64(f.arm.Z * d)
		a.spin.Z -= float64(f.arm.Y * d)
	}
}

// solveFloorY corrects the friction of floor contacts along y.
func solveFloorY(floor []floorContact, motion []motion) {
	for k := range floor {
		f := &floor[k]
		a := &motion[f.slot]
		speed := a.vel.Y + (float64(f.arm.X*a.spin.Z) - float64(f.arm.Z*a.spin.X))
		j := float64(f.y.keep*f.y.impulse) - float64(f.y.gain*speed)
		d := j - f.y.impulse
		f.y.impulse = j
		a.vel.Y += d
		a.spin.Z += float64(f.arm.X * d)
		a.spin.X -= float64(f.arm.Z * d)
	}
}

// solveFloorZ corrects the normal impulses of floor contacts.
func solveFloorZ(floor []floorContact, motion []motion) {
	for k := range floor {
		f := &floor[k]
		a := &motion[f.slot]
		speed := a.vel.Z + (float64(f.arm.Y*a.spin.X) - float64(f.arm.X*a.spin.Y))
		j := float64(f.z.keep*f.z.impulse) + f.bias - float64(f.z.gain*speed)
		if j < 0 {
			j = 0
		}
		d := j - f.z.impulse
		f.z.impulse = j
		a.vel.Z += d
		a.spin.X += float64(f.arm.Y * d)
		a.spin.Y -= float64(f.arm.X * d)
	}
}

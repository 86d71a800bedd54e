package physics

// sweepsPerOrder is the number of sweeps in the same order; convergence is checked after the last
// one. Most islands are one cube on the floor, and converge within a few sweeps.
const sweepsPerOrder = 8

// baseWork, times the effort and WorkFactor, bounds sweeps times contacts in a step: a large heap is
// solved less exactly, not for longer. Only a player that carries 170 of 901 cubes reaches the bound.
const baseWork = 32 * 1024

// WorkFactor returns the factor by which limits on work grow with the number of cubes: cubes / 1024,
// but at least 1.
func WorkFactor(cubes int) int { return max(cubes/1024, 1) }

// solve runs at most the given number of sweeps, fewer if all islands converge or the work exceeds its
// limit.
func (s *contactSolver) solve(iterations int) {
	work := s.sweepCost()
	if work > 0 { // work is 0 without contacts, when sweeps do nothing
		iterations = min(iterations, max(s.params.Effort*s.maxWork/work, 1))
	}
	s.findConstrained()
	for it := range iterations {
		if it%sweepsPerOrder == 0 {
			s.shuffle()
		}
		// After the last sweep in the same order, dropConverged compares the motions with those before the sweep.
		isLastOfOrder := it%sweepsPerOrder == sweepsPerOrder-1
		if isLastOfOrder {
			for _, k := range s.constrained {
				s.previous[k] = s.motion[k]
			}
		}
		s.spent += work
		s.sweep()
		if isLastOfOrder && s.dropConverged() {
			work = s.sweepCost()
			if work == 0 {
				return
			}
		}
	}
}

// sweepCost returns the cost of a sweep in contact points. A contact point between two bodies counts
// twice, one with the floor once.
func (s *contactSolver) sweepCost() (n int) {
	for k := range maxPoints {
		n += len(s.floor[k]) + 2*len(s.rows[k][0]) // each of the three lists has a row for each point
	}
	return n
}

// pass selects one list of contacts: the contact points with number k, in one direction.
type pass struct{ k, direction uint8 }

// Directions of a pass. The first three are indices of contactSolver.rows.
const (
	tangent1 = iota
	tangent2
	normals
	floorX
	floorY
	floorZ
	directions // number of directions
)

// orderPasses sets the initial order of passes and the seed, so that every step starts equally.
func (s *contactSolver) orderPasses() {
	s.seed = 1
	for i := range s.passes {
		s.passes[i] = pass{k: uint8(i / directions), direction: uint8(i % directions)}
	}
}

// shuffle permutes the passes at random, as the Open Dynamics Engine does: with a fixed order the
// error would remain at the same contacts each time.
func (s *contactSolver) shuffle() {
	for i := len(s.passes) - 1; i > 0; i-- {
		s.seed = s.seed*6364136223846793005 + 1442695040888963407 // Knuth's MMIX generator
		j := s.seed >> 33 % uint64(i+1)                           // the upper bits are the most random
		s.passes[i], s.passes[j] = s.passes[j], s.passes[i]
	}
}

// sweep updates every impulse once, in the order of the passes, each of which is one list of contacts.
func (s *contactSolver) sweep() {
	for _, p := range s.passes {
		switch p.direction {
		case floorX:
			solveFloorX(s.floor[p.k], s.motion)
		case floorY:
			solveFloorY(s.floor[p.k], s.motion)
		case floorZ:
			solveFloorZ(s.floor[p.k], s.motion)
		default:
			solveRows(s.rows[p.k][p.direction], s.motion)
		}
	}
}

// findConstrained sets s.constrained to the slots of the bodies in islands that have contacts; the other
// bodies fall freely. It also marks these islands as unsettled, and sets s.island of every slot to the
// root of its island. s.unsettled is indexed by these roots.
func (s *contactSolver) findConstrained() {
	clear(s.unsettled[:len(s.motion)])
	for slot := range s.motion {
		s.island[slot] = s.root(int32(slot))
	}
	for k := range maxPoints { // k is the number of a contact point among those of its two bodies
		for i := range s.floor[k] {
			s.unsettled[s.island[s.floor[k][i].slot]] = true
		}
		for i := range s.rows[k][tangent1] { // the lists of the other two directions have the same contacts
			s.unsettled[s.island[s.rows[k][tangent1][i].a]] = true // body b is in the same island, or cannot move
		}
	}
	s.constrained = s.constrained[:0]
	for slot := range s.motion {
		if s.unsettled[s.island[slot]] {
			s.constrained = append(s.constrained, int32(slot))
		}
	}
}

// dropConverged removes the contacts of islands whose speeds changed by no more than
// params.Converged in the last sweep. It reports whether it removed any.
func (s *contactSolver) dropConverged() bool {
	clear(s.unsettled[:len(s.motion)])
	for _, slot := range s.constrained {
		if unsettled := &s.unsettled[s.island[slot]]; !*unsettled {
			now, before := &s.motion[slot], &s.previous[slot]
			*unsettled = !now.vel.near(s.params.Converged, before.vel) || !now.spin.near(s.params.Converged, before.spin)
		}
	}
	remaining := s.constrained[:0]
	for _, slot := range s.constrained {
		if s.unsettled[s.island[slot]] {
			remaining = append(remaining, slot)
		}
	}
	if len(remaining) == len(s.constrained) {
		return false
	}
	s.constrained = remaining
	for k := range maxPoints {
		s.floor[k] = filter(s.floor[k], func(f *floorContact) bool { return s.unsettled[s.island[f.slot]] })
		for d := range s.rows[k] {
			s.rows[k][d] = filter(s.rows[k][d], func(r *row) bool { return s.unsettled[s.island[r.a]] })
		}
	}
	return true
}

// filter removes the elements of list for which keep returns false, in place.
func filter[T any](list []T, keep func(*T) bool) []T {
	n := 0
	for k := range list {
		if keep(&list[k]) {
			if n < k { // avoids copying an element to itself
				list[n] = list[k]
			}
			n++
		}
	}
	return list[:n]
}

// near reports whether no component of a differs from b's by more than tolerance.
func (a Vec) near(tolerance float64, b Vec) bool {
	return abs(a.X-b.X) <= tolerance && abs(a.Y-b.Y) <= tolerance && abs(a.Z-b.Z) <= tolerance
}

// solveRowsPlain updates the impulses of rows and the motions of their bodies, one row after the
// other. solveRows does the same with vector instructions, if available.
func solveRowsPlain(rows []row, motion []motion) {
	for k := range rows {
		h := &rows[k]
		a, b := &motion[h.a], &motion[h.b]
		// The relative speed at the contact is that of the centres along dir plus that which the spins
		// give the two points.
		along := float64(h.dir.X*(a.vel.X-b.vel.X)) + float64(h.dir.Y*(a.vel.Y-b.vel.Y)) + float64(h.dir.Z*(a.vel.Z-b.vel.Z))
		turnA := float64(h.twistA.X*a.spin.X) + float64(h.twistA.Y*a.spin.Y) + float64(h.twistA.Z*a.spin.Z)
		turnB := float64(h.twistB.X*b.spin.X) + float64(h.twistB.Y*b.spin.Y) + float64(h.twistB.Z*b.spin.Z)
		impulse := float64(h.keep*h.impulse) + h.bias - float64(h.gain*(along+(turnA-turnB)))
		if impulse < h.low {
			impulse = h.low
		} else if impulse > h.high {
			impulse = h.high
		}
		change := impulse - h.impulse
		h.impulse = impulse
		a.vel.X += float64(h.dir.X * change)
		a.vel.Y += float64(h.dir.Y * change)
		a.vel.Z += float64(h.dir.Z * change)
		a.spin.X += float64(h.twistA.X * change)
		a.spin.Y += float64(h.twistA.Y * change)
		a.spin.Z += float64(h.twistA.Z * change)
		if h.massRatio == 0 { // B cannot be moved
			continue
		}
		change = float64(change * h.massRatio)
		b.vel.X -= float64(h.dir.X * change)
		b.vel.Y -= float64(h.dir.Y * change)
		b.vel.Z -= float64(h.dir.Z * change)
		b.spin.X -= float64(h.twistB.X * change)
		b.spin.Y -= float64(h.twistB.Y * change)
		b.spin.Z -= float64(h.twistB.Z * change)
	}
}

// solveFloorX updates the friction impulses of floor contacts along x. The speed of a corner is
// vel + spin x arm, of which it needs the x component. The impulses are not limited: MaxFriction would hold a hundred cubes and is never
// reached.
func solveFloorX(floor []floorContact, motion []motion) {
	for k := range floor {
		f := &floor[k]
		a := &motion[f.slot]
		speed := a.vel.X + (float64(f.arm.Z*a.spin.Y) - float64(f.arm.Y*a.spin.Z))
		impulse := float64(f.x.keep*f.x.impulse) - float64(f.x.gain*speed)
		change := impulse - f.x.impulse
		f.x.impulse = impulse
		a.vel.X += change
		a.spin.Y += float64(f.arm.Z * change)
		a.spin.Z -= float64(f.arm.Y * change)
	}
}

// solveFloorY updates the friction impulses of floor contacts along y. The speed of a corner is
// vel + spin x arm, of which it needs the y component.
func solveFloorY(floor []floorContact, motion []motion) {
	for k := range floor {
		f := &floor[k]
		a := &motion[f.slot]
		speed := a.vel.Y + (float64(f.arm.X*a.spin.Z) - float64(f.arm.Z*a.spin.X))
		impulse := float64(f.y.keep*f.y.impulse) - float64(f.y.gain*speed)
		change := impulse - f.y.impulse
		f.y.impulse = impulse
		a.vel.Y += change
		a.spin.Z += float64(f.arm.X * change)
		a.spin.X -= float64(f.arm.Z * change)
	}
}

// solveFloorZ updates the normal impulses of floor contacts, which can only push. The speed of a
// corner is vel + spin x arm, of which it needs the z component.
func solveFloorZ(floor []floorContact, motion []motion) {
	for k := range floor {
		f := &floor[k]
		a := &motion[f.slot]
		speed := a.vel.Z + (float64(f.arm.Y*a.spin.X) - float64(f.arm.X*a.spin.Y))
		impulse := float64(f.z.keep*f.z.impulse) + f.bias - float64(f.z.gain*speed)
		if impulse < 0 {
			impulse = 0
		}
		change := impulse - f.z.impulse
		f.z.impulse = impulse
		a.vel.Z += change
		a.spin.X += float64(f.arm.Y * change)
		a.spin.Y -= float64(f.arm.X * change)
	}
}

package physics

// An island that has come to its answer is not asked again: no speed of it
// changed by more than quiet in a sweep. Most islands are one cube on the floor,
// and there a few sweeps do.
const (
	quiet      = 1e-4 // metres per second
	firstAsked = 4    // sweeps
	askedEvery = 8
)

// fullWork is how many sweeps times contacts one solution takes at most: a heap
// of cubes thrown into one place is solved less well, not longer. It is the most
// that a recording was seen to take, and half as much again.
const fullWork = 64 * 1024

// solve goes over all contacts, time after time. Neighbours in a list belong to
// different bodies where that can be had, so that the processor can work on
// several at once; that is why the feet are listed by their number.
func (s *lcp) solve(iterations int) {
	if work := s.work(); work > 0 {
		iterations = min(iterations, max(fullWork/work, 1))
	}
	for it := range iterations {
		asked := it >= firstAsked && it%askedEvery == 0
		if asked {
			copy(s.before, s.motion)
		}
		s.sweep()
		if asked {
			s.release()
			if s.work() == 0 {
				return
			}
		}
	}
}

// work returns what a sweep costs, in contacts with the floor.
func (s *lcp) work() (n int) {
	for i := range s.feet {
		n += len(s.feet[i])
	}
	return n + 2*len(s.hooks[0])
}

// sweep corrects every impulse once: those across first, so that no cube is left
// sinking for the sake of one that slides.
func (s *lcp) sweep() {
	pull(s.hooks[0], s.motion)
	for i := range s.feet {
		standX(s.feet[i], s.motion)
	}
	pull(s.hooks[1], s.motion)
	for i := range s.feet {
		standY(s.feet[i], s.motion)
	}
	pull(s.hooks[2], s.motion)
	for i := range s.feet {
		standZ(s.feet[i], s.motion)
	}
}

// release drops the contacts of islands that have come to rest.
func (s *lcp) release() {
	clear(s.busy)
	for k := range s.motion {
		a, b := &s.motion[k], &s.before[k]
		if !a.vel.within(quiet, b.vel) || !a.spin.within(quiet, b.spin) {
			s.busy[s.root(int32(k))] = true
		}
	}
	for i, feet := range s.feet {
		kept := feet[:0]
		for k := range feet {
			if s.busy[s.root(feet[k].slot)] {
				kept = append(kept, feet[k])
			}
		}
		s.feet[i] = kept
	}
	for i, hooks := range s.hooks {
		kept := hooks[:0]
		for k := range hooks {
			if s.busy[s.root(hooks[k].a)] {
				kept = append(kept, hooks[k])
			}
		}
		s.hooks[i] = kept
	}
}

// within reports whether no component of a differs from b's by more than most.
func (a Vec) within(most float64, b Vec) bool {
	return abs(a.X-b.X) <= most && abs(a.Y-b.Y) <= most && abs(a.Z-b.Z) <= most
}

// pull corrects the impulses of hooks.
func pull(hooks []hook, motion []motion) {
	for k := range hooks {
		h := &hooks[k]
		a, b := &motion[h.a], &motion[h.b]
		along := float64(h.dir.X*(a.vel.X-b.vel.X)) + float64(h.dir.Y*(a.vel.Y-b.vel.Y)) + float64(h.dir.Z*(a.vel.Z-b.vel.Z))
		turnA := float64(h.twistA.X*a.spin.X) + float64(h.twistA.Y*a.spin.Y) + float64(h.twistA.Z*a.spin.Z)
		turnB := float64(h.twistB.X*b.spin.X) + float64(h.twistB.Y*b.spin.Y) + float64(h.twistB.Z*b.spin.Z)
		j := float64(h.keep*h.impulse) + h.lift - float64(h.gain*(along+(turnA-turnB)))
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

// standX corrects the friction of feet along x. There is no limit to it: the
// floor's grip would hold a hundred cubes.
func standX(feet []foot, motion []motion) {
	for k := range feet {
		f := &feet[k]
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

// standY corrects the friction of feet along y.
func standY(feet []foot, motion []motion) {
	for k := range feet {
		f := &feet[k]
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

// standZ keeps feet from sinking in.
func standZ(feet []foot, motion []motion) {
	for k := range feet {
		f := &feet[k]
		a := &motion[f.slot]
		speed := a.vel.Z + (float64(f.arm.Y*a.spin.X) - float64(f.arm.X*a.spin.Y))
		j := float64(f.z.keep*f.z.impulse) + f.lift - float64(f.z.gain*speed)
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

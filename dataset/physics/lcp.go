package physics

import "math"

// lcp is the solver of Scene: a linear complementarity problem over all contact
// points, by projected successive over-relaxation. Each point pushes with an
// impulse along its normal and a friction impulse along each tangent. A sweep sets
// each impulse in turn to its solution with the others held fixed, times the
// relaxation factor; sweeps are repeated (Catto, "Iterative Dynamics with Temporal Coherence", GDC 2005;
// Smith, "Open Dynamics Engine", 2004, whose quickstep this follows).
//
// A cube has the same inertia about every axis. Spins are multiplied by its radius
// of gyration and arms divided by it, so mass and inertia are one number. Impulses
// are divided by mass, so they are speeds.
type lcp struct {
	motion []motion
	before []motion // what motion was a sweep ago
	island []int32  // union-find over motion: bodies in contact, directly or through others
	busy   []bool   // per root: the island still changes
	bound  []int32  // the bodies of islands that have contacts

	// Contacts are listed by their number in their pair, so that neighbours in a
	// list mostly belong to different bodies: the processor can work on several.
	floor [maxPoints][]floorContact // with the floor
	rows  [maxPoints][3][]row       // of two bodies: first and second tangent, normal

	passes [maxPoints * kinds]pass
	seed   uint64

	soft  float64 // speed by which a contact gives, per impulse
	push  float64 // speed wanted per overlap
	most  float64 // impulse that friction holds
	relax float64
	law   *Rigid
	room  int // see fullWork
	spent int // sweeps times contacts, since Reset
}

// motion is a body as the solver sees it. Vectors are filled up for instructions that
// load and store four numbers.
type motion struct {
	vel  Vec
	_    float64
	spin Vec // times the radius of gyration
	_    float64
}

// floorContact is one corner of a body on the floor. Its three directions are the world's axes.
type floorContact struct {
	slot    int32
	arm     Vec // from the centre, over the radius of gyration
	bias    float64
	x, y, z impulseState
}

// impulseState is one impulse of the solver: the next is keep*impulse - gain*speed, plus
// gain times the wanted speed.
type impulseState struct{ impulse, gain, keep float64 }

// row is one constraint row: one direction at a contact of two bodies.
type row struct {
	a, b           int32
	dir            Vec // from B to A
	twistA, twistB Vec // arm x direction, over the radius of gyration
	share          float64
	bias           float64
	low, high      float64 // of the impulse
	impulseState
}

func (s *lcp) init(n int) {
	s.room = fullWork * Thousands(n)
	s.motion = make([]motion, 0, n)
	s.before = make([]motion, n)
	s.island = make([]int32, n)
	s.busy = make([]bool, n)
	s.bound = make([]int32, 0, n)
}

func (s *lcp) begin(law *Rigid, dt float64) {
	s.law = law
	s.orderPasses()
	s.motion = s.motion[:0]
	for k := range maxPoints {
		s.floor[k] = s.floor[k][:0]
		for d := range s.rows[k] {
			s.rows[k][d] = s.rows[k][d][:0]
		}
	}
	s.soft, s.push, s.relax = law.CFM/dt, law.ERP/dt, law.Relaxation
	s.most = float64(law.MaxFriction * dt)
}

// bias returns the speed at which an overlap is to be undone.
func (s *lcp) bias(depth float64) float64 {
	return min(float64(s.push*max(depth-s.law.Layer, 0)), s.law.Correcting)
}

// newImpulse returns the state of an impulse along a direction of that effective mass.
func (s *lcp) newImpulse(weight, soft float64) impulseState {
	gain := s.relax / (weight + soft)
	return impulseState{gain: gain, keep: 1 - float64(gain*soft)}
}

// addFloor adds the k-th corner of the body in a slot that is below the floor.
func (s *lcp) addFloor(slot int32, b *Body, k int, corner Vec) {
	soft := float64(s.soft / b.invMass)
	arm := corner.Sub(b.Pos).Scale(b.perRadius)
	x, y, z := float64(arm.X*arm.X), float64(arm.Y*arm.Y), float64(arm.Z*arm.Z)
	f := floorContact{slot: slot, arm: arm, x: s.newImpulse(1+y+z, soft), y: s.newImpulse(1+x+z, soft), z: s.newImpulse(1+x+y, soft)}
	f.bias = float64(f.z.gain * s.bias(-corner.Z))
	s.floor[k] = append(s.floor[k], f)
}

// addContacts adds the contact points of m, which touches x in slot a and y in slot b.
func (s *lcp) addContacts(a, b int32, x, y *Body, m *manifold) {
	if x.invMass == 0 {
		a, b, x, y = b, a, y, x
		m.turn()
	}
	if x.invMass == 0 {
		return
	}
	share, gyration := 0.0, 1.0
	if y.invMass > 0 {
		share, gyration = y.invMass/x.invMass, y.perRadius
		i, j := s.root(a), s.root(b)
		s.island[max(i, j)] = min(i, j)
	}
	soft, most := float64(s.soft/x.invMass), float64(s.most*x.invMass)
	for k := range m.points[:m.n] {
		p := &m.points[k]
		for d, dir := range [3]Vec{m.tangent[0], m.tangent[1], m.normal.Neg()} {
			h := row{a: a, b: b, dir: dir, share: share, low: -most, high: most}
			h.twistA = p.armA.Cross(dir).Scale(x.perRadius)
			h.twistB = p.armB.Cross(dir).Scale(gyration)
			other := float64(share * (1 + h.twistB.Dot(h.twistB)))
			h.impulseState = s.newImpulse(1+h.twistA.Dot(h.twistA)+other, soft)
			if d == 2 {
				h.low, h.high, h.bias = 0, math.MaxFloat64, float64(h.gain*s.bias(-p.gap))
			}
			s.rows[k][d] = append(s.rows[k][d], h)
		}
	}
}

// root returns the slot that stands for the island of slot i.
func (s *lcp) root(i int32) int32 {
	for s.island[i] != i {
		s.island[i] = s.island[s.island[i]]
		i = s.island[i]
	}
	return i
}

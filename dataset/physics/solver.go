package physics

import "math"

// contactSolver computes the contact forces of a Scene. It solves a linear complementarity problem
// over all contact points by projected successive over-relaxation. Each point has an impulse along
// its normal and a friction impulse along each of two tangents. A sweep sets each impulse in turn
// to its solution with the others fixed, times the relaxation factor, and clamps it to its limits.
// Sweeps are repeated until the speeds converge (Catto, "Iterative Dynamics with Temporal
// Coherence", GDC 2005; Smith, "Open Dynamics Engine", 2004, whose quickstep this follows).
//
// A cube has the same inertia about every axis. Spins are multiplied by the radius of gyration and
// lever arms divided by it, so that inertia equals mass. Impulses are divided by mass, so that they
// are changes of speed.
//
// A body is identified by its slot, its index in Scene.active and motion.
type contactSolver struct {
	motion      []motion
	previous    []motion // motion before the last sweep, for the check of convergence
	island      []int32  // union-find over slots: bodies in contact, directly or through others
	unsettled   []bool   // by root of an island: the island's speeds have not converged
	constrained []int32  // slots in islands that have contacts and have not converged

	// List k contains contact k of each body with the floor, or of each pair of bodies. Neighbours in a list thus
	// mostly belong to different bodies, and the processor can overlap their computations.
	floor [maxPoints][]floorContact // contacts with the floor
	rows  [maxPoints][3][]row       // contacts of two bodies: first tangent, second tangent, normal

	passes [maxPoints * directions]pass // order of the lists in a sweep
	seed   uint64                       // state of the generator that shuffles passes

	softness       float64 // CFM per step: speed by which a contact yields for each unit of impulse
	correctionRate float64 // ERP per step: separation speed wanted for each metre of overlap
	maxFriction    float64 // largest friction impulse, times mass
	relaxation     float64 // over-relaxation factor
	params         *Params
	maxWork        int // maximum sweeps times contacts in a step for an effort of 1, see baseWork
	spent          int // sweeps times contacts since Reset
}

// motion is the state of a body in the solver. The padding lets vector instructions load and store
// four numbers at once.
type motion struct {
	vel  Vec
	_    float64
	spin Vec // angular velocity in radians per second, times the radius of gyration
	_    float64
}

// floorContact is one corner of a body on the floor. Its normal is z, its tangents are x and y.
type floorContact struct {
	slot    int32
	arm     Vec     // vector from the centre to the corner, divided by the radius of gyration
	bias    float64 // gain times the separation speed wanted
	x, y, z impulseState
}

// impulseState is an accumulated impulse with the coefficients of its update: the next value is
// keep*impulse + bias - gain*speed, where speed is the relative speed at the contact.
type impulseState struct{ impulse, gain, keep float64 }

// row is one constraint row: one direction at one contact point of bodies A and B.
type row struct {
	a, b           int32   // slots of the bodies A and B
	dir            Vec     // unit vector; an impulse pushes A along it and B against it
	twistA, twistB Vec     // lever arm x dir, divided by the radius of gyration
	massRatio      float64 // mass of A over mass of B; 0 if B cannot be moved
	bias           float64 // gain times the separation speed wanted
	low, high      float64 // limits of the impulse
	impulseState
}

// init allocates memory for n bodies, and sets the limit on work, which grows with n.
func (s *contactSolver) init(n int) {
	s.maxWork = baseWork * WorkFactor(n)
	s.motion = make([]motion, 0, n)
	s.previous = make([]motion, n)
	s.island = make([]int32, n)
	s.unsettled = make([]bool, n)
	s.constrained = make([]int32, 0, n)
}

// reset removes all bodies and contacts and sets the coefficients for a step of dt seconds. CFM (constraint force
// mixing) and ERP (error reduction parameter) are the terms of the Open Dynamics Engine for softness and correction.
func (s *contactSolver) reset(params *Params, dt float64) {
	s.params = params
	s.orderPasses()
	s.motion = s.motion[:0]
	for k := range maxPoints {
		s.floor[k] = s.floor[k][:0]
		for d := range s.rows[k] {
			s.rows[k][d] = s.rows[k][d][:0]
		}
	}
	s.softness, s.correctionRate, s.relaxation = params.CFM/dt, params.ERP/dt, params.Relaxation
	s.maxFriction = float64(params.MaxFriction * dt)
}

// correctionSpeed returns the separation speed wanted for an overlap of depth metres. Overlaps up
// to params.UncorrectedDepth are not corrected.
func (s *contactSolver) correctionSpeed(depth float64) float64 {
	return min(float64(s.correctionRate*max(depth-s.params.UncorrectedDepth, 0)), s.params.MaxCorrectionSpeed)
}

// newImpulse returns the initial state of an impulse. inverseMass is the change of relative speed
// at the contact for a unit of impulse (the inverse of the effective mass); soft is added to it and
// lets the contact yield.
func (s *contactSolver) newImpulse(inverseMass, soft float64) impulseState {
	gain := s.relaxation / (inverseMass + soft)
	return impulseState{gain: gain, keep: 1 - float64(gain*soft)}
}

// addFloor adds the contact with the floor of corner k of a body. corner is its position, with z <= 0.
func (s *contactSolver) addFloor(slot int32, b *Body, k int, corner Vec) {
	soft := float64(s.softness / b.invMass)
	arm := corner.Sub(b.Pos).Scale(b.invGyration)
	// Below, the squared length of the vector product of arm and an axis is the sum of the squares of
	// arm's components along the other two axes.
	x, y, z := float64(arm.X*arm.X), float64(arm.Y*arm.Y), float64(arm.Z*arm.Z)
	f := floorContact{slot: slot, arm: arm, x: s.newImpulse(1+y+z, soft), y: s.newImpulse(1+x+z, soft), z: s.newImpulse(1+x+y, soft)}
	f.bias = float64(f.z.gain * s.correctionSpeed(-corner.Z))
	s.floor[k] = append(s.floor[k], f)
}

// addContacts adds the contact points of m between bodies A and B, three rows for each point. invMass is 0 for
// a body that cannot be moved. If A cannot be moved, A and B are exchanged; if neither can be moved, there is
// nothing to solve.
func (s *contactSolver) addContacts(slotA, slotB int32, bodyA, bodyB *Body, m *manifold) {
	if bodyA.invMass == 0 {
		slotA, slotB, bodyA, bodyB = slotB, slotA, bodyB, bodyA
		m.swap()
	}
	if bodyA.invMass == 0 {
		return
	}
	massRatio, invGyrationB := 0.0, 1.0 // values if B cannot be moved
	if bodyB.invMass > 0 {
		massRatio, invGyrationB = bodyB.invMass/bodyA.invMass, bodyB.invGyration
		i, j := s.root(slotA), s.root(slotB) // joins the islands of A and B
		s.island[max(i, j)] = min(i, j)
	}
	soft, maxFriction := float64(s.softness/bodyA.invMass), float64(s.maxFriction*bodyA.invMass)
	for k := range m.points[:m.n] {
		p := &m.points[k]
		for d, dir := range [3]Vec{m.tangent[0], m.tangent[1], m.normal.Neg()} {
			newRow := row{a: slotA, b: slotB, dir: dir, massRatio: massRatio, low: -maxFriction, high: maxFriction}
			newRow.twistA = p.armA.Cross(dir).Scale(bodyA.invGyration)
			newRow.twistB = p.armB.Cross(dir).Scale(invGyrationB)
			inverseMassB := float64(massRatio * (1 + newRow.twistB.Dot(newRow.twistB)))
			newRow.impulseState = s.newImpulse(1+newRow.twistA.Dot(newRow.twistA)+inverseMassB, soft)
			if d == normals { // a normal impulse can only push; its bias corrects the overlap
				newRow.low, newRow.high, newRow.bias = 0, math.MaxFloat64, float64(newRow.gain*s.correctionSpeed(-p.gap))
			}
			s.rows[k][d] = append(s.rows[k][d], newRow)
		}
	}
}

// root returns the slot that represents the island of slot i. Islands are a union-find forest: s.island is the
// parent of each slot, a root is its own parent, and root shortens the paths on the way (path halving).
func (s *contactSolver) root(i int32) int32 {
	for s.island[i] != i {
		s.island[i] = s.island[s.island[i]]
		i = s.island[i]
	}
	return i
}

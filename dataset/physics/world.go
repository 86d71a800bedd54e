// Package physics moves cubes: they fall, collide, stack, tumble, come to rest
// on a floor at z = 0, and sleep there until something wakes them.
//
// It is a small rigid-body engine of the usual make, and every part has a file:
//
//	broadphase   which cubes are near each other (a uniform grid)
//	separation   how far two cubes are apart (the separating-axis test)
//	faces, edges where they touch (clipping one face against another)
//	manifold     the contact of two cubes, at most four points, remembered
//	             from step to step with the impulses that held it
//	solver       impulses at the contacts until nothing sinks in (sequential
//	             impulses, warm-started, soft, in substeps)
//	islands      who rests on whom, and who may sleep
//
// Beside World, which is made to be watched, stands Scene, which is made to agree
// with another engine, the one that the walk-off's recordings come from:
//
//	recorder     the law of that engine: what a contact does there
//	scene, scenestep, scenetouch, columns
//	             a snapshot's cubes, of which few are awake, for a few steps
//	lcp, sweep   its solver: stiff contacts, all at once, over-relaxed
//
// Two things set the package apart. It is deterministic to the bit on every platform:
// no map, no goroutine, no fused multiply-add, no library sine. And it allocates
// nothing per step, once its slices have grown.
//
// Further reading, in the order of the files: Ericson, "Real-Time Collision
// Detection", 2005; Gregorius, "The Separating Axis Test between Convex
// Polyhedra", GDC 2013; Catto, "Iterative Dynamics with Temporal Coherence",
// GDC 2005, and "Solver2D", 2024 (soft contacts in substeps).
package physics

import "fmt"

// Config is what a world obeys. Lengths are metres, times seconds.
type Config struct {
	Step       float64 // what one call of Step advances
	Substeps   int     // into how many parts the solver cuts it
	Iterations int     // how often the solver goes over all contacts in each
	Gravity    float64 // metres per second squared, downwards
	Friction   float64 // Coulomb's coefficient; 1 holds on a slope of 45 degrees

	Damping     float64 // share of speed lost per step
	SpinDamping float64 // share of spin lost per step
	MaxSpeed    float64 // metres per second
	MaxSpin     float64 // radians per second
	Low, High   Vec     // positions are kept between

	// A cube that stays below both speeds for RestTime may sleep.
	RestSpeed, RestSpin, RestTime float64
}

// Default returns the world of Fiedler's demonstration as far as its parameters
// carry over: 60 steps a second, gravity 20, hardly any sliding.
func Default() Config {
	return Config{
		Step: 1.0 / 60, Substeps: 4, Iterations: 4, Gravity: 20, Friction: 2,
		Damping: 0.01, SpinDamping: 0.01, MaxSpeed: 32, MaxSpin: 16,
		Low: Vec{-256, -256, 0}, High: Vec{256, 256, 32},
		RestSpeed: 0.25, RestSpin: 0.25, RestTime: 0.1,
	}
}

// World holds the cubes. Its methods must not be called at the same time.
type World struct {
	cfg    Config
	sub    float64 // seconds per substep
	bodies []Body
	floor  Body // of infinite mass: impulses do not move it

	grid      grid
	pairs     []pair     // near enough to be looked at, in order
	manifolds []manifold // in contact or nearly so, in order of their pairs
	previous  []manifold // those of the step before
	island    []int32    // union-find: towards the root of each body's island
	restless  []float64  // per root: the least time for which one of the island was still

	soft, softFloor softness
}

// New returns an empty world: a floor at z = 0.
func New(cfg Config) *World {
	w := &World{cfg: cfg, sub: cfg.Step / float64(cfg.Substeps)}
	w.soft = soften(hertz, w.sub)
	w.softFloor = soften(hertzFloor, w.sub)
	w.grid.init()
	return w
}

// MaxBodies is how many cubes a world holds at most.
const MaxBodies = int(floorID)

// AddCube adds a cube of half the given side at rest, awake, and returns its
// number. Density is in kilograms per cubic metre.
func (w *World) AddCube(pos Vec, half, density float64) int {
	if len(w.bodies) == MaxBodies {
		panic(fmt.Sprintf("physics: a world holds at most %d cubes", MaxBodies))
	}
	mass := float64(density * 8 * half * half * half)
	b := Body{Pos: pos, Rot: Quat{W: 1}, half: half}
	b.invMass = 1 / mass
	b.invInertia = 1 / float64(mass*half*half*(2.0/3))
	b.axes = b.Rot.axes()
	w.bodies = append(w.bodies, b)
	w.grid.next = append(w.grid.next, -1)
	w.island = append(w.island, 0)
	w.restless = append(w.restless, 0)
	return len(w.bodies) - 1
}

// Len returns the number of cubes.
func (w *World) Len() int { return len(w.bodies) }

// Body returns cube i. The pointer holds until the next AddCube.
func (w *World) Body(i int) *Body { return &w.bodies[i] }

// Step advances the world by Config.Step.
func (w *World) Step() {
	if w.sleeping() {
		return
	}
	w.findPairs()
	w.findContacts()
	w.joinIslands()
	w.solve()
	w.settle()
}

// sleeping reports whether every cube is asleep: then nothing can change.
func (w *World) sleeping() bool {
	for i := range w.bodies {
		if !w.bodies[i].asleep {
			return false
		}
	}
	return true
}

// Touching calls yield with every pair of cubes that touch and of which at least
// one is awake, in order of their numbers.
func (w *World) Touching(yield func(a, b int) bool) {
	for i := range w.manifolds {
		m := &w.manifolds[i]
		if m.pair.floor() || !m.touches() || w.bothAsleep(m.pair) {
			continue
		}
		if a, b := m.pair.split(); !yield(a, b) {
			return
		}
	}
}

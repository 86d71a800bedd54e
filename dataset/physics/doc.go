// Package physics moves cubes: they fall, collide, stack, tumble, come to rest
// on a floor at z = 0, and sleep there until something wakes them.
//
// It is a small rigid-body engine, made to agree, step by step, with the one that
// the walk-off's recordings come from, the Open Dynamics Engine. The cube world
// plays on it, and an encoder forecasts with it; so both use the same laws. Every part has a file:
//
//	recorder     the law: gravity, what a contact does, when a cube sleeps
//	body         one cube
//	scene        all of them, asleep or awake, and the forces on them
//	step         one step: find awake bodies, find contacts, solve, move
//	sleep        falling asleep and waking
//	columns      which cubes are near each other (a grid of columns)
//	touch        contacts are found here, with the files below
//	separation   how far two cubes are apart (the separating-axis test)
//	faces, edges where they touch (clipping one face against another)
//	manifold     the contact of two cubes, at most four points
//	lcp, sweep   the solver: stiff contacts with friction, by projected over-relaxation
//
// Rows of the solver run in vector instructions on amd64 (sweep_amd64.s): to the bit what
// the plain code gives, which the tag purego has back.
//
// Two things set the package apart. It is deterministic to the bit on every
// platform: no map, no goroutine, no fused multiply-add, no library sine. And it
// allocates nothing per step, once its slices have grown.
//
// Further reading, in the order of the files: Smith, "Open Dynamics Engine", 2004
// (the law); Ericson, "Real-Time Collision Detection", 2005; Gregorius, "The
// Separating Axis Test between Convex Polyhedra", GDC 2013; Catto, "Iterative
// Dynamics with Temporal Coherence", GDC 2005.
package physics

// Package physics simulates cubes that fall, collide, stack, tumble and come to rest on a floor at
// z = 0, where they sleep until something wakes them.
//
// It is a small rigid-body engine that agrees, step by step, with the Open Dynamics Engine as the
// walk-off's recordings used it. The cube world runs on it, and an encoder predicts with it. The
// files are:
//
//	recorder     the parameters: gravity, contacts, sleep
//	body         one cube
//	scene        all cubes, asleep or awake, and the forces on them
//	step         one step: collect awake bodies, find contacts, solve, integrate
//	sleep        falling asleep and waking
//	grid         which cubes are near each other
//	touch        finds contacts, with the files below
//	separation   the distance of two cubes (the separating-axis test)
//	faces, edges the contact points (clipping one face against another)
//	manifold     the contact of two cubes, at most four points
//	solver,sweep the solver: stiff contacts with friction, by projected over-relaxation
//
// On amd64 the solver's rows run in vector instructions (sweep_amd64.s), with results that equal
// those of the Go code to the bit. The build tag purego selects the Go code.
//
// The package is deterministic to the bit on every platform: it uses no map, no goroutine, no fused
// multiply-add and no library sine. It allocates nothing per step once its slices have grown.
//
// Further reading, in the order of the files: Smith, "Open Dynamics Engine", 2004
// (the parameters); Ericson, "Real-Time Collision Detection", 2005; Gregorius, "The
// Separating Axis Test between Convex Polyhedra", GDC 2013; Catto, "Iterative
// Dynamics with Temporal Coherence", GDC 2005.
package physics

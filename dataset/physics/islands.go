package physics

import "math"

// An island is a set of cubes that touch each other, directly or through
// others. It sleeps and wakes as a whole: a pile in which one cube still slides
// must not freeze around it. Sleepers keep their contacts but are not simulated,
// which is what makes 900 resting cubes cost nothing.

// root returns the body that stands for i's island, shortening the way there.
func (w *World) root(i int32) int32 {
	for w.island[i] != i {
		w.island[i] = w.island[w.island[i]]
		i = w.island[i]
	}
	return i
}

// joinIslands finds the islands and wakes those in which anybody is awake. The
// floor joins nobody.
func (w *World) joinIslands() {
	for i := range w.island {
		w.island[i] = int32(i)
	}
	for i := range w.manifolds {
		m := &w.manifolds[i]
		if m.pair.floor() || !m.touches() {
			continue
		}
		i, j := m.pair.split()
		a, b := w.root(int32(i)), w.root(int32(j))
		w.island[max(a, b)] = min(a, b)
	}
	const nobody, somebody = 0, 1
	for i := range w.restless {
		w.restless[i] = nobody
	}
	for i := range w.bodies {
		if !w.bodies[i].asleep {
			w.restless[w.root(int32(i))] = somebody
		}
	}
	for i := range w.bodies {
		if b := &w.bodies[i]; b.asleep && w.restless[w.root(int32(i))] == somebody {
			b.Wake()
		}
	}
}

// settle counts for how long every cube has hardly moved, and lays the islands
// to sleep in which all have been still for long enough.
func (w *World) settle() {
	c := &w.cfg
	for i := range w.restless {
		w.restless[i] = math.Inf(1)
	}
	for i := range w.bodies {
		b := &w.bodies[i]
		if b.asleep {
			continue
		}
		b.still += c.Step
		if b.Vel.Length() > c.RestSpeed || b.Spin.Length() > c.RestSpin {
			b.still = 0
		}
		r := w.root(int32(i))
		w.restless[r] = min(w.restless[r], b.still)
	}
	for i := range w.bodies {
		if b := &w.bodies[i]; !b.asleep && w.restless[w.root(int32(i))] >= c.RestTime {
			b.rest()
		}
	}
}

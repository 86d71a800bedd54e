package physics

// pair names two bodies, the lower number in the upper half, so that sorting
// pairs puts them in an order that depends on nothing else.
type pair uint32

// floorID stands for the floor as the second of a pair.
const floorID = 0xffff

func pairOf(i, j int) pair {
	if i > j {
		i, j = j, i
	}
	return pair(i)<<16 | pair(j)
}

func (p pair) split() (a, b int) { return int(p >> 16), int(p & floorID) }
func (p pair) floor() bool       { return p&floorID == floorID }

// bothAsleep reports whether nothing can change between the two of p.
func (w *World) bothAsleep(p pair) bool {
	a, b := p.split()
	return w.bodies[a].asleep && (p.floor() || w.bodies[b].asleep)
}

// bothAwake reports whether the two of p can push each other. A sleeper whom
// somebody is about to touch was woken before anybody asks.
func (w *World) bothAwake(p pair) bool {
	a, b := p.split()
	return !w.bodies[a].asleep && (p.floor() || !w.bodies[b].asleep)
}

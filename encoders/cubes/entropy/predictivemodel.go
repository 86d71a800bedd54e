package entropy

// kinds of numbers: x, y, z, and three components of an orientation.
const (
	kinds  = 6
	groups = 3 // x and y share contexts, and so do the components
)

// Contexts of mixed decisions and how many there are of each.
const (
	sizesFine   = 40
	sizesCoarse = 10
	missClasses = 10 // lengths of the last residual
	offs        = 12 // lengths of a residual within this packet
	recents     = 64
	gaps        = 16 // distances of a neighbour
	paces       = 8  // lengths of a motion, coarser
	signs       = 27 // signs of the last residual, the neighbour's and the motion
)

// Where the trained contexts of each decision begin: several tables for a decision that
// is mixed.
var (
	changedAt, changedEnd = tablesFrom(0, idleClasses*distanceClasses*8, 32*speeds, gaps*paces*4, recents*idleClasses,
		idleClasses*speeds*6*2)
	movedAt, movedEnd     = tablesFrom(changedEnd, idleClasses*speeds*missClasses, distanceClasses*offs, missClasses*heights*idleClasses)
	turnedAt, turnedEnd   = tablesFrom(movedEnd, idleClasses*speeds*2, offs*offs, missClasses*offs*2, offs*distanceClasses)
	touchedAt, touchedEnd = tablesFrom(turnedEnd, distanceClasses*idleClasses*2, offs*speeds*2, offs*distanceClasses*2)
	largestAt, largestEnd = tablesFrom(touchedEnd, margins*offs, margins*missClasses, margins*spins)
	lengthAt, secondAt    = tablesFrom(largestEnd, groups*sizesFine*lengthNodes, groups*sizesCoarse*paces*lengthNodes,
		groups*sizesCoarse*missClasses*lengthNodes, groups*offs*paces*lengthNodes)

	signAt   = secondAt + margins
	topAt    = signAt + groups*4*signs
	trainedN = topAt + groups*topNodes
)

// tablesFrom returns where tables of these sizes begin, one after the other, and where
// the last one ends.
func tablesFrom(at int, sizes ...int) (first [maxContexts]int, end int) {
	for i, n := range sizes {
		first[i] = at
		at += n
	}
	return first, at
}

// Adaptive counters, and the sets of weights.
const (
	ownChanged = 0
	ownMoved   = ownChanged + idleClasses*speeds
	ownTurned  = ownMoved + speeds
	ownTouched = ownTurned + speeds
	ownLargest = ownTouched + 2
	ownLength  = ownLargest + margins
	ownSize    = ownLength + groups*(sizesFine/2)*lengthNodes

	setChanged = 0
	setMoved   = setChanged + idleClasses
	setTurned  = setMoved + 1
	setTouched = setTurned + 1
	setLargest = setTouched + 1
	setLength  = setLargest + 1
	sets       = setLength + groups*lengthNodes
)

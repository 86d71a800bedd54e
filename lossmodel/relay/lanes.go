package relay

import (
	"container/heap"
	"time"

	"wirelab/lossmodel"
)

// lane is one direction of a link.
type lane struct {
	way   Way
	link  *lossmodel.Link
	asked Asked
	line  lossmodel.Queued // as last measured
	due   time.Duration    // when its next delivery is, while it is in lanesDue
	place int              // there; -1: nothing is under way
}

// lanesDue are the lanes on which something is under way, as a heap: a thousand clients must
// not be asked one by one whenever something is due for one of them.
type lanesDue []*lane

// put updates the place of a lane whose next delivery is due then; ok is false if it has none.
func (q *lanesDue) put(l *lane, due time.Duration, ok bool) {
	l.due = due
	switch {
	case ok && l.place < 0:
		heap.Push(q, l)
	case ok:
		heap.Fix(q, l.place)
	case l.place >= 0:
		heap.Remove(q, l.place)
	}
}

func (q *lanesDue) Len() int           { return len(*q) }
func (q *lanesDue) Less(i, j int) bool { return (*q)[i].due < (*q)[j].due }

func (q *lanesDue) Swap(i, j int) {
	s := *q
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = i, j
}

func (q *lanesDue) Push(x any) {
	l := x.(*lane)
	l.place = len(*q)
	*q = append(*q, l)
}

func (q *lanesDue) Pop() any {
	s := *q
	l := s[len(s)-1]
	l.place = -1
	*q = s[:len(s)-1]
	return l
}

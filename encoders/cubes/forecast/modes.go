package forecast

import (
	"math"

	"wirelab/dataset/frame"
)

// A snapshot does not say whether the player pushes or pulls, but what follows it does: a
// run in the wrong mode leaves the cubes around the player far from where they are. Then
// rounds of Refine go to other modes.

const (
	judgeReach = 1200 // units from the player's centre, to each side, within which cubes are evidence
	judgeMost  = 300  // units by which one cube counts at most
	judgeLeast = 2    // cubes that are evidence
	suspicious = 90   // units, mean of the cubes that moved; the right mode misses by less in 24 of 25 frames, a wrong one in one of ten
	clearly    = 0.8  // of the sum of misses that another mode must stay below
)

// Mode returns the mode of the last run. After Refine that is the mode that explains the snapshot, or Infer if no
// cubes were near enough to tell.
func (s *Simulator) Mode() Mode { return s.refinement.judged }

// tryModes repeats the last run in other modes, at most most times, if the cubes around the player are far from where it
// had them, and keeps the mode that explains them best. It returns how often it did.
func (s *Simulator) tryModes(now *frame.Frame, moved frame.Rows, most int) (tried int) {
	h := &s.refinement
	used := h.path.Mode
	sum, n := s.missAround(now, moved)
	h.judged = used
	if n < judgeLeast {
		h.judged = Infer
	}
	if n < judgeLeast || sum < float64(suspicious*n) {
		return 0
	}
	s.save(&h.first)
	least := float64(clearly * sum)
	for _, mode := range [...]Mode{none, Push, Pull} {
		if mode == used || tried == most {
			continue
		}
		tried++
		h.path.Mode = mode
		s.simulate()
		if other, _ := s.missAround(now, moved); other < least {
			least, h.judged = other, mode
			s.keepNearest(now)
			s.save(&h.first)
		}
	}
	h.path.Mode = h.judged
	s.restore(&h.first)
	return tried
}

// lastRun is what is known of a run.
type lastRun struct {
	results  []Result
	contacts [][2]int32
}

// save copies the last run to r.
func (s *Simulator) save(r *lastRun) {
	r.results = append(r.results[:0], s.results...)
	r.contacts = append(r.contacts[:0], s.contacts...)
}

// restore makes r the last run again.
func (s *Simulator) restore(r *lastRun) {
	for k := range s.results {
		s.at[s.results[k].Cube] = 0
	}
	s.results = append(s.results[:0], r.results...)
	s.contacts = append(s.contacts[:0], r.contacts...)
	for k := range s.results {
		s.at[s.results[k].Cube] = int32(k + 1)
	}
}

// missAround returns by how far the last run missed the cubes around the player, all in all, and how many
// of them moved, in truth or in the run.
func (s *Simulator) missAround(now *frame.Frame, moved frame.Rows) (sum float64, n int) {
	x, y := s.refinement.path.From[frame.CubeX], s.refinement.path.From[frame.CubeY]
	s.live.Union(moved)
	for i := range s.live.All() {
		row := s.row(i)
		dx, dy := int64(row[frame.CubeX])-int64(x), int64(row[frame.CubeY])-int64(y)
		if i == 0 || uint64(dx+judgeReach) > 2*judgeReach || uint64(dy+judgeReach) > 2*judgeReach {
			continue // 0 is the player
		}
		r := s.resultOf(i)
		sum += min(math.Sqrt(r.miss(now.Table[i*frame.CubeFields:][:frame.CubeFields])), judgeMost)
		n++
	}
	return sum, n
}

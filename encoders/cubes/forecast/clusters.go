package forecast

import "wirelab/dataset/frame"

// clusters are the cubes that touched each other during a run, directly or through others. A cluster of which every
// cube ended where it is in truth, as far as rounding lets one tell, is settled: its speeds are known, and it is left
// out when the run is repeated. That halves the work of Refine, and forecasts become better rather than worse: what
// is corrected no more does not follow the rounding.
type clusters struct {
	contacts [][2]int32 // of the last run, in all its steps
	parent   []int32    // union-find over the cubes of the last run
	missed   []bool     // per root
	settled  frame.Rows
}

// settledMiss is the miss, in steps of position and orientation, up to which a cube counts as where it is in truth. On
// lima and bravo forecasts are best at 1.5 to 2, and as good at 2.5 as without clusters.
const settledMiss = 2.5

func (c *clusters) init(rows int) {
	c.parent, c.missed, c.settled = make([]int32, rows), make([]bool, rows), frame.NewRows(rows)
}

// noteContacts notes who touched whom in the last step.
func (s *Simulator) noteContacts() {
	for a, b := range s.scene.Touching {
		if a > 0 && b > 0 { // not the player, whose path is known
			s.contacts = append(s.contacts, [2]int32{int32(a), int32(b)})
		}
	}
}

// settle notes which clusters of the last run are settled.
func (s *Simulator) settle(now *frame.Frame) {
	c := &s.clusters
	for k := range s.results {
		i := s.results[k].Cube
		c.parent[i], c.missed[i] = i, false
	}
	for _, p := range c.contacts {
		a, b := c.root(p[0]), c.root(p[1])
		c.parent[max(a, b)] = min(a, b)
	}
	for k := range s.results {
		r := &s.results[k]
		if r.miss(now.Table[int(r.Cube)*frame.CubeFields:][:frame.CubeFields]) > settledMiss*settledMiss {
			c.missed[c.root(r.Cube)] = true
		}
	}
	for k := range s.results {
		if i := s.results[k].Cube; !c.missed[c.root(i)] {
			c.settled.Add(int(i))
		}
	}
}

// root returns the cube that stands for the cluster of cube i.
func (c *clusters) root(i int32) int32 {
	for c.parent[i] != i {
		c.parent[i] = c.parent[c.parent[i]]
		i = c.parent[i]
	}
	return i
}

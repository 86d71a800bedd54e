package forecast

import "wirelab/dataset/frame"

// clusters are the groups of cubes that touched each other during a run, directly or through others. A cluster is
// settled if every cube ended at its true pose, up to rounding. Its speeds are then known, and it is left out when
// the run is repeated. That halves the work of Refine. It also improves forecasts, because further corrections of
// these speeds would only follow the rounding.
type clusters struct {
	contacts   [][2]int32 // pairs of cubes that touched in any step of the last run
	parent     []int32    // of each cube of the last run: its parent in a union-find forest
	inaccurate []bool     // of each root: a cube of the cluster missed its true pose
	settled    frame.Rows // the cubes of settled clusters, over all runs since Run
}

// settledError is the largest error, in steps of position and orientation, of a cube that counts as accurate. On the
// recordings lima and bravo forecasts are best at 1.5 to 2, and at 2.5 as good as without clusters; a larger value
// leaves out more cubes and is faster.
const settledError = 2.5

// init allocates memory for frames of the given number of cubes.
func (c *clusters) init(rows int) {
	c.parent, c.inaccurate, c.settled = make([]int32, rows), make([]bool, rows), frame.NewRows(rows)
}

// recordContacts adds the pairs of cubes that touched in the last step.
func (s *Simulator) recordContacts() {
	for a, b := range s.scene.TouchingPairs {
		if a > 0 && b > 0 { // 0 is the player, whose path is known: it connects no clusters
			s.contacts = append(s.contacts, [2]int32{int32(a), int32(b)})
		}
	}
}

// findSettled finds the clusters of the last run, and adds to s.settled the cubes of those in which no cube ended
// farther than settledError from its pose in truth, the true snapshot.
func (s *Simulator) findSettled(truth *frame.Frame) {
	c := &s.clusters
	for k := range s.results { // at first every cube is a cluster
		i := s.results[k].Cube
		c.parent[i], c.inaccurate[i] = i, false
	}
	for _, p := range c.contacts { // join the clusters of cubes that touched
		a, b := c.root(p[0]), c.root(p[1])
		c.parent[max(a, b)] = min(a, b)
	}
	for k := range s.results {
		r := &s.results[k]
		if r.squaredError(truth.Table[int(r.Cube)*frame.CubeFields:][:frame.CubeFields]) > settledError*settledError {
			c.inaccurate[c.root(r.Cube)] = true
		}
	}
	for k := range s.results {
		if i := s.results[k].Cube; !c.inaccurate[c.root(i)] {
			c.settled.Add(int(i))
		}
	}
}

// root returns the cube that represents the cluster of cube i. It shortens the path for later calls.
func (c *clusters) root(i int32) int32 {
	for c.parent[i] != i {
		c.parent[i] = c.parent[c.parent[i]]
		i = c.parent[i]
	}
	return i
}

package stats

import (
	"wirelab/dataset/frame"
	"wirelab/internal/quantile"
)

// Summary is what a source of snapshots is like. Shares are between 0 and 1;
// everything is against the frame Age before.
type Summary struct {
	Frames int `json:"frames"` // compared
	Cubes  int `json:"cubes"`  // in each

	Changed changedCubes `json:"changed_cubes"`

	// Shares of all cubes of all frames.
	Unchanged   unchangedShares `json:"unchanged"`
	Interacting float64         `json:"interacting"` // those with the flag

	// Of the cubes that changed, the shares that turned without moving, moved
	// without turning, and did neither: the flag alone changed.
	OnlyTurned  float64 `json:"only_turned"`
	OnlyMoved   float64 `json:"only_moved"`
	OnlyFlagged float64 `json:"only_flagged"`

	// SameLargest is the share of turned cubes whose largest component is the same.
	SameLargest float64 `json:"same_largest"`

	Deltas []deltaStats `json:"delta"`

	// Runs are how long a cube goes on changing, in frames, and how many cubes
	// with consecutive numbers change in one frame.
	RunFrames runStats `json:"run_frames"`
	RunCubes  runStats `json:"run_cubes"`
}

// changedCubes is how many cubes change in a frame.
type changedCubes struct {
	Mean        float64 `json:"mean"`         // of all frames
	ActiveMean  float64 `json:"active_mean"`  // of those in which ActiveCubes or more do
	ActiveShare float64 `json:"active_share"` // the share of those
	P5          int64   `json:"p5"`
	P50         int64   `json:"p50"`
	P95         int64   `json:"p95"`
}

// unchangedShares are shares of cubes that did not change, altogether and in one respect.
type unchangedShares struct {
	Cube        float64 `json:"cube"`
	Position    float64 `json:"position"`
	Orientation float64 `json:"orientation"`
	Interacting float64 `json:"interacting"`
}

// deltaStats is the distribution of the absolute differences in one field: positions
// of cubes that moved, components of cubes that turned while their largest
// component stayed the same.
type deltaStats struct {
	Field string `json:"field"`
	rankQuantiles
}

// runStats is the distribution of the length of stretches.
type runStats struct {
	Mean float64 `json:"mean"`
	rankQuantiles
}

// rankQuantiles are those of the nearest rank.
type rankQuantiles struct {
	P50 int64 `json:"p50"`
	P90 int64 `json:"p90"`
	P99 int64 `json:"p99"`
}

func quantilesOf(h *quantile.Counts) rankQuantiles {
	return rankQuantiles{P50: h.NearestRank(.50), P90: h.NearestRank(.90), P99: h.NearestRank(.99)}
}

func runOf(h *quantile.Counts) runStats {
	return runStats{Mean: h.Mean(), rankQuantiles: quantilesOf(h)}
}

// Summary sums up what was counted. Stretches that have not ended yet count as
// if they ended here; no frames may be added afterwards.
func (c *counter) Summary() Summary {
	for i := range c.lasted {
		endRun(&c.inTime, &c.lasted[i])
	}
	all, changed := int64(c.frames)*int64(c.rows), c.changes.Sum
	active, activeSum := from(&c.changes, ActiveCubes)
	s := Summary{
		Frames: c.frames, Cubes: c.rows,
		Changed: changedCubes{
			Mean: c.changes.Mean(), ActiveMean: share(activeSum, active), ActiveShare: share(active, c.changes.N),
			P5: c.changes.NearestRank(.05), P50: c.changes.NearestRank(.50), P95: c.changes.NearestRank(.95),
		},
		Unchanged: unchangedShares{
			Cube: share(all-changed, all), Position: share(all-c.position, all),
			Orientation: share(all-c.orientation, all), Interacting: share(all-c.interacting, all),
		},
		Interacting: share(c.interacts, all),
		OnlyTurned:  share(c.orientation-c.both, changed),
		OnlyMoved:   share(c.position-c.both, changed),
		OnlyFlagged: share(changed-c.position-c.orientation+c.both, changed),
		SameLargest: share(c.sameLargest, c.orientation),
		RunFrames:   runOf(&c.inTime), RunCubes: runOf(&c.inOrder),
	}
	fields := frame.Cubes(1).Fields
	for _, k := range []int{frame.CubeX, frame.CubeY, frame.CubeZ, frame.CubeA, frame.CubeB, frame.CubeC} {
		s.Deltas = append(s.Deltas, deltaStats{Field: fields[k].Name, rankQuantiles: quantilesOf(&c.deltas[k])})
	}
	return s
}

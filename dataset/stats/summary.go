package stats

import (
	"wirelab/dataset/frame"
	"wirelab/internal/quantile"
)

// Summary is the statistics of a source of snapshots. Changes are relative to the frame six frames
// before. Shares are fractions from 0 to 1.
type Summary struct {
	Frames int `json:"frames"` // number of frames
	Cubes  int `json:"cubes"`  // number of cubes in each frame

	Changed changedCubes `json:"changed_cubes"`

	// Shares of all cubes of all frames.
	Unchanged   unchangedShares `json:"unchanged"`
	Interacting float64         `json:"interacting"` // cubes with the interacting flag set

	// Shares of the changed cubes that turned without moving, that moved without turning, and of which
	// only the flag changed.
	OnlyTurned  float64 `json:"only_turned"`
	OnlyMoved   float64 `json:"only_moved"`
	OnlyFlagged float64 `json:"only_flagged"`

	// SameLargest is the share of turned cubes whose largest component has the same index.
	SameLargest float64 `json:"same_largest"`

	Deltas []deltaStats `json:"delta"`

	// RunFrames is the number of successive frames in which a cube changes, RunCubes the number of
	// cubes with consecutive indices that change in a frame.
	RunFrames runStats `json:"run_frames"`
	RunCubes  runStats `json:"run_cubes"`
}

// changedCubes is the distribution of the number of changed cubes in a frame.
type changedCubes struct {
	Mean        float64 `json:"mean"`         // over all frames
	ActiveMean  float64 `json:"active_mean"`  // over active frames, see ActiveCubes
	ActiveShare float64 `json:"active_share"` // share of active frames
	P5          int64   `json:"p5"`
	P50         int64   `json:"p50"`
	P95         int64   `json:"p95"`
}

// unchangedShares are the shares of cubes that did not change at all, or not in one component.
type unchangedShares struct {
	Cube        float64 `json:"cube"`
	Position    float64 `json:"position"`
	Orientation float64 `json:"orientation"`
	Interacting float64 `json:"interacting"`
}

// deltaStats is the distribution of the magnitudes of differences in one field. For positions it covers
// the cubes that moved, for components of orientations the cubes that turned while the index of the
// largest component stayed the same.
type deltaStats struct {
	Field string `json:"field"`
	rankQuantiles
}

// runStats is the distribution of the lengths of runs.
type runStats struct {
	Mean float64 `json:"mean"`
	rankQuantiles
}

// rankQuantiles are quantiles by the nearest-rank method.
type rankQuantiles struct {
	P50 int64 `json:"p50"`
	P90 int64 `json:"p90"`
	P99 int64 `json:"p99"`
}

// newQuantiles returns the quantiles of counted values.
func newQuantiles(h *quantile.Counts) rankQuantiles {
	return rankQuantiles{P50: h.NearestRank(.50), P90: h.NearestRank(.90), P99: h.NearestRank(.99)}
}

// newRunStats returns the distribution of run lengths.
func newRunStats(h *quantile.Counts) runStats {
	return runStats{Mean: h.Mean(), rankQuantiles: newQuantiles(h)}
}

// Summary returns the statistics. Runs that have not ended count as ending here, so that no frames
// may be added afterwards.
func (c *counter) Summary() Summary {
	for i := range c.runLength {
		endRun(&c.runFrames, &c.runLength[i])
	}
	all, changed := int64(c.frames)*int64(c.cubes), c.changes.Sum
	active, activeSum := countFrom(&c.changes, ActiveCubes)
	s := Summary{
		Frames: c.frames, Cubes: c.cubes,
		Changed: changedCubes{
			Mean: c.changes.Mean(), ActiveMean: share(activeSum, active), ActiveShare: share(active, c.changes.N),
			P5: c.changes.NearestRank(.05), P50: c.changes.NearestRank(.50), P95: c.changes.NearestRank(.95),
		},
		Unchanged: unchangedShares{
			Cube: share(all-changed, all), Position: share(all-c.positionChanged, all),
			Orientation: share(all-c.orientationChanged, all), Interacting: share(all-c.flagChanged, all),
		},
		Interacting: share(c.interactingCubes, all),
		// bothChanged is the number of cubes that positionChanged and orientationChanged both include. A changed
		// cube that neither includes changed only its flag.
		OnlyTurned:  share(c.orientationChanged-c.bothChanged, changed),
		OnlyMoved:   share(c.positionChanged-c.bothChanged, changed),
		OnlyFlagged: share(changed-c.positionChanged-c.orientationChanged+c.bothChanged, changed),
		SameLargest: share(c.sameLargest, c.orientationChanged),
		RunFrames:   newRunStats(&c.runFrames), RunCubes: newRunStats(&c.runCubes),
	}
	fields := frame.Cubes(1).Fields
	for _, k := range []int{frame.CubeX, frame.CubeY, frame.CubeZ, frame.CubeA, frame.CubeB, frame.CubeC} {
		s.Deltas = append(s.Deltas, deltaStats{Field: fields[k].Name, rankQuantiles: newQuantiles(&c.deltas[k])})
	}
	return s
}

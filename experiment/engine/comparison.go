package engine

import "wirelab/experiment/figures"

// Comparison is what encoders that ran side by side sent over the stretch of time that
// they have in common. The totals of a shadow count from when it joined, so the totals of
// two lanes may be of different frames; these figures are of the same.
type Comparison struct {
	FromS float64        `json:"from_s"` // a second after the last of them joined or was swapped
	ToS   float64        `json:"to_s"`
	SeamS float64        `json:"seam_s"` // left out of it, where packets build across a seam of the data
	Lanes []ComparedLane `json:"lanes"`  // the first encoder, then the shadows
}

// ComparedLane is one encoder of a Comparison.
type ComparedLane struct {
	Label          string         `json:"label"`
	PayloadKbps    figures.Figure `json:"payload_kbps"`
	BitsPerChanged figures.Figure `json:"bits_per_changed"`
	// Times is the payload over that of the first encoder; Lo and Hi bound it with 95 %
	// confidence. They are unknown if there are too few data.
	Times   figures.Figure `json:"times"`
	TimesLo figures.Figure `json:"times_lo"`
	TimesHi figures.Figure `json:"times_hi"`
}

package experiment

import "wirelab/encoders"

// Quantiles summarise a distribution of packet sizes or of times.
type Quantiles struct {
	Min float64 `json:"min"`
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Failures counts packets that arrived and could not be used.
type Failures struct {
	NoBaseline   int64 `json:"no_baseline"`
	Corrupt      int64 `json:"corrupt"`
	UnknownCodec int64 `json:"unknown_codec"`
}

// Playout is how the receiver's interpolation buffer fared.
type Playout struct {
	StarvedRatio float64 `json:"starved_ratio"` // share of display ticks without a pair to interpolate
	Late         int64   `json:"late"`          // snapshots that came after their time

	Displayed       int64     `json:"displayed"`         // display ticks
	Freezes         int64     `json:"freezes"`           // times the picture stood still for want of a snapshot
	LongestFreezeMS float64   `json:"longest_freeze_ms"` // of those
	LateMS          Quantiles `json:"late_ms"`           // by how much, of those that were late
	BehindMS        float64   `json:"behind_ms"`         // how far the display lags the sender, mean

	// How far cubes are shown from where the sender had them at the moment on
	// display: over all display ticks and all cubes that move in either.
	PositionErrorMM     *Quantiles `json:"position_error_mm,omitempty"`
	OrientationErrorDeg *Quantiles `json:"orientation_error_deg,omitempty"`
}

// Totals is what a lane measured from the start; the JSON of `run` holds it.
type Totals struct {
	Sent       int64            `json:"sent"`
	Duplicated int64            `json:"duplicated"`
	Decoded    int64            `json:"decoded"`
	Stale      int64            `json:"stale"`
	Duplicate  int64            `json:"duplicate"`
	Lost       int64            `json:"lost"`
	LostBy     map[string]int64 `json:"lost_by"`
	Failures   Failures         `json:"failures"`
	Tainted    int64            `json:"tainted"`
	InFlight   int64            `json:"in_flight"`
	Wrong      int64            `json:"wrong"`
	Reordered  int64            `json:"reordered"`
	// EncodeFailed counts frames the encoder refused: they were not sent.
	EncodeFailed int64 `json:"encode_failed"`
	// DecodeRefused counts, among the corrupt, packets that nothing had damaged:
	// the decoder would not have what its encoder wrote. It must be 0.
	DecodeRefused int64 `json:"decode_refused"`

	// Rates are over the whole run; of a file over the time until it was there.
	PayloadKbps  float64 `json:"payload_kbps"`
	WireKbps     float64 `json:"wire_kbps"`
	FeedbackKbps float64 `json:"feedback_kbps"`

	BitsPerItem        float64  `json:"bits_per_item"`
	BitsPerCube        *float64 `json:"bits_per_cube,omitempty"`
	BitsPerChangedCube *float64 `json:"bits_per_changed_cube,omitempty"`

	PacketBytes      Quantiles `json:"packet_bytes"`
	BaselineAgeTicks Quantiles `json:"baseline_age_ticks"`
	Playout          Playout   `json:"playout"`
	Network          Network   `json:"network"`

	// Transfer is how the file came across, where the data are files.
	Transfer *Transfer `json:"transfer,omitempty"`

	// Rounding is nil for codecs that do not quantise.
	Rounding *Rounding `json:"rounding,omitempty"`

	// Sender and Receiver are what the codec's ends know of themselves, where it is
	// a protocol that has something to show.
	Sender   []encoders.Gauge `json:"sender,omitempty"`
	Receiver []encoders.Gauge `json:"receiver,omitempty"`
}

// Timing is what the work cost in this process: the only part of a report that
// may differ between two runs of one configuration.
type Timing struct {
	PackMS         float64   `json:"pack_ms,omitempty"`   // to make a patch, where a file is delivered
	UnpackMS       float64   `json:"unpack_ms,omitempty"` // to apply it
	EncodeUS       Quantiles `json:"encode_us"`
	DecodeUS       Quantiles `json:"decode_us"`
	RealTimeFactor float64   `json:"real_time_factor"`
}

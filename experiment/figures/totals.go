// Package figures defines the figures of a run: their names, units, types and JSON
// keys, and not how they are measured. Assertions in a configuration and the meter of the
// engine share its names.
package figures

import (
	"encoding/json"
	"fmt"
	"strings"

	"wirelab/encoders"
	"wirelab/lossmodel"
)

// Failures counts packets that arrived and could not be used.
type Failures struct {
	NoBaseline   int64 `json:"no_baseline"`
	Corrupt      int64 `json:"corrupt"`
	UnknownCodec int64 `json:"unknown_codec"`
}

// Playout holds the figures of the receiver's interpolation buffer.
type Playout struct {
	StarvedRatio Figure `json:"starved_ratio"` // share of display ticks without a pair to interpolate
	Late         int64  `json:"late"`          // snapshots that came after their time

	Displayed       int64     `json:"displayed"`         // display ticks
	Freezes         int64     `json:"freezes"`           // times the picture stood still for want of a snapshot
	LongestFreezeMS Figure    `json:"longest_freeze_ms"` // of those
	LateMS          Quantiles `json:"late_ms"`           // by how much, of those that were late
	BehindMS        Figure    `json:"behind_ms"`         // how far the display lags the sender, mean

	// The distance of displayed cubes from the sender's at the moment on display,
	// over all display ticks and all cubes that move at either end.
	PositionErrorMM     *Quantiles `json:"position_error_mm,omitempty"`
	OrientationErrorDeg *Quantiles `json:"orientation_error_deg,omitempty"`
}

// Totals holds a lane's figures from its start on, as the JSON of `run` has them.
type Totals struct {
	Counts
	Rates
	PacketBytes      Quantiles `json:"packet_bytes"`
	BaselineAgeTicks Quantiles `json:"baseline_age_ticks"`
	// AgeMS is the age of what the display showed, over all its ticks that showed anything: the
	// time since the sender captured it.
	AgeMS    Quantiles `json:"age_ms"`
	Playout  Playout   `json:"playout"`
	Network  Network   `json:"network"`
	Remote   *Remote   `json:"remote,omitempty"`   // nil unless the receiver was at the far end of a network
	Transfer *Transfer `json:"transfer,omitempty"` // nil unless the data are files
	Rounding *Rounding `json:"rounding,omitempty"` // nil for codecs that do not quantise

	// Sender and Receiver are the gauges of the codec's two ends, for codecs that have any.
	Sender   []encoders.Gauge `json:"sender,omitempty"`
	Receiver []encoders.Gauge `json:"receiver,omitempty"`
}

// Counts counts packets, by their outcomes and otherwise.
type Counts struct {
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
	// Undetected counts frames that the receiver decoded without an error, shown or not, and that
	// are not what was sent: another content, or taken for another packet's.
	Undetected int64 `json:"undetected"`
	// Restarts counts how often the sender started over from the initial state because the
	// receiver's digest of a frame was not its own; none if receiver.digest is off.
	Restarts Figure `json:"restarts"`
	// Unknown counts packets given to a real network whose fate was never reported.
	Unknown   int64 `json:"unknown,omitempty"`
	Reordered int64 `json:"reordered"`
	// EncodeFailed counts frames that the encoder refused. They were not sent.
	EncodeFailed int64 `json:"encode_failed"`
	// DecodeRefused counts the undamaged packets among the corrupt: the decoder rejected what its
	// encoder wrote. It must be 0.
	DecodeRefused int64 `json:"decode_refused"`
}

// Rates are what was sent, per second and per item.
type Rates struct {
	// In kbit/s (1,000 bit) over the whole run; for a file, over the time until it was delivered.
	PayloadKbps  float64 `json:"payload_kbps"`
	WireKbps     float64 `json:"wire_kbps"`
	FeedbackKbps float64 `json:"feedback_kbps"`

	// OverBudgetRatio is the share of the time in which the payload of the last second exceeded the
	// budget; none if there was no budget.
	OverBudgetRatio Figure `json:"over_budget_ratio"`

	BitsPerItem        Figure  `json:"bits_per_item"`
	BitsPerCube        *Figure `json:"bits_per_cube,omitempty"`
	BitsPerChangedCube *Figure `json:"bits_per_changed_cube,omitempty"`
}

// Failed returns how many packets arrived but gave no frame that the receiver can
// trust.
func (t *Totals) Failed() int64 {
	return t.Failures.NoBaseline + t.Failures.Corrupt + t.Failures.UnknownCodec + t.Tainted
}

// Timing is how long the codec's work took in this process. It is the only part of a
// report that may differ between two runs of one configuration. In sessions over a network
// it is the time until the packet can leave, and until the frame is there; an encoder that
// works on after that (encoders.Finisher) does so uncounted.
type Timing struct {
	PackMS         float64   `json:"pack_ms,omitempty"`   // to make a patch, where a file is delivered
	UnpackMS       float64   `json:"unpack_ms,omitempty"` // to apply it
	EncodeUS       Quantiles `json:"encode_us"`
	DecodeUS       Quantiles `json:"decode_us"`
	RealTimeFactor float64   `json:"real_time_factor"`
	// RunsAs is how an encoder from outside ran, if one took part: WebAssembly, interpreted
	// WebAssembly or process. A native build would be faster.
	RunsAs string `json:"runs_as,omitempty"`
}

// Mark returns the sign behind the times of an encoder from outside; empty for others.
func (t *Timing) Mark() string { return encoders.TimeMark(t.RunsAs) }

// Network is what the link did to the packets, as a capture at both ends would show
// it. The terms are those of RFC 4737 (reordering) and of spec sheets.
type Network struct {
	LossRate  Figure `json:"loss_rate"`  // of packets sent, copies apart
	MeanBurst Figure `json:"mean_burst"` // packets lost in a row, by sequence
	// ReorderedRatio is the share of packets received that came after a packet
	// with a higher sequence (RFC 4737, type-P-reordered); ReorderExtent is how
	// many arrivals before such a packet the first of those came (section 4.2.1),
	// counted up to 256.
	ReorderedRatio   Figure    `json:"reordered_ratio"`
	ReorderExtent    Quantiles `json:"reorder_extent"`
	DelayMS          Quantiles `json:"delay_ms"` // one way, of packets received
	QueuePeakBytes   int64     `json:"queue_peak_bytes"`
	QueuePeakPackets int64     `json:"queue_peak_packets"`
	OrderCostMS      float64   `json:"order_cost_ms"` // mean delay that keep_order adds
}

// Remote is what can be measured over a real network. Its ends share no clock, so of the one-way
// delay only differences are known.
type Remote struct {
	RoundTripMS Quantiles `json:"round_trip_ms"` // from a datagram to its ack, between the sockets
	// SlowerMS is how much longer packets took to the far end than the fastest of them;
	// JitterMS is how much that varies from arrival to arrival (RFC 3550, section 6.4.1).
	SlowerMS Quantiles `json:"slower_ms"`
	JitterMS Figure    `json:"jitter_ms"`
	// ReportedAfterMS is how long after a packet was sent its fate was known here. Packets counted as
	// unknown are left out.
	ReportedAfterMS Quantiles `json:"told_after_ms"`
	// Differs counts arrivals for which the same receiver, run here on the same datagrams, has
	// another result than the far end reported. It must be 0.
	Differs int64 `json:"differs"`
	// ReportKbps is the traffic of the lab's own reports, both ways; CoverKbps is what encryption
	// adds to the datagrams of the game. Neither is part of the other rates.
	ReportKbps Figure `json:"report_kbps"`
	CoverKbps  Figure `json:"cover_kbps"`
}

// Transfer holds the figures of a lane's current delivery of a file.
type Transfer struct {
	Encoder     string  `json:"encoder"` // encoder that packed the file; empty before any did
	OldBytes    int     `json:"old_bytes"`
	NewBytes    int     `json:"new_bytes"`
	PackedBytes int     `json:"packed_bytes"` // size of the packed file: the patch
	Blocks      int     `json:"blocks"`       // blocks of the stream, the least number of datagrams
	Delivered   int     `json:"delivered"`    // blocks that have arrived
	Resent      int64   `json:"resent"`       // datagrams that carried a block again
	Spurious    int64   `json:"needless"`     // of those, datagrams whose block had arrived before
	Done        bool    `json:"done"`         // the file is rebuilt and its SHA-256 matches
	Failed      bool    `json:"failed"`       // unpacking failed, or the encoder refused the file
	SHA256      string  `json:"sha256"`       // of the new file
	OldSHA256   string  `json:"old_sha256"`   // of the old one
	ElapsedS    float64 `json:"elapsed_s"`    // from the first datagram until done, or until now
	// TimeS is the time from the first datagram until the file was rebuilt, in
	// seconds; nil if it was not.
	TimeS       *float64 `json:"time_s,omitempty"`
	RoundTripMS float64  `json:"round_trip_ms"` // smoothed round trip of the sender
	TimeoutMS   float64  `json:"timeout_ms"`    // retransmission timeout of the sender
	// All bytes sent in the run, over all rounds and encoders: payload and wire
	// bytes of the downlink, and wire bytes of the uplink.
	PayloadBytes  int64   `json:"payload_bytes"`
	WireBytes     int64   `json:"wire_bytes"`
	FeedbackBytes int64   `json:"feedback_bytes"`
	Rounds        []Round `json:"rounds,omitempty"`
}

// Round is a finished delivery of a session that delivers the file repeatedly.
type Round struct {
	Encoder     string  `json:"encoder"`
	StartS      float64 `json:"start_s"`
	TimeS       float64 `json:"time_s"` // until it was done or abandoned
	Done        bool    `json:"done"`
	PackedBytes int     `json:"packed_bytes"`
	Blocks      int     `json:"blocks"`
	Resent      int64   `json:"resent"`
}

// Rounding is the error of a codec that quantises: the distance of the sent values
// from the source's, over all values of all frames sent, in the units of their
// fields.
type Rounding struct {
	Mean  float64 `json:"mean"`
	Max   float64 `json:"max"`
	Field string  `json:"field"` // field of the largest error
}

// LostBy returns the counts of losses by the name of their cause; zeros if n is nil.
func LostBy(n *[MaxCauses]int) map[string]int64 {
	out := map[string]int64{}
	for c := lossmodel.Cause(1); c < lossmodel.NumCauses; c++ {
		out[c.String()] = 0
		if n != nil {
			out[c.String()] = int64(n[c])
		}
	}
	return out
}

// BudgetShare is one line of the bit budget: the bits of one slot.
type BudgetShare struct {
	Slot  string  `json:"slot"`
	Bits  float64 `json:"bits"`
	Share float64 `json:"share"` // of the payload
	// Fields is how many fields share the slot, where there are more than slots.
	Fields int `json:"fields,omitempty"`
}

// Name returns the name of the slot, or how many fields share it.
func (b *BudgetShare) Name() string {
	if b.Fields > 1 {
		return fmt.Sprintf("%d others", b.Fields)
	}
	return b.Slot
}

// Of flattens totals to a map from the dotted keys of their JSON to the figures.
func Of(t Totals) map[string]float64 {
	data, err := json.Marshal(t)
	if err != nil {
		panic("experiment: totals do not marshal: " + err.Error())
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		panic("experiment: totals do not unmarshal: " + err.Error())
	}
	out := map[string]float64{}
	flattenJSON("", tree, out)
	for k, f := range out {
		leaf, isFailure := strings.CutPrefix(k, "failures.")
		if _, taken := out[leaf]; isFailure && !taken {
			out[leaf] = f // "no_baseline" for "failures.no_baseline"
		}
	}
	return out
}

// flattenJSON adds all numbers of a JSON tree to out, under dotted keys with the given
// prefix.
func flattenJSON(prefix string, v any, out map[string]float64) {
	switch t := v.(type) {
	case map[string]any:
		for k, sub := range t {
			flattenJSON(strings.TrimPrefix(prefix+"."+k, "."), sub, out)
		}
	case float64:
		out[prefix] = t
	}
}

// MaxCauses is an upper bound for the number of causes in lossmodel.Cause.
const MaxCauses = 8

// Verdict returns the time that the delivery took, in seconds, or why it is not known.
func (x *Transfer) Verdict() string {
	switch {
	case x.TimeS != nil:
		return fmt.Sprintf("%.3f", *x.TimeS)
	case x.Blocks == 0:
		return "nothing was sent"
	case x.Failed:
		return "damaged on the way"
	}
	return fmt.Sprintf("unfinished: %d of %d blocks after %.1f s", x.Delivered, x.Blocks, x.ElapsedS)
}

// Ratio returns x/y, or 0 if y is 0.
func Ratio(x, y float64) float64 {
	if y == 0 {
		return 0
	}
	return x / y
}

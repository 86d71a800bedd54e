// Package figures defines the measured figures of a run: their names, units, types and JSON keys. The
// meters of the engine measure them; assertions refer to them by their dotted keys.
package figures

import (
	"encoding/json"
	"fmt"
	"strings"

	"wirelab/encoders"
	"wirelab/lossmodel"
)

// Failures counts packets that arrived and were not decoded.
type Failures struct {
	NoBaseline   int64 `json:"no_baseline"`
	Corrupt      int64 `json:"corrupt"`
	UnknownCodec int64 `json:"unknown_codec"`
}

// Playout contains the figures of the receiver's display.
type Playout struct {
	StarvedRatio Figure `json:"starved_ratio"` // share of display ticks without a snapshot to interpolate to
	Late         int64  `json:"late"`          // snapshots that arrived after their display time

	Displayed       int64     `json:"displayed"`         // display ticks
	Freezes         int64     `json:"freezes"`           // runs of consecutive starved ticks
	LongestFreezeMS Figure    `json:"longest_freeze_ms"` // duration of the longest of them
	LateMS          Quantiles `json:"late_ms"`           // how late the late snapshots were
	ClockLagMS      Figure    `json:"clock_lag_ms"`      // mean lag of the playout clock behind the sender, also on starved ticks

	// Errors of displayed cubes, compared with the sender's cubes at the displayed time (before rounding, if
	// the source has that), over all display ticks and all cubes that move at either endpoint.
	PositionErrorMM     *Quantiles `json:"position_error_mm,omitempty"`
	OrientationErrorDeg *Quantiles `json:"orientation_error_deg,omitempty"`

	// Errors of the displayed positions and angles of a table, counted in the same way, in the units of its schema.
	// Both are nil if the display interpolates nothing, and unknown if the table has only the other.
	PositionError     *Quantiles `json:"position_error,omitempty"`
	PositionErrorUnit string     `json:"position_error_unit,omitempty"`
	AngleError        *Quantiles `json:"angle_error,omitempty"`
	AngleErrorUnit    string     `json:"angle_error_unit,omitempty"`

	// Rows of a table that these errors leave out, as a mean number per display tick: things that have appeared,
	// disappeared or jumped in the source, but not yet on the display, or the other way around.
	AppearedRows    *Figure `json:"appeared_rows,omitempty"`
	DisappearedRows *Figure `json:"disappeared_rows,omitempty"`
	JumpedRows      *Figure `json:"jumped_rows,omitempty"`

	Policies *PlayoutComparison `json:"policies,omitempty"` // nil unless playout policies were compared
}

// Totals contains the figures of a lane since its start, with the keys of `tui run --json`.
type Totals struct {
	Counts
	Rates
	PacketBytes      Quantiles `json:"packet_bytes"`
	BaselineAgeTicks Quantiles `json:"baseline_age_ticks"`
	// AgeMS is the age of the displayed state, which is the time since the sender captured it, over all
	// display ticks on which a state was displayed.
	AgeMS    Quantiles `json:"age_ms"`
	Playout  Playout   `json:"playout"`
	Network  Network   `json:"network"`
	Remote   *Remote   `json:"remote,omitempty"`   // nil unless the receiver was on another machine
	Transfer *Transfer `json:"transfer,omitempty"` // nil unless the data are a file
	Control  *Control  `json:"control,omitempty"`  // nil without a send-rate control
	View     *View     `json:"view,omitempty"`     // nil without sender.budget
	Rounding *Rounding `json:"rounding,omitempty"` // nil for codecs that do not quantise
	Crowd    *Crowd    `json:"crowd,omitempty"`    // nil unless the run has many receivers
	// Redundancy is nil unless sender.redundancy was set, also to "none".
	Redundancy *Redundancy `json:"redundancy,omitempty"`
	Messages   *Messages   `json:"messages,omitempty"` // nil without [messages]

	// Sender and Receiver are the gauges of the encoder and the decoder, if they have any.
	Sender   []encoders.Gauge `json:"sender,omitempty"`
	Receiver []encoders.Gauge `json:"receiver,omitempty"`
}

// Counts counts packets: those sent, and packets and copies by their outcomes, which package packetlog
// defines.
type Counts struct {
	Sent       int64            `json:"sent"`       // packets sent, without the copies that the link makes
	Duplicated int64            `json:"duplicated"` // copies that the link made
	Decoded    int64            `json:"decoded"`    // decoded as the newest frame
	Stale      int64            `json:"stale"`      // decoded after a newer frame
	Duplicate  int64            `json:"duplicate"`  // arrived after a copy of the packet was decoded
	Lost       int64            `json:"lost"`       // dropped by the link
	LostBy     map[string]int64 `json:"lost_by"`    // Lost by the cause: see the function LostBy
	Failures   Failures         `json:"failures"`   // arrived and not decoded
	InFlight   int64            `json:"in_flight"`  // still in flight
	Wrong      int64            `json:"wrong"`      // decoded without an error, but to another frame; must be 0
	// Unknown counts packets sent over a real network for which no arrival was reported.
	Unknown   int64 `json:"unknown,omitempty"`
	Reordered int64 `json:"reordered"` // packets decoded after a newer one
	// EncodeFailed counts frames for which the encoder returned an error. They were not sent.
	EncodeFailed int64 `json:"encode_failed"`
	// DecodeRefused counts the undamaged packets among Failures.Corrupt: the decoder rejected the bytes
	// of its encoder. It must be 0.
	DecodeRefused int64 `json:"decode_refused"`
}

// Rates contains the bandwidth and the bits per item.
type Rates struct {
	// In kbit/s (1 kbit is 1000 bits) over the whole run; for a file, until it was delivered.
	PayloadKbps  float64 `json:"payload_kbps"`
	WireKbps     float64 `json:"wire_kbps"`
	FeedbackKbps float64 `json:"feedback_kbps"`

	// OverBudgetRatio is the share of the time in which the payload of the last second exceeded the
	// budget; unknown if there was no budget.
	OverBudgetRatio Figure `json:"over_budget_ratio"`

	BitsPerItem        Figure  `json:"bits_per_item"`
	BitsPerCube        *Figure `json:"bits_per_cube,omitempty"`
	BitsPerChangedCube *Figure `json:"bits_per_changed_cube,omitempty"`
}

// Failed returns the number of packets that arrived without giving the receiver a frame: the
// failures.
func (t *Totals) Failed() int64 {
	return t.Failures.NoBaseline + t.Failures.Corrupt + t.Failures.UnknownCodec
}

// Timing contains the durations of the calls of encoders and decoders in this process. It is the only
// part of a report that may differ between two runs of a configuration. In sessions over a network,
// work that an encoder or decoder defers (encoders.Finisher) is not included.
type Timing struct {
	PackMS         float64   `json:"pack_ms,omitempty"`   // for packing a delivered file
	UnpackMS       float64   `json:"unpack_ms,omitempty"` // for unpacking it
	EncodeUS       Quantiles `json:"encode_us"`
	DecodeUS       Quantiles `json:"decode_us"`
	RealTimeFactor float64   `json:"real_time_factor"` // virtual time per wall time
	// RunsAs describes how a plugin ran: as WebAssembly, interpreted WebAssembly or a process; empty
	// without a plugin. A native implementation would be faster.
	RunsAs string `json:"runs_as,omitempty"`
	// TickUS contains the durations of the work of a tick of a crowd; nil unless the run has many receivers.
	TickUS *CrowdTiming `json:"tick_us,omitempty"`
}

// Mark returns the marker that is shown after the times of a plugin; empty without a plugin.
func (t *Timing) Mark() string { return encoders.TimeMarker(t.RunsAs) }

// Network contains the measurements of the downlink. Packet captures at both endpoints would show the
// same. Copies made by the link do not count.
type Network struct {
	LossRate  Figure `json:"loss_rate"`  // share of packets sent
	MeanBurst Figure `json:"mean_burst"` // mean number of consecutive losses
	// ReorderedRatio is the share of packets received that arrived after a packet with a higher sequence
	// number (RFC 4737, section 3). ReorderExtent is the number of arrivals between such a packet and
	// the earliest packet with a higher sequence number (section 4.2.1), at most 256.
	ReorderedRatio   Figure    `json:"reordered_ratio"`
	ReorderExtent    Quantiles `json:"reorder_extent"`
	DelayMS          Quantiles `json:"delay_ms"`         // one-way delay of packets received
	QueuePeakBytes   Figure    `json:"queue_peak_bytes"` // unknown in a crowd, as the next two
	QueuePeakPackets Figure    `json:"queue_peak_packets"`
	OrderCostMS      Figure    `json:"order_cost_ms"` // mean delay that keep_order adds
}

// Remote contains the measurements of a session over a real network. The clocks of the machines are not
// synchronised, so only differences of one-way delays are known.
type Remote struct {
	RoundTripMS Quantiles `json:"round_trip_ms"` // from sending a datagram to receiving its ack
	// SlowerMS is the one-way delay beyond that of the fastest packet. JitterMS is the interarrival
	// jitter (RFC 3550, section 6.4.1).
	SlowerMS Quantiles `json:"slower_ms"`
	JitterMS Figure    `json:"jitter_ms"`
	// ReportedAfterMS is the time from sending a packet to the report of its arrival. Packets without a
	// report are left out.
	ReportedAfterMS Quantiles `json:"told_after_ms"`
	// Differs counts arrivals for which the receiver in this process, with the same datagrams, has
	// another result than the remote receiver reported. It must be 0.
	Differs int64 `json:"differs"`
	// ReportKbps is the traffic of the lab's own reports in both directions. CoverKbps is the traffic
	// that encryption adds to the game's datagrams. The other rates do not include them.
	ReportKbps Figure `json:"report_kbps"`
	CoverKbps  Figure `json:"cover_kbps"`
}

// Transfer contains the figures of a lane's current delivery of a file.
type Transfer struct {
	Encoder     string  `json:"encoder"` // encoder that packed the file; empty before the first delivery
	OldBytes    int     `json:"old_bytes"`
	NewBytes    int     `json:"new_bytes"`
	PackedBytes int     `json:"packed_bytes"` // size of the packed file, for example a patch
	Blocks      int     `json:"blocks"`       // blocks of the packed file
	Delivered   int     `json:"delivered"`    // blocks that have arrived
	Resent      int64   `json:"resent"`       // datagrams with a block that had been sent before
	Spurious    int64   `json:"needless"`     // of these, datagrams whose block had already arrived
	Done        bool    `json:"done"`         // the file is unpacked and its SHA-256 is correct
	Failed      bool    `json:"failed"`       // unpacking failed, or the encoder rejected the file
	SHA256      string  `json:"sha256"`       // of the new file
	OldSHA256   string  `json:"old_sha256"`   // of the old file
	ElapsedS    float64 `json:"elapsed_s"`    // from the first datagram until done, or until now
	// TimeS is the time from the first datagram until the file was unpacked, in seconds; nil if it was
	// not.
	TimeS       *float64 `json:"time_s,omitempty"`
	RoundTripMS float64  `json:"round_trip_ms"` // the sender's smoothed round-trip time
	TimeoutMS   float64  `json:"timeout_ms"`    // the sender's retransmission timeout
	// Bytes sent in the whole run, in all rounds: payload and wire of the downlink, wire of the uplink.
	PayloadBytes  int64   `json:"payload_bytes"`
	WireBytes     int64   `json:"wire_bytes"`
	FeedbackBytes int64   `json:"feedback_bytes"`
	Rounds        []Round `json:"rounds,omitempty"`
}

// Round is a finished delivery of a session that delivers the file repeatedly.
type Round struct {
	Encoder     string  `json:"encoder"`
	StartS      float64 `json:"start_s"`
	TimeS       float64 `json:"time_s"` // until the file was unpacked, or the delivery abandoned
	Done        bool    `json:"done"`
	PackedBytes int     `json:"packed_bytes"`
	Blocks      int     `json:"blocks"`
	Resent      int64   `json:"resent"`
}

// Rounding is the error of a codec that quantises: the difference between the sent values and the
// source's, over all values of all frames sent, in the unit of the field.
type Rounding struct {
	Mean  float64 `json:"mean"`
	Max   float64 `json:"max"`
	Field string  `json:"field"` // name of the field with the largest error
}

// Redundancy contains what redundancy costs and repairs. A packet is known when it has first arrived, by whatever
// datagram; ratios are of the packets that are known or will never be.
type Redundancy struct {
	Policy    string `json:"policy"`
	Datagrams int64  `json:"datagrams"` // sent on the downlink
	Extra     int64  `json:"extra"`     // of these, datagrams without a packet of their own, such as parities
	Repaired  int64  `json:"repaired"`  // packets known from another datagram than their own
	// RepairedAfterMS is the time from sending a packet until it was repaired.
	RepairedAfterMS Quantiles `json:"repaired_after_ms"`
	ResidualLoss    Figure    `json:"residual_loss_rate"` // share of packets that never arrive
	Missed50        Figure    `json:"missed_50ms_ratio"`  // share of packets not known 50 ms after they were sent
	Missed100       Figure    `json:"missed_100ms_ratio"` // share of packets not known 100 ms after they were sent
	OverheadKbps    float64   `json:"overhead_kbps"`      // what redundancy adds to wire_kbps
}

// Messages contains the delivery of the reliable messages beside the snapshots. Delivery times are from writing a message
// until the receiver has all of it and all before it in its lane.
type Messages struct {
	Delivery   string    `json:"delivery"`    // policy
	Sent       int64     `json:"sent"`        // written
	Delivered  int64     `json:"delivered"`   // in order, and complete
	UnderWay   int64     `json:"under_way"`   // not delivered yet
	Refused    int64     `json:"refused"`     // by the sender, because too much was waiting
	Wrong      int64     `json:"wrong"`       // delivered with other bytes than were sent; must be 0
	DeliveryMS Quantiles `json:"delivery_ms"` // of messages of messages.size
	BurstMS    Quantiles `json:"burst_ms"`    // of messages of messages.burst
	Parts      int64     `json:"parts"`       // that the messages were split into
	PartSends  int64     `json:"part_sends"`  // how often parts were sent; in a stream, each is written once
	Datagrams  int64     `json:"datagrams"`   // datagrams without a packet; in a stream, its segments
	Resent     int64     `json:"resent"`      // of part_sends, those of a part that was sent before; of a stream, of its segments
	Timeouts   Figure    `json:"timeouts"`    // expired timers that caused these; unknown for "all-unacked", which has no timer
	// GoodputKbps is the rate of the bytes of delivered messages. WireKbps is the part of wire_kbps that is for messages: datagrams
	// without a packet, and what messages add to those of packets. Of a stream it is everything.
	GoodputKbps  float64 `json:"goodput_kbps"`
	WireKbps     float64 `json:"wire_kbps"`
	SkippedRatio Figure  `json:"skipped_ratio"` // share of snapshots left out while the stream had bytes to send
}

// LostBy returns the counts n of lost packets by the name of the cause; zeros if n is nil.
func LostBy(n *[MaxCauses]int) map[string]int64 {
	out := map[string]int64{}
	for c := lossmodel.Cause(1); c < lossmodel.NumCauses; c++ { // cause 0 means not lost
		out[c.String()] = 0
		if n != nil {
			out[c.String()] = int64(n[c])
		}
	}
	return out
}

// BudgetShare is one slot of the bit budget.
type BudgetShare struct {
	Slot  string  `json:"slot"`
	Bits  float64 `json:"bits"`
	Share float64 `json:"share"` // share of the payload, 0 to 1
	// Fields is the number of fields that share the slot, if the schema has more fields than there are
	// slots; otherwise 0.
	Fields int `json:"fields,omitempty"`
}

// Name returns the name of the slot, or "n others" if n fields share it.
func (b *BudgetShare) Name() string {
	if b.Fields > 1 {
		return fmt.Sprintf("%d others", b.Fields)
	}
	return b.Slot
}

// Flatten returns all known figures of t by the dotted keys of their JSON, such as "network.loss_rate". A key
// below "failures" is also listed without that prefix, so that assertions can use "no_baseline".
func Flatten(t Totals) map[string]float64 {
	data, err := json.Marshal(t)
	if err != nil {
		panic("figures: the totals cannot be encoded as JSON: " + err.Error())
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		panic("figures: the JSON of the totals cannot be decoded: " + err.Error())
	}
	out := map[string]float64{}
	flattenJSON("", tree, out)
	for k, f := range out {
		leaf, isFailure := strings.CutPrefix(k, "failures.")
		if _, taken := out[leaf]; isFailure && !taken {
			out[leaf] = f
		}
	}
	return out
}

// flattenJSON adds all numbers in the JSON value v to out, under dotted keys that begin with prefix.
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

// MaxCauses is an upper bound of lossmodel.NumCauses, for arrays of counts by cause.
const MaxCauses = 8

// Verdict returns the duration of the delivery in seconds as text, or why the delivery is not complete.
func (x *Transfer) Verdict() string {
	switch {
	case x.TimeS != nil:
		return fmt.Sprintf("%.3f", *x.TimeS)
	case x.Blocks == 0:
		return "nothing was sent"
	case x.Failed:
		return "corrupted"
	}
	return fmt.Sprintf("unfinished: %d of %d blocks after %.1f s", x.Delivered, x.Blocks, x.ElapsedS)
}

// RatioOrZero returns x/y, or 0 if y is 0. See also RatioFigure.
func RatioOrZero(x, y float64) float64 {
	if y == 0 {
		return 0
	}
	return x / y
}

// Package figures defines the measured figures of a run: their names, units, types and JSON keys. The
// meters of the engine measure them; assertions refer to them by their dotted keys.
package figures

import (
	"encoding/json"
	"fmt"

	"wirelab/encoders"
	"wirelab/lossmodel"
)

// Failures counts packets that arrived and were not decoded.
type Failures struct {
	NoBaseline   int64 `json:"no_baseline" figure:"failed without baseline,,0,narrow"`
	Corrupt      int64 `json:"corrupt" figure:"failed as corrupt,,0,narrow"`
	UnknownCodec int64 `json:"unknown_codec" figure:"failed without codec,,0,narrow"`
}

// Playout contains the figures of the receiver's display.
type Playout struct {
	// Share of display ticks without a snapshot to interpolate to.
	StarvedRatio Figure `json:"starved_ratio" figure:"display starved,%,2,narrow"`
	// Snapshots that arrived after their display time.
	Late int64 `json:"late" figure:"late snapshots,,0,main"`

	// Display ticks.
	Displayed int64 `json:"displayed" figure:"display ticks,,0,neutral"`
	// Runs of consecutive starved ticks.
	Freezes int64 `json:"freezes" figure:"freezes,,0,main"`
	// Duration of the longest of them.
	LongestFreezeMS Figure `json:"longest_freeze_ms" figure:"longest freeze,ms,0,main"`
	// How late the late snapshots were.
	LateMS Quantiles `json:"late_ms" figure:"lateness of snapshots,ms,1"`
	// Mean lag of the playout clock behind the sender, also on starved ticks.
	ClockLagMS Figure `json:"clock_lag_ms" figure:"lag of the playout clock,ms,1"`

	// Errors of displayed cubes, compared with the sender's cubes at the displayed time (before rounding, if
	// the source has that), over all display ticks and all cubes that move at either endpoint.
	PositionErrorMM     *Quantiles `json:"position_error_mm,omitempty" figure:"position error of cubes,mm,1,main:p50,narrow:p95,main:max"`
	OrientationErrorDeg *Quantiles `json:"orientation_error_deg,omitempty" figure:"rotation error of cubes,°,2"`

	// Errors of the displayed positions and angles of a table, counted in the same way, in the units of its
	// schema. Both are nil if the display interpolates nothing, and unknown if the table has only the
	// other.
	PositionError     *Quantiles `json:"position_error,omitempty" figure:"position error,,3,main:p50,narrow:p95,main:max"`
	PositionErrorUnit string     `json:"position_error_unit,omitempty"`
	AngleError        *Quantiles `json:"angle_error,omitempty" figure:"angle error,,3,main:p50,narrow:p95,main:max"`
	AngleErrorUnit    string     `json:"angle_error_unit,omitempty"`

	// Rows of a table that these errors leave out, as a mean number per display tick: things that have appeared,
	// disappeared or jumped in the source, but not yet on the display, or the other way around.
	AppearedRows    *Figure `json:"appeared_rows,omitempty" figure:"rows not yet appeared,,2,main"`
	DisappearedRows *Figure `json:"disappeared_rows,omitempty" figure:"rows not yet disappeared,,2,main"`
	JumpedRows      *Figure `json:"jumped_rows,omitempty" figure:"rows not yet moved,,2,main"`

	Policies *PlayoutComparison `json:"policies,omitempty"` // nil unless playout policies were compared
}

// Totals contains the figures of a lane since its start, with the keys of `tui run --json`.
type Totals struct {
	Counts
	Rates
	PacketBytes      Quantiles `json:"packet_bytes" figure:"packet size,bytes,0,main:p50,narrow:p95,main:max"`
	BaselineAgeTicks Quantiles `json:"baseline_age_ticks" figure:"baseline age,ticks,0,main:p50"`
	// AgeMS is the age of the displayed state, which is the time since the sender captured it, over all
	// display ticks on which a state was displayed.
	AgeMS    Quantiles `json:"age_ms" figure:"display age,ms,0,narrow:p50,main:p99"`
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
	// Packets sent, without the copies that the link makes.
	Sent int64 `json:"sent" figure:"sent,,0,neutral,packets,main"`
	// Copies that the link made.
	Duplicated int64 `json:"duplicated" figure:"copies made by the link,,0,neutral,main"`
	// Decoded as the newest frame.
	Decoded int64 `json:"decoded" figure:"decoded,,0,more,packets,main"`
	// Decoded after a newer frame.
	Stale int64 `json:"stale" figure:"stale,,0,packets,main"`
	// Arrived after a copy of the packet was decoded.
	Duplicate int64 `json:"duplicate" figure:"duplicates received,,0,neutral,main"`
	// Dropped by the link.
	Lost int64 `json:"lost" figure:"lost,,0,packets,narrow"`
	// Lost by the cause.
	LostBy   CauseCounts `json:"lost_by" csv:"lost_" figure:"lost by,,0,main"`
	Failures Failures    `json:"failures"` // arrived and not decoded
	// Still in flight.
	InFlight int64 `json:"in_flight" csv:"-" figure:"in flight,,0,neutral,main"`
	// Decoded without an error, but to another frame; must be 0.
	Wrong int64 `json:"wrong" figure:"wrong packets,,0,narrow"`
	// Unknown counts packets sent over a real network for which no arrival was reported.
	Unknown int64 `json:"unknown,omitempty" figure:"fate unknown,,0,neutral,main"`
	// Packets decoded after a newer one.
	Reordered int64 `json:"reordered" figure:"reordered,,0,packets,main"`
	// EncodeFailed counts frames for which the encoder returned an error. They were not sent.
	EncodeFailed int64 `json:"encode_failed" figure:"rejected by the encoder,,0,main"`
	// DecodeRefused counts the undamaged packets among Failures.Corrupt: the decoder rejected the bytes
	// of its encoder. It must be 0.
	DecodeRefused int64 `json:"decode_refused" figure:"rejected by the decoder,,0,main"`
}

// Rates contains the bandwidth and the bits per item.
type Rates struct {
	// In kbit/s (1 kbit is 1000 bits) over the whole run; for a file, until it was delivered.
	PayloadKbps  float64 `json:"payload_kbps" figure:"payload,kbps,1,packets,narrow"`
	WireKbps     float64 `json:"wire_kbps" figure:"on the wire,kbps,1,packets,narrow"`
	FeedbackKbps float64 `json:"feedback_kbps" figure:"acks,kbps,1,neutral,packets,main"`

	// OverBudgetRatio is the share of the time in which the payload of the last second exceeded the
	// budget; unknown if there was no budget.
	OverBudgetRatio Figure `json:"over_budget_ratio" figure:"over budget,%,2,main"`

	BitsPerItem        Figure  `json:"bits_per_item" figure:"per item,bits,2,packets,narrow"`
	BitsPerCube        *Figure `json:"bits_per_cube,omitempty" figure:"per cube,bits,2,packets"`
	BitsPerChangedCube *Figure `json:"bits_per_changed_cube,omitempty" figure:"per changed cube,bits,2,packets,main"`
}

// Failed returns the number of packets that arrived without giving the receiver a frame: the
// failures.
func (c *Counts) Failed() int64 {
	return c.Failures.NoBaseline + c.Failures.Corrupt + c.Failures.UnknownCodec
}

// Ended returns the number of packets and copies with an outcome; the others are in flight.
func (c *Counts) Ended() int64 {
	return c.Decoded + c.Stale + c.Duplicate + c.Lost + c.Failed() + c.Wrong + c.Unknown
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
	// Share of packets sent.
	LossRate Figure `json:"loss_rate" figure:"loss,%,2,packets,main"`
	// Mean number of consecutive losses.
	MeanBurst Figure `json:"mean_burst" figure:"mean burst of losses,packets,2"`
	// ReorderedRatio is the share of packets received that arrived after a packet with a higher sequence
	// number (RFC 4737, section 3). ReorderExtent is the number of arrivals between such a packet and
	// the earliest packet with a higher sequence number (section 4.2.1), at most 256.
	ReorderedRatio Figure    `json:"reordered_ratio" figure:"reordered packets,%,2,packets"`
	ReorderExtent  Quantiles `json:"reorder_extent" figure:"extent of reordering,packets,0"`
	// One-way delay of packets received.
	DelayMS Quantiles `json:"delay_ms" figure:"delay,ms,1,main:p50,main:p95"`
	// Unknown in a crowd, as the next two.
	QueuePeakBytes   Figure `json:"queue_peak_bytes" figure:"longest queue,bytes,0"`
	QueuePeakPackets Figure `json:"queue_peak_packets" figure:"longest queue,packets,0"`
	// Mean delay that keep_order adds.
	OrderCostMS Figure `json:"order_cost_ms" figure:"cost of order,ms,1"`
}

// Remote contains the measurements of a session over a real network. The clocks of the machines are not
// synchronised, so only differences of one-way delays are known.
type Remote struct {
	// From sending a datagram to receiving its ack.
	RoundTripMS Quantiles `json:"round_trip_ms" figure:"round trip,ms,1,main:p50,main:p95"`
	// SlowerMS is the one-way delay beyond that of the fastest packet. JitterMS is the interarrival
	// jitter (RFC 3550, section 6.4.1).
	SlowerMS Quantiles `json:"slower_ms" figure:"delay beyond the fastest packet,ms,1,main:p95,main:max"`
	JitterMS Figure    `json:"jitter_ms" figure:"jitter,ms,2,main"`
	// ReportedAfterMS is the time from sending a packet to the report of its arrival. Packets without a
	// report are left out.
	ReportedAfterMS Quantiles `json:"told_after_ms" figure:"report of arrival after,ms,1,main:p50"`
	// Differs counts arrivals for which the receiver in this process, with the same datagrams, has
	// another result than the remote receiver reported. It must be 0.
	Differs int64 `json:"differs" figure:"differing arrivals,,0,main"`
	// ReportKbps is the traffic of the lab's own reports in both directions. CoverKbps is the traffic
	// that encryption adds to the game's datagrams. The other rates do not include them.
	ReportKbps Figure `json:"report_kbps" figure:"reports of the lab,kbps,1,packets,main"`
	CoverKbps  Figure `json:"cover_kbps" figure:"encryption,kbps,1,packets,main"`
}

// Transfer contains the figures of a lane's current delivery of a file.
type Transfer struct {
	Encoder  string `json:"encoder"` // encoder that packed the file; empty before the first delivery
	OldBytes int    `json:"old_bytes" figure:"old file,bytes,0,neutral,main"`
	NewBytes int    `json:"new_bytes" figure:"new file,bytes,0,neutral,main"`
	// Size of the packed file, for example a patch.
	PackedBytes int `json:"packed_bytes" figure:"packed file,bytes,0,narrow"`
	// Blocks of the packed file.
	Blocks int `json:"blocks" figure:"blocks of the file,,0,neutral,main"`
	// Blocks that have arrived.
	Delivered int `json:"delivered" figure:"blocks delivered,,0,more"`
	// The share of the blocks that has arrived.
	DeliveredRatio Figure `json:"delivered_ratio" figure:"file delivered,%,1,more,main"`
	// Datagrams with a block that had been sent before.
	Resent int64 `json:"resent" figure:"blocks sent again,,0,narrow"`
	// Of these, datagrams whose block had already arrived.
	Spurious  int64  `json:"needless" figure:"blocks sent in vain,,0,main"`
	Done      bool   `json:"done"`       // the file is unpacked and its SHA-256 is correct
	Failed    bool   `json:"failed"`     // unpacking failed, or the encoder rejected the file
	SHA256    string `json:"sha256"`     // of the new file
	OldSHA256 string `json:"old_sha256"` // of the old file
	// From the first datagram until done, or until now.
	ElapsedS float64 `json:"elapsed_s" figure:"transfer so far,s,2"`
	// TimeS is the time from the first datagram until the file was unpacked, in seconds; nil if it was
	// not.
	TimeS *float64 `json:"time_s,omitempty" figure:"transfer of the file,s,2,narrow"`
	// The sender's smoothed round-trip time.
	RoundTripMS float64 `json:"round_trip_ms" figure:"round trip of the transfer,ms,1"`
	// The sender's retransmission timeout.
	TimeoutMS float64 `json:"timeout_ms" figure:"timeout of the transfer,ms,1,main"`
	// Bytes sent in the whole run, in all rounds: payload and wire of the downlink, wire of the uplink.
	PayloadBytes  int64   `json:"payload_bytes" figure:"payload of the transfer,bytes,0,main"`
	WireBytes     int64   `json:"wire_bytes" figure:"transfer on the wire,bytes,0"`
	FeedbackBytes int64   `json:"feedback_bytes" figure:"acks of the transfer,bytes,0"`
	Rounds        []Round `json:"rounds,omitempty"`
}

// Round is a finished delivery of a session that delivers the file repeatedly.
type Round struct {
	Encoder     string  `json:"encoder"`
	StartS      float64 `json:"start_s" figure:"began at,s,2"`
	TimeS       float64 `json:"time_s" figure:"transfer of the file,s,2"` // until the file was unpacked, or the delivery abandoned
	Done        bool    `json:"done"`
	PackedBytes int     `json:"packed_bytes" figure:"packed file,bytes,0"`
	Blocks      int     `json:"blocks" figure:"blocks of the file,,0"`
	Resent      int64   `json:"resent" figure:"blocks sent again,,0"`
}

// Rounding is the error of a codec that quantises: the difference between the sent values and the
// source's, over all values of all frames sent, in the unit of the field.
type Rounding struct {
	Mean  float64 `json:"mean" figure:"mean rounding,,4,main"`
	Max   float64 `json:"max" figure:"largest rounding,,4,main"`
	Field string  `json:"field"` // name of the field with the largest error
}

// Redundancy contains what redundancy costs and repairs. A packet is known when it has first arrived, by
// whatever datagram; ratios are of the packets that are known or will never be.
type Redundancy struct {
	Policy string `json:"policy"`
	// Sent on the downlink.
	Datagrams int64 `json:"datagrams" figure:"datagrams,,0,neutral"`
	// Of these, datagrams without a packet of their own, such as parities.
	Extra int64 `json:"extra" figure:"datagrams of redundancy,,0,neutral"`
	// Packets known from another datagram than their own.
	Repaired int64 `json:"repaired" figure:"packets repaired,,0,neutral,main"`
	// RepairedAfterMS is the time from sending a packet until it was repaired.
	RepairedAfterMS Quantiles `json:"repaired_after_ms" figure:"repair after,ms,1"`
	// Share of packets that never arrive.
	ResidualLoss Figure `json:"residual_loss_rate" figure:"packets that never arrive,%,2,main"`
	// Share of packets not known 50 ms after they were sent.
	Missed50 Figure `json:"missed_50ms_ratio" figure:"packets not known after 50 ms,%,2,main"`
	// Share of packets not known 100 ms after they were sent.
	Missed100 Figure `json:"missed_100ms_ratio" figure:"packets not known after 100 ms,%,2,main"`
	// What redundancy adds to wire_kbps.
	OverheadKbps float64 `json:"overhead_kbps" figure:"redundancy,kbps,1,packets,main"`
}

// Messages contains the delivery of the reliable messages beside the snapshots. Delivery times are from
// writing a message until the receiver has all of it and all before it in its lane.
type Messages struct {
	Delivery string `json:"delivery"` // policy
	// Written.
	Sent int64 `json:"sent" figure:"messages sent,,0,neutral,main"`
	// In order, and complete.
	Delivered int64 `json:"delivered" figure:"messages delivered,,0,neutral,main"`
	// Not delivered yet.
	UnderWay int64 `json:"under_way" figure:"messages under way,,0"`
	// By the sender, because too much was waiting.
	Refused int64 `json:"refused" figure:"messages refused,,0,main"`
	// Delivered with other bytes than were sent; must be 0.
	Wrong int64 `json:"wrong" figure:"wrong messages,,0,main"`
	// Of messages of messages.size.
	DeliveryMS Quantiles `json:"delivery_ms" figure:"delivery of messages,ms,0,main:p50,main:p99"`
	// Of messages of messages.burst.
	BurstMS Quantiles `json:"burst_ms" figure:"delivery of large messages,ms,0,main:p50,main:p99"`
	// That the messages were split into.
	Parts int64 `json:"parts" figure:"parts of messages,,0,neutral"`
	// How often parts were sent; in a stream, each is written once.
	PartSends int64 `json:"part_sends" figure:"parts sent,,0"`
	// Datagrams without a packet; in a stream, its segments.
	Datagrams int64 `json:"datagrams" figure:"datagrams of messages,,0,neutral"`
	// Of part_sends, those of a part that was sent before; of a stream, of its segments.
	Resent int64 `json:"resent" figure:"parts sent again,,0"`
	// Expired timers that caused these; unknown for "all-unacked", which has no timer.
	Timeouts Figure `json:"timeouts" figure:"timeouts of messages,,0"`
	// GoodputKbps is the rate of the bytes of delivered messages. WireKbps is the part of wire_kbps that is
	// for messages: datagrams without a packet, and what messages add to those of packets. Of a stream it
	// is everything.
	GoodputKbps float64 `json:"goodput_kbps" figure:"messages delivered,kbps,1,neutral,packets,main"`
	WireKbps    float64 `json:"wire_kbps" figure:"messages on the wire,kbps,1,packets,main"`
	// Share of snapshots left out while the stream had bytes to send.
	SkippedRatio Figure `json:"skipped_ratio" figure:"snapshots skipped for messages,%,2,main"`
}

// CauseCounts contains counts of lost packets by lossmodel.Cause. Its JSON has the names of the causes.
type CauseCounts [lossmodel.NumCauses]int64

func (c CauseCounts) parts() (list []part) {
	for cause := lossmodel.None + 1; cause < lossmodel.NumCauses; cause++ {
		list = append(list, part{cause.String(), " " + cause.String(), Known(float64(c[cause]))})
	}
	return list
}

func (c CauseCounts) MarshalJSON() ([]byte, error) {
	byName := map[string]int64{}
	for cause := lossmodel.None + 1; cause < lossmodel.NumCauses; cause++ {
		byName[cause.String()] = c[cause]
	}
	return json.Marshal(byName)
}

func (c *CauseCounts) UnmarshalJSON(data []byte) error {
	var byName map[string]int64
	if err := json.Unmarshal(data, &byName); err != nil {
		return err
	}
	for cause := range c {
		c[cause] = byName[lossmodel.Cause(cause).String()]
	}
	return nil
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

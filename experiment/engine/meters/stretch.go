package meters

import (
	"time"

	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
)

// stretch contains the counts of the packets that a lane sent with the same encoder and parameters.
type stretch struct {
	encoder string        // the name of the lane: its encoder and parameters
	began   time.Duration // when its first packet was sent
	epoch   uint64        // of its first packet
	counts  Sample        // sizes and outcomes of its packets; other fields are not set
}

// maxSwapStretches is the maximum number of stretches of a lane. The last one contains all further packets.
const maxSwapStretches = 1000

// furtherEncoders is stretch.encoder of the last of maxSwapStretches stretches.
const furtherEncoders = "all further encoders"

// stretches are the stretches of a lane. The zero value is ready to use.
type stretches struct {
	list        []stretch // oldest first
	newestEpoch uint64    // of the newest packet, if list is not empty
	newest      string    // the name of the lane for the newest packet
}

// Begins reports whether a packet of the given epoch is the first of its epoch. Then the caller must
// call Begin before the packet is counted.
func (x *stretches) Begins(epoch uint64) bool { return len(x.list) == 0 || epoch > x.newestEpoch }

// Begin begins a stretch with the first packet of an epoch, which is sent at now, unless the encoder is
// that of the stretch before. encoder is the name of the lane.
func (x *stretches) Begin(epoch uint64, now time.Duration, encoder string) {
	x.newestEpoch = epoch
	x.newest = encoder
	n := len(x.list)
	if n == maxSwapStretches || n > 0 && x.list[n-1].encoder == encoder {
		return
	}
	if n == maxSwapStretches-1 {
		encoder = furtherEncoders
	}
	x.list = append(x.list, stretch{encoder: encoder, began: now, epoch: epoch})
}

// countPacket counts a packet that was sent.
func (x *stretches) countPacket(r *packetlog.Record) { x.list[len(x.list)-1].counts.countPacket(r) }

// countOutcome counts the outcome of one copy of the packet with record r, in the stretch in which the packet
// was sent.
func (x *stretches) countOutcome(r *packetlog.Record) {
	i := len(x.list) - 1
	for i > 0 && r.Epoch < x.list[i].epoch {
		i--
	}
	*r.Outcome.In(&x.list[i].counts.Counts)++
}

// Encoders returns the encoder of each stretch, oldest first: its name, a space, and its parameters.
func (x *stretches) Encoders() (list []string) {
	for i := range x.list {
		list = append(list, x.list[i].encoder)
	}
	return list
}

// StretchFigures are the figures of a stretch in a report.
type StretchFigures struct {
	Encoder        string         `json:"encoder"` // name and parameters
	FromS          float64        `json:"from_s" figure:"from,s,1"`
	ToS            float64        `json:"to_s" figure:"to,s,1"`
	Sent           int64          `json:"sent" figure:"sent,,0"`
	Decoded        int64          `json:"decoded" figure:"decoded,,0"`
	Stale          int64          `json:"stale" figure:"stale,,0"`
	Lost           int64          `json:"lost" figure:"lost,,0"`
	Failed         int64          `json:"failed" figure:"failed,,0"`
	Wrong          int64          `json:"wrong" figure:"wrong packets,,0"`
	PayloadKbps    float64        `json:"payload_kbps" figure:"payload,kbps,1"`
	WireKbps       float64        `json:"wire_kbps" figure:"on the wire,kbps,1"`
	BitsPerItem    figures.Figure `json:"bits_per_item" figure:"per item,bits,2"`
	BitsPerChanged figures.Figure `json:"bits_per_changed" figure:"per changed item,bits,2"`
}

// Figures returns the figures of the stretches between swaps of the encoder or its parameters, oldest
// first; nil if there is only one. until is the end of the newest stretch.
func (x *stretches) Figures(until time.Duration) (out []StretchFigures) {
	if len(x.list) < 2 {
		return nil
	}
	for i := range x.list {
		begun, end := x.list[i].began, until
		if i+1 < len(x.list) {
			end = x.list[i+1].began
		}
		s := x.list[i].counts
		s.Width = end - begun
		out = append(out, StretchFigures{Encoder: x.list[i].encoder, FromS: begun.Seconds(), ToS: end.Seconds(), Sent: s.Sent,
			Decoded: s.Decoded, Stale: s.Stale, Lost: s.Lost, Failed: s.Failed(), Wrong: s.Wrong,
			PayloadKbps: figures.RatioOrZero(PayloadKbps(&s)), WireKbps: figures.RatioOrZero(WireKbps(&s)),
			BitsPerItem: figures.RatioFigure(BitsPerItem(&s)), BitsPerChanged: figures.RatioFigure(BitsPerChanged(&s))})
	}
	return out
}

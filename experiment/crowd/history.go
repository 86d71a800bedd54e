package crowd

import (
	"time"

	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// historyPackets is the number of the newest packets of each client that a history contains.
const historyPackets = 64

// history contains the newest packets of a client, by their number modulo the length.
type history [historyPackets]loggedPacket

// loggedPacket is a packet of one client.
type loggedPacket struct {
	arrived       time.Duration // 0 if it has not arrived
	seq           uint32
	payload, wire uint32 // bytes; wire is 0 if there is no packet
	age           uint8  // of the baseline in packets; 0 means the initial state
	outcome       packetlog.Outcome
	cause         lossmodel.Cause // None unless it was lost
}

// add records that packet seq was sent.
func (h *history) add(seq uint32, e *encoding, f *form) {
	h[seq%historyPackets] = loggedPacket{seq: seq, payload: uint32(len(e.payload)), wire: uint32(f.wire), age: e.age}
}

// settle records the outcome of packet seq of client i, which arrived at a time, or was lost by the given cause, if
// packets are kept. Only a loss can be followed by another outcome: that of a copy.
func (s *shard) settle(i int, seq uint32, at time.Duration, outcome packetlog.Outcome, cause lossmodel.Cause) {
	if s.histories == nil {
		return
	}
	p := &s.histories[i][seq%historyPackets]
	isOpen := p.outcome == packetlog.InFlight || p.outcome == packetlog.Lost && outcome != packetlog.Lost
	if p.wire > 0 && p.seq == seq && isOpen {
		p.arrived, p.outcome, p.cause = at, outcome, cause
	}
}

// newestPackets returns the newest packets of client i, counted from 0, oldest first.
func (x *session) newestPackets(i int) (list []packetlog.Record) {
	s, k := x.at(i)
	encoder := x.workers[0].encoder.Codec.Name
	for seq := x.slot - min(x.slot, historyPackets); seq < x.slot; seq++ {
		if p := &s.histories[k][seq%historyPackets]; p.wire > 0 && p.seq == seq {
			list = append(list, packetlog.Record{Seq: uint64(seq), Sent: x.cadence.SeqTime(uint64(seq)), Arrived: p.arrived,
				Baseline: int(p.age), Encoder: encoder, Payload: int(p.payload), Wire: int(p.wire), Items: x.schema.Rows,
				Outcome: p.outcome, Cause: p.cause})
		}
	}
	return list
}

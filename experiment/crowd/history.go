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
	payload, wire uint32 // bytes
	age           uint8  // of the baseline in packets; 0 means the initial state
	outcome       packetlog.Outcome
	cause         lossmodel.Cause // None unless it was lost
	valid         bool            // the packet was sent
}

// logSent records that packet seq was sent to client i of the shard.
func (s *shard) logSent(i int, seq uint32, e *encoding, f *form) {
	if s.histories == nil {
		return
	}
	s.histories[i][seq%historyPackets] = loggedPacket{seq: seq, payload: uint32(len(e.payload)), wire: uint32(f.wire), age: e.age, valid: true}
}

// logged returns the record of packet seq of client i; nil if none is kept.
func (s *shard) logged(i int, seq uint32) *loggedPacket {
	if s.histories == nil {
		return nil
	}
	if p := &s.histories[i][seq%historyPackets]; p.valid && p.seq == seq {
		return p
	}
	return nil
}

// logArrival records the outcome of packet seq of client i, which arrived at a time. Copies after it are
// not recorded.
func (s *shard) logArrival(i int, seq uint32, at time.Duration, outcome packetlog.Outcome) {
	if p := s.logged(i, seq); p != nil && p.arrived == 0 {
		p.outcome, p.cause, p.arrived = outcome, lossmodel.None, at
	}
}

// logLoss records that packet seq of client i was lost, unless a copy of it has arrived. None records
// nothing.
func (s *shard) logLoss(i int, seq uint32, cause lossmodel.Cause) {
	if p := s.logged(i, seq); p != nil && p.arrived == 0 && cause != lossmodel.None {
		p.outcome, p.cause = packetlog.Lost, cause
	}
}

// newestPackets returns the newest packets of client i, counted from 0, oldest first.
func (x *session) newestPackets(i int) (list []packetlog.Record) {
	s := &x.shards[i/x.shardSize]
	for seq := x.slot - min(x.slot, historyPackets); seq < x.slot; seq++ {
		if p := s.logged(i%x.shardSize, seq); p != nil {
			list = append(list, packetlog.Record{Seq: uint64(seq), Sent: x.cadence.SeqTime(uint64(seq)), Arrived: p.arrived, Baseline: int(p.age),
				Encoder: x.workers[0].encoder.Codec.Name, Payload: int(p.payload), Wire: int(p.wire), Items: x.schema.Rows, Outcome: p.outcome, Cause: p.cause})
		}
	}
	return list
}

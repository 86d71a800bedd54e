package meters

import (
	"time"

	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
	"wirelab/lossmodel/traffic"
)

// transport is the state of the loop that baselines close: a queue delays acks, late acks make baselines
// older, and older baselines make snapshots larger, which fill the queue.
type transport struct {
	LinkBps       int64         `join:"newer"`  // rate of the bottleneck of the downlink at the end of the period; 0 without a limit
	ArrivedBits   int64         `join:"sum"`    // of datagrams at the receiver, with the headers of WireBits
	HasQueue      bool          `join:"newer"`  // the downlink is modelled and has a bottleneck
	Acks          int           `csv:"acks"`    // acks that the sender received
	RoundTrip     time.Duration `join:"newer"`  // from sending a packet to the first ack that names it as the newest: the last one of the period; 0 if none
	RoundTripPeak time.Duration `join:"larger"` // the longest one
}

// sentTimes are the times at which the newest packets were sent, by sequence number modulo their count.
// Acks of older packets are not measured.
type sentTimes [1024]struct {
	seq uint64
	at  time.Duration
}

func (s *sentTimes) add(r *packetlog.Record) {
	x := &s[r.Seq%uint64(len(s))]
	x.seq, x.at = r.Seq, r.Sent
}

// CountAck counts an ack that snd received at now.
func (m *Meter) CountAck(now time.Duration, snd interface {
	Acked() (newest uint64, ok bool)
}) {
	t := &m.Now.Transport
	t.Acks++
	newest, ok := snd.Acked()
	if !ok || m.hasAck && newest == m.newestAcked {
		return
	}
	m.newestAcked, m.hasAck = newest, true
	if x := &m.sent[newest%uint64(len(m.sent))]; x.seq == newest {
		t.RoundTrip = now - x.at
		t.RoundTripPeak = max(t.RoundTripPeak, t.RoundTrip)
	}
}

// MeasureQueue records the state of the bottleneck of a downlink at now, the end of the period.
func (m *Meter) MeasureQueue(now time.Duration, down *lossmodel.Link) {
	t, rate := &m.Now.Transport, down.Spec().Rate
	t.LinkBps, t.HasQueue = rate.BitsPerSecond, rate.BitsPerSecond > 0 || rate.Trace.Path != ""
	var room [1 + traffic.MaxFlows]lossmodel.QueueLength
	owners := down.QueueByOwner(now, room[:0])
	q := &m.Now.Queue
	q.Delay, q.Bytes = down.QueueDelay(now), owners[0].Bytes
	for _, o := range owners[1:] {
		q.Flows = append(q.Flows, o.Bytes)
	}
}

package labtest

import (
	"time"

	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/live"
	"wirelab/lossmodel"
)

// NewBits returns a lab whose samples have a bit budget. If shadow is set, it also has a shadow
// that needs fewer bits for positions.
func NewBits(shadow bool) *Lab {
	lab := NewLab()
	first := &lab.Snap.Lanes[0]
	if shadow {
		lab.Snap.Lanes = append(lab.Snap.Lanes, *first)
		first = &lab.Snap.Lanes[0]
		l := &lab.Snap.Lanes[1]
		l.Encoder, l.Samples = "kinetic", samples(lab.Snap.Now)
		spend(l, map[encoders.Slot]float64{encoders.SlotFlags: 0.06, encoders.SlotPosition: 0.22, encoders.SlotOrientation: 0.30,
			encoders.SlotPadding: 0.01})
	}
	spend(first, map[encoders.Slot]float64{encoders.SlotIndex: 0.09, encoders.SlotFlags: 0.04, encoders.SlotPosition: 0.46,
		encoders.SlotOrientation: 0.39, encoders.SlotInteracting: 0.01, encoders.SlotPadding: 0.01})
	return lab
}

// spend sets the bit budget of a lane's samples to shares of their payload. Shares that add up to
// less than 1 reduce the payload.
func spend(l *engine.Lane, shares map[encoders.Slot]float64) {
	charge := func(bits float64) (laneBudget encoders.Budget, total int64) {
		for k, share := range shares {
			laneBudget.Bits(k, int(bits*share))
		}
		return laneBudget, laneBudget.Total() / encoders.BitUnit
	}
	for i := range l.Samples {
		s := &l.Samples[i]
		s.Budget, s.PayloadBits = charge(float64(s.PayloadBits))
	}
	before := l.Recent.PayloadKbps
	laneBudget, bits := charge(before * 1000)
	l.Recent.Budget = laneBudget
	l.Recent.PayloadKbps = float64(bits) / 1000
	l.Recent.BitsPerChanged *= l.Recent.PayloadKbps / before
	l.Recent.BitsPerPacket *= l.Recent.PayloadKbps / before
}

// NewPackets returns a lab with two recent problems of different kinds, a lost packet and one
// without a baseline, each with the details of the packet.
func NewPackets() *Lab {
	lab := NewLab()
	l := &lab.Snap.Lanes[0]
	for i := range l.Packets {
		r := &l.Packets[i]
		r.Due = r.Sent + 52*time.Millisecond
		if r.Outcome == packetlog.Lost { // never due at the receiver
			r.Due = 0
		}
	}
	for i := len(l.Packets) - 1; i >= 0 && len(l.Incidents) < 2; i-- {
		r := &l.Packets[i]
		reason := map[packetlog.Outcome]inspector.Reason{packetlog.NoBaseline: inspector.BecauseDropped,
			packetlog.Lost: inspector.BecauseLost}[r.Outcome]
		if reason == inspector.NoReason || len(l.Incidents) == 1 && l.Incidents[0].Reason == reason {
			continue // no problem, or another one of the same kind
		}
		l.Incidents = append(l.Incidents, inspector.Incident{Reason: reason, N: int64(7 + i), T: r.Sent + 50*time.Millisecond,
			Opened: opened(r)})
	}
	return lab
}

// opened returns the details of a fake packet, as the lab gives when a packet is opened: the stages
// of the link that it passed, the reasons for its outcome, and its bit budget.
func opened(r *packetlog.Record) inspector.Opened {
	in := inspector.Inside{Header: 5, Fragments: 1,
		AtSender: inspector.AtSender{BaseSent: r.Sent - 100*time.Millisecond, BaseAcked: r.Sent - 9*time.Millisecond,
			Usual: inspector.Usual{N: 64, Payload: 389, Changed: 61, Baseline: 5.9}},
		AtReceiver: inspector.AtReceiver{History: 16, Run: 1, Base: inspector.BaseHeld, AckDue: r.Sent + 117*time.Millisecond}}
	in.Trail.N = 3
	in.Trail.Steps[0] = lossmodel.Step{Stage: lossmodel.StageLoss}
	in.Trail.Steps[1] = lossmodel.Step{Stage: lossmodel.StageRate, Delay: 2 * time.Millisecond,
		QueueAhead: lossmodel.QueueLength{Packets: 3, Bytes: 1290}}
	in.Trail.Steps[2] = lossmodel.Step{Stage: lossmodel.StageDelay, Delay: 50 * time.Millisecond, BaseDelay: 45 * time.Millisecond}
	switch r.Outcome {
	case packetlog.Lost:
		in.Trail.Steps[0].Lost, in.AckDue, in.Base = r.Cause, 0, inspector.BaseUnchecked
	case packetlog.Stale:
		in.Newer, in.NewerSent, in.NewerAt = r.Seq+1, r.Sent+time.Second/packetRateHz, r.Arrived-3*time.Millisecond
	case packetlog.NoBaseline:
		in.Base, in.Missing, in.DroppedAt = inspector.BaseDropped, r.Seq-6, r.Arrived-40*time.Millisecond
	}
	in.Spent.N = 4
	in.Spent.Slots = [32]encoders.Slot{encoders.SlotFlags, encoders.SlotIndex, encoders.SlotPosition, encoders.SlotOrientation}
	all := int64(r.Payload) * 8 * encoders.BitUnit
	in.Spent.Units = [32]int64{all / 20, all / 10, all / 2, all - all/20 - all/10 - all/2}
	return inspector.Opened{ID: r.ID(), Record: *r, Inside: in}
}

// Opening is a lab that answers requests to open a packet, as a runner does.
type Opening struct{ *Lab }

// Do implements room.Lab. A packet that is not in the snapshot is reported as gone.
func (l Opening) Do(c live.Command) bool {
	if c.Open != nil {
		next := *l.Snap
		next.Opened = &inspector.Opened{ID: *c.Open, Gone: true}
		for i := range l.Snap.Lanes[0].Packets {
			if r := &l.Snap.Lanes[0].Packets[i]; r.ID() == *c.Open {
				o := opened(r)
				next.Opened = &o
			}
		}
		l.Snap = &next
		l.Lab.Snap = &next
	}
	return l.Lab.Do(c)
}

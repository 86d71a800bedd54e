package labtest

import (
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/live"
)

// NewBits returns a lab. If shadow is set, it also has a shadow that needs fewer bits.
func NewBits(shadow bool) *Lab {
	if !shadow {
		return NewLab()
	}
	return &Lab{Snap: Run(changed+"[[shadow]]\nname = \"changed-index\"\n", runLength)}
}

// Packets is a lab that answers requests to open a packet, as a runner does, and executes no other command. Its receiver
// stores few frames, so that some packets lack their baseline.
type Packets struct {
	Lab
	session *engine.Session
}

// NewPackets returns a Packets 90 s after the start of its session.
func NewPackets() *Packets {
	snap, session := run(steady+"[receiver]\nhistory = 8\n", runLength)
	return &Packets{Lab{Snap: snap}, session}
}

// Do implements room.Lab.
func (l *Packets) Do(c live.Command) bool {
	if c.Open != nil {
		next := *l.Snap
		next.Opened = l.session.Opened(*c.Open)
		l.Snap = &next
	}
	return l.Lab.Do(c)
}

// Records returns the records of all packets of the first lane, oldest first.
func (l *Lab) Records() (list []packetlog.Record) {
	lane := &l.Snap.Lanes[0]
	for n := lane.History.First(); n < lane.EndOfRecords(); n++ {
		list = append(list, *lane.Record(n))
	}
	return list
}

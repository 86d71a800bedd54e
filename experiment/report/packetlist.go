package report

import (
	"cmp"
	"errors"
	"slices"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/atomicfile"
)

// packetList collects packets in the order in which their outcomes are known.
type packetList struct{ list []packetEntry }

// packetEntry is a row of packets.csv: a packet, and a description of its problem.
type packetEntry struct {
	packetlog.Record
	problem problemText // empty if the packet had no problem
}

// NewPacketEntry returns the entry of packet r. p is its problem; nil if it had none.
func NewPacketEntry(r *packetlog.Record, p *engine.Problem) packetEntry {
	e := packetEntry{Record: *r}
	if p != nil {
		e.problem = describeProblem(p.Opened, p.Config)
	}
	return e
}

func (l *packetList) Packet(r *packetlog.Record, p *engine.Problem) { l.Add(NewPacketEntry(r, p)) }

// Add adds a packet whose outcome is known.
func (l *packetList) Add(e packetEntry) { l.list = append(l.list, e) }

// sort sorts the packets by sequence number and copy number.
func (l *packetList) sort() {
	slices.SortStableFunc(l.list, func(a, b packetEntry) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Copy, b.Copy)) })
}

// SessionCopy is a copy of the samples and packets that a live session stores, so that a report can be written
// while the session continues. It implements engine.Observer; see engine.Session.ReplayStored.
type SessionCopy struct {
	packetList
	samples []meters.Sample
}

func (k *SessionCopy) Sample(s *meters.Sample) { k.samples = append(k.samples, *s) }

// Settled implements engine.Observer. It does nothing, because Write sorts the packets.
func (k *SessionCopy) Settled(uint64) {}

// Write writes a report of r with the copied samples and packets to folder, and closes folder. files
// and pages are as for NewExporter.
func (k *SessionCopy) Write(folder *atomicfile.Folder, files *Files, pages Pages, r *engine.Result) error {
	e := NewExporter(folder, nil, files, pages)
	for i := range k.samples {
		e.Sample(&k.samples[i])
	}
	e.packetList = k.packetList // Write sorts them
	return errors.Join(e.Write(r), e.Close())
}

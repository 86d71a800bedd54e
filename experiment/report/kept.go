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

// packetList gathers packets as they end.
type packetList struct{ list []endedPacket }

// endedPacket is a packet with what was wrong with it, if anything was.
type endedPacket struct {
	packetlog.Record
	trouble trouble
}

// Ended returns a packet as reports have it. p is nil if nothing was wrong with it.
func Ended(r *packetlog.Record, p *engine.Problem) endedPacket {
	e := endedPacket{Record: *r}
	if p != nil {
		e.trouble = troubleOf(p.Opened, p.Config)
	}
	return e
}

// Packet implements engine.Observer.
func (l *packetList) Packet(r *packetlog.Record, p *engine.Problem) { l.Add(Ended(r, p)) }

// Add adds a packet that has ended.
func (l *packetList) Add(e endedPacket) { l.list = append(l.list, e) }

// sort puts the packets in order of sequence: they came in the order they ended.
func (l *packetList) sort() {
	slices.SortStableFunc(l.list, func(a, b endedPacket) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Copy, b.Copy)) })
}

// Kept is what a live session remembers, taken down to be written while the session goes
// on. It implements engine.Observer.
type Kept struct {
	packetList
	samples []meters.Sample
}

// Sample implements engine.Observer.
func (k *Kept) Sample(s *meters.Sample) { k.samples = append(k.samples, *s) }

// Settled implements engine.Observer.
func (k *Kept) Settled(uint64) {}

// Write writes the whole folder for r.
func (k *Kept) Write(folder *atomicfile.Folder, files *Files, pages Pages, r *engine.Result) error {
	e := NewExporter(folder, nil, files, pages)
	for i := range k.samples {
		e.Sample(&k.samples[i])
	}
	e.packetList = k.packetList
	return errors.Join(e.Write(r), e.Close())
}

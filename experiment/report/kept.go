package report

import (
	"cmp"
	"errors"
	"slices"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/internal/atomicfile"
)

// packetList gathers packets as they end.
type packetList struct {
	list    []endedPacket
	trouble Trouble // with the packet that Packet tells of next
}

// endedPacket is a packet with what was wrong with it, if anything was.
type endedPacket struct {
	engine.PacketRecord
	trouble Trouble
}

// Trouble implements engine.TroubleObserver.
func (l *packetList) Trouble(o *engine.Opened, c *config.Config) { l.trouble = TroubleOf(o, c) }

// Packet implements engine.Observer.
func (l *packetList) Packet(p *engine.PacketRecord) {
	l.list = append(l.list, endedPacket{*p, l.trouble})
	l.trouble = Trouble{}
}

// Ended is Trouble and Packet in one.
func (l *packetList) Ended(p *engine.PacketRecord, t Trouble) {
	l.list = append(l.list, endedPacket{*p, t})
}

// sort puts the packets in order of sequence: they came in the order they ended.
func (l *packetList) sort() {
	slices.SortStableFunc(l.list, func(a, b endedPacket) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Copy, b.Copy)) })
}

// Kept is what a live session remembers, taken down to be written while the session goes
// on. It implements engine.TroubleObserver.
type Kept struct {
	packetList
	samples []engine.Sample
}

// Sample implements engine.Observer.
func (k *Kept) Sample(s *engine.Sample) { k.samples = append(k.samples, *s) }

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

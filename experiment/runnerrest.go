package experiment

// rest is what the runner shows beyond the usual while time stands still: every
// packet that it remembers, so that a person can look back at them. They are
// copied once for each time that it comes to rest, and let go of when it goes on.
type rest struct {
	stood   int // snapshots since time stood still
	packets []PacketRecord
}

// restBefore is how many snapshots show the usual first: whoever steps from frame
// to frame would copy all packets for each of them.
const restBefore = 4

// show puts what is remembered into snap, if time has stood still long enough.
func (x *rest) show(r *Runner, snap *Snapshot) {
	if r.seeking != nowhere || !r.paused && !r.session.Done() || r.err != nil {
		*x = rest{}
		return
	}
	if x.stood++; x.stood <= restBefore {
		return
	}
	if x.packets == nil {
		x.packets = r.session.Packets()
	}
	snap.Lanes[0].Packets = x.packets
}

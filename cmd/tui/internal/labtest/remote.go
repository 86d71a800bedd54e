package labtest

import (
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
)

// NewRemote is a session whose receiver is at the other end of a network.
func NewRemote() *Lab {
	lab := NewLab()
	lab.Snap.To = "192.0.2.7:27970"
	lane := &lab.Snap.Lanes[0]
	lane.Link = nil
	t := &lane.Totals
	t.Unknown, t.Lost = t.Lost, 0
	t.Network.DelayMS, t.Network.MeanBurst, t.AgeMS = figures.Quantiles{}, figures.Figure{}, figures.Quantiles{}
	t.Remote = &figures.Remote{RoundTripMS: figures.Quantiles{N: 1, P50: 84.9, P95: 103.2}, SlowerMS: figures.Quantiles{N: 1, P50: 4.1, P95: 20.7},
		JitterMS: figures.Known(9.2), ToldAfterMS: figures.Quantiles{N: 1, P50: 117.8, P95: 190}, ReportKbps: figures.Known(25.6),
		CoverKbps: figures.Known(28.3)}
	for i := range lane.Packets {
		if p := &lane.Packets[i]; p.Outcome == packetlog.Lost {
			p.Outcome, p.Arrived = packetlog.Unknown, 0
		}
	}
	return lab
}

package ui

import (
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// packetRateHz is the packet rate of the snapshots.
const packetRateHz = 60

// newCrowdLab returns a lab with n clients. Round trips grow with the number of the client, each tenth client loses many
// packets, and the server encodes for baselines of four to nine packets.
func newCrowdLab(n int) *labtest.Lab { return &labtest.Lab{Snap: crowdSnapshot(n, 90*time.Second)} }

// lonelyClient returns newCrowdLab without a session of a client.
func lonelyClient() *labtest.Lab {
	lab := newCrowdLab(200)
	lab.Snap.Crowd.Client, lab.Snap.Crowd.NoClient = nil, "the clients share the uplink of the server"
	return lab
}

// crowdSnapshot returns the snapshot of newCrowdLab at a virtual time. The packets and the session are those of client 10.
func crowdSnapshot(n int, now time.Duration) *engine.Snapshot {
	snap, alone := labtest.Snapshot(now), labtest.Snapshot(now)
	alone.Client = 10
	snap.Lanes, snap.World, snap.Effects, snap.Log = nil, nil, nil, nil
	snap.Config = snap.Config.Clone()
	snap.Config.Crowd = config.Default().Crowd
	snap.Config.Crowd.Clients = n
	x := &engine.CrowdView{TickTime: time.Second / packetRateHz, Recent: &figures.Crowd{Clients: n}, Selected: 10, Client: alone}
	for i := range n {
		rtt, loss := 20+float64(i*180/n), 0.01
		if i%10 == 9 {
			loss = 0.08 + float64(i%7)/100
		}
		x.Clients = append(x.Clients, figures.CrowdClient{PayloadKbps: figures.Known(150 + rtt), WireKbps: figures.Known(166 + rtt),
			BaselineAgeTicks: figures.Known(3 + rtt/20), LossRatio: figures.Known(loss), Failures: figures.Known(float64(i / 300)), RoundTripMS: figures.Known(rtt), AgeMS: figures.Known(40 + rtt/2)})
		x.Clients[i].Playout.StarvedRatio, x.Clients[i].Playout.Late = figures.Known(loss*loss), figures.Known(0)
	}
	x.Recent.SetQuantiles(x.Clients)
	const firstAge, lastAge = 4, 9
	samples := min(int(now/meters.SamplePeriod), 600)
	for i := range samples {
		s := engine.CrowdSample{T: now.Truncate(meters.SamplePeriod) - time.Duration(samples-1-i)*meters.SamplePeriod, Ticks: 6, Encodings: 36 + i%5, Packets: 6 * n, Lost: n / 20,
			WireBits: int64(n) * 25_000, CPU: engine.CrowdCPU{Encode: 1_800_000 + int64(i%50)*10_000, Server: int64(n) * 600, Clients: int64(n) * 900, Decode: 700_000, Elapsed: 2_400_000}}
		for age := firstAge; age <= lastAge; age++ {
			s.ByAge[age] = int32(6 * n * (lastAge + 1 - age) / 21) // 21 is the sum of 1 to 6
		}
		x.Samples = append(x.Samples, s)
	}
	for age := firstAge; age <= lastAge; age++ {
		x.Encodings = append(x.Encodings, engine.CrowdEncoding{Age: age, Clients: n * (lastAge + 1 - age) / 21, Payload: 300 + 12*age})
	}
	for seq := range uint64(64) {
		p := packetlog.Record{Seq: 5000 + seq, Sent: time.Duration(5000+seq) * time.Second / packetRateHz, Baseline: int(4 + seq%3), Payload: 340 + int(seq%9), Wire: 373 + int(seq%9),
			Outcome: packetlog.Decoded}
		switch {
		case seq%11 == 5:
			p.Outcome, p.Cause = packetlog.Lost, lossmodel.Loss
		case seq > 60:
			p.Outcome = packetlog.InFlight
		default:
			p.Arrived = p.Sent + 23*time.Millisecond
		}
		x.Packets = append(x.Packets, p)
	}
	snap.Crowd = x
	return snap
}

package labtest

import (
	"io"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/experiment/live"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// NewDamaged returns a lab as after a run on a link that damages packets: 41 are corrupt, 2 in each of the last four
// samples.
func NewDamaged() *Lab {
	lab := NewLab()
	lane := &lab.Snap.Lanes[0]
	lane.Totals.Failures.Corrupt = 41
	for i := range lane.Samples {
		if i >= len(lane.Samples)-4 {
			lane.Samples[i].Failures.Corrupt = 2
		}
	}
	return lab
}

// Lab is a fake lab that records commands. Its snapshot is a function of the virtual time, which
// stays the same unless a test replaces the snapshot.
type Lab struct {
	Snap *engine.Snapshot
	Got  []live.Command // received commands
	Full bool           // whether Do refuses commands, as with a full queue
}

func (l *Lab) Snapshot() *engine.Snapshot { return l.Snap }

func (l *Lab) Do(c live.Command) bool {
	if l.Full {
		return false
	}
	l.Got = append(l.Got, c)
	return true
}

// NewLab returns a lab 90 s after the start of its session.
func NewLab() *Lab { return &Lab{Snap: Snapshot(90 * time.Second)} }

// schema is the schema of the walk-off's cubes.
var schema = sync.OnceValue(func() *frame.Schema { return frame.Cubes(frame.WalkoffCubes) })

// packetRateHz is the packet rate of the fake session.
const packetRateHz = 60

// Snapshot returns the snapshot of the fake lab at a virtual time. All figures are made up, but fit
// together: 5 % loss, a change of the encoder at 46 s, and marks.
func Snapshot(now time.Duration) *engine.Snapshot {
	cfg := config.Default()
	link := config.NewChange("down.loss", "5%", "down.latency", "50ms", "down.jitter", "10ms", "up.latency", "65ms")
	if err := cfg.Apply(link); err != nil {
		panic(err)
	}
	lane := engine.Lane{Letter: "A", Encoder: cfg.Encoder.Name, Samples: samples(now), Packets: RecentPackets(now)}
	lane.Totals = figures.Totals{Rates: figures.Rates{BitsPerItem: figures.Known(0)},
		Counts: figures.Counts{Sent: int64(now.Seconds() * packetRateHz), Decoded: 5102, Lost: 268, Stale: 21, Duplicate: 3,
			Failures: figures.Failures{NoBaseline: 7}},
		PacketBytes: figures.Quantiles{N: 1, P50: 389},
		Playout:     figures.Playout{StarvedRatio: figures.Known(0.0021), Late: 7},
		Network: figures.Network{LossRate: figures.Known(0.0496), MeanBurst: figures.Known(1.05),
			ReorderedRatio: figures.Known(0.0312), ReorderExtent: figures.Quantiles{N: 1, P95: 2},
			DelayMS: figures.Quantiles{N: 1, P50: 50.4, P95: 59.2}, QueuePeakBytes: figures.Known(2212), QueuePeakPackets: figures.Known(5), OrderCostMS: figures.Known(0)}}
	sent := lane.Totals.Sent
	lane.Link = []meters.LinkStretch{{Down: cfg.Down, Fragments: 1, Sent: sent, Lost: 268, Arrived: sent - 272,
		Took: time.Duration(sent-272) * 50_100 * time.Microsecond, Until: now}}
	lane.Timing = figures.Timing{EncodeUS: figures.Quantiles{N: 1, P99: 77}, DecodeUS: figures.Quantiles{N: 1, P99: 75}}
	lane.Recent = meters.Recent{PayloadKbps: 187.3, WireKbps: 211.9, FeedbackKbps: 12.1, PayloadP95Kbps: 244,
		BitsPerItem: 3.46, BitsPerChanged: 58.8, BitsPerPacket: 3598.56,
		ChangedPerFrame: 61.2, BaselineAgeTicks: 6.2, BaselineAgeMS: 103.3, EncodeUS: 41, DecodeUS: 38, Budget: budget()}
	return &engine.Snapshot{Log: []config.StampedChange{{T: now, Change: config.NewChange("down.loss", "5%")}},
		Effects: effects(lane.Samples),
		Now:     now, Pace: engine.Pace{Speed: 1, Actual: 1}, Config: cfg, Item: "cube", Schema: schema(), Lanes: []engine.Lane{lane},
		Marks: []engine.Mark{
			{T: 46 * time.Second, Label: "encoder relative-orientation"},
			{T: 70*time.Second + 400*time.Millisecond, Label: "loss 5%"},
			{T: 82 * time.Second, Label: "loop", Kind: engine.MarkLoop},
		},
	}
}

// effects returns an invented effect of the change of the encoder at 46 s: Before contains the samples of After,
// with packets about 1.5 times as large.
func effects(samples []meters.Sample) []engine.Effect {
	effect := engine.Effect{T: 46 * time.Second, Until: 51 * time.Second}
	for _, s := range samples {
		if s.T <= effect.T+1100*time.Millisecond || s.T > effect.Until {
			continue
		}
		effect.After = append(effect.After, s)
		s.PayloadBits = s.PayloadBits*3/2 + int64(len(effect.After)%7)*100
		effect.Before = append(effect.Before, s)
	}
	if len(effect.After) < 20 { // the change is too recent
		return nil
	}
	return []engine.Effect{effect}
}

// budget returns the bit budget of the recent packets of the fake session, in bits by part.
func budget() encoders.Budget {
	var b encoders.Budget
	for k, bits := range map[encoders.Slot]int{encoders.SlotIndex: 900, encoders.SlotFlags: 400, encoders.SlotPosition: 4600,
		encoders.SlotOrientation: 3900, encoders.SlotInteracting: 100, encoders.SlotPadding: 100} {
		b.Bits(k, bits)
	}
	return b
}

// samples returns the samples up to now: a varying bandwidth that falls by a third at 46 s, a lost
// packet in some samples, and after 70 s also packets without a baseline.
func samples(now time.Duration) []meters.Sample {
	rng := rand.New(rand.NewPCG(1, 1))
	out := make([]meters.Sample, 0, now/meters.SamplePeriod)
	for t := meters.SamplePeriod; t <= now; t += meters.SamplePeriod {
		at := t.Seconds()
		kbps := 262 + 25*math.Sin(at/3) + 14*rng.Float64()
		if at > 46 {
			kbps *= 0.68
		}
		s := meters.Sample{T: t, Width: meters.SamplePeriod}
		s.Sent, s.Items, s.Changed = 6, 6*901, int64(300+60*math.Sin(at/5)+40*rng.Float64())
		s.PayloadBits = int64(kbps * 100)   // a sample is 100 ms
		s.WireBits = s.PayloadBits + 6*33*8 // six packets with 33 bytes of headers each
		s.Decoded = 6
		if len(out)%20 < 6 {
			s.Decoded, s.Lost = 5, 1
		}
		if at > 70 && rng.IntN(8) == 0 {
			s.Failures.NoBaseline = 1 + rng.Int64N(2)
		}
		out = append(out, s)
	}
	return out
}

// RecentPackets returns the last 600 packets before now. The newest three are in flight; of the others
// about 5 % are lost, 2 % stale and 1 % without a baseline, and a few arrive twice.
func RecentPackets(now time.Duration) []packetlog.Record {
	var out []packetlog.Record
	last := uint64(now.Seconds() * packetRateHz)
	for seq := last - 600; seq < last; seq++ {
		rng := rand.New(rand.NewPCG(2, seq)) // seeded by seq, so that a packet is the same in every snapshot
		sent := time.Duration(seq) * time.Second / packetRateHz
		r := packetlog.Record{Seq: seq, Sent: sent, Arrived: sent + 52*time.Millisecond, Encoder: "relative-orientation",
			Baseline: 6, Payload: 360 + rng.IntN(60), Changed: 50 + rng.IntN(20), Items: 901, Outcome: packetlog.Decoded}
		r.Wire = r.Payload + 33 // the lab's header, IPv4 and UDP
		switch n := rng.IntN(100); {
		case seq+4 > last:
			r.Outcome, r.Arrived = packetlog.InFlight, 0
		case n < 5:
			r.Outcome, r.Arrived, r.Cause = packetlog.Lost, 0, 1
		case n < 7:
			r.Outcome = packetlog.Stale
		case n < 8:
			r.Outcome = packetlog.NoBaseline
		}
		out = append(out, r)
		if rng.IntN(150) == 0 {
			r.Copy, r.Outcome = 1, packetlog.Duplicate
			out = append(out, r)
		}
	}
	return out
}

// PlainRenderer returns a renderer without colours.
func PlainRenderer() *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	r.SetHasDarkBackground(true)
	return r
}

// ColourRenderer returns a renderer for a terminal with all colours and a dark background.
func ColourRenderer() *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.TrueColor)
	r.SetHasDarkBackground(true)
	return r
}

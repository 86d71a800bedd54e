package ui

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment"
	"wirelab/lossmodel"
)

// fakeLab plays a made-up session: everything in a snapshot is a function of the
// virtual time, which stands still unless a test moves it.
type fakeLab struct {
	snap *experiment.Snapshot
	got  []experiment.Command
	full bool // refuse commands
}

func (l *fakeLab) Snapshot() *experiment.Snapshot { return l.snap }

func (l *fakeLab) Do(c experiment.Command) bool {
	if l.full {
		return false
	}
	l.got = append(l.got, c)
	return true
}

// newFakeLab is a lab 90 s into its session.
func newFakeLab() *fakeLab { return &fakeLab{snap: fakeSnapshot(90 * time.Second)} }

var fakeSchema = frame.Cubes(frame.WalkoffCubes)

// fakeHz is the packet rate of the made-up session.
const fakeHz = 60

func fakeSnapshot(now time.Duration) *experiment.Snapshot {
	cfg := experiment.Default()
	if err := cfg.Apply(experiment.Change{Down: map[string]string{"loss": "5%", "latency": "50ms", "jitter": "10ms"}, Up: map[string]string{"latency": "65ms"}}); err != nil {
		panic(err)
	}
	lane := experiment.Lane{Encoder: cfg.Encoder.Name, Samples: fakeSamples(now), Packets: fakePackets(now)}
	lane.Totals = experiment.Totals{Sent: int64(now.Seconds() * fakeHz), Decoded: 5102, Lost: 268, Stale: 21, Duplicate: 3,
		Failures: experiment.Failures{NoBaseline: 7}, PacketBytes: experiment.Quantiles{P50: 389}, Playout: experiment.Playout{StarvedRatio: 0.0021, Late: 7},
		Network: experiment.Network{LossRate: 0.0496, MeanBurst: 1.05, ReorderedRatio: 0.0312, ReorderExtent: experiment.Quantiles{P95: 2},
			DelayMS: experiment.Quantiles{P50: 50.4, P95: 59.2}, QueuePeakBytes: 2212, QueuePeakPackets: 5}}
	lane.Timing = experiment.Timing{EncodeUS: experiment.Quantiles{P99: 77}, DecodeUS: experiment.Quantiles{P99: 75}}
	lane.Recent = experiment.Recent{PayloadKbps: 187.3, WireKbps: 211.9, FeedbackKbps: 12.1, PayloadP95Kbps: 244, BitsPerItem: 3.46, BitsPerChanged: 58.8,
		ChangedPerFrame: 61.2, BaselineAgeTicks: 6.2, BaselineAgeMS: 103.3, EncodeUS: 41, DecodeUS: 38, Budget: fakeBudget()}
	return &experiment.Snapshot{
		Now: now, Speed: 1, Actual: 1, Config: cfg, Item: "cube", Schema: fakeSchema, Lanes: []experiment.Lane{lane},
		Marks: []experiment.Mark{
			{T: 46 * time.Second, Label: "encoder relative-orientation"},
			{T: 70*time.Second + 400*time.Millisecond, Label: "loss 5%"},
			{T: 82 * time.Second, Label: "seam", Kind: experiment.MarkSeam},
		},
	}
}

func fakeBudget() encoders.Budget {
	var b encoders.Budget
	for k, bits := range map[encoders.Slot]int{encoders.SlotIndex: 900, encoders.SlotFlags: 400, encoders.SlotPosition: 4600, encoders.SlotOrientation: 3900, encoders.SlotInteracting: 100, encoders.SlotPadding: 100} {
		b.Bits(k, bits)
	}
	return b
}

// fakeSamples is a bandwidth that breathes, and falls by a third at 46 s.
func fakeSamples(now time.Duration) []experiment.Sample {
	rng := rand.New(rand.NewPCG(1, 1))
	var out []experiment.Sample
	for t := experiment.SamplePeriod; t <= now; t += experiment.SamplePeriod {
		at := t.Seconds()
		kbps := 262 + 25*math.Sin(at/3) + 14*rng.Float64()
		if at > 46 {
			kbps *= 0.68
		}
		s := experiment.Sample{T: t, Sent: 6, Items: 6 * 901, Changed: int64(300 + 60*math.Sin(at/5) + 40*rng.Float64())}
		s.PayloadBits = int64(kbps * 100)
		s.WireBits = s.PayloadBits + 6*33*8
		s.Outcomes[experiment.Decoded] = 6
		if len(out)%20 < 6 {
			s.Outcomes[experiment.Decoded], s.Outcomes[experiment.Lost] = 5, 1
		}
		if at > 70 && rng.IntN(8) == 0 {
			s.Outcomes[experiment.NoBaseline] = 1 + rng.IntN(2)
		}
		out = append(out, s)
	}
	return out
}

func fakePackets(now time.Duration) []experiment.PacketRecord {
	var out []experiment.PacketRecord
	last := uint64(now.Seconds() * fakeHz)
	for seq := last - 600; seq < last; seq++ {
		rng := rand.New(rand.NewPCG(2, seq)) // the same packet in every snapshot
		sent := time.Duration(seq) * time.Second / fakeHz
		r := experiment.PacketRecord{Seq: seq, Sent: sent, Arrived: sent + 52*time.Millisecond, Encoder: "relative-orientation",
			Baseline: 6, Payload: 360 + rng.IntN(60), Changed: 50 + rng.IntN(20), Items: 901, Outcome: experiment.Decoded}
		r.Wire = r.Payload + 33
		switch n := rng.IntN(100); {
		case seq+4 > last:
			r.Outcome, r.Arrived = experiment.InFlight, 0
		case n < 5:
			r.Outcome, r.Arrived, r.Cause = experiment.Lost, 0, 1
		case n < 7:
			r.Outcome = experiment.Stale
		case n < 8:
			r.Outcome = experiment.NoBaseline
		}
		out = append(out, r)
		if rng.IntN(150) == 0 {
			r.Copy, r.Outcome = 1, experiment.Duplicate
			out = append(out, r)
		}
	}
	return out
}

// fakeCatalog is the real one cut short, so that a new encoder or a better word
// about an old one changes no golden file. The names must be real: a change is
// checked by the engine's own rules.
func fakeCatalog() *catalog {
	type params struct {
		Small int `toml:"xy_small" help:"bits of a small step" unit:"bits" min:"2" max:"10"`
		Large int `toml:"xy_large" help:"bits of a large step" unit:"bits" min:"4" max:"14"`
	}
	codec := func(name, summary string, p any) encoders.Codec {
		return encoders.Codec{Name: name, Summary: summary, Params: p, Suits: func(*frame.Schema) bool { return true }}
	}
	codecs := []encoders.Codec{
		codec("raw", "every cube in full", nil),
		codec("relative-orientation", "orientation as a difference to the baseline; a sentence long enough for two lines", &params{Small: 6, Large: 9}),
		codec("rotor", "orientation as a rotor", nil),
	}
	return newCatalog(codecs, lossmodel.Profiles()[:4], fakeKeys())
}

// fakeKeys are some of the settings of a link.
func fakeKeys() []lossmodel.KeyInfo {
	some := []string{"loss", "burst", "latency", "jitter", "reorder", "duplicate", "corrupt", "rate", "queue",
		"distribution", "keep_order", "delay_trace", "rate_cell_overhead", "mtu", "netem"}
	keys := slices.DeleteFunc(lossmodel.Keys(), func(k lossmodel.KeyInfo) bool { return !slices.Contains(some, k.Key) })
	for i := range keys {
		keys[i].Help = "help of " + keys[i].Key
	}
	return keys
}

// plainRenderer paints nothing; colourRenderer paints as a terminal of 256 colours
// on dark ground does.
func plainRenderer() *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	r.SetHasDarkBackground(true)
	return r
}

func colourRenderer() *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.TrueColor)
	r.SetHasDarkBackground(true)
	return r
}

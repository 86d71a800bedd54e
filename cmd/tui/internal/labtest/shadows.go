package labtest

import (
	"math"
	"math/rand/v2"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
)

// errRefused is the error of an encoder that cannot encode a frame.
type errRefused struct{}

func (errRefused) Error() string { return "packet of 70000 bytes does not fit" }

// RefusingSnapshot returns a snapshot in which the second shadow fails to encode every frame: it has an
// error and no packets, and its samples are empty except for their times.
func RefusingSnapshot() *engine.Snapshot {
	snap := FourShadows()
	l := &snap.Lanes[2]
	l.Err, l.Packets = errRefused{}, nil
	for i := range l.Samples {
		l.Samples[i] = meters.Sample{T: l.Samples[i].T}
	}
	return snap
}

// WithShadows returns a copy of a snapshot with a fake shadow for each name of an encoder. Each
// sends a fixed share of what the first lane sends, with some noise. The second lacks a baseline
// now and then, and the fourth joins at 40 s.
func WithShadows(snap *engine.Snapshot, names ...string) *engine.Snapshot {
	out := *snap
	out.Config = snap.Config.Clone()
	out.Lanes = append([]engine.Lane{}, snap.Lanes...)
	first := &out.Lanes[0]
	first.Packets = append([]packetlog.Record{}, first.Packets...)
	for k := range first.Packets {
		first.Packets[k].EncodeNS, first.Packets[k].DecodeNS = int64(41_000+k*37%5000), int64(38_000+k*53%4000)
	}
	for i, name := range names {
		l := *first
		l.Letter, l.Encoder = string(rune('B'+i)), name
		share := []float64{0.62, 1.55, 0.9, 1.18}[i%4]
		rng := rand.New(rand.NewPCG(7, uint64(i)))
		l.Samples = append([]meters.Sample{}, l.Samples...)
		for k := range l.Samples {
			s := &l.Samples[k]
			s.PayloadBits = int64(float64(s.PayloadBits) * share * (1 + 0.03*rng.NormFloat64()))
			s.Failures.NoBaseline = 0
			if i == 1 && rng.IntN(20) == 0 {
				s.Failures.NoBaseline = 1
			}
		}
		l.Packets = append([]packetlog.Record{}, l.Packets...)
		for k := range l.Packets {
			p := &l.Packets[k]
			p.Encoder, p.Payload = name, int(math.Round(float64(p.Payload)*share))
			p.EncodeNS = int64(20_000 * float64(i+1) * (1 + 0.1*rng.Float64()))
			p.DecodeNS = p.EncodeNS / 2
		}
		l.Recent.PayloadKbps *= share
		l.Recent.BitsPerChanged *= share
		l.Recent.BitsPerPacket *= share
		l.Recent.EncodeUS, l.Recent.DecodeUS = 20*float64(i+1), 10*float64(i+1)
		l.Totals.Failures = figures.Failures{NoBaseline: int64(3 * i)}
		if n := len(l.Samples); i == 3 && n > 400 {
			l.Samples, l.Began = l.Samples[400:], 40*time.Second
		}
		out.Lanes = append(out.Lanes, l)
		out.Config.Shadows = append(out.Config.Shadows, config.Encoder{Name: name})
	}
	return &out
}

func FourShadows() *engine.Snapshot {
	return WithShadows(Snapshot(90*time.Second), "rotor", "raw", "quantized", "kinetic")
}

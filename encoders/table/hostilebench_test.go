package table_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
	"wirelab/encoders/table"
)

// BenchmarkHostile reports how long a decoder of cubes takes for invalid packets, compared with valid ones: their
// median, and the most expensive, in which every cube moves. The ratio worst/dearest must stay below two, so that
// an attacker gains nothing over sending valid packets.
func BenchmarkHostile(b *testing.B) {
	s := frame.Cubes(frame.WalkoffCubes)
	demo := recording.Demo(b, 400, 440)
	for _, c := range table.All() {
		if c.ID >= 64 || !c.Suits(s) {
			continue
		}
		b.Run(c.Name, func(b *testing.B) {
			var honest []time.Duration
			var dearest, worst time.Duration
			rng := rand.New(rand.NewPCG(33, uint64(c.ID)))
			for b.Loop() {
				play := newTimed(b, c, s, demo, 6)
				edges := newTimed(b, c, s, moving(s), 1)
				for i := 6; i < len(demo); i++ {
					honest = append(honest, play.decode(i, play.payloads[i]))
					for _, bad := range append(invalidPackets(rng, play.payloads[i]), edges.payloads[1+i%8]) {
						worst = max(worst, play.decode(i, bad))
					}
					play.step(b, i)
				}
				for i := 1; i < len(edges.frames); i++ {
					dearest = max(dearest, edges.decode(i, edges.payloads[i]))
					edges.step(b, i)
				}
			}
			slices.Sort(honest)
			dearest = max(dearest, honest[len(honest)-1])
			us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
			b.ReportMetric(us(honest[len(honest)/2]), "honest-µs")
			b.ReportMetric(us(dearest), "dearest-µs")
			b.ReportMetric(us(worst), "worst-µs")
			b.ReportMetric(float64(worst)/float64(dearest), "worst/dearest")
		})
	}
}

// moving returns frames in which every cube moves and turns in each frame.
func moving(s *frame.Schema) []*frame.Frame {
	frames := extremes(s)[:1]
	for tick := range 8 {
		f := &frame.Frame{}
		f.CopyFrom(frames[tick])
		f.Tick = uint32(6 * (tick + 1))
		for i := range s.Rows {
			q := f.Table[i*frame.CubeFields:]
			q[frame.CubeX] += int32(i%9)*10 - 40
			q[frame.CubeY] += int32(i%7)*10 - 30
			q[frame.CubeZ] += int32(i % 5 * 8)
			q[frame.CubeA] += int32(i%11) - 5
			q[frame.CubeB] += int32(i%13) - 6
		}
		frames = append(frames, f)
	}
	return frames
}

// timed is a journal with a decoder that has decoded a part of it.
type timed struct {
	*journal
	dec   encoders.Decoder
	memos []encoders.Memo
	got   *frame.Frame
}

func newTimed(b *testing.B, c encoders.Codec, s *frame.Schema, frames []*frame.Frame, age int) *timed {
	_, dec, err := c.New(s, defaults(c))
	if err != nil {
		b.Fatal(err)
	}
	return &timed{record(b, c, s, frames, age), dec, make([]encoders.Memo, len(frames)), s.NewFrame()}
}

// decode returns the time to decode src in place of packet i: the shortest of three, because other processes
// disturb the measurement.
func (t *timed) decode(i int, src []byte) time.Duration {
	refs := []encoders.Ref{{Frame: t.frames[i-t.age], Memo: t.memos[i-t.age]}}
	quickest := time.Hour
	for range 3 {
		t.got.Tick = t.frames[i].Tick
		start := time.Now()
		_, _ = t.dec.Decode(t.got, src, refs, nil)
		quickest = min(quickest, time.Since(start))
	}
	return quickest
}

// step decodes packet i and keeps its frame and memo.
func (t *timed) step(b *testing.B, i int) {
	refs := []encoders.Ref{{Frame: t.frames[i-t.age], Memo: t.memos[i-t.age]}}
	t.got.Tick = t.frames[i].Tick
	var err error
	if t.memos[i], err = t.dec.Decode(t.got, t.payloads[i], refs, nil); err != nil {
		b.Fatal(err)
	}
}

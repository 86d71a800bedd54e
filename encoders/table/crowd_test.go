package table_test

import (
	"fmt"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
	"wirelab/encoders/table"
)

// crowds are the worlds of BenchmarkCrowd: the number of cubes, and about how many of them move.
var crowds = [][2]int{{901, 0}, {901, 100}, {3000, 100}, {3000, 300}, {10_000, 0}, {10_000, 100}, {10_000, 300}, {10_000, 1000}}

// BenchmarkCrowd encodes and decodes worlds of many cubes by the rules of the walk-off. It reports the mean over
// frames of the shortest time of each frame. The changed rows are passed to the encoder, as endpoints do.
func BenchmarkCrowd(b *testing.B) {
	for _, size := range crowds {
		frames := recording.Crowd(size[0], size[1], 30)
		for _, c := range table.All() {
			s := frame.Cubes(size[0])
			if !c.Suits(s) || c.Quantises || c.ID < 5 {
				continue
			}
			b.Run(fmt.Sprintf("%s/cubes=%d/movers=%d", c.Name, size[0], size[1]), func(b *testing.B) { benchmarkCrowd(b, c, s, frames) })
		}
	}
}

func benchmarkCrowd(b *testing.B, c encoders.Codec, s *frame.Schema, frames []*frame.Frame) {
	enc, dec, err := c.New(s, c.Defaults())
	if err != nil {
		b.Fatal(err)
	}
	n := len(frames)
	sent, got := make([]encoders.Memo, n), make([]encoders.Memo, n)
	encode, decode := make([]time.Duration, n), make([]time.Duration, n)
	changed, payload, out := frame.NewRows(s.Rows), []byte(nil), s.NewFrame()
	bytes, movers := 0, 0
	for b.Loop() {
		bytes, movers = 0, 0
		for i := recording.BaselineAge; i < n; i++ {
			base := i - recording.BaselineAge
			changed.SetDiffering(frames[i].Table, frames[base].Table, frame.CubeFields)
			refs := []encoders.Ref{{Frame: frames[base], Memo: sent[base], Changed: changed}}
			start := time.Now()
			payload, sent[i], err = enc.Encode(payload[:0], frames[i], refs, sent[i], nil)
			quickest(&encode[i], start)
			if err != nil {
				b.Fatal(err)
			}
			refs[0] = encoders.Ref{Frame: frames[base], Memo: got[base]}
			out.Tick = frames[i].Tick
			start = time.Now()
			got[i], err = dec.Decode(out, payload, refs, got[i])
			quickest(&decode[i], start)
			if err != nil {
				b.Fatal(err)
			}
			if i >= n/2 { // by then there are memos
				bytes, movers = bytes+len(payload), movers+changed.Count()
			}
		}
	}
	mean := func(list []time.Duration) float64 {
		sum := time.Duration(0)
		for _, d := range list[n/2:] {
			sum += d
		}
		return float64(sum.Nanoseconds()) / float64(n-n/2)
	}
	b.ReportMetric(mean(encode)/1000, "encode-us")
	b.ReportMetric(mean(decode)/1000, "decode-us")
	b.ReportMetric(float64(bytes)/float64(n-n/2), "bytes/packet")
	b.ReportMetric(float64(movers)/float64(n-n/2), "movers")
	b.ReportMetric(float64(bytes)/float64(max(movers, 1)), "bytes/mover")
}

// quickest sets the shortest time to the time since start, if that is shorter or the first.
func quickest(d *time.Duration, start time.Time) {
	if t := time.Since(start); *d == 0 || t < *d {
		*d = t
	}
}

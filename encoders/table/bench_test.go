package table_test

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
	"wirelab/encoders/table"
)

// cubesFrames returns frames of charlie, or random frames if the recordings are not installed; age is the
// number of frames between a frame and its baseline.
func cubesFrames(b *testing.B, synthetic bool) (frames []*frame.Frame, age int) {
	if synthetic {
		return randomFrames(frame.Cubes(frame.WalkoffCubes), 7, 30), 1
	}
	return recording.Load(b, "charlie", 900), recording.BaselineAge
}

func benchmarks(b *testing.B, run func(b *testing.B, c encoders.Codec, frames []*frame.Frame, age int)) {
	for _, synthetic := range []bool{false, true} {
		name := map[bool]string{false: "charlie", true: "synthetic"}[synthetic]
		b.Run(name, func(b *testing.B) {
			frames, age := cubesFrames(b, synthetic)
			for _, c := range table.All() {
				if c.Suits(frame.Cubes(frame.WalkoffCubes)) {
					b.Run(c.Name, func(b *testing.B) { run(b, c, frames, age) })
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	benchmarks(b, func(b *testing.B, c encoders.Codec, frames []*frame.Frame, age int) {
		enc, _, err := c.New(frame.Cubes(frame.WalkoffCubes), c.Defaults())
		if err != nil {
			b.Fatal(err)
		}
		var payload []byte
		var budget encoders.Budget
		refs := []encoders.Ref{{}}
		total, n := 0, 0
		b.ReportAllocs()
		for b.Loop() {
			i := age + n%(len(frames)-age)
			refs[0].Frame = frames[i-age]
			if payload, _, err = enc.Encode(payload[:0], frames[i], refs, nil, &budget); err != nil {
				b.Fatal(err)
			}
			total += len(payload)
			n++
		}
		b.ReportMetric(float64(total)/float64(n), "bytes/packet")
	})
}

func BenchmarkDecode(b *testing.B) {
	benchmarks(b, func(b *testing.B, c encoders.Codec, frames []*frame.Frame, age int) {
		s := frame.Cubes(frame.WalkoffCubes)
		enc, dec, err := c.New(s, c.Defaults())
		if err != nil {
			b.Fatal(err)
		}
		refs := []encoders.Ref{{}}
		payloads := make([][]byte, len(frames))
		for i := age; i < len(frames); i++ {
			refs[0].Frame = frames[i-age]
			if payloads[i], _, err = enc.Encode(nil, frames[i], refs, nil, nil); err != nil {
				b.Fatal(err)
			}
		}
		got, n := s.NewFrame(), 0
		b.ReportAllocs()
		for b.Loop() {
			i := age + n%(len(frames)-age)
			refs[0].Frame, got.Tick = frames[i-age], frames[i].Tick
			if _, err := dec.Decode(got, payloads[i], refs, nil); err != nil {
				b.Fatal(err)
			}
			n++
		}
	})
}

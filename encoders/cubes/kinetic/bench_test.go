package kinetic

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
)

// Frames of a recording on its chains, over and over: a frame each time.
func BenchmarkEncode(b *testing.B) { benchmark(b, false) }
func BenchmarkDecode(b *testing.B) { benchmark(b, true) }

func benchmark(b *testing.B, decode bool) {
	for _, codec := range []encoders.Codec{Lite(), Kinetic()} {
		b.Run(codec.Name, func(b *testing.B) {
			list := recording.Load(b, "bravo", 700)[300:]
			s := frame.Cubes(frame.WalkoffCubes)
			enc, dec, err := codec.New(s, codec.Defaults())
			if err != nil {
				b.Fatal(err)
			}
			memos, packets := make([]encoders.Memo, len(list)), make([][]byte, len(list))
			moved := 0
			for n := recording.Age; n < len(list); n++ {
				refs := []encoders.Ref{{Frame: list[n-recording.Age], Memo: memos[n-recording.Age]}}
				if packets[n], memos[n], err = enc.Encode(nil, list[n], refs, nil, nil); err != nil {
					b.Fatal(err)
				}
				moved += list[n].ChangedRows(list[n-recording.Age], frame.CubeFields)
			}
			var out []byte
			var spare encoders.Memo
			refs := make([]encoders.Ref, 1)
			got, n := s.NewFrame(), recording.Age
			b.ReportAllocs()
			for b.Loop() {
				refs[0] = encoders.Ref{Frame: list[n-recording.Age], Memo: memos[n-recording.Age]}
				if decode {
					got.Tick = list[n].Tick
					spare, err = dec.Decode(got, packets[n], refs, spare)
				} else {
					out, spare, err = enc.Encode(out[:0], list[n], refs, spare, nil)
				}
				if err != nil {
					b.Fatal(err)
				}
				if n++; n == len(list) {
					n = recording.Age
				}
			}
			b.ReportMetric(float64(moved)/float64(len(list)-recording.Age), "cubes")
		})
	}
}

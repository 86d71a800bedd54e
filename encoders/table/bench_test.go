package table

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
)

func BenchmarkEncode(b *testing.B) {
	frames := recording.Load(b, "charlie", 1500)
	s := frame.Cubes(901)
	for _, c := range All() {
		b.Run(c.Name, func(b *testing.B) {
			enc, _, _ := c.New(s, c.Defaults())
			var buf []byte
			b.ReportAllocs()
			n := 0
			refs := make([]encoders.Ref, 1)
			var bud encoders.Budget
			for b.Loop() {
				f := 300 + n%1200
				n++
				refs[0].Frame = frames[f-6]
				buf, _, _ = enc.Encode(buf[:0], frames[f], refs, nil, &bud)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	frames := recording.Load(b, "charlie", 1500)
	s := frame.Cubes(901)
	for _, c := range All() {
		b.Run(c.Name, func(b *testing.B) {
			enc, dec, _ := c.New(s, c.Defaults())
			refs := make([]encoders.Ref, 1)
			var packets [][]byte
			for f := 300; f < 1500; f++ {
				refs[0].Frame = frames[f-6]
				p, _, _ := enc.Encode(nil, frames[f], refs, nil, nil)
				packets = append(packets, p)
			}
			b.ReportAllocs()
			n := 0
			got := s.NewFrame()
			for b.Loop() {
				f := n % 1200
				n++
				refs[0].Frame = frames[300+f-6]
				if _, err := dec.Decode(got, packets[f], refs, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

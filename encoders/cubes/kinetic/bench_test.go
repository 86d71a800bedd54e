package kinetic_test

import (
	"slices"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/kinetic"
	"wirelab/encoders/internal/recording"
)

// The benchmarks encode and decode the frames of a recording again and again, each against the frame
// six before it. The reported percentiles are over frames, of the shortest time of each frame: "there"
// until the packet or the frame is returned, "done" until Finish has returned. They need about
// -benchtime 2400x to be meaningful.
func BenchmarkEncode(b *testing.B) { benchmark(b, false) }
func BenchmarkDecode(b *testing.B) { benchmark(b, true) }

func benchmark(b *testing.B, decode bool) {
	for _, codec := range []encoders.Codec{kinetic.Lite(), kinetic.Kinetic()} {
		b.Run(codec.Name, func(b *testing.B) {
			list := recording.Load(b, "charlie", 1100)[300:]
			s := frame.Cubes(frame.WalkoffCubes)
			enc, dec, err := codec.New(s, codec.Defaults())
			if err != nil {
				b.Fatal(err)
			}
			memos, packets := make([]encoders.Memo, len(list)), make([][]byte, len(list))
			moved := 0
			for n := recording.BaselineAge; n < len(list); n++ {
				refs := []encoders.Ref{{Frame: list[n-recording.BaselineAge], Memo: memos[n-recording.BaselineAge]}}
				if packets[n], memos[n], err = enc.Encode(nil, list[n], refs, nil, nil); err != nil {
					b.Fatal(err)
				}
				moved += list[n].ChangedRows(list[n-recording.BaselineAge], frame.CubeFields)
			}
			var out []byte
			var spare encoders.Memo
			refs := make([]encoders.Ref, 1)
			got, n := s.NewFrame(), recording.BaselineAge
			var there, done [1000]time.Duration // of frame n
			end := enc.(encoders.Finisher)
			if decode {
				end = dec.(encoders.Finisher)
			}
			end.Defer()
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				refs[0] = encoders.Ref{Frame: list[n-recording.BaselineAge], Memo: memos[n-recording.BaselineAge]}
				if decode {
					got.Tick = list[n].Tick
					spare, err = dec.Decode(got, packets[n], refs, spare)
				} else {
					out, spare, err = enc.Encode(out[:0], list[n], refs, spare, nil)
				}
				if err != nil {
					b.Fatal(err)
				}
				until := time.Since(start)
				end.Finish()
				all := time.Since(start)
				if there[n] == 0 || all < done[n] {
					there[n], done[n] = until, all
				}
				if n++; n == len(list) {
					n = recording.BaselineAge
				}
			}
			for _, m := range []struct {
				name  string
				times [1000]time.Duration
			}{{"there", there}, {"done", done}} {
				list := slices.DeleteFunc(m.times[:], func(d time.Duration) bool { return d == 0 })
				slices.Sort(list)
				b.ReportMetric(float64(list[len(list)/2].Microseconds()), m.name+"-p50-us")
				b.ReportMetric(float64(list[len(list)*99/100].Microseconds()), m.name+"-p99-us")
			}
			b.ReportMetric(float64(moved)/float64(len(list)-recording.BaselineAge), "cubes")
		})
	}
}

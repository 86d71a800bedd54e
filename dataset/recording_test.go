package dataset

import (
	"io"
	"os"
	"testing"

	"wirelab/dataset/frame"
)

const charlie = "../../shared/data/cubes/charlie.bin.zst"

func BenchmarkRecording(b *testing.B) {
	for _, path := range []string{charlie} {
		b.Run(path, func(b *testing.B) {
			if _, err := os.Stat(path); err != nil {
				b.Skip("no reference data at", path)
			}
			r, err := OpenRecording(path, 0, true)
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			var f frame.Frame
			b.ReportAllocs()
			for b.Loop() {
				if err := r.Next(&f); err == io.EOF {
					b.Fatal("ended")
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
		})
	}
}

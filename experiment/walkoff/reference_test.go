package walkoff

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/internal/testkit"
)

// openRecording returns the name of a recording of the reference data and a function that opens it.
func openRecording(t *testing.T, name string) (spec string, open Open) {
	t.Helper()
	spec = testkit.DataFile(t, "cubes/"+name+".bin.zst")
	return spec, func() (dataset.Source, error) { return dataset.Open(t.Context(), spec, dataset.Options{}) }
}

func codecsFor(s *frame.Schema) (list []*encoders.Codec) {
	all := table.All()
	for i := range all {
		if all[i].Suits(s) {
			list = append(list, &all[i])
		}
	}
	return list
}

// All encoders of cubes are lossless and pass the audit.
func TestEveryEncoder(t *testing.T) {
	frames := testkit.ChooseLong(800, 500, 30) // after 500 frames many cubes move
	names := testkit.ChooseLong([]string{"alpha", "bravo", "charlie"}, []string{"alpha"}, []string{"alpha"})
	for _, name := range names {
		spec, open := openRecording(t, name)
		board, err := Run(context.Background(), spec, open, codecsFor(frame.Cubes(frame.WalkoffCubes)),
			Options{Frames: frames, Audit: testProcess, Clock: stepClock()})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range board.Results {
			if !r.Lossless || r.Audit != auditPass || r.Packets != frames-Delay {
				t.Errorf("%s on %s: lossless %v, audit %s, %d packets: %s", r.Encoder, name, r.Lossless, r.Audit, r.Packets, r.Problem)
			}
		}
	}
}

// uncompressed returns the contents of a .zst file.
func uncompressed(t *testing.T, path string) []byte {
	t.Helper()
	packed := must(os.ReadFile(path))
	z := must(zstd.NewReader(nil))
	defer z.Close()
	raw := must(z.DecodeAll(packed, nil))
	return raw
}

// The results on whole recordings agree with those of the authors' programs on the same data. Fiedler's program
// needs 516.5 bytes per packet on charlie and 481.3 on bravo.
func TestReferencePrograms(t *testing.T) {
	codec := must(table.ByName("relative-orientation"))
	for name, fiedler := range testkit.Choose(map[string]float64{"bravo": 481.3, "charlie": 516.5}, map[string]float64{"charlie": 516.5}) {
		spec, open := openRecording(t, name)
		board := must(Run(context.Background(), spec, open, []*encoders.Codec{codec}, Options{Clock: stepClock()}))
		raw := uncompressed(t, spec)
		if d := board.Dataset; d.SHA256 != fmt.Sprintf("%x", sha256.Sum256(raw)) || d.Cubes != 901 || 4*d.Frames*frame.Cubes(d.Cubes).Cells() != len(raw) {
			t.Errorf("scored %+v of %d bytes", d, len(raw))
		}
		if r := board.Results[0]; !r.Lossless || r.BytesPerPacket > fiedler {
			t.Errorf("%s: lossless %v, %.1f bytes a packet; Fiedler's own program needs %.1f", name, r.Lossless, r.BytesPerPacket, fiedler)
		}
	}
}

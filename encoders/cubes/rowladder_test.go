package cubes

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
)

// Payloads that are put together from the codes of rows are those of Encode. Rungs whose rows have something in common,
// and those that send every row, are not row coders.
func TestRowCoders(t *testing.T) {
	alone := map[string]bool{"changed-bits": true, "changed-index": true, "relative-index": true, "relative-position": true, "relative-orientation": true}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, codec := range Ladder() {
		for _, rows := range []int{1, 2, 64, 901} {
			s := frame.Cubes(rows)
			enc, _, err := codec.New(s, codec.Defaults())
			if err != nil {
				t.Fatal(err)
			}
			coder, ok := enc.(encoders.RowCoder)
			if ok != alone[codec.Name] {
				t.Errorf("%s codes rows alone: %v", codec.Name, ok)
			}
			if !ok {
				continue
			}
			for range 100 {
				base, cur := s.NewFrame(), s.NewFrame()
				var list []int32
				var codes []encoders.RowCode
				share, size := rng.Float64(), int32(1)<<rng.IntN(16)
				for i := range rows {
					q, old := cube.At(cur.Table, i), cube.At(base.Table, i)
					*old = randomTurned(rng)
					*q = *old
					if rng.Float64() < share {
						*q = randomNear(rng, *old, size)
					}
					if *q == *old {
						continue
					}
					code, ok := coder.CodeRow(q[:], old[:])
					if !ok {
						t.Fatalf("%s refuses %v", codec.Name, q)
					}
					list, codes = append(list, int32(i)), append(codes, code)
				}
				want, _, err := enc.Encode([]byte{7}, cur, []encoders.Ref{{Frame: base}}, nil, nil)
				if got := coder.AppendRows([]byte{7}, list, codes); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s: %d of %d rows are %x, want %x, %v", codec.Name, len(list), rows, got, want, err)
				}
			}
			outside := frame.Cubes(1).NewFrame().Table
			outside[frame.CubeLargest] = 4
			if _, ok := coder.CodeRow(outside, make([]int32, frame.CubeFields)); ok {
				t.Errorf("%s accepts a row that is out of range", codec.Name)
			}
		}
	}
}

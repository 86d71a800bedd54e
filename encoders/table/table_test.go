package table

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

func TestSmoke(t *testing.T) {
	s := frame.Cubes(901)
	for _, c := range All() {
		enc, dec, err := c.New(s, c.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		base, cur, got := s.NewFrame(), s.NewFrame(), s.NewFrame()
		for i := 0; i < 901; i++ {
			cur.Table[i*8] = int32(i & 3)
			for k := 1; k < 4; k++ {
				cur.Table[i*8+k] = int32(i*k*7) & 511
			}
			cur.Table[i*8+4] = int32(i*290 - 131072)
		}
		cur.Tick = 6
		var b encoders.Budget
		out, _, err := enc.Encode(nil, cur, []encoders.Ref{{Frame: base}}, nil, &b)
		if err != nil || b.Total() != int64(len(out))*8*encoders.BitUnit {
			t.Fatal(err, b, len(out))
		}
		if _, err := dec.Decode(got, out, []encoders.Ref{{Frame: base}}, nil); err != nil || !got.Equal(cur) {
			t.Fatal(c.Name, err)
		}
	}
}

package walkoff

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// walkWithPrices is a walk with the prices of a game: the baselines of the frames after frame
// 6 are 1 to 3 frames old.
type walkWithPrices struct {
	*walk
	made int
}

func openWalkWithPrices() (dataset.Source, error) {
	src, err := openWalk(40)()
	return &walkWithPrices{walk: src.(*walk)}, err
}

func (m *walkWithPrices) Next(f *frame.Frame) error {
	m.made++
	return m.walk.Next(f)
}

func (m *walkWithPrices) Price() dataset.Price {
	return dataset.Price{Bits: 100 + m.made, Base: (m.made - 1) % 4}
}

// Encoder and decoder get the baseline of the requested age, unchanged.
func TestBaselineAge(t *testing.T) {
	var all []*frame.Frame
	src, _ := openWalkWithPrices()
	initial := src.Schema().NewFrame()
	src.Initial(initial)
	for range 34 {
		f := src.Schema().NewFrame()
		noError(t, src.Next(f))
		all = append(all, f)
	}
	for _, back := range []BaselineAge{0, 1, 6, 9, GameBaseline} {
		n := 0
		is := func(base *frame.Frame, n int) bool {
			at := n - int(back)
			switch {
			case back == 0:
				at = n - Delay
			case back == GameBaseline && n%4 == 0:
				at = -1
			case back == GameBaseline:
				at = n - n%4
			}
			if at < 0 {
				return base.Equal(initial)
			}
			return base.Equal(all[at])
		}
		spy := testCodec{
			encode: func(dst []byte, cur, base *frame.Frame) []byte {
				if !is(base, n) {
					t.Errorf("back %d: frame %d is encoded with another baseline", back, n)
				}
				for _, v := range cur.Table {
					dst = binary.LittleEndian.AppendUint32(dst, uint32(v))
				}
				return dst
			},
			decode: func(dst, base *frame.Frame, src []byte) error {
				if !is(base, n) {
					t.Errorf("back %d: frame %d is decoded with another baseline", back, n)
				}
				for i := range dst.Table {
					dst.Table[i] = int32(binary.LittleEndian.Uint32(src[4*i:]))
				}
				n++
				return nil
			},
		}
		codec := encoders.Codec{Name: "spy", New: func(*frame.Schema, any) (encoders.Encoder, encoders.Decoder, error) { return spy, spy, nil }}
		board, err := Run(context.Background(), "match", openWalkWithPrices, []*encoders.Codec{&codec}, Options{Clock: stepClock(), Back: back})
		if err != nil || n != len(all) || !board.Results[0].Lossless {
			t.Fatalf("%d back: %d frames, %+v, %v", back, n, board, err)
		}
		d, r := board.Dataset, board.Results[0]
		bits := 100*34 + 34*35/2
		if d.Game == nil || d.Game.Bytes != float64(bits)/8 || d.Game.Packets != 34 || *r.OfGame != round(float64(r.Bytes)/d.Game.Bytes) {
			t.Errorf("%d back: %+v, %+v", back, d, r)
		}
		want := fmt.Sprintf(`"baselines":"back","back":%d}`, back)
		switch back {
		case GameBaseline:
			want = `"baselines":"game"}`
		case 0, Delay:
			want = `"baselines":"walkoff"}`
		}
		if text, err := json.Marshal(d); err != nil || !strings.HasSuffix(string(text), want) {
			t.Errorf("%d back: %s, %v; want %s at its end", back, text, err, want)
		}
	}
	for _, c := range []struct {
		open Open
		opt  Options
	}{{openWalk(20), Options{Back: GameBaseline}}, {openWalkWithPrices, Options{Back: 256}}, {openWalkWithPrices, Options{Back: -2}}, {openWalkWithPrices, Options{Back: 1, Audit: testProcess}}} {
		if _, err := Run(context.Background(), "match", c.open, nil, c.opt); !errors.Is(err, errUnsuitable) {
			t.Errorf("%+v: error %v", c.opt, err)
		}
	}
}

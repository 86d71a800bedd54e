package table_test

import (
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/internal/recording"
	"wirelab/encoders/table"
	"wirelab/internal/testkit"
)

// fiedler has the mean packet sizes of Fiedler's own program in bytes, without india and juliett: there most cubes
// move at the same speed, width classes save nothing, and his program is better.
var fiedler = map[string]float64{"bravo": 481.3, "charlie": 516.5, "kilo": 538.6, "lima": 519.6}

// score encodes and decodes a recording by the rules of the walk-off and returns the mean packet size in bytes and
// the bit budget of all packets.
func score(t *testing.T, c encoders.Codec, frames []*frame.Frame) (float64, encoders.Budget) {
	t.Helper()
	s := frame.Cubes(frame.WalkoffCubes)
	enc, dec, err := c.New(s, defaults(c))
	if err != nil {
		t.Fatal(err)
	}
	var budget encoders.Budget
	var payload []byte
	var total int
	got, refs := s.NewFrame(), []encoders.Ref{{}}
	sent, seen := make([]encoders.Memo, len(frames)), make([]encoders.Memo, len(frames))
	for n := recording.BaselineAge; n < len(frames); n++ {
		base := n - recording.BaselineAge
		refs[0] = encoders.Ref{Frame: frames[base], Memo: sent[base]}
		if payload, sent[n], err = enc.Encode(payload[:0], frames[n], refs, nil, &budget); err != nil {
			t.Fatalf("%s, frame %d: encode: %v", c.Name, n, err)
		}
		refs[0].Memo, got.Tick = seen[base], frames[n].Tick
		if seen[n], err = dec.Decode(got, payload, refs, nil); err != nil {
			t.Fatalf("%s, frame %d: decode: %v", c.Name, n, err)
		}
		if !got.Equal(frames[n]) {
			t.Fatalf("%s, frame %d: the decoded frame differs", c.Name, n)
		}
		total += len(payload)
	}
	packets := len(frames) - recording.BaselineAge
	if want := int64(total) * 8 * encoders.BitUnit; budget.Total() != want {
		t.Fatalf("%s: the budget sums to %d units, want %d", c.Name, budget.Total(), want)
	}
	return float64(total) / float64(packets), budget
}

// TestLadder checks on every recording that each encoder of the ladder needs no more bytes than the one before,
// that the article's last needs no more than its author's program, and that rotor needs fewer bits for orientations
// than the smallest three.
func TestLadder(t *testing.T) {
	names := testkit.ChooseLong(recording.Names(), []string{"charlie"}, []string{"charlie", "bravo"})
	length := testkit.Choose(0, 300)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			frames := recording.Load(t, name, length)
			before, beforeName := 1e9, ""
			orientation := map[string]int64{}
			for _, c := range table.All() {
				if c.ID > 15 { // what follows the rungs need not be ordered among itself
					continue
				}
				mean, budget := score(t, c, frames)
				t.Logf("%-22s %8.1f bytes a packet", c.Name, mean)
				if mean > before {
					t.Errorf("%s takes %.1f bytes per packet, %s before it %.1f", c.Name, mean, beforeName, before)
				}
				before, beforeName = mean, c.Name
				orientation[c.Name] = budget.Units[encoders.SlotOrientation]
				if most, ok := fiedler[name]; ok && length == 0 && c.Name == "relative-orientation" && mean > most {
					t.Errorf("%s takes %.1f bytes per packet, Fiedler's program %.1f", c.Name, mean, most)
				}
			}
			if orientation["rotor"] >= orientation["relative-orientation"] {
				t.Errorf("rotor spends %d units on orientation, relative-orientation %d", orientation["rotor"],
					orientation["relative-orientation"])
			}
		})
	}
}

// TestGeneralCompressors checks the general-purpose compressors: they are lossless, those that use the baseline are better
// than those that do not, and a dictionary of cubes helps.
func TestGeneralCompressors(t *testing.T) {
	frames := recording.Load(t, "charlie", 150)
	means := map[string]float64{}
	for _, c := range table.All() {
		if c.ID >= 64 {
			means[c.Name], _ = score(t, c, frames)
			t.Logf("%-22s %8.1f bytes a packet", c.Name, means[c.Name])
		}
	}
	for _, knows := range []string{"xor-rle", "zstd-baseline"} {
		for _, knowsNot := range []string{"deflate", "zstd", "zstd-dict"} {
			if means[knows] >= means[knowsNot] {
				t.Errorf("%s takes %.1f bytes per packet, %s only %.1f", knows, means[knows], knowsNot, means[knowsNot])
			}
		}
	}
	if means["zstd-dict"] >= means["zstd"] {
		t.Errorf("%.1f bytes per packet with a dictionary, %.1f without", means["zstd-dict"], means["zstd"])
	}
}

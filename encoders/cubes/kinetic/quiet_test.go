package kinetic

import (
	"bytes"
	"cmp"
	"slices"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/cubes/cube"
	"wirelab/encoders/internal/recording"
	"wirelab/internal/testkit"
)

// Quiet cubes take the bits that they would take if they were looked at like all others, and
// most cubes of a large world are quiet.
func TestQuiet(t *testing.T) {
	worlds := map[string][]*frame.Frame{"a crowd": recording.Crowd(3000, 60, 20), "the demo": recording.Demo(t, 400, 430)}
	both(t, func(t *testing.T, codec encoders.Codec) {
		for name, list := range worlds {
			rows := len(list[0].Table) / frame.CubeFields
			c, plain, memos, quiet := newChains(t, codec, rows), newChains(t, codec, rows).enc.(*coder), map[int]encoders.Memo{}, 0
			for n := recording.BaselineAge; n < len(list); n++ {
				base := list[n-recording.BaselineAge]
				want := c.send(t, list[n], base)
				plain.Begin(nil, nil)
				if err := plain.compare(list[n], base, nil); err != nil {
					t.Fatal(err)
				}
				plain.begin(list[n], base, []encoders.Ref{{Frame: base, Memo: memos[n-recording.BaselineAge]}}, nil)
				for _, i := range plain.scene.order {
					if plain.scene.isQuiet(int(i)) {
						quiet++
					}
					plain.scene.calm = false // so that none is
					if err := plain.codeCube(int(i)); err != nil {
						t.Fatal(err)
					}
					plain.scene.calm = !isFar(cube.At(base.Table, 0), list[n].Table[frame.CubeX], list[n].Table[frame.CubeY], calmMotion)
				}
				memos[n] = plain.end()
				if got := plain.End(nil, nil); !bytes.Equal(got, want) || !alike(memos[n].(*memo), c.sent[list[n].Tick].(*memo)) {
					t.Fatalf("%s, frame %d: another packet or memo", name, n)
				}
			}
			if share := float64(quiet) / float64(rows*c.frames); share < 0.6 {
				t.Errorf("%s: %.0f %% of the cubes are quiet", name, 100*share)
			}
		}
	})
}

// Cubes come by distance from the player, and those at the same distance by number.
func TestOrder(t *testing.T) {
	for _, f := range append(recording.Crowd(700, 50, 1), frame.Cubes(50).NewFrame(), frame.Cubes(1).NewFrame()) {
		var s scene
		s.begin(f.Table, f.Table, 6, nil)
		want := make([]int32, s.rows)
		for i := range want {
			want[i] = int32(i)
		}
		player := cube.At(f.Table, 0)
		slices.SortStableFunc(want, func(a, b int32) int {
			return cmp.Compare(cube.Distance2(player, cube.At(f.Table, int(a))), cube.Distance2(player, cube.At(f.Table, int(b))))
		})
		if !slices.Equal(s.order, want) {
			t.Fatalf("%d cubes are out of order", s.rows)
		}
	}
}

// A mover costs about the same whether a hundred are in motion or a thousand: no limit that
// suits 901 cubes binds in a larger world.
func TestCrowdOfMovers(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("takes seconds")
	}
	perMover := func(movers int) float64 {
		list := recording.Crowd(10_000, movers, 24)
		c := newChains(t, Kinetic(), 10_000)
		bytes, moved := 0, 0
		for n := recording.BaselineAge; n < len(list); n++ {
			out := c.send(t, list[n], list[n-recording.BaselineAge])
			checkMemo(t, c.sent[list[n].Tick].(*memo))
			if n >= 12 {
				bytes += len(out)
				moved += list[n].ChangedRows(list[n-recording.BaselineAge], frame.CubeFields)
			}
		}
		return float64(bytes) / float64(moved)
	}
	few, many := perMover(100), perMover(1000)
	t.Logf("%.2f bytes a mover of 100, %.2f of 1,000", few, many)
	if many > 1.2*few {
		t.Errorf("%.2f bytes a mover of 1,000, %.2f of 100", many, few)
	}
}

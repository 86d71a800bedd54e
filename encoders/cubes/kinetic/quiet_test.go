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

// TestQuietCubes checks that the fast path for quiet cubes gives the same packets and memos as the
// full one, and that most cubes of a large world are quiet.
func TestQuietCubes(t *testing.T) {
	worlds := map[string][]*frame.Frame{"a crowd": recording.Crowd(3000, 60, 20), "the demo": recording.Demo(t, 400, 430)}
	testBoth(t, func(t *testing.T, codec encoders.Codec) {
		for name, list := range worlds {
			rows := len(list[0].Table) / frame.CubeFields
			c, plain := newConnection(t, codec, rows), newConnection(t, codec, rows).enc.(*coder)
			memos, quiet := map[int]encoders.Memo{}, 0
			for n := recording.BaselineAge; n < len(list); n++ {
				base := list[n-recording.BaselineAge]
				want := c.send(t, list[n], base)
				plain.BeginEncode(nil, nil)
				if err := plain.findChanges(list[n], base, nil); err != nil {
					t.Fatal(err)
				}
				plain.beginFrame(list[n], base, []encoders.Ref{{Frame: base, Memo: memos[n-recording.BaselineAge]}}, nil)
				for _, i := range plain.scene.order {
					if plain.scene.isQuiet(int(i)) {
						quiet++
					}
					plain.scene.playerIsSlow = false // so that no cube is quiet
					if err := plain.codeCube(int(i)); err != nil {
						t.Fatal(err)
					}
					plain.scene.playerIsSlow = !isFar(cube.At(base.Table, 0), list[n].Table[frame.CubeX],
						list[n].Table[frame.CubeY], slowPlayerMotion)
				}
				memos[n] = plain.endFrame()
				if got := plain.FinishEncode(nil, nil); !bytes.Equal(got, want) ||
					!equalMemos(memos[n].(*memo), c.sent[list[n].Tick].(*memo)) {
					t.Fatalf("%s, frame %d: packet or memo differs", name, n)
				}
			}
			if share := float64(quiet) / float64(rows*c.frames); share < 0.6 {
				t.Errorf("%s: %.0f %% of the cubes are quiet", name, 100*share)
			}
		}
	})
}

// TestSortByDistance compares the order of cubes with a stable sort by distance from the player.
func TestSortByDistance(t *testing.T) {
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
			t.Fatalf("wrong order of %d cubes", s.rows)
		}
	}
}

// TestBytesPerMoverInCrowds checks that a moving cube costs about the same whether a hundred or a
// thousand move: limits chosen for 901 cubes must not matter in a larger world.
func TestBytesPerMoverInCrowds(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("takes seconds")
	}
	perMover := func(movers int) float64 {
		list := recording.Crowd(10_000, movers, 24)
		c := newConnection(t, Kinetic(), 10_000)
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
	t.Logf("%.2f bytes per moving cube of 100, %.2f of 1,000", few, many)
	if many > 1.2*few {
		t.Errorf("%.2f bytes per moving cube of 1,000, %.2f of 100", many, few)
	}
}

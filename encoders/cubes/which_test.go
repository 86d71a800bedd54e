package cubes

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"wirelab/dataset/frame"
)

// list sends a list of rows by x and returns its bits.
func list(t *testing.T, x indexCoder, rows []int32, n int) int {
	t.Helper()
	var w, r coder
	w.write(nil)
	x.code(&w, rows, n)
	bits := w.w.Len()
	r.read(w.finish(nil))
	got := x.code(&r, nil, n)
	if err := r.close(); err != nil {
		t.Fatalf("%v of %d: %v", rows, n, err)
	}
	if !slices.Equal(got, rows) {
		t.Fatalf("%v of %d comes back as %v", rows, n, got)
	}
	return bits
}

// randomList picks rows, each with probability p, in clumps.
func randomList(rng *rand.Rand, n int, p float64) []int32 {
	var rows []int32
	for i := range n {
		q := p
		if len(rows) > 0 && int(rows[len(rows)-1]) == i-1 {
			q = max(p, 0.5)
		}
		if rng.Float64() < q {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

func TestLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 3, 7, 8, 9, 31, 32, 33, 64, 65, 901, 5000} {
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		lists := [][]int32{nil, all, all[n-1:], all[:1], all[n/2 : n/2+1]}
		for _, p := range []float64{0.002, 0.02, 0.1, 0.5} {
			for range 20 {
				lists = append(lists, randomList(rng, n, p))
			}
		}
		for _, rows := range lists {
			if bits := list(t, bitmap{}, rows, n); bits != n {
				t.Fatalf("bitmap of %d rows takes %d bits", n, bits)
			}
			indexed := list(t, newIndices(n), rows, n)
			relative := list(t, newGaps(n, publishedGaps...), rows, n)
			closer := list(t, newGaps(n, closeGaps...), rows, n)
			if most := n + 1; indexed > most || relative > most || closer > most {
				t.Fatalf("%d of %d rows take %d, %d, %d bits; a flag and the bitmap would be %d", len(rows), n, indexed, relative,
					closer, most)
			}
		}
	}
}

// The figures of the article, for 901 cubes.
func TestIndexBits(t *testing.T) {
	x := newIndices(901)
	if x.width != 10 || x.most != 89 || x.count != 7 {
		t.Errorf("an index takes %d bits, at most %d of them, counted in %d; want 10, 89, 7", x.width, x.most, x.count)
	}
	g, near := newGaps(901, publishedGaps...), newGaps(901, closeGaps...)
	for gap := 1; gap <= 901; gap++ {
		want, wantNear := 12, 13
		if gap <= 8 {
			want = 4
		} else if gap <= 40 {
			want = 7
		}
		switch {
		case gap == 1:
			wantNear = 1
		case gap <= 9:
			wantNear = 5
		case gap <= 41:
			wantNear = 8
		}
		if got := g.gapBits(gap); got != want {
			t.Errorf("a distance of %d takes %d bits, want %d", gap, got, want)
		}
		if got := near.gapBits(gap); got != wantNear {
			t.Errorf("a distance of %d takes %d bits with the next cube apart, want %d", gap, got, wantNear)
		}
	}
}

// The dry run says exactly what the list then takes.
func TestDryRun(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		rows := randomList(rng, 901, 0.05)
		for _, g := range []gaps{newGaps(901, publishedGaps...), newGaps(901, closeGaps...)} {
			want := min(901, g.cost(rows)) + 1
			if got := list(t, g, rows, 901); got != want {
				t.Fatalf("%d rows take %d bits, the dry run said %d", len(rows), got, want)
			}
		}
	}
}

// The blocks find what a look at every row finds.
func TestAppendChanged(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{1, 7, 8, 9, 16, 100, 901} {
		s := frame.Cubes(n)
		for range 50 {
			base, cur := s.NewFrame(), s.NewFrame()
			var want []int32
			for _, i := range randomList(rng, n, 0.05) {
				cur.Table[int(i)*frame.CubeFields+rng.IntN(frame.CubeFields)] = 1
				want = append(want, i)
			}
			if got := appendChanged(nil, cur.Table, base.Table); !slices.Equal(got, want) {
				t.Fatalf("of %d rows %v are found, want %v", n, got, want)
			}
		}
	}
}

// Lists that no writer makes are refused: an index that does not rise, one past
// the last row, more of them than there are rows.
func TestListsAreChecked(t *testing.T) {
	x, g := newIndices(100), newGaps(100, publishedGaps...)
	for name, write := range map[string]func(c *coder){
		"twice the same": func(c *coder) { c.bits(2, x.count); c.bits(5, x.width); c.bits(5, x.width) },
		"falling":        func(c *coder) { c.bits(2, x.count); c.bits(5, x.width); c.bits(4, x.width) },
		"past the last":  func(c *coder) { c.bits(1, x.count); c.bits(100, x.width) },
	} {
		if _, err := readList(x, write); !errors.Is(err, errIndex) {
			t.Errorf("index, %s: error %v, want errIndex", name, err)
		}
	}
	for name, write := range map[string]func(c *coder){
		"past the last": func(c *coder) { g.length(c, 2); g.gap(c, 100); g.gap(c, 1) },
		"too many": func(c *coder) {
			g.length(c, 101)
			for range 101 {
				g.gap(c, 1)
			}
		},
	} {
		if _, err := readList(g, write); !errors.Is(err, errIndex) {
			t.Errorf("distance, %s: error %v, want errIndex", name, err)
		}
	}
	if rows, err := readList(x, func(c *coder) { c.bits(2, x.count); c.bits(5, x.width); c.bits(6, x.width) }); err != nil ||
		!slices.Equal(rows, []int32{5, 6}) {
		t.Errorf("an honest list reads as %v, %v", rows, err)
	}
}

// readList reads what write writes behind the flag that says "a list", for 100
// rows.
func readList(x indexCoder, write func(c *coder)) ([]int32, error) {
	var w, r coder
	w.write(nil)
	w.flag(true)
	write(&w)
	r.read(w.finish(nil))
	rows := x.code(&r, nil, 100)
	return rows, r.close()
}

package cubes

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"wirelab/dataset/frame"
)

// sendList writes a list of rows below n with x, reads it, compares, and returns its bits.
func sendList(t *testing.T, x indexCoder, rows []int32, n int) int {
	t.Helper()
	var w, r coder
	w.beginWrite(nil)
	x.codeList(&w, rows, n)
	bits := w.w.Len()
	r.beginRead(w.finish(nil))
	got := x.codeList(&r, nil, n)
	if err := r.close(); err != nil {
		t.Fatalf("%v of %d: %v", rows, n, err)
	}
	if !slices.Equal(got, rows) {
		t.Fatalf("%v of %d is read as %v", rows, n, got)
	}
	return bits
}

// randomList returns rows below n, each with probability p, or at least 1/2 after a row in the list.
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
			if bits := sendList(t, bitmap{}, rows, n); bits != n {
				t.Fatalf("bitmap of %d rows takes %d bits", n, bits)
			}
			indexed := sendList(t, newIndices(n), rows, n)
			relative := sendList(t, newGaps(n, publishedGapWidths...), rows, n)
			closer := sendList(t, newGaps(n, closeGapWidths...), rows, n)
			if most := n + 1; indexed > most || relative > most || closer > most {
				t.Fatalf("%d of %d rows take %d, %d, %d bits; want at most %d, a flag and the bitmap", len(rows), n,
					indexed, relative,
					closer, most)
			}
		}
	}
}

// TestIndexBits checks the bits of indices and distances that the article gives for 901 cubes.
func TestIndexBits(t *testing.T) {
	x := newIndices(901)
	if x.indexBits != 10 || x.maxLength != 89 || x.lengthBits != 7 {
		t.Errorf("an index takes %d bits, at most %d of them, counted in %d; want 10, 89, 7", x.indexBits,
			x.maxLength, x.lengthBits)
	}
	g, near := newGaps(901, publishedGapWidths...), newGaps(901, closeGapWidths...)
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
			t.Errorf("a distance of %d takes %d bits with closeGapWidths, want %d", gap, got, wantNear)
		}
	}
}

// TestListBits compares listBits with the bits written.
func TestListBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		rows := randomList(rng, 901, 0.05)
		for _, g := range []gaps{newGaps(901, publishedGapWidths...), newGaps(901, closeGapWidths...)} {
			want := min(901, g.listBits(rows)) + 1
			if got := sendList(t, g, rows, 901); got != want {
				t.Fatalf("%d rows take %d bits, listBits gives %d", len(rows), got, want)
			}
		}
	}
}

// TestAppendChanged compares appendChanged, which compares blocks of rows, with the changed rows.
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

// TestInvalidLists checks that readers refuse lists that no writer makes: indices that are not
// ascending or past the last row, and more indices than rows.
func TestInvalidLists(t *testing.T) {
	x, g := newIndices(100), newGaps(100, publishedGapWidths...)
	for name, write := range map[string]func(c *coder){
		"twice the same": func(c *coder) {
			c.codeBits(2, x.lengthBits)
			c.codeBits(5, x.indexBits)
			c.codeBits(5,
				x.indexBits)
		},
		"falling": func(c *coder) {
			c.codeBits(2, x.lengthBits)
			c.codeBits(5, x.indexBits)
			c.codeBits(4,
				x.indexBits)
		},
		"past the last": func(c *coder) { c.codeBits(1, x.lengthBits); c.codeBits(100, x.indexBits) },
	} {
		if _, err := readList(x, write); !errors.Is(err, errIndex) {
			t.Errorf("index, %s: error %v, want errIndex", name, err)
		}
	}
	for name, write := range map[string]func(c *coder){
		"past the last": func(c *coder) { g.codeLength(c, 2); g.codeGap(c, 100); g.codeGap(c, 1) },
		"too many": func(c *coder) {
			g.codeLength(c, 101)
			for range 101 {
				g.codeGap(c, 1)
			}
		},
	} {
		if _, err := readList(g, write); !errors.Is(err, errIndex) {
			t.Errorf("distance, %s: error %v, want errIndex", name, err)
		}
	}
	if rows, err := readList(x, func(c *coder) {
		c.codeBits(2, x.lengthBits)
		c.codeBits(5,
			x.indexBits)
		c.codeBits(6, x.indexBits)
	}); err != nil ||
		!slices.Equal(rows, []int32{5, 6}) {
		t.Errorf("a valid list is read as %v, %v", rows, err)
	}
}

// readList reads, as a list of rows below 100, what write writes after a flag of 1.
func readList(x indexCoder, write func(c *coder)) ([]int32, error) {
	var w, r coder
	w.beginWrite(nil)
	w.codeFlag(true)
	write(&w)
	r.beginRead(w.finish(nil))
	rows := x.codeList(&r, nil, 100)
	return rows, r.close()
}

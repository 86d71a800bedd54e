package cubes

import (
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
)

// TestSmallLarge writes and reads every difference that fits, and checks its bits and the range: the
// large range begins where the small one ends, so each difference has one code.
func TestSmallLarge(t *testing.T) {
	for small := range uint(8) {
		for large := range uint(10) {
			w := widths{small, large}
			lowest, highest := int32(1), int32(-1)
			for v := int32(-800); v <= 800; v++ {
				if !w.fits(zigzag(v)) {
					continue
				}
				lowest, highest = min(lowest, v), max(highest, v)
				var c, r coder
				c.beginWrite(nil)
				all, back := [3]int32{v, 0, v}, [3]int32{}
				w.codeThree(&c, &all)
				if got, want := c.w.Len(), 2*w.bits(zigzag(v))+w.bits(0); got != want {
					t.Fatalf("%v: %d takes %d bits, want %d", w, all, got, want)
				}
				r.beginRead(c.finish(nil))
				if w.codeThree(&r, &back); back != all || r.close() != nil {
					t.Fatalf("%v: %d is read as %d, %v", w, all, back, r.close())
				}
			}
			// 2^small + 2^large values around zero.
			if want := int32(1<<small + 1<<large); highest-lowest+1 != want {
				t.Errorf("%v fits %d..%d, want %d values", w, lowest, highest, want)
			}
		}
	}
}

// TestPublishedRanges checks the ranges of the article: 5 small bits are -16 to 15, 9 large bits
// continue from there.
func TestPublishedRanges(t *testing.T) {
	w := widths{5, 9}
	for _, test := range []struct {
		v    int32
		bits int // 0: does not fit
	}{{0, 6}, {-16, 6}, {15, 6}, {-17, 10}, {16, 10}, {-272, 10}, {271, 10}, {-273, 0}, {272, 0}} {
		z, got := zigzag(test.v), 0
		if w.fits(z) {
			got = w.bits(z)
		}
		if got != test.bits {
			t.Errorf("%d takes %d bits, want %d", test.v, got, test.bits)
		}
	}
}

func TestZigzag(t *testing.T) {
	for i, v := range []int32{0, -1, 1, -2, 2, -3} {
		if zigzag(v) != uint32(i) || unzigzag(uint32(i)) != v {
			t.Errorf("zigzag(%d) = %d, want %d, and back %d", v, zigzag(v), i, unzigzag(uint32(i)))
		}
	}
	for _, v := range []int32{-1 << 31, 1<<31 - 1} {
		if unzigzag(zigzag(v)) != v {
			t.Errorf("unzigzag(zigzag(%d)) = %d", v, unzigzag(zigzag(v)))
		}
	}
}

// randomNear returns a cube whose fields differ from base by at most size.
func randomNear(rng *rand.Rand, base cube.Row, size int32) cube.Row {
	q := base
	for k := range q {
		if rng.IntN(5) > 0 {
			q[k] += rng.Int32N(2*size+1) - size
		}
	}
	q[frame.CubeLargest] = base[frame.CubeLargest]
	if rng.IntN(6) == 0 {
		q[frame.CubeLargest] = rng.Int32N(4)
	}
	for k := frame.CubeA; k <= frame.CubeC; k++ {
		q[k] = min(max(q[k], 0), 511)
	}
	q[frame.CubeX] = min(max(q[frame.CubeX], -cube.XYOffset), cube.XYOffset-1)
	q[frame.CubeY] = min(max(q[frame.CubeY], -cube.XYOffset), cube.XYOffset-1)
	q[frame.CubeZ] = min(max(q[frame.CubeZ], 0), 1<<cube.ZBits-1)
	q[frame.CubeInteracting] = rng.Int32N(2)
	return q
}

// TestChooseClass checks that no other width class takes fewer bits than the chosen one.
func TestChooseClass(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, bits := range []uint{0, 1, 2, 3} {
		n := 1 << bits
		m := &motionCoder{classBits: bits, position: newPositionCoder(widths{6, 8}, widths{6, 7}, n),
			orientation: newSmallestThreeCoder(widths{5, 7}, n)}
		for range 3000 {
			base := randomCube(rng)
			q := randomNear(rng, base, 1<<rng.IntN(12))
			moved, turned := !cube.SamePosition(&q, &base), !cube.SameOrientation(&q, &base)
			if !moved && !turned {
				continue
			}
			cost := func(class int) int {
				if moved && class < n-1 && !m.position.classes[class].fits(&q, &base) {
					return 1 << 20
				}
				var c coder
				c.beginWrite(nil)
				if moved {
					m.position.codePosition(&c, &q, &base, class)
				}
				if turned {
					m.orientation.codeOrientation(&c, 0, &q, &base, class)
				}
				return c.w.Len()
			}
			chosen := m.chooseClass(0, &q, &base, moved, turned)
			for g := range n {
				if cost(g) < cost(chosen) {
					t.Fatalf("%v to %v: class %d takes %d bits, class %d was chosen with %d", base, q, g, cost(g),
						chosen, cost(chosen))
				}
			}
		}
	}
}

// TestParts writes and reads every combination of changed parts.
func TestParts(t *testing.T) {
	base := cube.Row{1, 100, 200, 300, 10, 20, 30, 1}
	for mask := 1; mask < 8; mask++ {
		q := base
		if mask&1 != 0 {
			q[frame.CubeY]++
		}
		if mask&2 != 0 {
			q[frame.CubeB]--
		}
		if mask&4 != 0 {
			q[frame.CubeInteracting] ^= 1
		}
		var w, r coder
		w.beginWrite(nil)
		cur := q
		codeParts(&w, &cur, &base)
		bits := w.w.Len()
		r.beginRead(w.finish(nil))
		got := base
		moved, turned := codeParts(&r, &got, &base)
		if moved != (mask&1 != 0) || turned != (mask&2 != 0) || got[frame.CubeInteracting] != q[frame.CubeInteracting] {
			t.Errorf("parts %03b are read as moved %v, turned %v, interacting %d", mask, moved, turned,
				got[frame.CubeInteracting])
		}
		if want := map[int]int{3: 1, 4: 3, 7: 3}[mask]; want != 0 && bits != want {
			t.Errorf("parts %03b take %d bits, want %d", mask, bits, want)
		}
	}
}

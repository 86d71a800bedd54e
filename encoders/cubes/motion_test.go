package cubes

import (
	"math/rand/v2"
	"testing"

	"wirelab/dataset/frame"
	"wirelab/encoders/cubes/cube"
)

// Every difference that fits comes back, in the bits that were announced; the
// large range begins where the small one ends, so no two share a code.
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
				c.write(nil)
				all, back := [3]int32{v, 0, v}, [3]int32{}
				w.three(&c, &all)
				if got, want := c.w.Len(), 2*w.bits(zigzag(v))+w.bits(0); got != want {
					t.Fatalf("%v: %d takes %d bits, announced %d", w, all, got, want)
				}
				r.read(c.finish(nil))
				if w.three(&r, &back); back != all || r.close() != nil {
					t.Fatalf("%v: %d comes back as %d, %v", w, all, back, r.close())
				}
			}
			// 2^small + 2^large values around zero.
			if want := int32(1<<small + 1<<large); highest-lowest+1 != want {
				t.Errorf("%v expresses %d..%d, want %d values", w, lowest, highest, want)
			}
		}
	}
}

// The article's ranges: small 5 bits are [-16,15], and 9 more reach beyond.
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
			t.Errorf("%d comes back as %d", v, unzigzag(zigzag(v)))
		}
	}
}

// nearby returns a cube not far from base, by steps of about size.
func nearby(rng *rand.Rand, base cube.Row, size int32) cube.Row {
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

// The gear that is chosen is the best: coding the cube in any other that can
// express it takes no fewer bits.
func TestGearsAreChosenWell(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, bits := range []uint{0, 1, 2, 3} {
		n := 1 << bits
		m := &motion{gearBits: bits, moves: newPositionCoder(widths{6, 8}, widths{6, 7}, n), turn: newSmallestThree(widths{5, 7}, n)}
		for range 3000 {
			base := randomCube(rng)
			q := nearby(rng, base, 1<<rng.IntN(12))
			moved, turned := !cube.SamePosition(&q, &base), !cube.SameOrientation(&q, &base)
			if !moved && !turned {
				continue
			}
			cost := func(gear int) int {
				if moved && gear < n-1 && !m.moves.gears[gear].fits(&q, &base) {
					return 1 << 20
				}
				var c coder
				c.write(nil)
				if moved {
					m.moves.code(&c, &q, &base, gear)
				}
				if turned {
					m.turn.code(&c, 0, &q, &base, gear)
				}
				return c.w.Len()
			}
			chosen := m.choose(0, &q, &base, moved, turned)
			for g := range n {
				if cost(g) < cost(chosen) {
					t.Fatalf("%v to %v: gear %d takes %d bits, gear %d was chosen with %d", base, q, g, cost(g), chosen, cost(chosen))
				}
			}
		}
	}
}

// Every combination of parts that may differ comes back.
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
		w.write(nil)
		cur := q
		parts(&w, &cur, &base)
		bits := w.w.Len()
		r.read(w.finish(nil))
		got := base
		moved, turned := parts(&r, &got, &base)
		if moved != (mask&1 != 0) || turned != (mask&2 != 0) || got[frame.CubeInteracting] != q[frame.CubeInteracting] {
			t.Errorf("parts %03b come back as moved %v, turned %v, interacting %d", mask, moved, turned, got[frame.CubeInteracting])
		}
		if want := map[int]int{3: 1, 4: 3, 7: 3}[mask]; want != 0 && bits != want {
			t.Errorf("parts %03b take %d bits, want %d", mask, bits, want)
		}
	}
}

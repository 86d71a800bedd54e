package worldview

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// picture returns a raster as text: a letter for a cube, a dot for the ground.
func picture(r *raster) string {
	var b strings.Builder
	for y := range r.h {
		for x := range r.w {
			if i := r.thingAt(x, y); i == ground {
				b.WriteByte('.')
			} else {
				b.WriteByte(byte('a' + i))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func lying(x, y, z float64, half float32) Thing {
	return Thing{X: x, Y: y, Z: z, Half: half, Rot: [4]float32{3: 1}}
}

// hit reports whether a vertical ray through (x, y) hits the cube: the ray is transformed into the
// cube's frame, in which the cube has axis-aligned planes.
func hit(c *Thing, x, y float64) (depth float64) {
	px, py := x-c.X, y-c.Y
	back := func(v [3]float64) [3]float64 { // by the inverse of the rotation
		q := [4]float64{-float64(c.Rot[0]), -float64(c.Rot[1]), -float64(c.Rot[2]), float64(c.Rot[3])}
		cross := func(a, b [3]float64) [3]float64 {
			return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
		}
		u := [3]float64{q[0], q[1], q[2]}
		t := cross(u, v)
		for i := range t {
			t[i] *= 2
		}
		ut := cross(u, t)
		for i := range v {
			v[i] += q[3]*t[i] + ut[i]
		}
		return v
	}
	from, way := back([3]float64{px, py, 0}), back([3]float64{0, 0, 1})
	lo, hi, h := math.Inf(-1), math.Inf(1), float64(c.Half)
	for i := range from {
		if math.Abs(way[i]) < 1e-12 {
			if math.Abs(from[i]) > h {
				return -1
			}
			continue
		}
		a, b := (-h-from[i])/way[i], (h-from[i])/way[i]
		lo, hi = max(lo, min(a, b)), min(hi, max(a, b))
	}
	return hi - lo
}

// TestOutlineAgreesWithRays: every dot of randomly rotated cubes agrees with a vertical ray.
func TestOutlineAgreesWithRays(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	lit := 0
	for range 300 {
		c := Thing{X: rng.Float64()*4 - 2, Y: rng.Float64()*4 - 2, Half: 0.3 + 2*rng.Float32()}
		norm := 0.0
		for i := range c.Rot {
			c.Rot[i] = float32(rng.NormFloat64())
			norm += float64(c.Rot[i]) * float64(c.Rot[i])
		}
		for i := range c.Rot {
			c.Rot[i] /= float32(math.Sqrt(norm))
		}
		var r raster
		v := view{x: 0.3, y: -0.2, dotSize: 0.25}
		r.reset(v, 60, 44)
		r.draw(0, &c)
		for y := range r.h {
			for x := range r.w {
				depth := hit(&c, v.x+(float64(x)+0.5-30)*v.dotSize, v.y-(float64(y)+0.5-22)*v.dotSize)
				if math.Abs(depth) < 1e-3 {
					continue // on the edge: rounding decides
				}
				if got := r.thingAt(x, y) == 0; got != (depth > 0) {
					t.Fatalf("%+v: dot (%d,%d) is lit: %v; a ray there is %g m inside", c, x, y, got, depth)
				}
				if depth > 0 {
					lit++
				}
			}
		}
	}
	if lit < 10_000 {
		t.Errorf("only %d dots were set: too few for the test", lit)
	}
}

func TestHigherCubeCovers(t *testing.T) {
	low, high := lying(0, 0, 1, 2), lying(1, 0, 2, 1)
	var a, b raster
	a.reset(view{dotSize: 0.5}, 16, 16)
	b.reset(view{dotSize: 0.5}, 16, 16)
	a.draw(0, &low)
	a.draw(1, &high)
	b.draw(1, &high)
	b.draw(0, &low)
	if picture(&a) != picture(&b) {
		t.Errorf("the result depends on the order of drawing:\n%s\n%s", picture(&a), picture(&b))
	}
	if n := strings.Count(picture(&a), "b"); n != 16 {
		t.Errorf("%d dots of the higher cube, want 4 x 4", n)
	}
}

// TestHostileCubes: no position that a decoder may produce, and no size, makes Draw panic.
func TestHostileCubes(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	cubes := []Thing{
		{}, lying(nan, 0, 0, 1), lying(inf, -inf, 0, 1), lying(1e30, 0, 0, 1), lying(0, 0, nan, 1), lying(0, 0, 0, -1),
		{Half: 1, Rot: [4]float32{float32(nan), 0, 0, 0}}, {Half: 1, Rot: [4]float32{3e4, 0, 0, 1e4}},
	}
	for _, size := range [][2]int{{0, 0}, {-3, 5}, {1, 1}, {7, 3}} {
		var r raster
		r.reset(view{dotSize: 0.01}, size[0], size[1])
		for i := range cubes {
			r.draw(i, &cubes[i])
		}
		r.thingAt(0, 0)
	}
}

func TestDrawingAllocatesNothing(t *testing.T) {
	var r raster
	c := lying(1, 1, 1, 1)
	draw := func() {
		r.reset(view{dotSize: 0.1}, 100, 100)
		r.draw(0, &c)
	}
	if n := testing.AllocsPerRun(100, draw); n != 0 {
		t.Errorf("%v allocations a picture, want none", n)
	}
}

package chart

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPointsAreAtTheirValues: read back from the labels of the axis, each dot and both ends of its interval are
// within half a row of their values.
func TestPointsAreAtTheirValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for range 500 {
		s := &PointsSpec{Selected: -1, Dot: styleA, Interval: styleB, Axis: styleAxis, Label: styleLabel, Zero: rng.IntN(2) == 0}
		n, w, h := 1+rng.IntN(6), 60+rng.IntN(60), 9+rng.IntN(20)
		size := math.Pow(10, float64(rng.IntN(5)))
		for i := range n {
			v := size * (1 + rng.Float64())
			s.Points = append(s.Points, Point{Value: v, Lo: v - size*rng.Float64()/2, Hi: v + size*rng.Float64()/2, Name: fmt.Sprint("n", i, " with a long name")})
		}
		b := DrawPoints(s, w, h)
		rows := text(b)
		labels := map[int]float64{} // by row
		for y, row := range rows {
			if label := strings.TrimSpace(row[:gutter]); label != "" {
				factor := 1.0
				if strings.HasSuffix(label, "k") {
					label, factor = label[:len(label)-1], 1000
				}
				v, err := strconv.ParseFloat(label, 64)
				if err != nil {
					t.Fatal(err)
				}
				labels[y] = v * factor
			}
		}
		if len(labels) < 2 {
			t.Fatalf("an axis with %d labels:\n%s", len(labels), b)
		}
		top, bottom := h, -1
		for y := range labels {
			top, bottom = min(top, y), max(bottom, y)
		}
		perRow := (labels[top] - labels[bottom]) / float64(bottom-top)
		valueOf := func(y int) float64 { return labels[bottom] + float64(bottom-y)*perRow }
		found := 0
		for x := gutter + 1; x < w; x++ {
			dots := slices.DeleteFunc(inkAt(b, x, styleA), func(y int) bool { return b.Row(y)[x].Rune != '●' })
			if len(dots) == 0 {
				continue
			}
			p := s.Points[found]
			found++
			bar := append(inkAt(b, x, styleB), dots...)
			for _, end := range []struct {
				row   int
				value float64
			}{{dots[0], p.Value}, {slices.Min(bar), p.Hi}, {slices.Max(bar), p.Lo}} {
				if math.Abs(valueOf(end.row)-end.value) > perRow*0.501 {
					t.Fatalf("%v is drawn at %v, rows are %v apart:\n%s", end.value, valueOf(end.row), perRow, b)
				}
			}
			if !strings.Contains(rows[h-1], p.Name[:3]) { // the rest may be cut off
				t.Errorf("the axis lacks %q:\n%s", p.Name, b)
			}
		}
		if found != n {
			t.Fatalf("%d of %d points are drawn:\n%s", found, n, b)
		}
	}
}

// TestPointsFitAnyBox: any data in any box give exactly this box, and the selected point is always drawn.
func TestPointsFitAnyBox(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for range 3000 {
		s := &PointsSpec{Chosen: styleA, Current: styleB, Zero: rng.IntN(2) == 0}
		for range rng.IntN(200) {
			s.Points = append(s.Points, Point{Value: wild(rng), Lo: wild(rng), Hi: wild(rng), Name: "日\x1b name"})
		}
		if len(s.Points) > 0 {
			s.Selected = rng.IntN(len(s.Points))
			s.Points[s.Selected].Value = 5
		}
		w, h := rng.IntN(90), rng.IntN(30)
		b := DrawPoints(s, w, h)
		checkBox(t, b, w, h)
		isDrawn := slices.ContainsFunc(b.Cells, func(c cell) bool { return c.Style == styleA })
		if canDraw := len(s.Points) > 0 && plotWidth(w) >= 2 && h >= 4; canDraw != isDrawn {
			t.Fatalf("%d points in %d x %d: the selected one is drawn: %v\n%s", len(s.Points), w, h, isDrawn, b)
		}
	}
}

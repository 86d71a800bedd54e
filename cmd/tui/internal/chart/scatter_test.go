package chart

import (
	"math"
	"strings"
	"testing"
)

// A dot is where both axes have its value, and the curve stays within the plot.
func TestScatter(t *testing.T) {
	s := &ScatterSpec{Dots: []Dot{{XY: XY{0, 0}, Name: 'o'}, {XY: XY{100, 4}, Name: 'x'}, {XY: XY{50, 2}, Name: 'm'}, {XY: XY{math.NaN(), 1}, Name: 'n'}},
		Curve: []XY{{0, 900}, {20, 5}, {60, 1}, {1e300, 0}}, MinX: 20, AxisX: "ms"}
	lines := strings.Split(strings.TrimRight(DrawScatter(s, 6+41, 2+11).String(), "\n"), "\n")
	find := func(name string) (x, y int) {
		for y, line := range lines {
			if x := strings.IndexRune(line, []rune(name)[0]); x >= 0 {
				return len([]rune(line[:x])), y
			}
		}
		t.Fatalf("%s is not drawn:\n%s", name, strings.Join(lines, "\n"))
		return 0, 0
	}
	x0, y0 := find("o")
	x1, y1 := find("x")
	xm, ym := find("m")
	if xm-x0 != x1-xm || y0-ym != ym-y1 || x1 != 46 || y0 != 10 {
		t.Errorf("o at %d,%d; m at %d,%d; x at %d,%d:\n%s", x0, y0, xm, ym, x1, y1, strings.Join(lines, "\n"))
	}
	if strings.ContainsRune(lines[len(lines)-3], 'n') || !strings.Contains(lines[len(lines)-1], "50") {
		t.Errorf("axis or unknown dot:\n%s", strings.Join(lines, "\n"))
	}
	for w := range 12 {
		for h := range 6 {
			DrawScatter(s, w, h)
		}
	}
}

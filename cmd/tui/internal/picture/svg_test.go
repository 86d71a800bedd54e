package picture

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"
	"testing"
)

// shapeArea returns the area of the parts of a cell that a character fills, as a share of the cell.
func shapeArea(r rune) (sum float64) {
	for _, s := range rectangles(r) {
		sum += s.w * s.h
	}
	return sum / (cellWidth * cellHeight)
}

// The names of the block characters in the Unicode standard state which part of the cell they fill.
func TestBlocksFillTheirShare(t *testing.T) {
	for i := range 8 {
		if got, want := shapeArea('▁'+rune(i)), float64(i+1)/8; got != want {
			t.Errorf("lower block of %d eighths fills %v, want %v", i+1, got, want)
		}
		if got, want := shapeArea('▏'-rune(i)), float64(i+1)/8; got != want {
			t.Errorf("left block of %d eighths fills %v, want %v", i+1, got, want)
		}
	}
	for r, want := range map[rune]float64{'▀': 0.5, '▐': 0.5, '▔': 0.125, '▕': 0.125, '▖': 0.25, '▗': 0.25, '▘': 0.25, '▝': 0.25,
		'▚': 0.5, '▞': 0.5, '▙': 0.75, '▛': 0.75, '▜': 0.75, '▟': 0.75} {
		if got := shapeArea(r); got != want {
			t.Errorf("%c fills %v, want %v", r, got, want)
		}
	}
}

// A Braille pattern has a dot for each bit set in its code point, and no two dots overlap.
func TestBrailleDots(t *testing.T) {
	for r := rune(0x2800); r <= 0x28ff; r++ {
		dots := rectangles(r)
		if len(dots) != bits.OnesCount8(uint8(r)) {
			t.Errorf("%U has %d dots", r, len(dots))
		}
		places := map[rectangle]bool{}
		for _, d := range dots {
			if d.x < 0 || d.y < 0 || d.x+d.w > cellWidth || d.y+d.h > cellHeight {
				t.Errorf("%U: dot %+v is outside of the cell", r, d)
			}
			places[d] = true
		}
		if len(places) != len(dots) {
			t.Errorf("%U: dots overlap", r)
		}
	}
}

// Any screen gives well-formed XML that contains its text, with the colours of the text.
func TestSVG(t *testing.T) {
	screen := "\x1b[38;2;1;2;3mred <b> & \"x\"\x1b[0m\n\x1b[48;5;196m over \x1b[0m│⣿█░\n\x1b[7mreversed\x1b[0m 世界"
	svg := string(SVG(screen, 20, 3, true))
	var text strings.Builder
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if c, ok := token.(xml.CharData); ok {
			text.Write(c)
		}
	}
	for _, want := range []string{`red <b> & "x"`, "over", "reversed", "世界"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text %q is missing in %q", want, text.String())
		}
	}
	for _, want := range []string{`fill="#010203"`, `fill="#ff0000"`, fmt.Sprintf(`fill=%q`, onDark.background)} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

package picture

import (
	"bytes"
	"fmt"
)

// isShape reports whether a character is drawn as a shape: box lines, blocks and Braille.
func isShape(r rune) bool {
	_, isBox := boxArms[r]
	return isBox || r >= 0x2580 && r <= 0x259f || isBraille(r)
}

// isBraille reports whether r is a Braille pattern.
func isBraille(r rune) bool { return r >= 0x2800 && r <= 0x28ff }

// drawShapes appends one path that fills the shapes of characters in consecutive cells, the first of
// which has its upper left corner at (x, y). Shaded blocks are appended as rectangles of their own.
func drawShapes(b *bytes.Buffer, characters []rune, x, y int, color, attributes string) {
	var path bytes.Buffer
	for i, r := range characters {
		left := float64(x + i*cellWidth)
		if opacity := shade(r); opacity > 0 {
			fmt.Fprintf(b, `<rect x="%g" y="%d" width="%d" height="%d" fill="%s" opacity="%g"/>`+"\n", left, y, cellWidth, cellHeight, color, opacity)
			continue
		}
		for _, s := range rectangles(r) {
			fmt.Fprintf(&path, "M%g %gh%gv%gh%gz", left+s.x, float64(y)+s.y, s.w, s.h, -s.w)
		}
	}
	if path.Len() > 0 {
		fmt.Fprintf(b, `<path d="%s" fill="%s"%s/>`+"\n", path.Bytes(), color, attributes)
	}
}

// shade returns the opacity of a shaded block, 0 for other characters.
func shade(r rune) float64 {
	switch r {
	case '░':
		return 0.25
	case '▒':
		return 0.5
	case '▓':
		return 0.75
	}
	return 0
}

// rectangle is a part of a cell, relative to the cell's upper left corner, in units of the image.
type rectangle struct{ x, y, w, h float64 }

// rectangles returns the parts of a cell that a character fills. Rounded corners are drawn as square ones.
func rectangles(r rune) []rectangle {
	const w, h = float64(cellWidth), float64(cellHeight)
	switch {
	case isBraille(r):
		return brailleDots(r)
	case r == '▀':
		return []rectangle{{0, 0, w, h / 2}}
	case r >= '▁' && r <= '█': // one to eight eighths, from below
		n := float64(r-'▁'+1) / 8
		return []rectangle{{0, h * (1 - n), w, h * n}}
	case r >= '▉' && r <= '▏': // seven to one eighths, from the left
		return []rectangle{{0, 0, w * float64('▏'-r+1) / 8, h}}
	case r == '▐':
		return []rectangle{{w / 2, 0, w / 2, h}}
	case r == '▔':
		return []rectangle{{0, 0, w, h / 8}}
	case r == '▕':
		return []rectangle{{w * 7 / 8, 0, w / 8, h}}
	case r >= '▖' && r <= '▟':
		return quadrants(r)
	}
	return boxLines(boxArms[r])
}

// brailleDots returns the dots of a Braille pattern. Its bits 0 to 2 are the upper three dots of the
// left column, bits 3 to 5 those of the right column, bits 6 and 7 the lowest dots.
func brailleDots(r rune) (dots []rectangle) {
	const size = 2.5
	for bit := range 8 {
		if r>>bit&1 == 0 {
			continue
		}
		column, row := bit/3, bit%3
		if bit >= 6 {
			column, row = bit-6, 3
		}
		dots = append(dots, rectangle{float64(column)*cellWidth/2 + 0.75, float64(row)*cellHeight/4 + 0.75, size, size})
	}
	return dots
}

// quadrants returns the filled quarters of the characters from '▖' to '▟'.
func quadrants(r rune) (parts []rectangle) {
	const upperLeft, upperRight, lowerLeft, lowerRight = 1, 2, 4, 8
	filled := [...]int{lowerLeft, lowerRight, upperLeft, upperLeft | lowerLeft | lowerRight, upperLeft | lowerRight, upperLeft | upperRight | lowerLeft,
		upperLeft | upperRight | lowerRight, upperRight, upperRight | lowerLeft, upperRight | lowerLeft | lowerRight}[r-'▖']
	for i := range 4 {
		if filled>>i&1 != 0 {
			parts = append(parts, rectangle{float64(i%2) * cellWidth / 2, float64(i/2) * cellHeight / 2, cellWidth / 2, cellHeight / 2})
		}
	}
	return parts
}

// Lines of a box character from the centre of the cell to its edges.
const (
	armUp = 1 << iota
	armDown
	armLeft
	armRight
	heavy // the lines are thick
	dashed
)

// boxArms contains the lines of each box character of the screens.
var boxArms = map[rune]int{
	'─': armLeft | armRight, '│': armUp | armDown, '┌': armDown | armRight, '┐': armDown | armLeft,
	'└': armUp | armRight, '┘': armUp | armLeft, '╭': armDown | armRight, '╮': armDown | armLeft,
	'╰': armUp | armRight, '╯': armUp | armLeft, '├': armUp | armDown | armRight, '┤': armUp | armDown | armLeft,
	'┬': armDown | armLeft | armRight, '┴': armUp | armLeft | armRight, '┼': armUp | armDown | armLeft | armRight,
	'╴': armLeft, '╵': armUp, '╶': armRight, '╷': armDown,
	'━': armLeft | armRight | heavy, '┃': armUp | armDown | heavy, '╸': armLeft | heavy, '╺': armRight | heavy,
	'╌': armLeft | armRight | dashed, '┄': armLeft | armRight | dashed, '┈': armLeft | armRight | dashed,
	'╎': armUp | armDown | dashed, '┆': armUp | armDown | dashed, '┊': armUp | armDown | dashed,
}

// boxLines returns the lines of a box character. A dashed line fills the middle half of the cell.
func boxLines(arms int) (lines []rectangle) {
	thick := 1.0
	if arms&heavy != 0 {
		thick = 2.5
	}
	const midX, midY = cellWidth / 2.0, cellHeight / 2.0
	if arms&dashed != 0 {
		if arms&armUp != 0 {
			return []rectangle{{midX - thick/2, midY / 2, thick, midY}}
		}
		return []rectangle{{midX / 2, midY - thick/2, midX, thick}}
	}
	for _, l := range []struct {
		arm  int
		line rectangle
	}{
		{armUp, rectangle{midX - thick/2, 0, thick, midY + thick/2}},
		{armDown, rectangle{midX - thick/2, midY - thick/2, thick, midY + thick/2}},
		{armLeft, rectangle{0, midY - thick/2, midX + thick/2, thick}},
		{armRight, rectangle{midX - thick/2, midY - thick/2, midX + thick/2, thick}},
	} {
		if arms&l.arm != 0 {
			lines = append(lines, l.line)
		}
	}
	return lines
}

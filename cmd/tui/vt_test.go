package main

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// vt emulates the part of a terminal that the dashboard uses, so that tests see the cells of the
// screen instead of the bytes that change them.
type vt struct {
	cells [][]rune
	x, y  int
	rest  []byte // an incomplete escape sequence or rune
}

func newVT(rows, cols int) *vt {
	v := &vt{}
	v.resize(rows, cols)
	return v
}

// resize clears the screen; the program draws all of it again.
func (v *vt) resize(rows, cols int) {
	v.cells = make([][]rune, rows)
	for y := range v.cells {
		v.cells[y] = []rune(strings.Repeat(" ", cols))
	}
	v.x, v.y = 0, 0
}

// Write draws text and ignores unknown sequences.
func (v *vt) Write(p []byte) (int, error) {
	b := append(v.rest, p...)
	for len(b) > 0 {
		n := v.step(b)
		if n == 0 {
			break
		}
		b = b[n:]
	}
	v.rest = append([]byte(nil), b...)
	return len(p), nil
}

// step draws the first sequence or rune of b and returns its length, or 0 if it is incomplete.
func (v *vt) step(b []byte) int {
	switch {
	case b[0] == '\x1b':
		return v.sequence(b)
	case b[0] == '\r':
		v.x = 0
		return 1
	case b[0] == '\n':
		v.y = min(v.y+1, len(v.cells)-1)
		return 1
	case b[0] < ' ':
		return 1
	case !utf8.FullRune(b):
		return 0
	}
	r, n := utf8.DecodeRune(b)
	if v.y < len(v.cells) && v.x < len(v.cells[v.y]) {
		v.cells[v.y][v.x] = r
	}
	v.x++
	return n
}

// sequence executes a control sequence.
func (v *vt) sequence(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != '[' {
		return 2
	}
	end := 2
	for end < len(b) && (b[end] < 0x40 || b[end] > 0x7e) {
		end++
	}
	if end == len(b) {
		return 0
	}
	first, second, _ := strings.Cut(string(b[2:end]), ";")
	n, _ := strconv.Atoi(first)
	m, _ := strconv.Atoi(second)
	switch b[end] {
	case 'H':
		v.y, v.x = min(max(n-1, 0), len(v.cells)-1), max(m-1, 0)
	case 'A':
		v.y = max(v.y-max(n, 1), 0)
	case 'B':
		v.y = min(v.y+max(n, 1), len(v.cells)-1)
	case 'C':
		v.x += max(n, 1)
	case 'D':
		v.x = max(v.x-max(n, 1), 0)
	case 'G':
		v.x = max(n-1, 0)
	case 'K':
		v.erase(v.y, v.x)
	case 'J':
		from := v.x
		if n == 2 {
			v.y, from = 0, 0
		}
		v.erase(v.y, from)
		for y := v.y + 1; y < len(v.cells); y++ {
			v.erase(y, 0)
		}
	}
	return end + 1
}

func (v *vt) erase(y, from int) {
	for x := from; x < len(v.cells[y]); x++ {
		v.cells[y][x] = ' '
	}
}

// String returns the content of the screen.
func (v *vt) String() string {
	rows := make([]string, len(v.cells))
	for y, row := range v.cells {
		rows[y] = string(row)
	}
	return strings.Join(rows, "\n")
}

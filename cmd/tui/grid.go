package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// grid is a table for people: columns as wide as they need to be, numbers to the
// right and words to the left.
type grid struct {
	heads []string
	right []bool
	rows  [][]string
}

// newGrid takes the column heads; one that begins with ">" is of numbers.
func newGrid(heads ...string) *grid {
	g := &grid{}
	for _, h := range heads {
		name, number := strings.CutPrefix(h, ">")
		g.heads, g.right = append(g.heads, name), append(g.right, number)
	}
	return g
}

// row adds one row; a float is shown with one decimal.
func (g *grid) row(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		switch v := c.(type) {
		case float64:
			row[i] = fmt.Sprintf("%.1f", v)
		case bool:
			row[i] = map[bool]string{true: "yes", false: "NO"}[v]
		default:
			row[i] = fmt.Sprint(v)
		}
	}
	g.rows = append(g.rows, row)
}

// gap stands between columns.
const gap = "  "

// leastProse is the narrowest that a last column of words is wrapped to.
const leastProse = 24

// write prints the table. Words in the last column wrap where the table would
// be wider than columns; 0 means that nothing wraps.
func (g *grid) write(w io.Writer, columns int) {
	widths := make([]int, len(g.heads))
	all := append([][]string{g.heads}, g.rows...)
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	last := len(widths) - 1
	indent := 0
	for _, width := range widths[:last] {
		indent += width + len(gap)
	}
	prose := 0
	if columns > 0 && !g.right[last] {
		prose = max(columns-indent, leastProse)
	}
	for _, row := range all {
		for i, cell := range row[:last] {
			fmt.Fprint(w, pad(cell, widths[i], g.right[i]), gap)
		}
		lines := []string{pad(row[last], widths[last], g.right[last])}
		if prose > 0 {
			lines = wrap(row[last], prose)
		}
		for i, line := range lines {
			if i > 0 {
				line = strings.Repeat(" ", indent) + line
			}
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
}

func pad(cell string, width int, right bool) string {
	blank := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
	if right {
		return blank + cell
	}
	return cell + blank
}

// wrap breaks text between words into lines of at most width runes; a longer
// word stands alone. There is at least one line.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		line := &lines[len(lines)-1]
		switch {
		case *line == "":
			*line = word
		case utf8.RuneCountInString(*line)+1+utf8.RuneCountInString(word) <= width:
			*line += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

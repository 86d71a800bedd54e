// Package texttable formats tables for a terminal, as Markdown and as CSV, and escapes the cells for
// each. Its exported fields serve HTML templates, which escape them too.
package texttable

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"wirelab/internal/escape"
	"wirelab/internal/words"
)

// Table consists of column titles and rows with one cell per column.
type Table struct {
	Heads  []Head
	Rows   [][]Cell
	Indent string // written before every line of text
}

// Head is the title of a column.
type Head struct {
	Text   string
	Number bool // the column contains numbers, which are right-aligned
}

// Cell is one cell.
type Cell struct{ Text, Class string } // Class is the CSS class in HTML

// New returns a table without rows. The prefix ">" of a title marks a column of numbers.
func New(titles ...string) *Table {
	t := &Table{Heads: make([]Head, len(titles))}
	for i, title := range titles {
		t.Heads[i].Text, t.Heads[i].Number = strings.CutPrefix(title, ">")
	}
	return t
}

// Numbers adds the prefix ">" to titles; see New.
func Numbers(titles ...string) []string {
	out := make([]string, len(titles))
	for i, title := range titles {
		out[i] = ">" + title
	}
	return out
}

// Add adds a row. A float64 is formatted with one decimal and a bool as "yes" or "NO"; a
// []string is several cells; other values are formatted by fmt.Sprint.
func (t *Table) Add(cells ...any) {
	row := make([]Cell, 0, len(t.Heads))
	for _, c := range cells {
		switch v := c.(type) {
		case Cell:
			row = append(row, v)
		case []string:
			for _, text := range v {
				row = append(row, Cell{Text: text})
			}
		case float64:
			row = append(row, Cell{Text: fmt.Sprintf("%.1f", v)})
		case bool:
			row = append(row, Cell{Text: map[bool]string{true: "yes", false: "NO"}[v]})
		default:
			row = append(row, Cell{Text: fmt.Sprint(v)})
		}
	}
	t.Rows = append(t.Rows, row)
}

// texts returns the titles and the cells of each row, passed through escape.
func (t *Table) texts(escape func(string) string) [][]string {
	out := [][]string{make([]string, len(t.Heads))}
	for i, h := range t.Heads {
		out[0][i] = escape(h.Text)
	}
	for _, row := range t.Rows {
		texts := make([]string, len(row))
		for i, c := range row {
			texts[i] = escape(c.Text)
		}
		out = append(out, texts)
	}
	return out
}

const (
	gap        = "  " // between columns
	minWrapped = 24   // smallest width of a wrapped column, in characters
)

// WriteText writes the table with aligned columns. If it would be wider than width, the last column
// is wrapped unless it contains numbers. width 0 means no limit.
func (t *Table) WriteText(w io.Writer, width int) {
	rows := t.texts(escape.Line) // rows[0] are the titles
	widths := make([]int, len(t.Heads))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	last := len(widths) - 1
	indent := len(t.Indent) // where the last column begins
	for _, n := range widths[:last] {
		indent += n + len(gap)
	}
	for _, row := range rows {
		before := t.Indent // the text before the last column
		for i, cell := range row[:last] {
			before += t.pad(cell, i, widths[i]) + gap
		}
		parts := []string{t.pad(row[last], last, widths[last])}
		if width > 0 && !t.Heads[last].Number {
			parts = words.Wrap(row[last], max(width-indent, minWrapped))
		}
		for _, part := range parts {
			fmt.Fprintln(w, before+strings.TrimRight(part, " "))
			before = strings.Repeat(" ", indent)
		}
	}
}

// WriteParts writes the columns of the table in several parts, one below the other, each of at most width characters if
// possible. Each part begins with the first n columns. Titles are wrapped to the width of their column.
func (t *Table) WriteParts(w io.Writer, width, n int) {
	titles := make([][]string, len(t.Heads)) // lines
	widths := make([]int, len(t.Heads))
	for i, h := range t.Heads {
		for _, row := range t.Rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].Text))
		}
		for _, word := range strings.Fields(h.Text) {
			widths[i] = max(widths[i], utf8.RuneCountInString(word))
		}
		titles[i] = words.Wrap(h.Text, widths[i])
	}
	repeated := len(t.Indent) // the width of the first n columns
	for _, n := range widths[:n] {
		repeated += n + len(gap)
	}
	for from := n; from < len(t.Heads); {
		used := repeated + widths[from]
		to := from + 1
		for to < len(t.Heads) && used+len(gap)+widths[to] <= width {
			used += len(gap) + widths[to]
			to++
		}
		if from > n {
			fmt.Fprintln(w)
		}
		t.part(titles, n, from, to).WriteText(w, 0)
		from = to
	}
}

// part returns a table of the first n columns and of those in [from, to). The lines of their titles are its first rows.
func (t *Table) part(titles [][]string, n, from, to int) *Table {
	part := &Table{Indent: t.Indent, Heads: slices.Concat(t.Heads[:n], t.Heads[from:to])}
	titles = slices.Concat(titles[:n], titles[from:to])
	lines := 0
	for _, title := range titles {
		lines = max(lines, len(title))
	}
	for line := range lines {
		row := make([]Cell, len(titles))
		for i, title := range titles {
			if at := line - lines + len(title); at >= 0 { // short titles are at the bottom
				row[i].Text = title[at]
			}
		}
		part.Rows = append(part.Rows, row)
	}
	for i, cell := range part.Rows[0] {
		part.Heads[i].Text = cell.Text
	}
	part.Rows = part.Rows[1:]
	for _, row := range t.Rows {
		part.Rows = append(part.Rows, slices.Concat(row[:n], row[from:to]))
	}
	return part
}

// pad returns a cell, padded to the width of its column.
func (t *Table) pad(cell string, column, width int) string {
	blank := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
	if t.Heads[column].Number {
		return blank + cell
	}
	return cell + blank
}

// WriteMarkdown writes the table as Markdown. Markup in cells is escaped.
func (t *Table) WriteMarkdown(w io.Writer) {
	for i, row := range t.texts(escape.Markdown) {
		line := "| " + strings.Join(row, " | ") + " |"
		if i == 0 { // row 0 has the titles; an empty title takes one space
			line = strings.ReplaceAll(line, "|  |", "| |") + "\n|"
			for _, h := range t.Heads {
				line += map[bool]string{true: "---:|", false: "---|"}[h.Number]
			}
		}
		fmt.Fprintln(w, line)
	}
}

// WriteCSV writes the table as CSV. Formulas in cells are escaped.
func (t *Table) WriteCSV(w io.Writer) error {
	return csv.NewWriter(w).WriteAll(t.texts(escape.CSV))
}

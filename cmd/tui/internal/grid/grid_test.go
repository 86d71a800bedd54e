package grid_test

import (
	"fmt"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
)

// newTable returns a table of n rows with a name, two numbers and a remark.
func newTable(n int) *grid.Table {
	number := func(factor int) func(grid.Cell) []look.Span {
		return func(c grid.Cell) []look.Span { return grid.Text(look.Value, fmt.Sprint(factor*c.Row)) }
	}
	return &grid.Table{NumRows: n, Sort: 1, Columns: []grid.Column{
		{Title: "name", Width: 12, Min: 6, Text: func(c grid.Cell) []look.Span { return grid.Text(look.Plain, fmt.Sprintf("row %d of many", c.Row)) }},
		{Title: "bytes", Width: 6, Right: true, Sortable: true, Drop: 1, Text: number(1000)},
		{Title: "ms", Width: 5, Right: true, Sortable: true, Drop: 2, Text: number(7)},
		{Title: "remark", Width: grid.Rest, Min: 8, Text: func(c grid.Cell) []look.Span { return grid.Text(look.Dim, strings.Repeat("z", c.Width)) }},
	}}
}

// draw returns the lines of a table in a frame of w x h.
func draw(t *grid.Table, w, h int) []string {
	const ascii = true
	c, th := look.NewCanvas(w, h), labtest.Theme(ascii)
	c.Frame(th, look.Unfocused, "T")
	t.Draw(c, th, 1, h-2)
	return c.Lines(th)
}

// TestColumnsFit checks which columns a table of some width has, and how wide they are.
func TestColumnsFit(t *testing.T) {
	for _, c := range []struct {
		w    int
		want [2]string // the titles and row 1
	}{
		{50, [2]string{"|  name          *bytes     ms  remark           |", "|  row 1 of ma.    1000      7  zzzzzzzzzzzzzzzzz|"}},
		{41, [2]string{"|  name        *bytes     ms  remark    |", "|  row 1 of .    1000      7  zzzzzzzzzz|"}},
		{34, [2]string{"|  name        *bytes  remark    |", "|  row 1 of .    1000  zzzzzzzzzz|"}}, // the column of the order stays
	} {
		got := draw(newTable(3), c.w, 6)
		if got[1] != c.want[0] || got[3] != c.want[1] {
			t.Errorf("%d columns:\n%s", c.w, strings.Join(got, "\n"))
		}
	}
}

// TestScrolling checks that the cursor stays visible and that the table scrolls no more than it must.
func TestScrolling(t *testing.T) {
	table := newTable(20)
	for _, c := range []struct{ move, first int }{{0, 0}, {4, 0}, {1, 1}, {-3, 1}, {-2, 0}, {100, 15}, {-4, 15}, {-100, 0}} {
		table.Move(c.move)
		lines := draw(table, 50, 8) // five rows
		if table.First != c.first || !strings.Contains(strings.Join(lines, "\n"), fmt.Sprintf("> row %d of", table.Cursor)) {
			t.Errorf("after %d: first row %d, want %d\n%s", c.move, table.First, c.first, strings.Join(lines, "\n"))
		}
	}
	table.Centered, table.Cursor = true, 10
	if lines := draw(table, 50, 8); table.First != 8 || !strings.Contains(lines[7], "7 more") {
		t.Errorf("centred: first row %d\n%s", table.First, lines[7])
	}
	table.Cursor, table.First = -1, 1000
	if draw(table, 50, 8); table.First != 15 {
		t.Errorf("without a cursor: first row %d", table.First)
	}
}

// TestClickAndSort checks that clicks select the row or the column that was drawn there, and that only
// sortable columns are sorted by.
func TestClickAndSort(t *testing.T) {
	table := newTable(20)
	table.First = 3
	table.Cursor = -1
	lines := draw(table, 50, 8)
	table.Click(20, 4)
	if table.Cursor != 5 || !strings.Contains(lines[4], "row 5") {
		t.Errorf("row %d is selected, want 5", table.Cursor)
	}
	table.Click(strings.Index(lines[1], "ms"), 1)
	if table.Sort != 2 {
		t.Errorf("sorted by %d, want 2", table.Sort)
	}
	for _, at := range [][2]int{{strings.Index(lines[1], "remark"), 1}, {4, 1}, {4, 0}, {4, 7}} {
		if table.Click(at[0], at[1]); table.Sort != 2 || table.Cursor != 5 {
			t.Errorf("a click at %v sorts by %d and selects %d", at, table.Sort, table.Cursor)
		}
	}
	for _, c := range []struct{ step, want int }{{1, 1}, {1, 2}, {-1, 1}, {-1, 2}} {
		if table.SortNext(c.step); table.Sort != c.want {
			t.Errorf("sorted by %d, want %d", table.Sort, c.want)
		}
	}
}

// TestAcross checks that a row may have a text instead of its cells.
func TestAcross(t *testing.T) {
	table := newTable(3)
	table.Across = func(c grid.Cell) []look.Span {
		if c.Row == 1 {
			return grid.Text(look.Bad, "cannot be read")
		}
		return nil
	}
	lines := draw(table, 50, 6)
	if !strings.Contains(lines[3], "|  cannot be read  ") || !strings.Contains(lines[2], "zzz") || strings.Contains(lines[3], "row") {
		t.Errorf("%s\n%s", lines[2], lines[3])
	}
}

package sweepview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
)

// drawRanking draws the sorted list of points: rank, settings, mean of the figure, and the ratio to the reference
// point, both with their 95 % confidence intervals.
func (m *model) drawRanking(c *look.Canvas, focused bool) {
	c.Frame(m.Theme(), focused, "Ranking", look.Value.Span(m.row(m.figure).Title), look.Dim.Span(", "+m.orderName()))
	t := &m.ranking
	t.Columns = m.rankingColumns()
	t.NumRows = len(m.ranked)
	t.Cursor = slices.Index(m.ranked, m.selected())
	t.Draw(c, m.Theme(), 1, c.H-2)
	c.Text(2, c.H-1, look.Dim, fmt.Sprintf(" %s %s 95 %% of the ratio excludes 1; ? just ", m.Theme().Down, m.Theme().Up))
}

// rankingColumns returns the columns of the ranking. The mean is marked as the one by which rows are sorted.
func (m *model) rankingColumns() []grid.Column {
	n := len(m.ranked)
	list := []grid.Column{rightColumn("#", n, func(row int) look.Span { return look.Dim.Span(m.rankText(m.ranked[row])) })}
	for _, a := range m.axes {
		col := column("", n, func(row int) look.Span { return look.Plain.Span(m.watch.Points()[m.ranked[row]].Set[a.Key]) })
		const minSettingWidth, maxTitleWidth = 4, 8
		col.Title = config.KeyInWords(a.Key)
		if look.TextWidth(col.Title) > max(col.Width, maxTitleWidth) {
			col.Title = a.Key[strings.LastIndexByte(a.Key, '.')+1:] // the map has the key in words
		}
		col.Width = max(col.Width, look.TextWidth(col.Title))
		col.Min = min(col.Width, minSettingWidth)
		list = append(list, col)
	}
	m.ranking.Sort = len(list)
	m.ranking.Upward = !m.isDescending()
	if m.order == gridOrder {
		m.ranking.Sort = -1
	}
	numbers := numberColumns(cmp.Or(m.row(m.figure).Unit, "mean"), n, func(row int) *pointText { return &m.texts[m.ranked[row]] })
	const mark = 1 // column of the mark of the order
	numbers[0].Width += mark
	return append(list, numbers...)
}

// numberColumns returns the columns of the means, their intervals, and both of the ratios to the reference point.
func numberColumns(title string, n int, at func(row int) *pointText) []grid.Column {
	return []grid.Column{
		rightColumn(title, n, func(row int) look.Span { return look.Value.Span(at(row).mean) }),
		column("95 %", n, func(row int) look.Span { return look.Dim.Span(at(row).interval) }),
		rightColumn("ratio", n, func(row int) look.Span { return at(row).style.Span(at(row).ratio) }),
		column("its 95 %", n, func(row int) look.Span { return at(row).style.Span(at(row).ratioInterval) })}
}

// column returns a column of n cells that is as wide as the widest of them and the title.
func column(title string, n int, cell func(row int) look.Span) grid.Column {
	width := look.TextWidth(title)
	for row := range n {
		width = max(width, look.TextWidth(cell(row).Text))
	}
	return grid.Column{Title: title, Width: width, Text: func(c grid.Cell) []look.Span {
		s := cell(c.Row)
		return grid.Text(s.Style, look.Shorten(s.Text, c.Width))
	}}
}

// rightColumn is column with text at its right edge.
func rightColumn(title string, n int, cell func(row int) look.Span) grid.Column {
	c := column(title, n, cell)
	c.Right = true
	return c
}

// rankText returns the rank of a point, which is 1 for the best one in all orders; "-" if it has no value.
func (m *model) rankText(point int) string {
	if m.means[point].N == 0 {
		return "-"
	}
	return fmt.Sprint(m.ranks[point])
}

// isDescending reports whether the ranking begins with the largest mean.
func (m *model) isDescending() bool {
	return (m.row(m.figure).Better == figures.MoreIsBetter) == (m.order == bestFirst)
}

// rank sorts the points for the ranking. Points without a value of the figure are last.
func (m *model) rank() {
	m.ranked = m.ranked[:0]
	known := 0 // points with a value
	for p, v := range m.means {
		m.ranked = append(m.ranked, p)
		if v.N > 0 {
			known++
		}
	}
	sign := 1.0
	if m.row(m.figure).Better == figures.MoreIsBetter {
		sign = -1
	}
	slices.SortStableFunc(m.ranked, func(a, b int) int {
		x, y := m.means[a], m.means[b]
		if x.N == 0 || y.N == 0 {
			return min(y.N, 1) - min(x.N, 1)
		}
		return cmp.Compare(sign*x.Mean, sign*y.Mean)
	})
	m.ranks = make([]int, len(m.ranked))
	for i, p := range m.ranked {
		m.ranks[p] = i + 1
	}
	switch m.order {
	case worstFirst:
		slices.Reverse(m.ranked[:known])
	case gridOrder:
		slices.Sort(m.ranked)
	}
}

// orderName describes the order of the ranking.
func (m *model) orderName() string {
	if m.row(m.figure).Better == figures.Neither {
		return [numOrders]string{"smallest first", "largest first", "in the order of the grid"}[m.order]
	}
	return [numOrders]string{"best first", "worst first", "in the order of the grid"}[m.order]
}

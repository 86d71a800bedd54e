package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/experiment/figures"
	"wirelab/internal/escape"
	"wirelab/internal/units"
)

// chartData is the input of the page's script, embedded in the page as JSON.
type chartData struct {
	X      [][]axisValue `json:"x"` // axes; charts refer to them by index
	Marks  []mark        `json:"marks"`
	Charts []*chart      `json:"charts"`
}

// mark is a change during the run, marked in the charts.
type mark struct {
	T    axisValue `json:"t"`    // virtual time in seconds
	Text string    `json:"text"` // label of the change
}

// timeAxis is chart.Axis of charts over virtual time in seconds.
const timeAxis = "s"

// chart is one chart. page.js draws it.
type chart struct {
	Title  string   `json:"title"`
	Unit   string   `json:"unit"`
	Axis   string   `json:"axis"`            // timeAxis, or what the X values are
	Ticks  []string `json:"ticks,omitempty"` // names of the X values, if they are not numbers
	Rows   []string `json:"rows,omitempty"`  // names of the Y values, if they are not numbers
	Lines  []line   `json:"lines"`
	Notes  []string `json:"notes,omitempty"`  // a remark about each X value
	Tags   []string `json:"tags,omitempty"`   // a short name of each X value, drawn beside its dot
	Marked bool     `json:"marked,omitempty"` // draw the marks
	Top    value    `json:"top,omitempty"`    // upper end of the Y scale, which cuts spikes; 0 means that all values fit
	Loops  []int    `json:"loops,omitempty"`  // indices of X values at loop points of the recording, which do not affect the Y scale
	Settle int      `json:"settle,omitempty"` // number of the first X values, of the first second, which do not affect the Y scale

	// Scatter means that all lines are dots, and that both axes include 0.
	Scatter bool `json:"scatter,omitempty"`

	Label  string      `json:"-"` // text alternative, for screen readers
	X      []axisValue `json:"-"`
	ID     int         `json:"-"` // index in chartData.Charts
	AxisID int         `json:"x"` // index of X in chartData.X
}

// line is a line of a chart, or the edge of a band.
type line struct {
	Name  string  `json:"name"`
	Color int     `json:"ink"`            // number of the colour in page.css, 1 to 8
	Y     []value `json:"y"`              // null is a gap
	Mean  *value  `json:"mean,omitempty"` // weighted mean over the whole line; nil means the mean of Y
	Kind  string  `json:"kind,omitempty"` // "" (a line), "dots", "dash", or "edge" of a band
	Band  int     `json:"band,omitempty"` // for the second edge of a band: how many lines before this one the first edge is; otherwise 0

	// Of dots: the interval of each; the indices of large ones; and how the large ones or, if there are none,
	// all are joined: "" (not at all), "line" or "step".
	Lo    []value `json:"lo,omitempty"`
	Hi    []value `json:"hi,omitempty"`
	Large []int   `json:"large,omitempty"`
	Join  string  `json:"join,omitempty"`
}

// titleWithUnit returns the title and the unit, if any.
func (c *chart) titleWithUnit() string { return withUnit(c.Title, c.Unit) }

// withUnit returns a name followed by its unit, if any.
func withUnit(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + ", " + unit
}

// HasLines reports whether any of the charts is no scatter.
func (c charts) HasLines() bool {
	return slices.ContainsFunc(c, func(x *chart) bool { return !x.Scatter })
}

// value is a number with four significant digits; NaN and infinities are null in JSON.
type value float64

// noValue is a gap in a line.
var noValue = value(math.NaN())

func (v value) MarshalJSON() ([]byte, error) {
	f := float64(v)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	if f == 0 {
		return []byte("0"), nil
	}
	rounded, err := strconv.ParseFloat(units.General(f, 4), 64)
	return []byte(units.FormatDecimal(rounded)), err
}

// axisValue is a value on an axis, rounded to three decimals.
type axisValue float64

func (p axisValue) MarshalJSON() ([]byte, error) {
	return json.Marshal(math.Round(float64(p)*1000) / 1000)
}

// settle excludes the first second of a chart over time from the scale, unless the run is short: caches
// and baselines are still empty.
func (c *chart) settle() {
	const settleTime, shortRun = 1, 5 // seconds
	if c.Axis == timeAxis && c.Rows == nil && len(c.X) > 0 && c.X[len(c.X)-1] >= shortRun {
		c.Settle, _ = slices.BinarySearch(c.X, settleTime+0.001)
	}
}

// mergeEqual joins lines with the same values to one line with all names, because only the last of them
// would be visible. It leaves lines with bands, dashes and dots.
func (c *chart) mergeEqual() {
	isEqual := func(x, y value) bool { return x == y || x != x && y != y } // also two gaps
	isPlain := func(list []line, i int) bool {
		return list[i].Kind == "" && (i+1 == len(list) || list[i+1].Kind != "edge")
	}
	var merged []line
	for i, l := range c.Lines {
		k := slices.IndexFunc(merged, func(m line) bool { return m.Kind == "" && slices.EqualFunc(m.Y, l.Y, isEqual) })
		if k >= 0 && isPlain(c.Lines, i) && isPlain(merged, k) {
			merged[k].Name += " = " + l.Name
		} else {
			merged = append(merged, l)
		}
	}
	c.Lines = merged
}

// chartData returns the data of all charts of the document, numbers the charts, and completes them.
func (d *Document) chartData() *chartData {
	data := &chartData{Marks: append([]mark{}, d.Marks...)} // the script expects a list, not null
	for _, s := range slices.Concat(d.Answers, d.Sections) {
		for _, b := range s.Blocks {
			list, _ := b.(charts)
			for _, c := range list {
				c.mergeEqual()
				c.settle()
				c.ID = len(data.Charts)
				data.Charts = append(data.Charts, c)
				c.AxisID = slices.IndexFunc(data.X, func(x []axisValue) bool { return slices.Equal(x, c.X) })
				if c.AxisID < 0 {
					c.AxisID = len(data.X)
					data.X = append(data.X, c.X)
				}
			}
		}
	}
	return data
}

// marshalJSON returns the data as JSON that is safe inside a script element. It replaces control
// characters in the texts of d, which the script writes into the page, by visible escapes.
func (d *chartData) marshalJSON() (string, error) {
	for i := range d.Marks {
		escapeTexts(&d.Marks[i].Text)
	}
	for _, c := range d.Charts {
		escapeTexts(&c.Title, &c.Unit, &c.Axis)
		for _, list := range [][]string{c.Ticks, c.Rows, c.Notes, c.Tags} {
			for k := range list {
				escapeTexts(&list[k])
			}
		}
		for k := range c.Lines {
			escapeTexts(&c.Lines[k].Name)
		}
	}
	text, err := json.Marshal(d) // writes <, > and & as \u003c and so on
	return string(text), err
}

// escapeTexts replaces the control characters in each text by visible escapes.
func escapeTexts(texts ...*string) {
	for _, text := range texts {
		*text = escape.Line(*text)
	}
}

// dot is a point of a scatter chart: two figures of something.
type dot struct {
	Name  string
	X, Y  figures.Mean // the bounds of Y are drawn, if known
	XText string       // replaces X in texts, unless it is ""
	Tag   string       // short name beside the point
	Large bool
}

// exactly returns a measured value as a mean without bounds.
func exactly(v float64) figures.Mean { return figures.Mean{N: 1, Mean: v} }

// dots are the points of a scatter chart with one colour. Join is as in line.
type dots struct {
	Name, Join string
	Points     []dot
}

// newScatter returns a chart of figures x and y of at most maxLines groups of points. Its X values are
// those of all points in ascending order; each group has gaps at the points of the others.
func newScatter(title string, x, y *figures.Row, groups []dots) *chart {
	if len(groups) > maxLines {
		title += fmt.Sprintf(" (%d of %d lines)", maxLines, len(groups))
		groups = groups[:maxLines]
	}
	type member struct {
		dot
		group int
	}
	var all []member
	for i, g := range groups {
		for _, p := range g.Points {
			all = append(all, member{p, i})
		}
	}
	slices.SortStableFunc(all, func(a, b member) int { return cmp.Compare(a.X.Mean, b.X.Mean) })
	c := &chart{Title: title, Unit: y.Label(), Axis: x.Label(), Scatter: true}
	c.Label = fmt.Sprintf("%s, %s over %s; the table lists the points", title, y.Label(), x.Label())
	for i, g := range groups {
		c.Lines = append(c.Lines, line{Name: g.Name, Color: 1 + i, Kind: "dots", Join: g.Join, Y: gaps(len(all))})
	}
	for k, p := range all {
		l := &c.Lines[p.group]
		l.Y[k] = value(p.Y.Mean * y.Scale())
		if lo, hi, known := p.Y.Times(y.Scale()).Bounds(); known {
			if l.Lo == nil {
				l.Lo = gaps(len(all))
				l.Hi = gaps(len(all))
			}
			l.Lo[k] = value(lo)
			l.Hi[k] = value(hi)
		}
		if p.Large {
			l.Large = append(l.Large, k)
		}
		c.X = append(c.X, axisValue(p.X.Mean*x.Scale()))
		xText := cmp.Or(p.XText, withUnitAfter(x, p.X))
		c.Notes = append(c.Notes, p.Name+": "+xText+", "+withUnitAfter(y, p.Y))
		if p.Tag != "" {
			c.Tags = append(c.Tags, p.Tag)
		}
	}
	return c
}

// formatMean formats a figure in its unit, with its interval or range if known; "-" without data.
func formatMean(x *figures.Row, m figures.Mean) string {
	return m.Times(x.Scale()).Fixed(" ± ", x.Decimals)
}

// withUnitAfter formats a figure with its unit.
func withUnitAfter(x *figures.Row, m figures.Mean) string {
	return strings.TrimSpace(formatMean(x, m) + " " + x.Unit)
}

// gaps returns n gaps of a line.
func gaps(n int) []value { return slices.Repeat([]value{noValue}, n) }

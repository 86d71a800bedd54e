package page

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"wirelab/internal/escape"
	"wirelab/internal/units"
)

// chartData is the input of the page's script, embedded in the page as JSON.
type chartData struct {
	X      [][]axisValue `json:"x"` // axes; charts refer to them by index
	Marks  []mark        `json:"marks"`
	Charts []chart       `json:"charts"`
}

// mark is a change during the run, marked in the charts.
type mark struct {
	T    axisValue `json:"t"`    // virtual time in seconds
	Text string    `json:"text"` // label of the change
}

// chart is one chart. The template refers to it by its index in chartData.
type chart struct {
	Title  string   `json:"title"`
	Unit   string   `json:"unit"`
	Axis   string   `json:"axis"`            // "s" for virtual time, or a key of a sweep
	X      int      `json:"x"`               // index of the axis in chartData.X
	Ticks  []string `json:"ticks,omitempty"` // names of the X values, if they are not numbers
	Rows   []string `json:"rows,omitempty"`  // names of the Y values, if they are not numbers
	Lines  []line   `json:"lines"`
	Notes  []string `json:"notes,omitempty"`  // a remark about each X value
	Marked bool     `json:"marked"`           // draw the marks
	Top    value    `json:"top,omitempty"`    // upper end of the Y scale, which cuts spikes; 0 means that all values fit
	Loops  []int    `json:"loops,omitempty"`  // indices of X values at loop points of the recording, which do not affect the Y scale
	Settle int      `json:"settle,omitempty"` // number of the first X values, of the first second, which do not affect the Y scale

	Label string `json:"-"` // text alternative, for screen readers
}

// line is a line of a chart, or the edge of a band.
type line struct {
	Name  string  `json:"name"`
	Color int     `json:"ink"`            // number of the colour in page.css, 1 to 8
	Y     []value `json:"y"`              // null is a gap
	Mean  *value  `json:"mean,omitempty"` // weighted mean over the whole line; nil means the mean of Y
	Kind  string  `json:"kind,omitempty"` // "" (a line), "dots", "dash", or "edge" of a band
	Band  int     `json:"band,omitempty"` // for the second edge of a band: how many lines before this one the first edge is; otherwise 0
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

// settle excludes the first second of a chart over time from the scale, unless the run is short: caches and baselines
// are still empty.
func (c *chart) settle(x []axisValue) {
	const settleTime, shortRun = 1, 5 // seconds
	if c.Axis == "s" && c.Rows == nil && len(x) > 0 && x[len(x)-1] >= shortRun {
		c.Settle, _ = slices.BinarySearch(x, settleTime+0.001)
	}
}

// mergeEqual joins lines with the same values, and equal bands, to one line with both names, because only the last of
// them would be visible.
func (c *chart) mergeEqual() {
	for i := 0; i < len(c.Lines); i++ {
		k := i + 1 + c.edges(i)
		for k < len(c.Lines) {
			n := 1 + c.edges(k)
			if !c.isEqual(i, k) {
				k += n
				continue
			}
			c.Lines[i].Name += " = " + c.Lines[k].Name
			c.Lines = slices.Delete(c.Lines, k, k+n)
		}
		i += c.edges(i)
	}
}

// edges returns the number of edges of bands that follow line i.
func (c *chart) edges(i int) (n int) {
	for i+1+n < len(c.Lines) && c.Lines[i+1+n].Kind == "edge" {
		n++
	}
	return n
}

// isEqual reports whether line i and its edges equal line k and its edges, except for names and colours.
func (c *chart) isEqual(i, k int) bool {
	if n := c.edges(i); c.edges(k) == n && c.Lines[i].Kind != "edge" && c.Lines[i].Kind != "dots" {
		for j := range n + 1 {
			a, b := &c.Lines[i+j], &c.Lines[k+j]
			if a.Kind != b.Kind || !slices.EqualFunc(a.Y, b.Y, func(x, y value) bool { return x == y || x != x && y != y }) {
				return false
			}
		}
		return true
	}
	return false
}

// marshalJSON returns the data as JSON that is safe inside a script element. It replaces control
// characters in the texts of d, which the script writes into the page, by visible escapes.
func (d *chartData) marshalJSON() (string, error) {
	if d.Marks == nil {
		d.Marks = []mark{} // the script expects a list, not null
	}
	for i := range d.Marks {
		escapeTexts(&d.Marks[i].Text)
	}
	for i := range d.Charts {
		c := &d.Charts[i]
		c.mergeEqual()
		c.settle(d.X[c.X])
		escapeTexts(&c.Title, &c.Unit, &c.Axis)
		for _, list := range [][]string{c.Ticks, c.Rows, c.Notes} {
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

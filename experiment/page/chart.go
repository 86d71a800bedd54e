package page

import (
	"encoding/json"
	"math"
	"strconv"

	"wirelab/internal/units"
)

// data is what the script of a page draws. It stands in the page as JSON.
type data struct {
	X      [][]place `json:"x"` // axes that charts share
	Marks  []mark    `json:"marks"`
	Charts []chart   `json:"charts"`
}

// mark is a change during the run.
type mark struct {
	T    place  `json:"t"`
	Text string `json:"text"`
}

// chart is one chart; its place in data is what the page names it by.
type chart struct {
	Title  string   `json:"title"`
	Unit   string   `json:"unit"`
	Axis   string   `json:"axis"` // what X is: "s" of a run, or a key of a sweep
	X      int      `json:"x"`
	Ticks  []string `json:"ticks,omitempty"` // names of the places on X, if they are no numbers
	Rows   []string `json:"rows,omitempty"`  // names of the places on Y, likewise
	Lines  []line   `json:"lines"`
	Notes  []string `json:"notes,omitempty"` // what there is to say of each X
	Marked bool     `json:"marked"`          // the marks are drawn
	Top    value    `json:"top,omitempty"`   // where the scale ends, whatever spikes there are; 0: above them

	Label string `json:"-"` // what the chart shows, for those who do not see it
}

// line is a line of a chart, or the edge of a band.
type line struct {
	Name string  `json:"name"`
	Ink  int     `json:"ink"`            // 1 to 8
	Y    []value `json:"y"`              // null: a gap
	Kind string  `json:"kind,omitempty"` // "" a line, "dots", "dash", "edge" of a band
	Band int     `json:"band,omitempty"` // how many lines before it the other edge is
}

// value is a number as the eye needs it: with four digits; null if it is none.
type value float64

// none is no value.
var none = value(math.NaN())

// MarshalJSON implements json.Marshaler.
func (v value) MarshalJSON() ([]byte, error) {
	f := float64(v)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte("null"), nil
	}
	if f == 0 {
		return []byte("0"), nil
	}
	short, err := strconv.ParseFloat(units.General(f, 4), 64)
	return []byte(units.FormatDecimal(short)), err
}

// place is a place on an axis: a time to the millisecond, say.
type place float64

// MarshalJSON implements json.Marshaler.
func (p place) MarshalJSON() ([]byte, error) {
	return json.Marshal(math.Round(float64(p)*1000) / 1000)
}

// script returns the data as it may stand in a page: no text in it can end the element.
func (d *data) script() (string, error) {
	text, err := json.Marshal(d) // writes <, > and & as \u003c and so on
	return string(text), err
}

package compare

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/units"
)

// figure identifies a measured quantity by which encoders are compared, such as the payload bandwidth.
// Lower is better for all of them.
type figure uint8

// The figures, in the order of the columns.
const (
	figureKbps figure = iota
	figureBits
	figureFailures
	figureEncode
	figureDecode
	figureAge
	numFigures
)

// figureText is the text of a figure: column head, full name and decimal places. The column is left out
// according to drop, see grid.Column.
type figureText struct {
	head, long   string
	digits, drop int
}

// text returns the text of the figure. per names the item that figureBits counts bits per, such as "changed
// cube"; see panes.PerItemUnit.
func (f figure) text(per string) figureText {
	return [numFigures]figureText{
		{"kbps", "payload bandwidth", 1, 9},
		{"bits/" + strings.Replace(panes.PerItemShort(per), "changed", "chg", 1), "bits per " + per, 1, 7},
		{"fail/min", "packets that arrived but could not be decoded, per minute", 1, 5},
		{"enc µs", "median time to encode", 1, 4},
		{"dec µs", "median time to decode", 1, 3},
		{"age ms", "mean age of the displayed data", 1, 1},
	}[f]
}

// format formats a value of the figure; "-" if it is unknown.
func (f figure) format(v float64) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case f == figureBits:
		return panes.FormatBitsPerItem(v)
	}
	return units.Fixed(v, f.text("").digits)
}

// rowFigures are the figures of a row; NaN if unknown.
type rowFigures [numFigures]float64

// replace replaces figures by those of other that are known.
func (list *rowFigures) replace(other rowFigures) {
	for f, v := range other {
		if !math.IsNaN(v) {
			list[f] = v
		}
	}
}

// row is a row of the table: a lane of this run, a saved report, a stretch of either between two changes, or a
// heading.
type row struct {
	key      string // identifies the row while others come and go
	heading  string // the text of a heading; "" for other rows
	isToggle bool   // the heading can be selected: enter shows or hides other reports
	name     string // of a lane with its letter
	about    string // of a report: data and link
	figures  rowFigures
	timing   figures.Timing     // whether encode and decode times include the communication with a plugin
	err      error              // the newest error of the encoder, or why the report cannot be read
	report   *run               // of a report and its stretches; nil for other rows
	saved    report.SavedReport // of a report, as last listed; zero for other rows
	stretch  *stretch           // nil for other rows

	isLane bool
	lane   int           // index in the snapshot; 0 is the active encoder
	lanes  laneData      // of a lane
	gap    gap           // between a lane and the reference, if that is a lane too
	absent bool          // the lane had not started yet at the displayed time
	began  time.Duration // when the lane was added
}

func newHeading(text string) *row { return &row{heading: text, key: text, figures: unknownFigures()} }

// figureText returns a figure of the row as text. Encode and decode times of a plugin have a mark, because
// they are not comparable with those of built-in encoders.
func (r *row) figureText(f figure) string {
	text := f.format(r.figures[f])
	if f == figureEncode || f == figureDecode {
		text += r.timing.Mark()
	}
	return text
}

// compare compares a figure of two rows for sorting. Unknown values are last.
func (r *row) compare(other *row, by figure) int {
	value := func(r *row) float64 {
		if v := r.figures[by]; !math.IsNaN(v) {
			return v
		}
		return math.Inf(1)
	}
	return cmp.Compare(value(r), value(other))
}

// figures returns the figures of a run, as far as its totals contain them.
func (r *run) figures() rowFigures {
	list := unknownFigures()
	t := &r.totals
	if t.Sent == 0 {
		return list // 0 kbps would be the best
	}
	list[figureKbps] = t.PayloadKbps
	if t.BitsPerChangedCube != nil {
		list[figureBits] = t.BitsPerChangedCube.Or(math.NaN())
	}
	list[figureFailures] = float64(t.Failed()) / r.length.Minutes()
	if r.timing.EncodeUS.P50 > 0 {
		list[figureEncode] = r.timing.EncodeUS.P50
	}
	if r.timing.DecodeUS.P50 > 0 {
		list[figureDecode] = r.timing.DecodeUS.P50
	}
	return list
}

// stretch is a period of a run between two changes of its encoder or links.
type stretch struct {
	from, to float64 // in seconds
	isShort  bool    // too short for its figures to have a meaning; or several such periods
	link     string  // the settings of the links; "" if they were never changed
}

// stretchRows returns a row for each stretch of a run; consecutive short ones, as of a drag, have one row without
// figures. The keys begin with that of the run.
func stretchRows(key string, list []meters.StretchFigures, report *run) (rows []*row) {
	const shortS = 2
	links := meters.StretchLinks(list)
	var last *stretch
	for i := range list {
		s := &list[i]
		isShort := s.ToS-s.FromS < shortS
		if last != nil && isShort && last.isShort {
			r := rows[len(rows)-1]
			last.to = s.ToS
			r.name = last.period() + "several settings"
			r.figures = unknownFigures()
			continue
		}
		last = &stretch{s.FromS, s.ToS, isShort, links[i]}
		r := &row{key: fmt.Sprintf("%s stretch %d", key, i), report: report, stretch: last, figures: unknownFigures()}
		r.name = last.period() + s.Encoder
		r.figures[figureKbps] = s.PayloadKbps
		r.figures[figureBits] = s.BitsPerChanged.Or(math.NaN())
		r.figures[figureFailures] = float64(s.Failed) * 60 / (s.ToS - s.FromS)
		rows = append(rows, r)
	}
	return rows
}

// period returns the beginning of the name of a stretch.
func (s *stretch) period() string {
	return "  " + units.Fixed(s.from, 0) + "-" + units.Fixed(s.to, 0) + " s "
}

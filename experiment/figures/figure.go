package figures

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"wirelab/internal/quantile"
)

// Figure is a measured number that may be unknown because the run has no data for it. An unknown figure
// is null in JSON and "-" in text. The zero value is unknown.
type Figure struct {
	value float64
	known bool
}

// Known returns the figure with value v.
func Known(v float64) Figure { return Figure{v, true} }

// Finite returns the figure with value v; unknown if v is NaN or infinite.
func Finite(v float64) Figure {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Figure{}
	}
	return Known(v)
}

// RatioFigure returns the figure x/y; unknown if y is 0. See also RatioOrZero.
func RatioFigure(x, y float64) Figure {
	if y == 0 {
		return Figure{}
	}
	return Known(x / y)
}

// Value returns the value; false if it is unknown.
func (f Figure) Value() (float64, bool) { return f.value, f.known }

// Or returns the value, or v if the figure is unknown.
func (f Figure) Or(v float64) float64 {
	if !f.known {
		return v
	}
	return f.value
}

// Times returns the figure multiplied by k, for example by 100 for a ratio in percent.
func (f Figure) Times(k float64) Figure { return Figure{f.value * k, f.known} }

// FormatWith returns the value formatted by format, or the text unknown if the figure is unknown.
func (f Figure) FormatWith(format func(float64) string, unknown string) string {
	if !f.known {
		return unknown
	}
	return format(f.value)
}

// Text returns the value with the given number of decimals, or "-" if it is unknown.
func (f Figure) Text(decimals int) string {
	return f.FormatWith(func(v float64) string { return strconv.FormatFloat(v, 'f', decimals, 64) }, "-")
}

// Format implements fmt.Formatter: it formats the value as a float64, with the given verb and flags, or
// writes "-" if it is unknown.
func (f Figure) Format(s fmt.State, verb rune) {
	if !f.known {
		fmt.Fprint(s, "-")
		return
	}
	fmt.Fprintf(s, fmt.FormatString(s, verb), f.value)
}

func (f Figure) MarshalJSON() ([]byte, error) {
	if !f.known {
		return []byte("null"), nil
	}
	return json.Marshal(f.value)
}

func (f *Figure) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*f = Figure{}
		return nil
	}
	f.known = true
	return json.Unmarshal(data, &f.value)
}

// Quantiles summarise a distribution, for example of packet sizes. Without data they are null in JSON.
type Quantiles struct {
	Min float64 `json:"min"`
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
	N   int64   `json:"-"` // number of values, 0 means no data; 1 if read from JSON, which does not contain it
}

// QuantilesOf returns the quantiles of h, divided by divisor; unknown if h is empty.
func QuantilesOf(h *quantile.Histogram, divisor float64) Quantiles {
	if h.N == 0 {
		return Quantiles{}
	}
	q := func(p float64) float64 { return h.Quantile(p) / divisor }
	return Quantiles{Min: float64(h.Min) / divisor, P50: q(.50), P95: q(.95), P99: q(.99), Max: float64(h.Max) / divisor, N: h.N}
}

// Of returns v, one of the quantiles, as a figure that is unknown if q has no data: q.Of(q.P95).
func (q *Quantiles) Of(v float64) Figure { return Figure{v, q.N > 0} }

// OutOf returns q for a quantity that only some of n events have, such as lateness. If no event has it,
// the quantiles are zeros; only without events they are unknown.
func (q Quantiles) OutOf(n int64) Quantiles {
	q.N = max(q.N, n)
	return q
}

// String returns the five quantiles in braces, or "-" without data.
func (q Quantiles) String() string {
	if q.N == 0 {
		return "-"
	}
	return fmt.Sprintf("{%g %g %g %g %g}", q.Min, q.P50, q.P95, q.P99, q.Max)
}

func (q Quantiles) parts() []part {
	return []part{{"min", ", minimum", q.Of(q.Min)}, {"p50", ", median", q.Of(q.P50)}, {"p95", ", p95", q.Of(q.P95)},
		{"p99", ", p99", q.Of(q.P99)}, {"max", ", maximum", q.Of(q.Max)}}
}

// quantilesJSON is Quantiles without its methods, which would call themselves.
type quantilesJSON Quantiles

func (q Quantiles) MarshalJSON() ([]byte, error) {
	if q.N == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(quantilesJSON(q))
}

func (q *Quantiles) UnmarshalJSON(data []byte) error {
	*q = Quantiles{}
	if string(data) == "null" {
		return nil
	}
	q.N = 1 // the number of values is not in the JSON; this marks the quantiles as known
	return json.Unmarshal(data, (*quantilesJSON)(q))
}

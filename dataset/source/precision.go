package source

import (
	"fmt"
	"math"
	"strings"

	"wirelab/internal/units"
)

// Rounded is a source that rounds the values of its file to the steps of its schema.
type Rounded interface {
	// Precision returns the rounding errors of each field, in the order of the schema, over all values read so far.
	Precision() []Precision
}

// Precision describes the rounding errors of a field: the differences between the values in the file and those of the
// frames, in the field's unit. The errors are nil if they are unknown, because the file has rounded values or no
// value was read.
type Precision struct {
	Field string   `json:"field"`
	Unit  string   `json:"unit"`
	Scale float64  `json:"scale"` // units per step; 0 for kinds without steps
	Max   *float64 `json:"max"`
	Mean  *float64 `json:"mean"`
	P99   *float64 `json:"p99"`
}

// Rounds reports whether the field has steps or a rounding error, so that its precision is of interest.
func (p *Precision) Rounds() bool { return p.Scale > 0 || p.Max == nil || *p.Max > 0 }

// PrecisionTitles returns the titles of the columns of Precision.Cells; numbers have a ">" in front.
func PrecisionTitles() []string {
	return []string{"field", ">step", ">max error", ">mean error", ">p99 error", "unit"}
}

// Cells returns the precision as a row of a table. Unknown numbers are "-".
func (p *Precision) Cells() []string {
	step := "-"
	if p.Scale > 0 {
		step = formatError(&p.Scale)
	}
	return []string{p.Field, step, formatError(p.Max), formatError(p.Mean), formatError(p.P99), p.Unit}
}

// Sentence describes the precision in words.
func (p *Precision) Sentence() string {
	unit := strings.TrimRight(" "+p.Unit, " ")
	what := p.Field
	if p.Scale > 0 {
		what += " in steps of " + formatError(&p.Scale) + unit
	}
	switch {
	case p.Max == nil:
		return what + ": what rounding lost is unknown."
	case *p.Max == 0:
		return what + ": rounding lost nothing."
	}
	return fmt.Sprintf("%s: rounding lost at most %s%s, %s on average.", what, formatError(p.Max), unit, formatError(p.Mean))
}

// formatError formats an error with three significant digits; "-" if it is unknown.
func formatError(e *float64) string {
	const smallest = 1e-5 // without an exponent
	switch {
	case e == nil:
		return "-"
	case *e != 0 && math.Abs(*e) < smallest:
		return units.General(*e, 3)
	}
	return units.Significant(*e, 3)
}

package policy

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"wirelab/internal/setting"
	"wirelab/internal/units"
)

// Param describes a parameter of a policy. Time, Count, Percent, Decimal, Rate and Size return one.
type Param struct {
	Name, Help    string
	unit          *unit
	def, min, max int64
}

// unit is the type of the values of a parameter.
type unit struct {
	name   string // "" for counts
	what   string // the noun in errors
	parse  func(string) (int64, bool)
	format func(int64) string
}

var (
	timeUnit = unit{name: "ms", what: "a time", format: func(v int64) string { return units.FormatDuration(time.Duration(v)) },
		parse: func(s string) (int64, bool) {
			d, ok := units.ParseDuration(s)
			return int64(d), ok
		}}
	countUnit = unit{what: "a whole number", format: func(v int64) string { return strconv.FormatInt(v, 10) },
		parse: func(s string) (int64, bool) {
			n, err := strconv.ParseInt(s, 10, 64)
			return n, err == nil
		}}
	percentUnit = unit{name: "%", what: "a percentage", format: func(v int64) string { return units.FormatPercent(float64(v) / 1e6) },
		parse: func(s string) (int64, bool) {
			share, ok := units.ParsePercent(s)
			return int64(math.Round(share * 1e6)), ok && math.Abs(share) < 1e6
		}}
	decimalUnit = unit{what: "a number", format: func(v int64) string { return units.FormatDecimal(float64(v) / 1e6) },
		parse: func(s string) (int64, bool) {
			f, ok := units.ParseDecimal(s, 0)
			return int64(math.Round(f * 1e6)), ok && math.Abs(f) < 1e6
		}}
	rateUnit = unit{name: "kbit/s", what: "a rate", parse: units.ParseRate, format: units.FormatRate}
	sizeUnit = unit{name: "bytes", what: "a size", parse: units.ParseSize, format: units.FormatSize}
)

// Time returns a parameter that is a time from lo to hi; its value is in nanoseconds.
func Time(name string, def, lo, hi time.Duration, help string) Param {
	return Param{name, help, &timeUnit, int64(def), int64(lo), int64(hi)}
}

// Count returns a parameter that is a whole number from lo to hi.
func Count(name string, def, lo, hi int64, help string) Param {
	return Param{name, help, &countUnit, def, lo, hi}
}

// Percent returns a parameter that is a percentage. Its value and the arguments are in millionths: 990_000 is
// 99 %.
func Percent(name string, def, lo, hi int64, help string) Param {
	return Param{name, help, &percentUnit, def, lo, hi}
}

// Decimal returns a parameter that is a number with a fraction. Its value and the arguments are in millionths.
func Decimal(name string, def, lo, hi int64, help string) Param {
	return Param{name, help, &decimalUnit, def, lo, hi}
}

// Rate returns a parameter that is a rate from lo to hi in bits per second.
func Rate(name string, def, lo, hi int64, help string) Param {
	return Param{name, help, &rateUnit, def, lo, hi}
}

// Size returns a parameter that is a size from lo to hi in bytes.
func Size(name string, def, lo, hi int64, help string) Param {
	return Param{name, help, &sizeUnit, def, lo, hi}
}

// Default returns the default value.
func (p *Param) Default() int64 { return p.def }

// text returns the word that sets the parameter to v: "target=5ms".
func (p *Param) text(v int64) string { return p.Name + "=" + p.unit.format(v) }

// expected describes the accepted values.
func (p *Param) expected() string {
	return fmt.Sprintf("%s from %s to %s for %s, such as %s", p.unit.what, p.unit.format(p.min), p.unit.format(p.max), p.Name, p.text(p.def))
}

// info describes the parameter for lists and JSON.
func (p *Param) info() setting.ParamInfo {
	return setting.ParamInfo{Name: p.Name, Unit: p.unit.name, Default: p.unit.format(p.def), Min: p.unit.format(p.min),
		Max: p.unit.format(p.max), Help: p.Help}
}

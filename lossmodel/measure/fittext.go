package measure

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"wirelab/internal/units"
)

// TOML returns the fitted link as table [down] of a configuration, with the estimates and notes
// as comments.
func (f *FitResult) TOML() string { return f.Table("down") }

// Table returns the fitted link as a TOML table with the given name, such as "up". Comments before it
// contain the estimates with their intervals, and the notes.
func (f *FitResult) Table(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Fitted to %d packets.\n", f.Measured.Sent)
	for _, e := range f.Estimates {
		fmt.Fprintf(&b, "# %-28s %s, 95%% interval %s to %s\n", e.Name, e.text(e.Value), e.text(e.Low), e.text(e.High))
	}
	for _, n := range f.Notes {
		fmt.Fprintf(&b, "# Note: %s.\n", n)
	}
	fmt.Fprintf(&b, "[%s]\n", name)
	for _, s := range f.Settings {
		fmt.Fprintf(&b, "%s = %s\n", s.Key, strconv.Quote(s.Value))
	}
	return b.String()
}

// text formats a value with its unit, or in percent if it has none. Values below 1e-9 are
// rounding errors, such as the standard deviation of a constant delay, and are written as 0.
func (e *Estimate) text(v float64) string {
	digits, unit := 5, " "+e.Unit // digits is the number of significant digits
	if e.Unit == "" {
		v, digits, unit = v*100, 4, "%"
	}
	if math.Abs(v) < 1e-9 {
		v = 0
	}
	return units.Significant(v, digits) + unit
}

// Goodness compares the capture with a simulation of the fitted link. Each row is name, measured
// value and simulated value.
func (f *FitResult) Goodness() [][3]string {
	a, b := &f.Measured, &f.Modelled
	percent := func(v float64) string { return units.Fixed(v*100, 3) + "%" }
	number := func(v float64) string { return units.Fixed(v, 3) }
	rows := [][3]string{
		{"loss", percent(a.LossRate), percent(b.LossRate)},
		{"mean burst", number(a.MeanBurst), number(b.MeanBurst)},
		{"duplicated", percent(a.Duplicated), percent(b.Duplicated)},
		{"mean delay", a.Delay.Mean.String(), b.Delay.Mean.String()},
		{"standard deviation", a.Delay.SD.String(), b.Delay.SD.String()},
		{"median delay", a.Delay.P50.String(), b.Delay.P50.String()},
		{"99th percentile", a.Delay.P99.String(), b.Delay.P99.String()},
		{"correlation of delays", number(a.Delay.Lag1), number(b.Delay.Lag1)},
		{"reordered (RFC 4737)", percent(a.Reordering.Ratio), percent(b.Reordering.Ratio)},
	}
	return rows
}

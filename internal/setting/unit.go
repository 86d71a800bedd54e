package setting

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"wirelab/internal/units"
)

// Unit is a kind of value: how its text is parsed and formatted, and which values are valid.
type Unit[T comparable] struct {
	Name     string              // name of the unit, which becomes KeyInfo.Unit
	Expected string              // continues the sentence after "expected"
	Choices  []string            // the only valid texts; nil means that there is no such list
	Parse    func(any) (T, bool) // converts a value; ok is false if it is of another kind
	Format   func(T) string      // Parse(Format(v)) == v for every v in range
	Number   func(T) float64     // converts a value to a number in the unit Name, for a slider
	InRange  func(T) bool        // reports whether a value is in range
	Min, Max string              // bounds of the range, as text
}

// Refuse returns the error for a value that does not parse or is out of range. shown is the value
// for the message.
func (u Unit[T]) Refuse(key, shown string) *KeyError {
	e := &KeyError{Key: key, Value: shown, Expected: u.Expected}
	if len(u.Choices) > 0 {
		e.Known = u.Choices
	}
	return e
}

// Read parses a value and checks its range. key is for the error, a *KeyError.
func (u Unit[T]) Read(key string, value any) (T, error) {
	v, ok := u.Parse(value)
	if !ok || !u.InRange(v) {
		return v, u.Refuse(key, FormatValue(value))
	}
	return v, nil
}

// Limits of the values of the units in this file.
const (
	MaxBurst = 1e6               // largest mean number of packets lost in a row
	minRate  = 1_000             // lowest rate in bits per second
	maxRate  = 1_000_000_000_000 // highest rate in bits per second
	maxQueue = 1 << 40           // largest size in bytes
	// MaxDelay is the longest delay of any key.
	MaxDelay = time.Hour
)

// Percent is the unit of fractions from 0 to 1, which users write as percentages.
var Percent = Unit[float64]{
	Name: "%", Expected: `a percentage from 0% to 100%, such as "5%"`, Min: "0%", Max: "100%",
	Parse: parseOrZero(units.ParsePercent), Format: units.FormatPercent,
	Number:  func(p float64) float64 { return p * 100 },
	InRange: func(p float64) bool { return p >= 0 && p <= 1 },
}

// Span is the unit of times from 0 to MaxDelay.
var Span = Unit[time.Duration]{
	Name: "ms", Expected: `a time from 0 to 1h, such as "50ms"`, Min: "0ms", Max: "3600s",
	Parse: func(v any) (time.Duration, bool) {
		if d, ok := v.(time.Duration); ok {
			return d, true
		}
		return parseOrZero(units.ParseDuration)(v)
	},
	Format:  units.FormatDuration,
	Number:  func(d time.Duration) float64 { return float64(d) / 1e6 },
	InRange: func(d time.Duration) bool { return d >= 0 && d <= MaxDelay },
}

// Burst is the unit of the mean length of a run of lost packets; 0 means off.
var Burst = Unit[float64]{
	Name: "packets", Expected: `a mean run of lost packets from 1 to 1000000, such as 2.5, or "off" for independent losses`,
	Min: "1", Max: "1000000",
	Parse: func(v any) (float64, bool) {
		if IsOff(v) {
			return 0, true
		}
		n, ok := ParseNumber(v)
		return n, ok && n >= 1
	},
	Format:  formatOrOff(units.FormatDecimal),
	Number:  func(n float64) float64 { return n },
	InRange: func(n float64) bool { return n == 0 || n >= 1 && n <= MaxBurst },
}

// Rate is the unit of rates in bits per second; 0 means off.
var Rate = Unit[int64]{
	Name: "kbit/s", Expected: `a rate from 1kbit to 1tbit, such as "1.5mbit" or "80KB/s", or "off" for no limit`,
	Min: "1kbit", Max: "1tbit",
	Parse: parseOrOff(units.ParseRate), Format: formatOrOff(units.FormatRate),
	Number:  func(n int64) float64 { return float64(n) / 1000 },
	InRange: func(n int64) bool { return n == 0 || n >= minRate && n <= maxRate },
}

// Size is the unit of sizes in bytes; 0 means off.
var Size = Unit[int64]{
	Name: "bytes", Expected: `a size from 1B to 1TiB, such as "64KB", or "off" for no limit`,
	Min: "1B", Max: "1TiB",
	Parse: parseOrOff(units.ParseSize), Format: formatOrOff(units.FormatSize),
	Number:  func(n int64) float64 { return float64(n) },
	InRange: func(n int64) bool { return n >= 0 && n <= maxQueue },
}

// Switch is the unit of values that are on or off.
var Switch = Unit[bool]{
	Expected: `"on" or "off"`, Choices: []string{"on", "off"},
	Parse: func(v any) (bool, bool) {
		switch v {
		case true, "on", "true", "yes":
			return true, true
		case false, "off", "false", "no":
			return false, true
		}
		return false, false
	},
	Format: func(on bool) string {
		if on {
			return "on"
		}
		return "off"
	},
	Number: func(on bool) float64 {
		if on {
			return 1
		}
		return 0
	},
	InRange: func(bool) bool { return true },
}

// Count returns the unit of a whole number from lo to hi; what is the plural noun of the counted
// things.
func Count(what string, lo, hi int) Unit[int] {
	return Unit[int]{
		Name: what, Expected: fmt.Sprintf("a whole number of %s from %d to %d", what, lo, hi),
		Min: strconv.Itoa(lo), Max: strconv.Itoa(hi),
		Parse: ParseCount, Format: strconv.Itoa,
		Number:  func(n int) float64 { return float64(n) },
		InRange: func(n int) bool { return n >= lo && n <= hi },
	}
}

// IsOff reports whether v is the text "off".
func IsOff(v any) bool {
	s, ok := v.(string)
	return ok && strings.TrimSpace(s) == "off"
}

// parseOrOff extends a parser of texts so that it returns the zero value for "off".
func parseOrOff[T any](parse func(string) (T, bool)) func(any) (T, bool) {
	return func(v any) (none T, ok bool) {
		s, ok := v.(string)
		if !ok || IsOff(v) {
			return none, ok
		}
		return parse(s)
	}
}

// parseOrZero is parseOrOff for units in which 0 may be written without the unit.
func parseOrZero[T any](parse func(string) (T, bool)) func(any) (T, bool) {
	return func(v any) (none T, ok bool) {
		if f, ok := ParseNumber(v); ok && f == 0 {
			return none, true
		}
		return parseOrOff(parse)(v)
	}
}

// formatOrOff extends a format so that it returns "off" for 0.
func formatOrOff[T int | int64 | float64](format func(T) string) func(T) string {
	return func(v T) string {
		if v == 0 {
			return "off"
		}
		return format(v)
	}
}

// ParseNumber converts a number, or its text, to a finite float64.
func ParseNumber(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case float64:
		return n, !math.IsNaN(n) && !math.IsInf(n, 0)
	case string:
		return units.ParseDecimal(strings.TrimSpace(n), 0)
	}
	return 0, false
}

// ParseCount converts a whole number, or its text, to an int.
func ParseCount(v any) (int, bool) {
	n, ok := ParseNumber(v)
	return int(n), ok && n == math.Trunc(n) && math.Abs(n) < 1<<31
}

// OrOff extends the unit of a count by "off", which is 0.
func OrOff(u Unit[int]) Unit[int] {
	parse, in := u.Parse, u.InRange
	u.Expected += `, or "off"`
	u.Parse = func(v any) (int, bool) {
		if IsOff(v) {
			return 0, true
		}
		n, ok := parse(v)
		return n, ok && n != 0 // the value 0 has to be written as "off"
	}
	u.Format = formatOrOff(strconv.Itoa)
	u.InRange = func(n int) bool { return n == 0 || in(n) }
	return u
}

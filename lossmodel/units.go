package lossmodel

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// unit is a kind of value: how people write it, how it is written back so that
// it reads as the very same value, and where it makes sense.
type unit[T comparable] struct {
	name     string              // KeyInfo.Unit
	expected string              // reads on after "expected"
	choices  []string            // if only these will do
	parse    func(any) (T, bool) // false: it is no such thing
	format   func(T) string      // parse(format(v)) == v for every v in range
	number   func(T) float64     // in the named unit, for a slider
	in       func(T) bool        // in range
	min, max string              // of the range, as text
}

// refuse returns the error for a value that does not parse or is out of range.
func (u *unit[T]) refuse(key, shown string) *KeyError {
	e := &KeyError{Key: key, Value: shown, Expected: u.expected}
	if len(u.choices) > 0 {
		e.Known = u.choices
	}
	return e
}

// read parses a value and checks its range.
func (u *unit[T]) read(key string, value any) (T, error) {
	v, ok := u.parse(value)
	if !ok || !u.in(v) {
		return v, u.refuse(key, show(value))
	}
	return v, nil
}

// Limits of what can be asked for.
const (
	MaxBurst = 1e6               // packets in a row, mean
	MinRate  = 1_000             // bits per second
	MaxRate  = 1_000_000_000_000 // bits per second
	MaxQueue = 1 << 40           // bytes
)

var percentUnit = unit[float64]{
	name: "%", expected: `a percentage from 0% to 100%, such as "5%"`, min: "0%", max: "100%",
	parse: parsePercent, format: formatPercent,
	number: func(p float64) float64 { return p * 100 },
	in:     func(p float64) bool { return p >= 0 && p <= 1 },
}

var spanUnit = unit[time.Duration]{
	name: "ms", expected: `a time from 0 to 1h, such as "50ms"`, min: "0ms", max: "3600s",
	parse: parseSpan, format: formatSpan,
	number: func(d time.Duration) float64 { return float64(d) / 1e6 },
	in:     func(d time.Duration) bool { return d >= 0 && d <= MaxDelay },
}

var burstUnit = unit[float64]{
	name: "packets", expected: `a mean run of lost packets from 1 to 1000000, such as 2.5, or "off" for independent losses`,
	min: "1", max: "1000000",
	parse: func(v any) (float64, bool) {
		if isOff(v) {
			return 0, true
		}
		n, ok := parseNumber(v)
		return n, ok && n >= 1
	},
	format: func(n float64) string {
		if n == 0 {
			return "off"
		}
		return formatNumber(n)
	},
	number: func(n float64) float64 { return n },
	in:     func(n float64) bool { return n == 0 || n >= 1 && n <= MaxBurst },
}

var rateUnit = unit[int64]{
	name: "kbit/s", expected: `a rate from 1kbit to 1tbit, such as "1.5mbit" or "80KB/s", or "off" for no limit`,
	min: "1kbit", max: "1tbit",
	parse: parseRate, format: formatRate,
	number: func(n int64) float64 { return float64(n) / 1000 },
	in:     func(n int64) bool { return n == 0 || n >= MinRate && n <= MaxRate },
}

var sizeUnit = unit[int64]{
	name: "bytes", expected: `a size from 1B to 1TiB, such as "64KB", or "off" for no limit`,
	min: "1B", max: "1TiB",
	parse: parseSize, format: formatSize,
	number: func(n int64) float64 { return float64(n) },
	in:     func(n int64) bool { return n >= 0 && n <= MaxQueue },
}

var mtuUnit = unit[int]{
	name: "bytes", expected: `bytes of the largest IP packet, from 68 to 65535, or "off" for no fragments`,
	min: strconv.Itoa(MinMTU), max: strconv.Itoa(MaxMTU),
	parse: func(v any) (int, bool) {
		if isOff(v) {
			return MaxMTU, true
		}
		if s, ok := v.(string); ok {
			v = strings.TrimSuffix(strings.TrimSpace(s), "B")
		}
		return parseCount(v)
	},
	format: func(n int) string {
		if n == MaxMTU {
			return "off"
		}
		return strconv.Itoa(n)
	},
	number: func(n int) float64 { return float64(n) },
	in:     func(n int) bool { return n >= MinMTU && n <= MaxMTU },
}

var switchUnit = unit[bool]{
	expected: `"on" or "off"`, choices: []string{"on", "off"},
	parse: func(v any) (bool, bool) {
		switch v {
		case true, "on", "true", "yes":
			return true, true
		case false, "off", "false", "no":
			return false, true
		}
		return false, false
	},
	format: func(on bool) string {
		if on {
			return "on"
		}
		return "off"
	},
	number: func(on bool) float64 {
		if on {
			return 1
		}
		return 0
	},
	in: func(bool) bool { return true },
}

// countUnit returns the unit of whole numbers of something from lo to hi.
func countUnit(what string, lo, hi int) unit[int] {
	return unit[int]{
		name: what, expected: fmt.Sprintf("a whole number of %s from %d to %d", what, lo, hi),
		min: strconv.Itoa(lo), max: strconv.Itoa(hi),
		parse: parseCount, format: strconv.Itoa,
		number: func(n int) float64 { return float64(n) },
		in:     func(n int) bool { return n >= lo && n <= hi },
	}
}

func isOff(v any) bool {
	s, ok := v.(string)
	return ok && strings.TrimSpace(s) == "off"
}

// isZero: 0 needs no unit.
func isZero(v any) bool {
	switch n := v.(type) {
	case string:
		f, ok := decimal(strings.TrimSpace(n), 0)
		return ok && f == 0
	default:
		f, ok := parseNumber(n)
		return ok && f == 0
	}
}

// parseNumber takes a finite number, or the text of one.
func parseNumber(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case float64:
		return n, !math.IsNaN(n) && !math.IsInf(n, 0)
	case string:
		return decimal(strings.TrimSpace(n), 0)
	}
	return 0, false
}

func parseCount(v any) (int, bool) {
	n, ok := parseNumber(v)
	return int(n), ok && n == math.Trunc(n) && math.Abs(n) < 1<<31
}

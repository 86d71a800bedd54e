// Package units parses and formats numbers with units: plain decimals, percentages, times, rates
// and sizes.
//
// The functions in this file are exact. They work on decimal digits and never multiply by 100 or
// 1000: ParsePercent("5%") is the float nearest to 0.05, and the text of a Format function parses
// to the same value.
package units

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// MaxDigits is the maximum length of the decimals that ParseDecimal accepts. FormatDecimal returns
// shorter ones.
const MaxDigits = 400

// ParseDecimal parses digits with at most one point and one sign, and returns the number times
// 10^exp.
func ParseDecimal(s string, exp int) (float64, bool) {
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || len(s) > MaxDigits || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s+"e"+strconv.Itoa(exp), 64)
	if f == 0 {
		f = 0 // replaces -0
	}
	return f, err == nil
}

// FormatDecimal formats a number as the shortest decimal that parses to the same number, without an
// exponent.
func FormatDecimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// AddSteps returns from + n*step, rounded to the decimal places of from or step: 0.1 and two steps
// of 0.1 are 0.3, not 0.30000000000000004.
func AddSteps(from, step float64, n int) float64 {
	sum := from + float64(float64(n)*step)
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(sum, 'f', max(countDecimals(from), countDecimals(step)), 64), 64)
	if err != nil {
		return sum
	}
	return rounded + 0 // the sum with 0 replaces -0
}

// countDecimals returns the number of digits after the point of f as a decimal.
func countDecimals(f float64) int {
	_, fraction, _ := strings.Cut(FormatDecimal(f), ".")
	return len(fraction)
}

// splitUnit splits a text such as "5 mbit" into its number and its unit.
func splitUnit(s string) (number, unit string) {
	s = strings.TrimSpace(s)
	i := strings.LastIndexAny(s, "0123456789.") + 1
	return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i:])
}

// ParsePercent parses a percentage such as "5%" and returns the share, 0.05.
func ParsePercent(s string) (float64, bool) {
	number, unit := splitUnit(s)
	f, ok := ParseDecimal(number, -2)
	return f, ok && unit == "%"
}

// FormatPercent formats a share as a percentage.
func FormatPercent(share float64) string {
	if math.IsNaN(share) || math.IsInf(share, 0) {
		return FormatDecimal(share)
	}
	return shiftPoint(FormatDecimal(share), 2) + "%"
}

// shiftPoint moves the point of a decimal n places to the right. n may be negative.
func shiftPoint(s string, n int) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	zeros := strings.Repeat("0", max(n, -n))
	digits := zeros + whole + fraction + zeros
	point := len(zeros) + len(whole) + n
	whole, fraction = strings.TrimLeft(digits[:point], "0"), strings.TrimRight(digits[point:], "0")
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return sign + whole
}

// ParseDuration parses a time such as "50ms". It accepts the units of time.ParseDuration and those of
// Linux's traffic control, tc.
func ParseDuration(s string) (time.Duration, bool) {
	number, unit := splitUnit(s)
	switch unit {
	case "sec", "secs":
		unit = "s"
	case "msec", "msecs":
		unit = "ms"
	case "usec", "usecs":
		unit = "us"
	}
	d, err := time.ParseDuration(number + unit)
	return d, err == nil
}

// FormatDuration formats a time in seconds, milliseconds or microseconds.
func FormatDuration(d time.Duration) string {
	ns := strconv.FormatInt(int64(d), 10)
	switch {
	case d == 0:
		return "0ms"
	case d >= time.Second || d <= -time.Second:
		return shiftPoint(ns, -9) + "s"
	case d%time.Microsecond == 0 && d < time.Millisecond && d > -time.Millisecond:
		return shiftPoint(ns, -3) + "us"
	}
	return shiftPoint(ns, -6) + "ms"
}

// prefixes of bits and bytes: powers of 1000, and of 1024 with an i.
var prefixes = []struct {
	letter         string
	exp, doublings int // the prefix means 10^exp, or with an i 2^doublings
}{{"", 0, 0}, {"k", 3, 10}, {"m", 6, 20}, {"g", 9, 30}, {"t", 12, 40}}

// parseQuantity parses a number and the prefix of its unit, such as "k" or "Ki", and rounds to a whole
// number. valid is false if the prefix is unknown, or the number is negative or too large.
func parseQuantity(number, prefix string) (rounded int64, valid bool) {
	prefix = strings.ToLower(prefix)
	for _, p := range prefixes {
		var f float64
		var ok bool
		switch {
		case prefix == p.letter:
			f, ok = ParseDecimal(number, p.exp)
		case p.doublings > 0 && prefix == p.letter+"i":
			f, ok = ParseDecimal(number, 0)
			f = float64(f * float64(int64(1)<<p.doublings))
		default:
			continue
		}
		f += 0.5 // makes the conversion to int64 round
		if !ok || f < 0 || f >= 1<<62 {
			return 0, false
		}
		return int64(f), true
	}
	return 0, false
}

// ParseRate parses a rate in bits ("5mbit", "5 Mbit/s", "5Mbps", "5 Mb/s") or, with a capital B, in
// bytes ("80KB/s", "80kBps") and returns bits per second. Unlike in tc, where kbps means kilobytes,
// it means kilobits, as in all reports.
func ParseRate(s string) (int64, bool) {
	number, unit := splitUnit(s)
	perSecond := strings.TrimSuffix(strings.TrimSuffix(unit, "/s"), "ps")
	bitsPerUnit := int64(1)
	prefix, found := cutSuffixFold(perSecond, "bit")
	if !found && perSecond != unit { // a plain B or b needs the suffix /s or ps
		prefix, found = strings.CutSuffix(perSecond, "B")
		if found {
			bitsPerUnit = 8
		} else {
			prefix, found = strings.CutSuffix(perSecond, "b")
		}
	}
	if !found {
		return 0, false
	}
	n, ok := parseQuantity(number, prefix)
	return n * bitsPerUnit, ok && n > 0 && n <= math.MaxInt64/8 // the limit excludes an overflow
}

// cutSuffixFold is strings.CutSuffix without regard to case.
func cutSuffixFold(s, suffix string) (string, bool) {
	if n := len(s) - len(suffix); n >= 0 && strings.EqualFold(s[n:], suffix) {
		return s[:n], true
	}
	return s, false
}

// FormatRate formats bits per second with the largest prefix that gives at least 1.
func FormatRate(bps int64) string { return formatQuantity(bps) + "bit" }

// formatQuantity formats n with the largest decimal prefix that gives at least 1.
func formatQuantity(n int64) string {
	i := 0
	for limit := int64(1000); i < len(prefixes)-1 && n >= limit; limit *= 1000 {
		i++
	}
	return shiftPoint(strconv.FormatInt(n, 10), -prefixes[i].exp) + prefixes[i].letter
}

// ParseSize parses a size above 0 in bytes, such as "64KB" (64,000) or "64KiB" (65,536).
func ParseSize(s string) (int64, bool) {
	number, unit := splitUnit(s)
	prefix, ok := strings.CutSuffix(unit, "B")
	if !ok {
		return 0, false
	}
	n, ok := parseQuantity(number, prefix)
	return n, ok && n > 0
}

// FormatSize formats a size in bytes, with a binary prefix if n is a multiple of 1024 but not of
// 1000.
func FormatSize(n int64) string {
	if n%1000 != 0 && n%1024 == 0 {
		for i := len(prefixes) - 1; i > 0; i-- {
			if p := prefixes[i]; n%(1<<p.doublings) == 0 {
				return strconv.FormatInt(n>>p.doublings, 10) + strings.ToUpper(p.letter) + "iB"
			}
		}
	}
	return strings.ToUpper(formatQuantity(n)) + "B"
}

// Split splits "50ms" into "50" and "ms". The number consists of the digits, points and signs at the
// beginning, which need not be valid; it is empty if s begins with another character.
func Split(s string) (number, unit string) {
	s = strings.TrimSpace(s)
	i := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' && r != '+' })
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// AppendUnit appends unit to text if text is a number without a unit.
func AppendUnit(text, unit string) string {
	if number, rest := Split(text); number != "" && rest == "" {
		return text + unit
	}
	return text
}

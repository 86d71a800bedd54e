package setting

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// The texts below are read and written through decimal digits, never through a
// multiplication by 100 or 1000: "5%" is the float nearest to 0.05, and what is
// written reads back as the same bits.

// MaxDigits is the length of the longest decimal that a float64 is written as here,
// and some; what is longer is not worth reading.
const MaxDigits = 400

// Decimal reads digits with at most one point and one sign, times 10^exp.
func Decimal(s string, exp int) (float64, bool) {
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 || len(s) > MaxDigits || strings.Trim(digits, "0123456789.") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s+"e"+strconv.Itoa(exp), 64)
	if f == 0 {
		f = 0 // not -0
	}
	return f, err == nil
}

// cut splits a text into its number and its unit.
func cut(s string) (number, unit string) {
	s = strings.TrimSpace(s)
	i := strings.LastIndexAny(s, "0123456789.") + 1
	return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i:])
}

// FormatNumber writes a float as a plain decimal.
func FormatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Significant writes a float as a plain decimal with at least the given number of significant
// digits, trailing zeros aside: with 3, 0.12345 is 0.123 and 12345.6 is 12346.
func Significant(f float64, digits int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', digits, 64), 64)
	if err != nil || math.Abs(rounded) >= math.Pow10(digits) {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return FormatNumber(rounded)
}

// AddSteps returns from + n*step, rounded to as many decimal places as from or step is written
// with: 0.1 and two steps of 0.1 are 0.3, not 0.30000000000000004.
func AddSteps(from, step float64, n int) float64 {
	sum := from + float64(float64(n)*step)
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(sum, 'f', max(decimals(from), decimals(step)), 64), 64)
	if err != nil {
		return sum
	}
	return rounded + 0 // not -0
}

// decimals returns the number of digits after the point when f is written as a decimal.
func decimals(f float64) int {
	_, part, _ := strings.Cut(FormatNumber(f), ".")
	return len(part)
}

// ParsePercent takes a percentage, "off" or 0, and returns the share.
func ParsePercent(v any) (float64, bool) {
	if IsOff(v) || isZero(v) {
		return 0, true
	}
	s, ok := v.(string)
	if !ok {
		return 0, false
	}
	number, unit := cut(s)
	f, ok := Decimal(number, -2)
	return f, ok && unit == "%"
}

// FormatPercent writes a share as a percentage.
func FormatPercent(p float64) string {
	if math.IsNaN(p) || math.IsInf(p, 0) {
		return FormatNumber(p) // refused everywhere, but shown in the message
	}
	return shiftPoint(FormatNumber(p), 2) + "%"
}

// shiftPoint moves the point of a decimal n places to the right, n >= 0.
func shiftPoint(s string, n int) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, part, _ := strings.Cut(s, ".")
	if pad := n - len(part); pad > 0 {
		part += strings.Repeat("0", pad)
	}
	whole = strings.TrimLeft(whole+part[:n], "0")
	if whole == "" {
		whole = "0"
	}
	if part = strings.TrimRight(part[n:], "0"); part != "" {
		whole += "." + part
	}
	return sign + whole
}

func parseSpan(v any) (time.Duration, bool) {
	if IsOff(v) || isZero(v) {
		return 0, true
	}
	if d, ok := v.(time.Duration); ok {
		return d, true
	}
	s, ok := v.(string)
	if !ok {
		return 0, false
	}
	number, unit := cut(s)
	// The names that tc and people use beside Go's.
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

// FormatSpan writes a time as ParseDuration and Span take it.
func FormatSpan(d time.Duration) string {
	switch {
	case d == 0:
		return "0ms"
	case d >= time.Second || d <= -time.Second:
		return scaled(int64(d), 9) + "s"
	case d%time.Microsecond == 0 && d < time.Millisecond && d > -time.Millisecond:
		return scaled(int64(d), 3) + "us"
	}
	return scaled(int64(d), 6) + "ms"
}

// scaled writes n / 10^places as a decimal.
func scaled(n int64, places int) string {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	s := strconv.FormatInt(n, 10)
	if pad := places + 1 - len(s); pad > 0 {
		s = strings.Repeat("0", pad) + s
	}
	whole, part := s[:len(s)-places], strings.TrimRight(s[len(s)-places:], "0")
	if part != "" {
		whole += "." + part
	}
	return sign + whole
}

// prefixes of bits and bytes: powers of 1000, and of 1024 with an i.
var prefixes = []struct {
	letter         string
	exp, doublings int
}{{"", 0, 0}, {"k", 3, 10}, {"m", 6, 20}, {"g", 9, 30}, {"t", 12, 40}}

// quantity reads a number and the prefix of its unit, rounded to a whole number.
func quantity(number, prefix string) (int64, bool) {
	prefix = strings.ToLower(prefix)
	for _, p := range prefixes {
		var f float64
		var ok bool
		switch {
		case prefix == p.letter:
			f, ok = Decimal(number, p.exp)
		case p.doublings > 0 && prefix == p.letter+"i":
			f, ok = Decimal(number, 0)
			f = float64(f * float64(int64(1)<<p.doublings))
		default:
			continue
		}
		if f += 0.5; !ok || f < 0 || f >= 1<<62 {
			return 0, false
		}
		return int64(f), true
	}
	return 0, false
}

// parseRate takes bits ("5mbit", "5 Mbit/s", "5Mbps", "5 Mb/s") and, with a
// capital B, bytes ("80KB/s", "80kBps"). tc reads kbps as kilobytes; here it means
// what every report of this lab means by it, kilobits.
func parseRate(v any) (int64, bool) {
	if IsOff(v) {
		return 0, true
	}
	s, ok := v.(string)
	if !ok {
		return 0, false
	}
	number, unit := cut(s)
	perSecond := strings.TrimSuffix(strings.TrimSuffix(unit, "/s"), "ps")
	times := int64(1)
	prefix, found := cutSuffixFold(perSecond, "bit")
	if !found && perSecond != unit {
		if prefix, found = strings.CutSuffix(perSecond, "B"); found {
			times = 8
		} else {
			prefix, found = strings.CutSuffix(perSecond, "b")
		}
	}
	if !found {
		return 0, false
	}
	n, ok := quantity(number, prefix)
	return n * times, ok && n > 0 && n <= MaxRate
}

func cutSuffixFold(s, suffix string) (string, bool) {
	if n := len(s) - len(suffix); n >= 0 && strings.EqualFold(s[n:], suffix) {
		return s[:n], true
	}
	return s, false
}

// FormatRate writes bits per second with the largest prefix that fits.
func FormatRate(n int64) string {
	if n == 0 {
		return "off"
	}
	return largest(n) + "bit"
}

// largest writes n with the largest decimal prefix that leaves at least 1.
func largest(n int64) string {
	i := 0
	for limit := int64(1000); i < len(prefixes)-1 && n >= limit; limit *= 1000 {
		i++
	}
	return scaled(n, prefixes[i].exp) + prefixes[i].letter
}

func parseSize(v any) (int64, bool) {
	if IsOff(v) {
		return 0, true
	}
	s, ok := v.(string)
	if !ok {
		return 0, false
	}
	number, unit := cut(s)
	prefix, ok := strings.CutSuffix(unit, "B")
	if !ok {
		return 0, false
	}
	n, ok := quantity(number, prefix)
	return n, ok && n > 0
}

func formatSize(n int64) string {
	if n == 0 {
		return "off"
	}
	if n%1000 != 0 && n%1024 == 0 {
		for i := len(prefixes) - 1; i > 0; i-- {
			if p := prefixes[i]; n%(1<<p.doublings) == 0 {
				return strconv.FormatInt(n>>p.doublings, 10) + strings.ToUpper(p.letter) + "iB"
			}
		}
	}
	return strings.ToUpper(largest(n)) + "B"
}

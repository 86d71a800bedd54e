package units

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Fixed formats v with a number of decimals; "-" if v is NaN or infinite.
func Fixed(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// Signed is Fixed with the sign of v, unless v is rounded to 0.
func Signed(v float64, decimals int) string {
	text := Fixed(math.Abs(v), decimals)
	switch {
	case strings.Trim(text, "0.-") == "": // only zeros, or no number
		return text
	case v < 0:
		return "-" + text
	}
	return "+" + text
}

// Trimmed formats v with at most a number of decimals, without trailing zeros: 2.5, 12. It returns
// "-" if v is NaN or infinite.
func Trimmed(v float64, decimals int) string {
	text := Fixed(v, decimals)
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// Stepped formats v with fewer decimals the larger it is: one less for each of the limits that |v|
// reaches. Stepped(v, 3, 10, 100, 1000) gives about four digits; "-" if v is NaN or infinite.
func Stepped(v float64, decimals int, limits ...float64) string {
	for _, limit := range limits {
		if math.Abs(v) >= limit {
			decimals--
		}
	}
	return Fixed(v, decimals)
}

// General formats v with at most n significant digits, with an exponent if v is very large or
// small. n = -1 means as many digits as are needed to parse the same number.
func General(v float64, n int) string { return strconv.FormatFloat(v, 'g', n, 64) }

// Significant formats v as a plain decimal, rounded to n significant digits, without trailing zeros. A number
// with more than n digits before the point is rounded to an integer instead: with n = 3, 0.12345 is 0.123 and
// 12345.6 is 12346.
func Significant(v float64, n int) string {
	rounded, err := strconv.ParseFloat(General(v, n), 64)
	if err != nil || math.Abs(rounded) >= math.Pow10(n) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return FormatDecimal(rounded)
}

// ShortWidth is the length of the longest text that Short returns.
const ShortWidth = 5

// Short formats v in at most ShortWidth characters: 7, 12.5, 340, 12k, 1.5M.
func Short(v float64) string {
	prefixes := [...]string{"", "k", "M", "G", "T", "P", "E"}
	i := 0
	for math.Abs(v) >= 9999.5 && i < len(prefixes)-1 { // up to 9999 fits without a prefix
		v /= 1000
		i++
	}
	decimals := 0
	if math.Abs(v) < 100 && v != math.Round(v) {
		decimals = 1
		if math.Abs(v) < 1 {
			decimals = 2
		}
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if len(s)+len(prefixes[i]) > ShortWidth {
		s = strconv.FormatFloat(v, 'f', 0, 64)
	}
	return s + prefixes[i]
}

// Bytes formats a number of bytes in B, KB or MB, with about three digits.
func Bytes(n float64) string {
	switch {
	case n >= 1e6:
		return Stepped(n/1e6, 2, 10) + " MB"
	case n >= 1e3:
		return Stepped(n/1e3, 1, 100) + " KB"
	}
	return Fixed(n, 0) + " B"
}

// Group inserts commas between the thousands of a decimal.
func Group(decimal string) string {
	whole, fraction, dotted := strings.Cut(decimal, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dotted {
		whole += "." + fraction
	}
	return whole
}

// Thousands formats n with commas between the thousands.
func Thousands(n int64) string { return Group(strconv.FormatInt(n, 10)) }

// Coarse formats a duration, rounded to seconds, minutes or tenths of hours.
func Coarse(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return Fixed(d.Seconds(), 0) + " s"
	case d < 90*time.Minute:
		return Fixed(d.Minutes(), 0) + " min"
	}
	return Fixed(d.Hours(), 1) + " h"
}

// Milliseconds returns d in milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

package units

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Fixed writes v with a number of decimals, and "-" if v is NaN or infinite.
func Fixed(v float64, decimals int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// Stepped writes v with fewer decimals the larger it is: with the given number of decimals
// less one for each of the limits that the magnitude of v reaches. Stepped(v, 3, 10, 100, 1000)
// writes about four digits.
func Stepped(v float64, decimals int, limits ...float64) string {
	for _, limit := range limits {
		if math.Abs(v) >= limit {
			decimals--
		}
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// General writes v with at most n significant digits, with an exponent if it is very large or
// small. With n -1 it writes as many digits as are needed to read back the same number.
func General(v float64, n int) string { return strconv.FormatFloat(v, 'g', n, 64) }

// Significant writes v as a plain decimal with at least n significant digits, trailing zeros
// aside: with 3, 0.12345 is 0.123 and 12345.6 is 12346.
func Significant(v float64, n int) string {
	rounded, err := strconv.ParseFloat(General(v, n), 64)
	if err != nil || math.Abs(rounded) >= math.Pow10(n) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return FormatDecimal(rounded)
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

// Milliseconds returns d in milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

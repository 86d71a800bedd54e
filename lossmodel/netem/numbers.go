package netem

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirelab/internal/units"
)

// This file parses numbers as tc does: with strtod and strtoul, and the units and rounding of tc.
// Numbers that overflow 32 bits in tc, and "nan", are errors here.

// The syntax of each type of value: the function that parses a word, the function that formats a
// value, whether the value may be negative, and what error messages say was expected.
var (
	percentages = syntax[probability]{readPercentage, probability.String, false,
		`a percentage from 0% to 100%, such as "5%"`}

	delayTimes = syntax[time.Duration]{readTime, timeText, false,
		`a time from 0 to 274.877906s, such as "50ms" (s, ms, us; a bare number is microseconds)`}
	slotTimes = syntax[time.Duration]{readSlotTime, slotText, false,
		`a time from 0 to 1h, such as "20ms" (s, ms, us, ns; a bare number is nanoseconds)`}
	rates = syntax[uint64]{readRate, rateText, false,
		`a rate such as "5mbit" or "625kbps" (bit, kbit, mbit, gbit; bps, kbps etc. are bytes/s; a bare number is bit/s)`}

	sizes = syntax[uint32]{readSize, formatInt[uint32], false,
		`a whole number from 0 to 4294967295, such as "1000" (k is 1024)`}
	counts    = syntax[uint32]{readCount, formatInt[uint32], false, "a whole number from 0 to 4294967295"}
	integers  = syntax[int32]{readInteger, formatInt[int32], true, "a whole number of bytes from -2147483648 to 2147483647"}
	positives = syntax[int32]{readPositive, formatInt[int32], false, "a whole number from 0 to 2147483647"}
	slotBytes = syntax[int32]{readSlotBytes, formatInt[int32], false, "a whole number from 0 to 2147483647"}
	seeds     = syntax[uint64]{readSeed, formatInt[uint64], false, "a whole number from 0 to 18446744073709551615"}
)

// numberStart matches the prefix of a word that strtod parses as a number, except infinities
// and NaN.
var numberStart = regexp.MustCompile(
	`^[+-]?(0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)`)

// parseNumber splits a word as strtod does, into its longest prefix that is a number and the
// rest. ok is false if the word has no such prefix or v overflows.
func parseNumber(word string) (v float64, rest string, ok bool) {
	text := numberStart.FindString(word)
	rest = word[len(text):]
	if strings.ContainsAny(text, "xX") {
		text += "p0" // strconv requires an exponent in hexadecimal numbers
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, rest, err == nil
}

// formatInt formats an integer.
func formatInt[N int32 | uint32 | uint64](n N) string { return fmt.Sprint(n) }

// readPercentage reads a percentage. The percent sign is optional: "5" is "5%".
func readPercentage(word string) (probability, bool) {
	p, ok := parsePercentage(word)
	return newProbability(p), ok
}

// parsePercentage reads a percentage as a number from 0 to 1. The result is false for other words.
func parsePercentage(word string) (float64, bool) {
	v, rest, ok := parseNumber(word)
	p := v / 100
	return p, ok && p >= 0 && p <= 1 && (rest == "" || rest == "%")
}

// readScaled reads a number with one of the given units, in upper or lower case, multiplies it by
// the factor of the unit and rounds it. The second result is false if the word is not such a number
// or the first is not from 0 to maximum.
func readScaled(word string, units []scaledUnit, round func(float64) float64, maximum float64) (float64, bool) {
	v, unit, ok := parseNumber(word)
	i := slices.IndexFunc(units, func(u scaledUnit) bool { return strings.EqualFold(u.name, unit) })
	if !ok || i < 0 {
		return 0, false
	}
	v = round(v * units[i].factor)
	return v, v >= 0 && v <= maximum
}

// scaledUnit is the name of a unit and the factor by which a number with that unit is multiplied.
type scaledUnit struct {
	name   string
	factor float64
}

// timeUnits returns tc's names of units of time with their factors; us is the factor of a
// microsecond.
func timeUnits(us float64) []scaledUnit {
	return []scaledUnit{{"us", us}, {"usec", us}, {"usecs", us}, {"ms", 1e3 * us}, {"msec", 1e3 * us}, {"msecs", 1e3 * us},
		{"s", 1e6 * us}, {"sec", 1e6 * us}, {"secs", 1e6 * us}}
}

// readTime reads a delay and truncates it to whole microseconds.
func readTime(word string) (time.Duration, bool) {
	us, ok := readScaled(word, append(timeUnits(1), scaledUnit{"", 1}), math.Trunc, float64(maxTime/time.Microsecond))
	return time.Duration(us) * time.Microsecond, ok
}

// readSlotTime reads a time of a slot and truncates it to whole nanoseconds.
func readSlotTime(word string) (time.Duration, bool) {
	ns, ok := readScaled(word, append(timeUnits(1e3), scaledUnit{"", 1}, scaledUnit{"ns", 1}, scaledUnit{"nsec", 1},
		scaledUnit{"nsecs", 1}),
		math.Trunc, float64(maxSlotTime))
	return time.Duration(ns), ok
}

// maxSlotTime is the maximum duration of a slot; tc accepts 292 years.
const maxSlotTime = time.Hour

// readRate reads a rate and returns bytes per second. As in tc, the case of letters does not
// matter: "bit" means bits, "bps" and "Bps" mean bytes.
func readRate(word string) (uint64, bool) {
	var units []scaledUnit
	for _, prefix := range []scaledUnit{{"", 1}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12},
		{"ki", 1 << 10}, {"mi", 1 << 20}, {"gi", 1 << 30}, {"ti", 1 << 40}} {
		units = append(units, scaledUnit{prefix.name + "bit", prefix.factor}, scaledUnit{prefix.name + "bps", 8 * prefix.factor})
	}
	bytes, ok := readScaled(word, append(units, scaledUnit{"", 1}), func(bits float64) float64 { return math.Floor(bits / 8) }, maxRate)
	return uint64(bytes), ok
}

// readSize reads a size of 32 bits, in which k is 1024. tc reads the limit this way too.
func readSize(word string) (uint32, bool) {
	n, ok := readScaled(word, []scaledUnit{{"", 1}, {"b", 1}, {"k", 1 << 10}, {"kb", 1 << 10}, {"m", 1 << 20},
		{"mb", 1 << 20},
		{"g", 1 << 30}, {"gb", 1 << 30}, {"kbit", 1 << 7}, {"mbit", 1 << 17}, {"gbit", 1 << 27}}, math.Floor, math.MaxUint32)
	return uint32(n), ok
}

// readCount reads an unsigned number of 32 bits as strtoul does: a prefix 0x means base 16, a
// leading 0 base 8.
func readCount(word string) (uint32, bool) {
	v, err := strconv.ParseUint(dropGoSyntax(strings.TrimPrefix(word, "+")), 0, 32)
	return uint32(v), err == nil
}

// readInteger reads a signed number of 32 bits in base 10, 16 (prefix 0x) or 8 (leading 0).
func readInteger(word string) (int32, bool) {
	v, err := strconv.ParseInt(dropGoSyntax(word), 0, 32)
	return int32(v), err == nil
}

// readPositive reads a number from 0 to 2^31-1 in base 10, 16 (prefix 0x) or 8 (leading 0).
func readPositive(word string) (int32, bool) {
	v, ok := readInteger(word)
	return v, ok && v >= 0
}

// readSlotBytes reads a size from 0 to 2^31-1.
func readSlotBytes(word string) (int32, bool) {
	v, ok := readSize(word)
	return int32(v), ok && v <= math.MaxInt32
}

// dropGoSyntax returns word, or "" if word has syntax of Go that C does not have: underscores, 0b
// or 0o.
func dropGoSyntax(word string) string {
	digits := strings.ToLower(strings.TrimLeft(word, "+-"))
	if strings.Contains(word, "_") || strings.HasPrefix(digits, "0b") || strings.HasPrefix(digits, "0o") {
		return ""
	}
	return word
}

// readSeed reads an unsigned number of 64 bits, in base 10. As in C, a minus sign negates
// it modulo 2^64.
func readSeed(word string) (uint64, bool) {
	digits, negative := strings.CutPrefix(word, "-")
	if !negative {
		digits = strings.TrimPrefix(word, "+")
	}
	v, err := strconv.ParseUint(digits, 10, 64)
	if negative {
		v = -v
	}
	return v, err == nil
}

// timeText formats a time in the largest unit from which readTime returns the same time.
// Other units may lose a microsecond, since tc truncates the floating-point product.
func timeText(t time.Duration) string {
	us := float64(t / time.Microsecond)
	for _, u := range []scaledUnit{{"s", 1e6}, {"ms", 1e3}} {
		text := units.FormatDecimal(us/u.factor) + u.name
		if parsed, ok := readTime(text); us >= u.factor && ok && parsed == t {
			return text
		}
	}
	return units.FormatDecimal(us) + "us"
}

// slotText formats a time of a slot so that readSlotTime returns the same time.
func slotText(t time.Duration) string {
	if t%time.Microsecond == 0 {
		text := timeText(t)
		if parsed, ok := readSlotTime(text); ok && parsed == t {
			return text
		}
	}
	return strconv.FormatInt(int64(t), 10) + "ns"
}

// rateText formats a rate in bits, in the largest unit from which readRate returns the same rate.
func rateText(bytes uint64) string {
	bits := float64(bytes * 8)
	for _, u := range []scaledUnit{{"tbit", 1e12}, {"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}} {
		text := units.FormatDecimal(bits/u.factor) + u.name
		if parsed, ok := readRate(text); bits >= u.factor && ok && parsed == bytes {
			return text
		}
	}
	return units.FormatDecimal(bits) + "bit"
}

package netem

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Numbers as tc reads them: by strtod and strtoul, with its units and its roundings.
// Where tc lets a number wrap around in 32 bits or reads "nan", it is refused here.

// number splits a word as strtod does: the longest start that is a number, and
// the rest. Infinities and NaN are none.
func number(word string) (v float64, rest string, ok bool) {
	end := numberEnd(word)
	text := word[:end]
	if hex := strings.TrimLeft(text, "+-"); len(hex) > 2 && (hex[1] == 'x' || hex[1] == 'X') {
		text += "p0"
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, word[end:], err == nil
}

// numberEnd returns how long the number at the start of a word is.
func numberEnd(w string) int {
	i := 0
	if i < len(w) && (w[i] == '+' || w[i] == '-') {
		i++
	}
	if strings.HasPrefix(w[i:], "0x") || strings.HasPrefix(w[i:], "0X") {
		if end, digits := digitsEnd(w, i+2, "0123456789abcdefABCDEF"); digits > 0 {
			return end
		}
	}
	const decimal = "0123456789"
	end, digits := digitsEnd(w, i, decimal)
	if digits == 0 {
		return 0
	}
	if end < len(w) && (w[end] == 'e' || w[end] == 'E') {
		j := end + 1
		if j < len(w) && (w[j] == '+' || w[j] == '-') {
			j++
		}
		if stop := spanEnd(w, j, decimal); stop > j {
			return stop
		}
	}
	return end
}

// digitsEnd passes digits with at most one point among them, and counts them.
func digitsEnd(w string, from int, set string) (end, digits int) {
	end = spanEnd(w, from, set)
	digits = end - from
	if end < len(w) && w[end] == '.' {
		stop := spanEnd(w, end+1, set)
		digits += stop - end - 1
		end = stop
	}
	return end, digits
}

func spanEnd(w string, from int, set string) int {
	for from < len(w) && strings.IndexByte(set, w[from]) >= 0 {
		from++
	}
	return from
}

// readShare reads a percentage; the sign may be left out: "5" is "5%".
func readShare(word string) (Share, bool) {
	p, ok := readProbability(word)
	return shareOf(p), ok
}

func readProbability(word string) (float64, bool) {
	v, rest, ok := number(word)
	p := v / 100
	return p, ok && p >= 0 && p <= 1 && (rest == "" || rest == "%")
}

// scaled finds the factor of a unit, whatever its case.
func scaled(unit string, units []unitOf) (float64, bool) {
	for _, u := range units {
		if strings.EqualFold(u.name, unit) {
			return u.times, true
		}
	}
	return 0, false
}

type unitOf struct {
	name  string
	times float64
}

// microseconds of the units of time.
func timeUnits() []unitOf {
	return []unitOf{{"", 1}, {"us", 1}, {"usec", 1}, {"usecs", 1},
		{"ms", 1e3}, {"msec", 1e3}, {"msecs", 1e3}, {"s", 1e6}, {"sec", 1e6}, {"secs", 1e6}}
}

// readTime reads a delay: whole microseconds, fractions are cut off.
func readTime(word string) (time.Duration, bool) {
	v, unit, ok := number(word)
	times, known := scaled(unit, timeUnits())
	v = math.Trunc(v * times)
	if !ok || !known || !(v >= 0 && v <= float64(MaxTime/time.Microsecond)) {
		return 0, false
	}
	return time.Duration(v) * time.Microsecond, true
}

// readSlotTime reads a time of a slot: nanoseconds, and a bare number is as many.
func readSlotTime(word string) (time.Duration, bool) {
	v, unit, ok := number(word)
	times := 1.0
	if unit != "" && !strings.EqualFold(unit, "ns") && !strings.EqualFold(unit, "nsec") && !strings.EqualFold(unit, "nsecs") {
		t, known := scaled(unit, timeUnits())
		times, ok = t*1e3, ok && known
	}
	v = math.Trunc(v * times)
	if !ok || !(v >= 0 && v <= float64(maxSlotTime)) {
		return 0, false
	}
	return time.Duration(v), true
}

// maxSlotTime bounds what a slot may last; tc takes 292 years.
const maxSlotTime = time.Hour

// readRate reads a rate in bytes per second. A capital or small b makes no
// difference: "bit" is bits, "bps" bytes.
func readRate(word string) (uint64, bool) {
	v, unit, ok := number(word)
	lower := strings.ToLower(unit)
	prefix, times := lower, 1.0
	switch {
	case strings.HasSuffix(lower, "bit"):
		prefix = lower[:len(lower)-3]
	case strings.HasSuffix(lower, "bps"):
		prefix, times = lower[:len(lower)-3], 8
	case lower != "":
		return 0, false
	}
	factor, known := scaled(prefix, []unitOf{{"", 1}, {"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12},
		{"ki", 1 << 10}, {"mi", 1 << 20}, {"gi", 1 << 30}, {"ti", 1 << 40}})
	v = math.Floor(v * (times * factor) / 8)
	if !ok || !known || !(v >= 0 && v <= MaxRate) {
		return 0, false
	}
	return uint64(v), true
}

// readSize reads a size of 32 bits, in which k is 1024. The limit is read so too.
func readSize(word string) (uint32, bool) {
	v, unit, ok := number(word)
	times, known := scaled(unit, []unitOf{{"", 1}, {"b", 1}, {"k", 1 << 10}, {"kb", 1 << 10}, {"m", 1 << 20}, {"mb", 1 << 20},
		{"g", 1 << 30}, {"gb", 1 << 30}, {"kbit", 1 << 7}, {"mbit", 1 << 17}, {"gbit", 1 << 27}})
	v = math.Floor(v * times)
	if !ok || !known || !(v >= 0 && v <= math.MaxUint32) {
		return 0, false
	}
	return uint32(v), true
}

// readCount reads a whole number of 32 bits; 0x and a leading 0 set its base.
func readCount(word string) (uint32, bool) {
	v, err := strconv.ParseUint(cBase(strings.TrimPrefix(word, "+")), 0, 32)
	return uint32(v), err == nil
}

// readSigned reads a whole number of 32 bits with a sign.
func readSigned(word string) (int32, bool) {
	v, err := strconv.ParseInt(cBase(word), 0, 32)
	return int32(v), err == nil
}

// cBase turns away what Go reads as a number in code and C does not.
func cBase(word string) string {
	digits := strings.ToLower(strings.TrimLeft(word, "+-"))
	if strings.Contains(word, "_") || strings.HasPrefix(digits, "0b") || strings.HasPrefix(digits, "0o") {
		return ""
	}
	return word
}

// readSeed reads a whole number of 64 bits, in base 10. As in C, a minus sign
// counts down from 2^64.
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

package table

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"wirelab/dataset/frame"
)

// cellError is an error in the text of a cell, without its place in the file.
type cellError struct {
	problem, expected string
	kind              error // ErrRecords or frame.ErrRange
}

// Error returns the problem.
func (e *cellError) Error() string { return e.problem }

// invalidValue returns the *cellError for a text that is not a value of the field.
func invalidValue(text []byte, expected string) error {
	if len(text) == 0 {
		return &cellError{"is empty", expected, ErrRecords}
	}
	return &cellError{quoted(string(text)) + " is not valid", expected, ErrRecords}
}

// outOfRange returns the *cellError for a number outside of the field's range.
func outOfRange(text []byte, expected string) error {
	number := string(text)
	if len(number) > maxText {
		number = number[:maxText] + "..."
	}
	return &cellError{number + " is out of range", expected, frame.ErrRange}
}

// parse parses the text of a cell of the column as a value of f, and returns it in steps. An empty cell, or one without a
// finite number, stands for c.empty, if set. Errors are of type *cellError. rounding is as for parseCell.
func (c *column) parse(text []byte, f *frame.Field, rounding *roundingErrors) (int32, error) {
	if c.empty != "" && (len(text) == 0 || !f.Named() && isMissing(text)) {
		text = []byte(c.empty)
	}
	if c.half == wholeNumber {
		return parseCell(text, f, rounding)
	}
	v, err := parseBits64(text)
	if c.half == highHalf {
		v >>= 32
	}
	return int32(uint32(v)), err
}

// parseCell parses the text of a cell as a value of f, or as the name of one, and returns it in steps. It adds the
// rounding error to rounding, unless that is nil. Errors are of type *cellError.
func parseCell(text []byte, f *frame.Field, rounding *roundingErrors) (int32, error) {
	switch {
	case f.Kind == frame.Bits:
		return parseBits(text)
	case f.Kind == frame.Flag:
		return parseFlag(text)
	case f.Named():
		if i := slices.IndexFunc(f.Values, func(w string) bool { return string(text) == w }); i >= 0 {
			return int32(i), nil
		}
		if i, err := strconv.ParseUint(string(text), 10, 31); err == nil && i < uint64(len(f.Values)) {
			return int32(i), nil
		}
		return 0, invalidValue(text, "one of "+strings.Join(f.Values[:min(len(f.Values), 16)], ", "))
	}
	if f.Kind == frame.Float32 && bytes.HasPrefix(text, []byte("0x")) {
		return parseBits(text) // the bits of a NaN or an infinity, which have no decimal number
	}
	v, err := parseDecimal(text)
	if err != nil {
		return 0, err
	}
	if f.Kind == frame.Float32 {
		if x := float32(v); !math.IsInf(float64(x), 0) {
			rounding.add(f, v, float64(x))
			return int32(math.Float32bits(x)), nil
		}
		return 0, outOfRange(text, "a float32, up to 3.4e38")
	}
	step, err := quantise(text, v, f)
	if err == nil && f.Kind != frame.Enum {
		rounding.add(f, v, float64(math.Round(v/f.Scale)*f.Scale)) // of an angle: before it wraps
	}
	return step, err
}

// quantise returns the step nearest to v, which is in units. Angles wrap into the range of the field.
// text is for errors.
func quantise(text []byte, v float64, f *frame.Field) (int32, error) {
	steps := math.Round(v / f.Scale)
	switch {
	case f.Kind == frame.Enum && steps != v:
		return 0, invalidValue(text, "a whole number")
	case f.Kind == frame.Angle && math.Abs(steps) < 1<<53:
		period := int64(f.Max) - int64(f.Min) + 1
		offset := (int64(steps) - int64(f.Min)) % period
		if offset < 0 {
			offset += period
		}
		return int32(int64(f.Min) + offset), nil
	case steps < float64(f.Min) || steps > float64(f.Max):
		return 0, outOfRange(text, rangeText(f))
	}
	return int32(steps), nil
}

// rangeText describes the range of a field in its units, for errors.
func rangeText(f *frame.Field) string {
	return strings.TrimSpace(fmt.Sprintf("%g to %g %s", float64(f.Min)*f.Scale, float64(f.Max)*f.Scale, f.Unit))
}

// parseDecimal parses a finite decimal number. Unlike strconv.ParseFloat it accepts no hexadecimal
// numbers, underscores, infinities or NaN.
func parseDecimal(text []byte) (float64, error) {
	const expected = "a number such as -12.5"
	for _, c := range text {
		if (c < '0' || c > '9') && !bytes.ContainsRune([]byte("+-.eE"), rune(c)) {
			return 0, invalidDecimal(text, expected)
		}
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, outOfRange(text, "a number up to 1.8e308")
	}
	if err != nil {
		return 0, invalidValue(text, expected)
	}
	return v, nil
}

// invalidDecimal returns the *cellError for a text with characters that decimal numbers do not have.
func invalidDecimal(text []byte, expected string) error {
	switch {
	case isMissing(text):
		return &cellError{string(text) + " is not a finite number", `a finite number, or the key "empty" in the field`, ErrRecords}
	case bytes.Count(text, []byte(",")) == 1: // probably a decimal comma
		return invalidValue(text, expected+`, with a decimal point, or decimal = "," in the schema`)
	}
	return invalidValue(text, expected)
}

// isMissing reports whether the text of a cell stands for no finite number, as different languages write it.
func isMissing(text []byte) bool {
	if len(text) == 0 || text[0] >= '0' && text[0] <= '9' {
		return bytes.HasPrefix(text, []byte("1.#")) // 1.#INF, 1.#QNAN
	}
	switch strings.ToLower(strings.TrimLeft(string(text), "+-")) {
	case "", "nan", "nan(ind)", "1.#ind", "1.#inf", "inf", "infinity", "∞", "none", "null", "nil", "na", "n/a", "#n/a":
		return true
	}
	return false
}

// parseFlag parses 0, 1, false or true.
func parseFlag(text []byte) (int32, error) {
	switch {
	case string(text) == "0" || bytes.EqualFold(text, []byte("false")):
		return 0, nil
	case string(text) == "1" || bytes.EqualFold(text, []byte("true")):
		return 1, nil
	}
	return 0, invalidValue(text, "0, 1, false or true")
}

// parseBits parses 32 bits: a decimal number from -2147483648 to 4294967295, or 0x and hexadecimal
// digits.
func parseBits(text []byte) (int32, error) {
	const expected = "0 to 4294967295, or 0x0 to 0xffffffff"
	v, negative, err := parseInteger(text, expected)
	switch {
	case err != nil:
		return 0, err
	case negative && int64(v) < math.MinInt32 || !negative && v > math.MaxUint32:
		return 0, outOfRange(text, expected)
	}
	return int32(uint32(v)), nil
}

// parseBits64 parses 64 bits, as parseBits parses 32.
func parseBits64(text []byte) (uint64, error) {
	v, _, err := parseInteger(text, "0 to 18446744073709551615, or 0x0 to 0xffffffffffffffff")
	return v, err
}

// parseInteger parses a decimal number of 64 bits, or 0x and hexadecimal digits. It returns a negative number in two's
// complement. expected is for errors.
func parseInteger(text []byte, expected string) (v uint64, negative bool, err error) {
	digits, base := text, 10
	if bytes.HasPrefix(text, []byte("0x")) || bytes.HasPrefix(text, []byte("0X")) {
		digits, base = text[2:], 16
	} else {
		negative = bytes.HasPrefix(text, []byte("-"))
		digits = bytes.TrimPrefix(text, []byte("+"))
	}
	if negative {
		var n int64
		n, err = strconv.ParseInt(string(digits), base, 64)
		v = uint64(n)
	} else {
		v, err = strconv.ParseUint(string(digits), base, 64) // accepts no sign
	}
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, false, outOfRange(text, expected)
	case err != nil:
		return 0, false, invalidValue(text, expected)
	}
	return v, negative, nil
}

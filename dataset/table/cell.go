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

// fault is what is wrong with the text of a cell.
type fault struct {
	problem, expected string
	kind              error
}

func (f *fault) Error() string { return f.problem }

// notAValue returns the fault of a text that is no value at all.
func notAValue(text []byte, expected string) error {
	if len(text) == 0 {
		return &fault{"is empty", expected, ErrRecords}
	}
	return &fault{quoted(string(text)) + " makes no sense here", expected, ErrRecords}
}

// outOfRange returns the fault of a number out of its field's range.
func outOfRange(text []byte, expected string) error {
	number := string(text)
	if len(number) > maxText {
		number = number[:maxText] + "..."
	}
	return &fault{number + " is out of range", expected, frame.ErrRange}
}

// parse reads a cell of a field: a value in units, which becomes one in steps.
// words are what an enum's values are called, nil if they are numbered.
func parse(text []byte, f *frame.Field, words []string) (int32, error) {
	switch {
	case f.Kind == frame.Bits:
		return parseBits(text)
	case f.Kind == frame.Flag:
		return parseFlag(text)
	case words != nil:
		if i := slices.IndexFunc(words, func(w string) bool { return string(text) == w }); i >= 0 {
			return int32(i), nil
		}
		return 0, notAValue(text, "one of "+strings.Join(words[:min(len(words), 16)], ", "))
	}
	if f.Kind == frame.Float32 && bytes.HasPrefix(text, []byte("0x")) {
		return parseBits(text) // what no decimal number says
	}
	v, err := decimal(text)
	if err != nil {
		return 0, err
	}
	if f.Kind == frame.Float32 {
		if x := float32(v); !math.IsInf(float64(x), 0) {
			return int32(math.Float32bits(x)), nil
		}
		return 0, outOfRange(text, "what a float32 holds, up to 3.4e38")
	}
	return quantise(text, v, f)
}

// quantise returns the step nearest to v.
func quantise(text []byte, v float64, f *frame.Field) (int32, error) {
	steps := math.Round(v / f.Scale)
	switch {
	case f.Kind == frame.Enum && steps != v:
		return 0, notAValue(text, "a whole number")
	case f.Kind == frame.Angle && math.Abs(steps) < 1<<53:
		turn := int64(f.Max) - int64(f.Min) + 1
		at := (int64(steps) - int64(f.Min)) % turn
		if at < 0 {
			at += turn
		}
		return int32(int64(f.Min) + at), nil
	case steps < float64(f.Min) || steps > float64(f.Max):
		return 0, outOfRange(text, rangeText(f))
	}
	return int32(steps), nil
}

// rangeText says what a field may hold, in its units.
func rangeText(f *frame.Field) string {
	return strings.TrimSpace(fmt.Sprintf("%g to %g %s", float64(f.Min)*f.Scale, float64(f.Max)*f.Scale, f.Unit))
}

// decimal reads a finite number.
func decimal(text []byte) (float64, error) {
	const expected = "a number such as -12.5"
	for _, c := range text {
		if (c < '0' || c > '9') && !bytes.ContainsRune([]byte("+-.eE"), rune(c)) {
			return 0, notDecimal(text, expected)
		}
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, outOfRange(text, "a number that a computer can hold")
	}
	if err != nil {
		return 0, notAValue(text, expected)
	}
	return v, nil
}

// notDecimal tells why a text with strange characters is no number.
func notDecimal(text []byte, expected string) error {
	low := strings.ToLower(strings.TrimLeft(string(text), "+-"))
	switch {
	case low == "nan" || low == "inf" || low == "infinity":
		return &fault{string(text) + " is no number that could be sent", "a finite number", ErrRecords}
	case bytes.Count(text, []byte(",")) == 1:
		return notAValue(text, expected+", with a point")
	}
	return notAValue(text, expected)
}

func parseFlag(text []byte) (int32, error) {
	switch {
	case string(text) == "0" || bytes.EqualFold(text, []byte("false")):
		return 0, nil
	case string(text) == "1" || bytes.EqualFold(text, []byte("true")):
		return 1, nil
	}
	return 0, notAValue(text, "0, 1, false or true")
}

// parseBits reads 32 bits: 0 to 4294967295, as 0x1f too, or as a signed number.
func parseBits(text []byte) (int32, error) {
	const expected = "0 to 4294967295, or 0x0 to 0xffffffff"
	base := 10
	digits := text
	if bytes.HasPrefix(text, []byte("0x")) || bytes.HasPrefix(text, []byte("0X")) {
		base, digits = 16, text[2:]
	}
	v, err := strconv.ParseInt(string(digits), base, 64)
	switch {
	case base == 16 && bytes.ContainsAny(digits, "+-"):
		return 0, notAValue(text, expected)
	case errors.Is(err, strconv.ErrRange) || err == nil && (v < math.MinInt32 || v > math.MaxUint32):
		return 0, outOfRange(text, expected)
	case err != nil:
		return 0, notAValue(text, expected)
	}
	return int32(uint32(v)), nil
}

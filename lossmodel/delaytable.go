package lossmodel

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/random"
	"wirelab/lossmodel/tracefile"
)

// Table is a delay distribution given by quantiles in units of the jitter, at equal steps of
// probability from 0 to 1, with linear interpolation. Alternatively File names a table in tc's
// format: integers with equal probability, in units of 1/8192 of the jitter, and comments after
// #.
type Table struct {
	Quantiles string // non-decreasing numbers separated by one space; empty if File is used
	File      tracefile.File
}

// maxQuantiles is the largest number of values in Table.Quantiles. maxUnits is the largest absolute
// value in any table.
const (
	maxQuantiles = 1024
	maxUnits     = 1000
	tcUnit       = 8192 // value in a tc table that stands for one jitter
)

// points parses the text t.Quantiles and returns the quantiles as fixed-point numbers, in units of
// 1/random.One. It returns nil if one of them is invalid, and no points if the text is empty.
func (t Table) points() []int64 {
	fields := strings.Fields(t.Quantiles)
	points := make([]int64, len(fields))
	for i, field := range fields {
		x, ok := units.ParseDecimal(field, 0)
		if !ok || math.Abs(x) > maxUnits {
			return nil
		}
		points[i] = int64(math.Round(x * random.One)) // random.One is a power of two: only the rounding loses precision
	}
	return points
}

// valid reports whether exactly one of Quantiles and File is set, and valid.
func (t Table) valid() bool {
	if t.Quantiles == "" {
		return t.File.Valid() && !t.File.ByTime
	}
	points := t.points()
	return t.File == tracefile.File{} && len(points) > 1 && len(points) <= maxQuantiles && slices.IsSorted(points) &&
		t.Quantiles == strings.Join(strings.Fields(t.Quantiles), " ")
}

// lookUpQuantile returns the quantile for a random word, where word/2^64 is the probability below it.
// If interpolate is true the points are quantiles at equal steps of probability; otherwise they are
// values with equal probability.
func lookUpQuantile(points []int64, word uint64, interpolate bool) int64 {
	if !interpolate {
		return points[random.Below(word, uint64(len(points)))]
	}
	const blendBits = 20 // precision of the interpolation
	// word/2^64 * (len-1) is the position between the points: i and the fraction rest/2^64.
	i, rest := bits.Mul64(word, uint64(len(points)-1))
	here, next := points[i], points[i+1]
	return here + (next-here)*int64(rest>>(64-blendBits))>>blendBits
}

// parseTCTable parses a table in tc's format (see Table) and returns its values in units of
// 1/random.One, in ascending order.
func parseTCTable(data []byte) ([]int64, error) {
	var points []int64
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		for _, field := range strings.Fields(text) {
			v, err := strconv.ParseInt(field, 10, 64)
			if err != nil || v > maxUnits*tcUnit || v < -maxUnits*tcUnit {
				return nil, fmt.Errorf("line %d: %s is not an integer with absolute value up to %d", n,
					setting.FormatValue(field), maxUnits*tcUnit)
			}
			points = append(points, v*(random.One/tcUnit))
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(points) == 0 {
		return nil, errors.New("the table is empty")
	}
	slices.Sort(points)
	return points, nil
}

// tableUnit is the unit of delay_table: quantiles, or a file name.
var tableUnit = setting.Unit[Table]{
	Name: tracefile.UnitName,
	Expected: fmt.Sprintf(`quantiles in units of the jitter that do not decrease, 2 to %d, such as "-1 0 0.5 3", `, maxQuantiles) +
		`the path of a table in tc's format, or "off"`,
	Parse: func(v any) (t Table, ok bool) {
		text, ok := v.(string)
		if !ok || setting.IsOff(v) {
			return t, ok // "off" is the empty table
		}
		fields := strings.Fields(text)
		if slices.ContainsFunc(fields, func(f string) bool { _, ok := units.ParseDecimal(f, 0); return !ok }) {
			t.File, ok = tracefile.Parse(text)
		} else {
			t.Quantiles = strings.Join(fields, " ")
		}
		return t, ok && t != Table{}
	},
	Format: func(t Table) string {
		switch _, number := units.ParseDecimal(t.File.Path, 0); {
		case t.Quantiles != "":
			return t.Quantiles
		case number: // a file whose name looks like a quantile is quoted
			return strconv.Quote(t.File.Path) + t.File.Options()
		}
		return tracefile.Format(t.File)
	},
	Number:  func(t Table) float64 { return setting.Switch.Number(t != Table{}) },
	InRange: Table.valid,
}

// tcTableKind reads a file in tc's format as []int64.
var tcTableKind = &tracefile.Kind{Read: func(data []byte) (any, error) { return parseTCTable(data) }}

// delayTableKey returns the key delay_table, whose value is quantiles or a file name.
func delayTableKey(info KeyInfo) keyRow {
	k := newKey(tableUnit, func(s *Spec) *Table { return &s.Delay.Table }, info)
	k.file, k.fileKind = func(s *Spec) *tracefile.File { return &s.Delay.Table.File }, tcTableKind
	return k
}

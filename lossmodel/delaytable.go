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

// Table is a distribution of delays by its quantiles, in units of the jitter: the
// least, the greatest, and as many between as one likes, at equal steps of
// probability; between them the quantile runs straight. Or File holds one as tc
// keeps them: whole numbers, each as likely as the others, in units of 1/8192 of
// the jitter, with comments after #.
type Table struct {
	Quantiles string // numbers that do not decrease, one space between; see Delay.Table
	File      tracefile.File
}

// maxQuantiles is the most numbers in a table that is not in a file, maxUnits the
// greatest of them either way.
const (
	maxQuantiles = 1024
	maxUnits     = 1000
)

// points returns the quantiles in units; nil if there are none, or nonsense.
func (t Table) points() []int64 {
	fields := strings.Fields(t.Quantiles)
	points := make([]int64, len(fields))
	for i, field := range fields {
		x, ok := units.ParseDecimal(field, 0)
		if !ok || math.Abs(x) > maxUnits {
			return nil
		}
		points[i] = int64(math.Round(x * random.One)) // a power of two: exact but for the rounding
	}
	return points
}

func (t Table) valid() bool {
	if t.Quantiles == "" {
		return t.File.Valid() && !t.File.ByTime
	}
	points := t.points()
	return t.File == tracefile.File{} && len(points) > 1 && len(points) <= maxQuantiles && slices.IsSorted(points) &&
		t.Quantiles == strings.Join(strings.Fields(t.Quantiles), " ")
}

// quantileOf looks a word up among points; with blend it goes straight from one to
// the next, without it each is as likely as the others.
func quantileOf(points []int64, word uint64, blend bool) int64 {
	if !blend {
		return points[random.Below(word, uint64(len(points)))]
	}
	const blendBits = 20
	i, rest := bits.Mul64(word, uint64(len(points)-1))
	here, next := points[i], points[i+1]
	return here + (next-here)*int64(rest>>(64-blendBits))>>blendBits
}

// readTable reads a table as tc keeps it.
func readTable(data []byte) ([]int64, error) {
	var points []int64
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		for _, field := range strings.Fields(text) {
			v, err := strconv.ParseInt(field, 10, 64)
			if err != nil || v > maxUnits*8192 || v < -maxUnits*8192 {
				return nil, fmt.Errorf("line %d: %s is no whole number up to %d", n, setting.Show(field), maxUnits*8192)
			}
			points = append(points, v*(random.One/8192))
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

var tableUnit = setting.Unit[Table]{
	Name: tracefile.UnitName,
	Expected: fmt.Sprintf(`quantiles in units of the jitter that do not decrease, 2 to %d, such as "-1 0 0.5 3", `, maxQuantiles) +
		`the path of a table as tc keeps them, or "off"`,
	Parse: func(v any) (t Table, ok bool) {
		text, ok := v.(string)
		if !ok || setting.IsOff(v) {
			return t, ok
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
		case number:
			return strconv.Quote(t.File.Path) + t.File.Options()
		}
		return tracefile.Format(t.File)
	},
	Number: func(t Table) float64 { return setting.Switch.Number(t != Table{}) },
	In:     Table.valid,
}

// delayTable reads a file as a table of delays, []int64.
var delayTable = &tracefile.Kind{Read: func(data []byte) (any, error) { return readTable(data) }}

// delayTableKey takes quantiles or the name of a file.
func delayTableKey(info KeyInfo) keyRow {
	k := newKey(tableUnit, func(s *Spec) *Table { return &s.Delay.Table }, info)
	k.file, k.reads = func(s *Spec) *tracefile.File { return &s.Delay.Table.File }, delayTable
	return k
}

package table

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// profile is what Infer knows of a column.
type profile struct {
	name    string
	around  bool            // a value of the frame around a list of rows
	empty   int             // number of cells that are empty or missing
	numbers int             // number of cells that are numbers
	bools   int             // number of cells that are true or false
	missing int             // number of cells that are no finite number, such as NaN
	times   int             // number of texts that are a time
	texts   int             // number of cells that are nothing of these, or a time
	badWord bool            // a cell cannot be a word of an enum
	words   map[string]bool // different cells; at most maxWords+1

	min, max  float64 // of numbers
	whole     bool    // all numbers are whole
	integers  bool    // all numbers are written without a point or an exponent
	digits    int     // largest number of decimals that are not 0
	exact     int     // largest number of significant digits
	pointed   int     // number of numbers with a point or an exponent
	unpointed float64 // largest absolute value of the others
	grouped   int     // number of the first of these that may have separators of thousands, such as 1.234
	last      []byte  // newest cell
	runs      int     // number of times that the cell differs from that of the row before

	number   float64 // newest number or time
	top      float64 // largest number or time
	falls    int     // number of rows whose number or time is below that before
	fallLine int     // line of the first of them
	late     int     // number of rows below top
	step     float64 // first positive difference of neighbours
	uneven   int     // number of rises by less than half of step, or by more than 1.5 times step

	quaternion bool // this and the next three columns are a unit quaternion
	thousands  bool // numbers such as 1.234 are whole
	ambiguous  bool // all numbers are such as 1.234, and nothing in the log tells whether they are whole

	wraps   [len(turns)]int // by turn: changes of a thing by nearly a turn
	between [len(turns)]int // by turn: smaller changes that are not small
}

// turns are the sizes of a turn: degrees and radians.
var turns = [...]float64{360, 2 * math.Pi}

func (p *profile) add(cell []byte, line int) {
	if p.words == nil {
		p.words, p.whole, p.integers, p.min, p.max, p.top = map[string]bool{}, true, true, math.Inf(1), math.Inf(-1), math.Inf(-1)
	}
	if !bytes.Equal(cell, p.last) || p.runs == 0 {
		p.runs++
		p.last = append(p.last[:0], cell...)
		word := string(cell[:min(len(cell), 4*maxText+1)])
		if len(cell) > 0 && len(p.words) <= maxWords && !p.words[word] {
			p.words[word] = true
			p.badWord = p.badWord || !isPrintableName(word)
		}
	}
	v, isTime := parseOrder(cell)
	switch {
	case len(cell) == 0:
		p.empty++
	case !math.IsNaN(v):
		p.addOrder(v, line)
		if !isTime {
			p.addNumber(cell, v)
			break
		}
		p.times++
		p.texts++
	case isMissing(cell):
		p.missing++
	case bytes.EqualFold(cell, []byte("true")) || bytes.EqualFold(cell, []byte("false")):
		p.bools++
	default:
		p.texts++
	}
}

func (p *profile) addNumber(cell []byte, v float64) {
	p.numbers++
	p.min, p.max = min(p.min, v), max(p.max, v)
	p.whole = p.whole && v == math.Trunc(v)
	if bytes.ContainsAny(cell, ".eE") {
		p.integers = false
		if p.grouped == p.pointed && grouped.Match(cell) {
			p.grouped++
		}
		p.pointed++
		decimals, significant := countDigits(string(cell))
		p.digits, p.exact = max(p.digits, decimals), max(p.exact, significant)
	} else {
		p.unpointed = max(p.unpointed, math.Abs(v))
	}
}

// addOrder adds a number or a time to what is known of the order.
func (p *profile) addOrder(v float64, line int) {
	rise := v - p.number
	switch {
	case p.numbers+p.times == 0 || rise == 0:
	case rise < 0:
		p.falls++
		if p.falls == 1 {
			p.fallLine = line
		}
	case p.step == 0:
		p.step = rise
	case rise < p.step/2 || rise > p.step*1.5:
		p.uneven++
	}
	if v < p.top {
		p.late++
	}
	p.number = v
	p.top = max(p.top, v)
}

// timeLayouts are the forms of times that parseOrder reads. Fractions of seconds may follow.
var timeLayouts = []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07", "2006-01-02T15:04:05", time.DateTime, time.TimeOnly, "2006/01/02 15:04:05",
	"1/2/2006 15:04:05", "1/2/2006 3:04:05 PM", "2/1/2006 15:04:05", "2.1.2006 15:04:05"}

// parseOrder returns the number in a cell, or its time in seconds, which have an order; NaN if it is neither.
func parseOrder(cell []byte) (v float64, isTime bool) {
	v, err := parseDecimal(cell)
	if err == nil {
		return v, false
	}
	if len(cell) < 8 || cell[0] < '0' || cell[0] > '9' || bytes.IndexByte(cell, ':') < 0 {
		return math.NaN(), false
	}
	for _, layout := range timeLayouts {
		t, err := time.Parse(layout, string(cell))
		if err == nil {
			return float64(t.UnixMicro()) / 1e6, true
		}
	}
	return math.NaN(), false
}

// countDigits returns how many decimals a decimal number needs, without zeros at the end, and how many significant digits
// it has. Of more than 15, which a float64 does not keep, it counts those of the rounded number: 7.800000000000001 has one
// decimal. So has 7.80000019073486, which is the nearest float32.
func countDigits(number string) (decimals, significant int) {
	decimals, significant = digitsOf(number)
	if significant <= 9 {
		return decimals, significant
	}
	v, _ := strconv.ParseFloat(number, 64)                   // the caller has parsed it
	if math.Abs(v-float64(float32(v))) < math.Abs(v)*1e-15 { // a float32 has up to 9 digits
		return digitsOf(strconv.FormatFloat(v, 'g', -1, 32))
	}
	return digitsOf(strconv.FormatFloat(v, 'g', min(significant, 15), 64))
}

// digitsOf returns the numbers of decimals and of significant digits of a decimal number, as countDigits does, but
// without rounding numbers of more than 15 digits.
func digitsOf(number string) (decimals, significant int) {
	mantissa, exponent := number, 0
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		v, err := parseDecimal([]byte(number[i+1:]))
		if err != nil {
			v = 0
		}
		mantissa, exponent = number[:i], int(max(-1000, min(v, 1000)))
	}
	whole, fraction, _ := strings.Cut(strings.TrimLeft(mantissa, "+-"), ".")
	fraction = strings.TrimRight(fraction, "0")
	if fraction == "" {
		trimmed := strings.TrimRight(whole, "0")
		exponent += len(whole) - len(trimmed)
		whole = trimmed
	}
	return max(0, len(fraction)-exponent), len(strings.TrimLeft(whole+fraction, "0"))
}

// addChange adds the size of a change of a thing from one frame to the next.
func (p *profile) addChange(size float64) {
	for i, turn := range turns {
		switch {
		case size > 0.8*turn:
			p.wraps[i]++
		case size > 0.2*turn:
			p.between[i]++
		}
	}
}

// tokens splits a name into words in lower case, at signs, digits and capitals: "aimDir[0].x" is aim, dir, 0, x.
func tokens(name string) (list []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			list = append(list, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	last := ' '
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			end()
		case unicode.IsUpper(c) && unicode.IsLower(last), unicode.IsDigit(c) != unicode.IsDigit(last):
			end()
			word = append(word, c)
		default:
			word = append(word, c)
		}
		last = c
	}
	end()
	return list
}

// nameRank returns how early the last word of a name stands in names; a larger rank is earlier. The rank is 0 if names does
// not contain it.
func nameRank(name string, names []string) int {
	list := tokens(name)
	if len(list) == 0 {
		return 0
	}
	i := slices.Index(names, list[len(list)-1])
	if i < 0 {
		return 0
	}
	rank := 2 * (len(names) - i)
	if len(list) == 1 {
		rank++ // the whole name
	}
	return rank
}

// named reports whether one of the words of the column's name is one of names.
func (p *profile) named(names ...string) bool {
	return slices.ContainsFunc(tokens(p.name), func(t string) bool { return slices.Contains(names, t) })
}

package table

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
)

// profile is what Infer knows of a column.
type profile struct {
	name    string
	around  bool            // a value of the frame around a list of rows
	empty   int             // number of cells that are empty or missing
	numbers int             // number of cells that are numbers
	bools   int             // number of cells that are true or false
	texts   int             // number of cells that are neither
	words   map[string]bool // different cells; at most maxWords+1
	badWord bool            // a cell cannot be a word of an enum

	min, max float64 // of numbers
	whole    bool    // all numbers are whole
	integers bool    // all numbers are written without a point or an exponent
	digits   int     // largest number of decimals that are not 0
	exact    int     // largest number of significant digits
	last     []byte  // newest cell
	number   float64 // newest number
	falls    bool    // a number is below that before
	runs     int     // number of times that the cell differs from that of the row before

	repeats bool           // two rows of a frame have the same value, or there are too many values
	returns int            // number of values that the frame before had too
	seen    map[string]int // by value: the newest frame with it

	wraps   [len(turns)]int // by turn: changes of a thing by nearly a turn
	between [len(turns)]int // by turn: smaller changes that are not small
}

// turns are the sizes of a turn: degrees and radians.
var turns = [...]float64{360, 2 * math.Pi}

// add adds a cell.
func (p *profile) add(cell []byte) {
	if p.words == nil {
		p.words, p.whole, p.integers, p.min, p.max, p.number = map[string]bool{}, true, true, math.Inf(1), math.Inf(-1), math.Inf(-1)
	}
	if !bytes.Equal(cell, p.last) || p.runs == 0 {
		p.runs++
		p.last = append(p.last[:0], cell...)
		if word := cell[:min(len(cell), 4*maxText+1)]; len(cell) > 0 && len(p.words) <= maxWords && !p.words[string(word)] {
			p.words[string(word)] = true
		}
	}
	v, err := parseDecimal(cell)
	switch {
	case len(cell) == 0:
		p.empty++
	case err == nil:
		p.addNumber(cell, v)
	case bytes.EqualFold(cell, []byte("true")) || bytes.EqualFold(cell, []byte("false")):
		p.bools++
	default:
		p.texts++
		p.badWord = p.badWord || !isPrintableName(string(cell))
	}
}

// addNumber adds a cell that is the number v.
func (p *profile) addNumber(cell []byte, v float64) {
	p.numbers++
	p.falls = p.falls || v < p.number
	p.number, p.min, p.max = v, min(p.min, v), max(p.max, v)
	p.whole = p.whole && v == math.Trunc(v)
	if bytes.ContainsAny(cell, ".eE") {
		p.integers = false
		decimals, significant := countDigits(string(cell))
		p.digits, p.exact = max(p.digits, decimals), max(p.exact, significant)
	}
}

// countDigits returns how many decimals a decimal number needs, without zeros at the end, and how many significant digits
// it has.
func countDigits(number string) (decimals, significant int) {
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

// see adds a value of a frame to find out whether it identifies a thing.
func (p *profile) see(cell []byte, frame int) {
	if p.repeats || len(cell) > maxKey || len(p.seen) > maxRows {
		p.repeats = true
		return
	}
	if p.seen == nil {
		p.seen = map[string]int{}
	}
	switch last := p.seen[string(cell)]; {
	case last == frame:
		p.repeats = true
	case last > 0 && last == frame-1:
		p.returns++
	}
	p.seen[string(cell)] = frame
}

// forget drops values that were last seen two frames before the given one, or earlier.
func (p *profile) forget(frame int) {
	if len(p.seen) > maxTracked {
		maps.DeleteFunc(p.seen, func(_ string, last int) bool { return last < frame-1 })
	}
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

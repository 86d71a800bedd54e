package table

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/quantile"
	"wirelab/internal/units"
	"wirelab/internal/words"
)

// write returns the schema with the given fields as TOML with comments.
func (g *guess) write(fields []guessedField) []byte {
	b := &g.schema
	base := filepath.Base(g.Path)
	fmt.Fprintf(b, "# Guessed from %s: %s of %s.\n", comment(base), words.Count(g.rows, "row"), words.Count(len(g.columns), "column"))
	b.WriteString("# Comments give the reasons. Lines with QUESTION ask for what the records do not show.\n")
	if g.partial {
		fmt.Fprintf(b, "# QUESTION: only the first %d MB were read. Are all ranges large enough?\n", maxSurvey>>20)
	}
	g.remarks = []string{fmt.Sprintf("%s of %s", words.Count(g.frames, "frame"), words.Count(g.most, "row"))}
	if g.most > g.least {
		g.remarks[0] = fmt.Sprintf("%s of %d to %s", words.Count(g.frames, "frame"), g.least, words.Count(g.most, "row"))
	}
	if g.division.rows < g.rows {
		g.remarks[0] += fmt.Sprintf(" in the first %d of %d rows", g.division.rows, g.rows)
	}
	g.writeFormat(base)
	for _, f := range fields {
		f.write(b)
		for _, reason := range f.reasons {
			g.ask(f.field.Name, reason)
		}
	}
	g.remarks = append(g.remarks, g.leftOut...)
	if len(g.leftOut) > 0 {
		b.WriteString("\n")
	}
	for _, text := range g.leftOut {
		fmt.Fprintf(b, "# %s.\n", comment(text))
	}
	return []byte(b.String())
}

// ask adds a reason to the remarks if it is a question or a note. subject is the field or the key of the schema.
func (g *guess) ask(subject, reason string) {
	if strings.Contains(reason, "QUESTION") || strings.Contains(reason, "NOTE") {
		g.remarks = append(g.remarks, subject+": "+reason)
	}
}

// comment returns a text from the log for use in a comment of TOML, which must be printable and on one line.
func comment(text string) string {
	return strings.Map(func(c rune) rune {
		if !strconv.IsPrint(c) {
			return '?'
		}
		return c
	}, text)
}

// names returns the names of the schema and of one of its rows, from the name of the list or of the file base.
func (g *guess) names(base string) (name, item string) {
	name, _, _ = strings.Cut(base, ".")
	item = name
	if list := tokens(g.list); len(list) > 0 {
		item = list[len(list)-1]
	}
	if len(item) > 1 {
		item = strings.TrimSuffix(item, "s")
	}
	isKind := name == "rpc" || name == "text" || name == "files" || name == "cubes"
	if !isPrintableName(name) || isKind {
		name = "table"
	}
	if !isPrintableName(item) {
		item = "row"
	}
	return name, item
}

// line writes a key and its value, a string, int or bool, with the reason as a comment.
func (g *guess) line(key string, value any, reason string) {
	fmt.Fprintf(&g.schema, "%-7s = %#v # %s\n", key, value, comment(reason)) // printable text is quoted in TOML as in Go
	g.ask(key, reason)
}

// question writes a question about a key as a comment.
func (g *guess) question(key, text string) {
	fmt.Fprintf(&g.schema, "# QUESTION: %s\n", text)
	g.ask(key, "QUESTION: "+text)
}

// writeFormat writes the keys before the fields: the names, the rate, the format and the frames.
func (g *guess) writeFormat(base string) {
	name, item := g.names(base)
	writeKey(&g.schema, "name", name)
	g.line("item", item, "the word for one row in figures; from the name of the list or of the file")
	hz, reason := g.rate()
	g.line("rate_hz", hz, reason)
	isTSV := g.comma == '\t' && strings.Contains(strings.ToLower(base), ".tsv")
	if g.comma != 0 && g.comma != ',' && !isTSV {
		writeKey(&g.schema, "separator", string(g.comma))
	}
	if format := new(Layout).FormatOf(g.Path); g.comma == 0 && format != formatJSON {
		g.line("format", "jsonl", "each line is an object")
	} else if g.comma != 0 && format != formatCSV {
		g.line("format", "csv", "cells are separated by "+strconv.Quote(string(g.comma)))
	}
	if len(g.csv.converted) > 0 {
		g.line("decimal", ",", "NOTE: 12,5 is read as 12.5")
	}
	if g.where.column != "" {
		g.line("where", g.where.String(), "NOTE: other lines are left out")
	}
	if g.list != "" {
		g.line("list", g.list, "each line is a frame with a list of rows")
	}
	g.writeFrames()
}

// writeFrames writes the keys of the frames and of their rows.
func (g *guess) writeFrames() {
	strays := g.strayReason()
	if g.round >= 0 {
		frame, round := g.columns[g.frame].name, g.columns[g.round].name
		g.line("frame", frame, "NOTE: begins again when "+round+" changes, and is equal for the rows of a frame")
		g.line("round", round, "a frame has one "+round+" and one "+frame)
	} else if g.frame >= 0 {
		g.line("frame", g.columns[g.frame].name, "never falls, and is equal for the rows of a frame")
	} else if g.list == "" {
		g.question("frame", "no column seems to count frames. Each row is a frame unless frame = \"...\" names that column."+g.fallReason())
	}
	switch {
	case g.key >= 0:
		g.line("key", g.columns[g.key].name, fmt.Sprintf("differs in all rows of a frame; %d of %d rows after the first frame had it in the frame before",
			g.keys[0].returns, g.division.rows-g.first))
		if strays != "" {
			g.line("skip_strays", true, "NOTE: "+strays+"Such rows are skipped")
			strays = ""
		}
		g.line("rows", "auto", fmt.Sprintf("at most %d at once", g.most))
	case g.frame < 0 && g.list == "":
		writeKey(&g.schema, "rows", 1)
	default:
		if g.most > g.least {
			g.question("key", "frames have different numbers of rows. Which column is the key, which identifies the thing in a row?")
		} else if g.most > 1 {
			g.question("key", "no column identifies the things. Is each row the same thing in all frames? If not, log an id, and set key.")
		}
		g.line("rows", max(g.most, 1), "in each frame")
	}
	if strays != "" {
		g.question("frame", strays+"Such rows are errors. Is the log sorted?")
	}
}

// rate returns the number of frames per second with a reason.
func (g *guess) rate() (hz int, reason string) {
	const assumed = 60
	if g.time < 0 || len(g.steps) == 0 {
		return assumed, "QUESTION: how many frames does a second have? No column seems to be a time"
	}
	step := quantile.Median(slices.Clone(g.steps)) // what is usual; the rate is that of all steps
	name := g.columns[g.time].name
	p := &g.columns[g.time]
	probable := []string{"s", "ms", "µs", "ns"}
	isCount := step == 1 && p.whole && p.times == 0 // a tick, not a second
	if list := tokens(name); len(list) > 0 {
		last := list[len(list)-1]
		if _, isUnit := units.Factor(last, "s"); isUnit {
			probable = []string{last}
			isCount = false
		}
	}
	for _, unit := range probable {
		factor, _ := units.Factor(unit, "s")
		var pace source.Pace
		for _, step := range g.steps {
			pace.AddGap(time.Duration(math.Round(step * factor * float64(time.Second))))
		}
		period := pace.Mean().Seconds()
		if !isCount && period > 0.9/maxRateHz && period <= 1 {
			reason = fmt.Sprintf("the mean step of %s is %s, taken as %s", name, units.Significant(period/factor, 4), unit)
			var notes source.Notes
			hz = pace.Hz(assumed, &notes)
			if remarks := notes.Remarks(); len(remarks) > 0 {
				reason = "NOTE: " + reason + "; " + remarks[0]
			}
			return hz, reason
		}
	}
	return assumed, fmt.Sprintf("QUESTION: how many frames does a second have? The usual step of %s is %s", name, units.Significant(step, 4))
}

// fallReason describes the first column whose name is that of a frame counter and whose numbers fall.
// It returns "" if no column is such.
func (g *guess) fallReason() string {
	for i := range g.columns {
		p := &g.columns[i]
		if p.falls > 0 && g.isFrame(i) {
			return fmt.Sprintf(" %s falls %s, first in line %d; a log that is sorted by it plays.", p.name, words.Count(p.falls, "time"), p.fallLine)
		}
	}
	return ""
}

// guessedField is a field of the schema with the reasons for its keys.
type guessedField struct {
	field   frame.Field
	column  column
	reasons []string // comments
}

// write writes the field as a table [[field]].
func (f *guessedField) write(b *strings.Builder) {
	b.WriteString("\n[[field]]\n")
	for _, r := range f.reasons {
		fmt.Fprintf(b, "# %s.\n", strings.TrimSuffix(comment(r), "."))
	}
	describeField(b, &f.field, &f.column)
}

// setRange sets the range, in units, to steps of scale.
func (f *guessedField) setRange(lo, hi, scale float64) {
	f.field.Scale = scale
	f.field.Min, f.field.Max = int32(math.Round(lo/scale)), int32(math.Round(hi/scale))
}

// typeNames are names of columns with the type of a row.
var typeNames = []string{"type", "kind", "class", "model"}

// fields returns the fields of the schema: those of all columns that are not frame, time or key, if a field can hold
// their values.
func (g *guess) fields() (list []guessedField) {
	var quaternions []int // indices of first components
	for i := range g.columns {
		p := &g.columns[i]
		switch {
		case i == g.frame || i == g.round || i == g.key:
			continue
		case i == g.time && g.frame >= 0:
			g.leave(p.name, "it is the time of the frame")
			continue
		case p.around:
			g.leave(p.name, "it is outside of the list of rows")
			continue
		case !g.isNamed(i):
			problem := fmt.Sprintf("a name must be unique, and a printable text of 1 to %d characters", maxText)
			if !utf8.ValidString(p.name) {
				problem = "its name is not in UTF-8; iconv -f CP1252 -t UTF-8 FILE converts a file of Windows"
			}
			g.leave(strconv.Quote(p.name[:min(len(p.name), maxText)]), problem)
			continue
		}
		fields, problem := p.fields()
		if problem != "" {
			g.leave(p.name, problem)
		}
		if p.quaternion && (len(quaternions) == 0 || quaternions[len(quaternions)-1]+4 <= len(list)) {
			quaternions = append(quaternions, len(list))
		}
		list = append(list, fields...)
	}
	for _, i := range quaternions {
		markQuaternion(list[i : i+4])
	}
	if room := MaxFields - 1; len(list) > room { // one more is the presence of rows
		for _, f := range list[room:] {
			g.leave(f.field.Name, fmt.Sprintf("the schema has %d fields already", room))
		}
		list = list[:room]
	}
	findVectors(list)
	isType := func(f guessedField) bool { return f.field.Kind == frame.Enum && nameRank(f.column.name, typeNames) > 0 }
	if i := slices.IndexFunc(list, isType); i >= 0 {
		list[i].field.Hint.Role = frame.Type
		list[i].reason("The type of a row, by its name")
	}
	return list
}

// fields returns the fields for a column, or the reason why no field can hold its values.
func (p *profile) fields() (list []guessedField, problem string) {
	f := guessedField{field: frame.Field{Name: p.name, Scale: 1}, column: column{name: p.name}}
	if p.numbers+p.bools > 0 && p.texts == 0 {
		p.empty += p.missing
	}
	kinds := 0
	for _, n := range []int{p.numbers, p.bools, p.texts} {
		kinds += min(n, 1)
	}
	switch {
	case kinds == 0 && p.missing == 0:
		return nil, "it is empty"
	case p.texts == 0 && p.bools > 0 && (p.numbers == 0 || p.zeroOrOne()), p.bools == 0 && p.texts == 0 && p.zeroOrOne() && p.max > p.min:
		f.field.Kind = frame.Flag
		f.reason("only %s", strings.Join(slices.Sorted(maps.Keys(p.words)), " and "))
	case p.texts > 0 || kinds == 0:
		if problem := p.setWords(&f); problem != "" {
			return nil, problem
		}
	case max(-p.min, p.max) > math.MaxFloat32:
		return nil, fmt.Sprintf("it has numbers up to %s, which a float32 cannot hold", formatNumber(max(-p.min, p.max)))
	case !p.integers:
		p.setNumber(&f)
	case p.min < -1<<63 || p.max > 1<<64:
		return nil, "it has whole numbers that need more than 64 bits"
	case p.wide():
		return p.halves(), ""
	default:
		p.setInteger(&f)
	}
	if p.empty > 0 {
		p.setEmpty(&f)
	}
	return []guessedField{f}, ""
}

// reason adds a comment.
func (f *guessedField) reason(format string, args ...any) {
	f.reasons = append(f.reasons, fmt.Sprintf(format, args...))
}

// zeroOrOne reports whether all cells that are not missing are the text 0, 1, false or true.
func (p *profile) zeroOrOne() bool {
	for w := range p.words {
		_, err := parseFlag([]byte(w))
		if err != nil && !isMissing([]byte(w)) {
			return false
		}
	}
	return true
}

// wide reports whether a whole number needs more than 32 bits.
func (p *profile) wide() bool {
	return p.min < math.MinInt32 || p.max > math.MaxUint32 || p.min < 0 && p.max > math.MaxInt32
}

// grouped matches numbers with separators of thousands, such as 1.234,5 or 12,345,678.
var grouped = regexp.MustCompile(`^[-+]?[1-9]\d{0,2}([,.'’ \x{a0}\x{202f}]\d{3})+([,.]\d+)?$`)

// several matches texts with two decimal numbers, such as (1.5, 0.0) or X=1.5 Y=2.0.
var several = regexp.MustCompile(`\d\.\d+[^\d.]+\d+\.\d`)

// numberProblem returns why all texts are numbers to people only, or "".
func (p *profile) numberProblem() string {
	commas, vectors := !p.thousands, len(p.words) > 0
	for w := range p.words {
		vectors = vectors && several.MatchString(w)
	}
	if vectors {
		return "its cells have several numbers. Log each in a column of its own"
	}
	for w := range p.words {
		_, err := parseDecimal([]byte(w))
		isGrouped := err != nil && grouped.MatchString(w)
		isComma := decimalPoint([]byte(w))
		if err != nil && !isGrouped && !isComma {
			return ""
		}
		commas = commas && !isGrouped
	}
	if commas {
		return `its numbers have a decimal comma. Log them with a decimal point, or set decimal = "," for CSV`
	}
	return "its numbers have thousands separators. Log them without"
}

// setWords makes f an enum. It returns why that is not possible, or "".
func (p *profile) setWords(f *guessedField) (problem string) {
	switch {
	case p.numberProblem() != "":
		return p.numberProblem()
	case p.badWord:
		return fmt.Sprintf("it has texts that are not printable or longer than %d characters", maxText)
	case len(p.words) > maxWords:
		return fmt.Sprintf("it has more than %d different texts. If it identifies things, set key = %q", maxWords, p.name)
	}
	f.field.Kind = frame.Enum
	f.reason("%s", words.Count(len(p.words), "different text"))
	f.column.learn = len(p.words) > maxEnumWords
	if !f.column.learn {
		f.setValues(slices.Sorted(maps.Keys(p.words)))
	}
	return ""
}

// setValues sets the words of an enum.
func (f *guessedField) setValues(words []string) {
	f.field.Values, f.field.Max = words, int32(len(words)-1)
}

// setNumber makes f a field for numbers with decimals.
func (p *profile) setNumber(f *guessedField) {
	const maxDigits = 9 // a scale is at least 1e-9
	scale := math.Pow10(-min(p.digits, maxDigits))
	turn, low, isAngle := p.angle(scale)
	switch {
	case p.digits > maxDigits || (p.max-p.min)*1.25/scale > math.MaxInt32 || max(-p.min, p.max)*1.25/scale > math.MaxInt32:
		f.field.Kind = frame.Float32
		f.reason("%s to %s with up to %d decimals, too many for 32 bits", formatNumber(p.min), formatNumber(p.max), p.digits)
		kind, tolerance := "quantity", "0.05"
		if isAngle {
			kind, tolerance = "angle", `"0.5 deg"`
		}
		f.reason("QUESTION: how precise must it be? kind = %q with a range and tolerance = %s, for example, costs much less", kind, tolerance)
		if p.exact > 7 {
			f.reason("The log has up to %d significant digits, of which a float32 keeps 7", p.exact)
		}
		if isAngle {
			f.field.Hint.Turn = turn
		}
	case isAngle:
		p.setAngle(f, turn, low, scale)
	default:
		p.setRange(f, scale)
		f.reason("%s to %s; %s", formatNumber(p.min), formatNumber(p.max), words.Count(p.digits, "decimal"))
		if p.ambiguous {
			f.reason("QUESTION: is 1.234 a fraction, as assumed? If it is 1234, log it without a separator of thousands")
		} else if p.digits > 2 {
			f.reason("QUESTION: does the game need this precision? tolerance = 0.05 instead of scale, for example, costs less")
		}
	}
}

// setInteger makes f a field for whole numbers.
func (p *profile) setInteger(f *guessedField) {
	turn, low, isAngle := p.angle(1)
	switch {
	case p.max > math.MaxInt32 || p.min >= 0 && p.named("flags", "mask", "bits", "buttons", "keys", "input", "inputs", "bitmask"):
		f.field.Kind = frame.Bits
		f.reason("%s to %s: a set of bits, by its name or size", formatNumber(p.min), formatNumber(p.max))
	case isAngle:
		p.setAngle(f, turn, low, 1)
	case len(p.words) <= maxEnumWords && p.max-p.min < 1<<16 &&
		p.named("state", "type", "kind", "class", "team", "mode", "weapon", "anim", "animation", "status", "model", "skin", "phase", "owner", "target"):
		f.field.Kind = frame.Enum
		f.setRange(min(p.min, 0), max(p.max, 0), 1)
		f.reason("%s, without an order by its name", words.Count(len(p.words), "different whole number"))
	default:
		p.setRange(f, 1)
		f.reason("whole numbers from %s to %s", formatNumber(p.min), formatNumber(p.max))
	}
}

// halves returns two fields for whole numbers of 64 bits.
func (p *profile) halves() (list []guessedField) {
	for _, h := range []half{lowHalf, highHalf} {
		f := guessedField{field: frame.Field{Name: p.name + " " + halfNames[h], Kind: frame.Bits}, column: column{name: p.name, half: h}}
		f.reason("whole numbers from %s to %s, which need more than 32 bits", formatNumber(p.min), formatNumber(p.max))
		if p.empty > 0 {
			p.setEmpty(&f)
		}
		list = append(list, f)
	}
	list[0].reason("QUESTION: if it identifies the thing in a row, set key = %q instead of both fields", p.name)
	return list
}

// angle returns the size of a turn and the lowest angle if the numbers are angles. scale is the unit of the last digit.
func (p *profile) angle(scale float64) (turn, low float64, ok bool) {
	byName := p.named("angle", "heading", "yaw", "bearing", "azimuth", "course", "rot", "rotation", "direction", "dir", "orientation", "turret", "roll", "hdg")
	prefix, axis := splitAxis(p.name)
	isPlace := axis >= 0 && slices.Contains(placePrefixes, prefix) // it jumps when a thing appears elsewhere
	for i, turn := range turns {
		wraps := p.wraps[i] >= 2 && p.between[i] <= p.wraps[i]/4 && !isPlace
		for _, low := range []float64{0, -turn / 2} {
			inside := p.min >= low-scale/2 && p.max <= low+turn+scale/2
			if inside && (wraps || byName && p.max-p.min > turn/2) {
				return turn, low, true
			}
		}
	}
	return 0, 0, false
}

// setAngle makes f an angle from low to low+turn. digit is the unit of the last digit in the log.
func (p *profile) setAngle(f *guessedField, turn, low, digit float64) {
	f.field.Kind, f.field.Unit = frame.Angle, "deg"
	if turn != 360 { // radians: the largest step of 1/2^n turn that is not larger than the last digit
		steps := math.Exp2(math.Ceil(math.Log2(turn / digit)))
		digit, f.field.Unit = turn/min(steps, 1<<30), "rad"
	}
	f.setRange(low, low+turn, digit)
	f.field.Max-- // the end of a turn is its beginning
	evidence := "an angle by its name"
	if n := max(p.wraps[0], p.wraps[1]); n > 0 {
		evidence = words.Count(n, "jump") + " by nearly a turn"
	}
	f.reason("%s to %s; %s", formatNumber(p.min), formatNumber(p.max), evidence)
	if digit < turn/36000 {
		f.reason("QUESTION: does the game need this precision? tolerance = \"0.5 deg\" instead of scale, for example, costs less")
	}
}

// setRange makes f a quantity in steps of scale, with a range that contains all numbers, and 0 if that is near. Its ends
// are round.
func (p *profile) setRange(f *guessedField, scale float64) {
	lo, hi := p.min, p.max
	if span := hi - lo; lo > 0 && (lo <= span || p.empty > 0) {
		lo = 0
	} else if hi < 0 && (-hi <= span || p.empty > 0) {
		hi = 0
	}
	if hi > lo {
		step := max(math.Pow(10, math.Floor(math.Log10(hi-lo))-1), scale)
		roundLo, roundHi := math.Floor(lo/step)*step, math.Ceil(hi/step)*step
		if roundLo/scale >= math.MinInt32 && roundHi/scale <= math.MaxInt32 {
			lo, hi = roundLo, roundHi
		}
	}
	f.field.Kind = frame.Quantity
	f.setRange(lo, hi, scale)
}

// setEmpty allows empty cells, which then stand for 0 or for a word of their own.
func (p *profile) setEmpty(f *guessedField) {
	f.column.empty = "0"
	if f.field.Kind == frame.Enum && (f.field.Values != nil || f.column.learn) {
		f.column.empty = "none"
		if !f.column.learn && !slices.Contains(f.field.Values, "none") {
			f.setValues(slices.Sorted(slices.Values(append(f.field.Values, "none"))))
		}
	}
	if p.missing > 0 && !f.field.Named() {
		f.reason("NOTE: empty or not a finite number in %s: it then is %s", words.Count(p.empty, "row"), f.column.empty)
	} else {
		f.reason("empty in %s: it then is %s", words.Count(p.empty, "row"), f.column.empty)
	}
}

// markQuaternion gives the four components of a unit quaternion one range and scale. Rounding of 1e-6 turns it by 0.0001
// degrees.
func markQuaternion(list []guessedField) {
	scale := 1.0
	var axes []string
	for _, f := range list {
		scale = max(min(scale, f.field.Step()), 1e-6)
		name := tokens(f.column.name)
		axes = append(axes, name[len(name)-1])
	}
	for i := range list {
		f := &list[i]
		f.field.Kind, f.field.Unit, f.reasons = frame.Quantity, "quaternion", nil
		f.setRange(-1, 1, scale)
	}
	list[0].reason("NOTE: with the next three fields a unit quaternion, in the order %s", strings.Join(axes, ", "))
	list[0].reason("QUESTION: does the game need this precision? tolerance = \"0.5 deg\" instead of scale in all four costs less, and smallest three less again")
}

// placePrefixes are the names of positions, without the axis.
var placePrefixes = []string{"", "pos", "position", "loc", "location", "origin", "p", "coord", "place"}

// findVectors marks the first position among the fields, and its velocity.
func findVectors(list []guessedField) {
	place := findVector(list, placePrefixes...)
	if place == nil {
		return
	}
	markVector(place, frame.Position, "m")
	markVector(findVector(list, "v", "vel", "velocity", "speed"), frame.Velocity, "m/s")
}

// findVector returns the two or three coordinates with one prefix, the first of prefixes that the fields have; nil if none.
func findVector(list []guessedField, prefixes ...string) (axes []*guessedField) {
	for _, prefix := range prefixes {
		for i := range list {
			f := &list[i]
			p, axis := splitAxis(f.column.name)
			if p == prefix && axis >= 0 && (axis > 0) == (axes != nil) && len(axes) < 3 && (f.field.Kind == frame.Quantity || f.field.Kind == frame.Float32) {
				axes = append(axes, f)
			}
		}
		if len(axes) > 1 {
			return axes
		}
		axes = nil
	}
	return nil
}

// splitAxis splits the name of a coordinate into its prefix and its axis: "pos.y", "posY", "pos_y" and "pos[1]" are pos and
// 1. The axis is -1 for other names.
func splitAxis(name string) (prefix string, axis int) {
	list := tokens(name)
	if len(list) == 1 && len(list[0]) > 1 { // "vx"
		end := len(list[0]) - 1
		list = []string{list[0][:end], list[0][end:]}
	}
	if len(list) == 0 || len(list[len(list)-1]) != 1 {
		return "", -1
	}
	names := "xyz"
	if strings.HasSuffix(name, "]") {
		names = "012"
	}
	if len(list) > 1 {
		prefix = list[len(list)-2]
	}
	return prefix, strings.Index(names, list[len(list)-1])
}

// markVector sets the role and the unit of coordinates. Of three, the last one points up, or the second one if its range is
// far smaller.
func markVector(axes []*guessedField, role frame.Role, unit string) {
	size := func(i int) float64 {
		return (float64(axes[i].field.Max) - float64(axes[i].field.Min)) * axes[i].field.Step()
	}
	if len(axes) == 3 && size(1) < size(2)/2 {
		axes[1], axes[2] = axes[2], axes[1]
	}
	for i, f := range axes {
		f.field.Hint.Role, f.field.Hint.Group, f.field.Hint.Axis, f.field.Unit = role, 1, uint8(i), unit
		f.reason("A coordinate, by its name")
		if i == 0 {
			f.reason("QUESTION: is %s the unit? Figures show it", unit)
		}
		if f.field.Min < 0 && f.field.Max > 0 && f.field.Min > math.MinInt32 { // a map around its origin
			reach := max(-f.field.Min, f.field.Max)
			f.field.Min, f.field.Max = -reach, reach
		}
	}
}

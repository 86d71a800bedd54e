package table

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"wirelab/dataset/frame"
)

// Limits of a scale. Values beyond are probably mistyped.
const (
	minScale = 1e-9
	maxScale = 1e9
)

// fieldKeys returns the keys of a table [[field]].
func fieldKeys() []string {
	return append([]string{"name", "column", "kind", "range", "scale", "tolerance", "unit", "values", "empty", "half"}, hintKeys()...)
}

// kinds returns all kinds of field.
func kinds() []frame.Kind {
	return []frame.Kind{frame.Quantity, frame.Angle, frame.Enum, frame.Flag, frame.Bits, frame.Float32}
}

// readFields reads the tables [[field]].
func (r *schemaReader) readFields(l *Layout, tree map[string]any) {
	list, ok := tree["field"].([]any)
	if !ok || len(list) == 0 || len(list) > MaxFields {
		r.fail("field", fmt.Sprintf("the schema has %d fields", len(list)), fmt.Sprintf("1 to %d tables [[field]]", MaxFields))
		return
	}
	r.axes = map[string]int{}
	for _, v := range list {
		if t, ok := v.(map[string]any); ok && t["tolerance"] != nil {
			r.axes[groupOf(t)]++
		}
	}
	for i, v := range list {
		key := fmt.Sprintf("field[%d]", i)
		t, ok := v.(map[string]any)
		if !ok {
			r.fail(key, formatValue(v)+" is not a field", "a table [[field]]")
			return
		}
		r.readField(l, key+".", t)
		if r.err != nil {
			return
		}
	}
}

// groupOf returns the number of the position to which the table [[field]] t belongs; "" if it is no place.
func groupOf(t map[string]any) string {
	if t["role"] != frame.Position.String() {
		return ""
	}
	return fmt.Sprint(t["group"])
}

// readField reads a table [[field]] and appends it to the layout. prefix is the key of the table
// with a dot, for errors. Names and columns must be unique.
func (r *schemaReader) readField(l *Layout, prefix string, t map[string]any) {
	r.checkKeys(prefix, t, fieldKeys())
	var f frame.Field
	var kind string
	r.readText(prefix, t, "name", &f.Name, requiredKey)
	r.readText(prefix, t, "unit", &f.Unit, optionalKey)
	r.readText(prefix, t, "kind", &kind, requiredKey)
	c := column{name: f.Name}
	r.readText(prefix, t, "column", &c.name, optionalKey)
	if r.err != nil {
		return
	}
	f.Kind = oneOf(r, prefix, "kind", kind, kinds())
	if r.err != nil {
		return
	}
	s := l.Schema
	if i := slices.IndexFunc(s.Fields, func(g frame.Field) bool { return g.Name == f.Name }); i >= 0 {
		r.fail(prefix+"name", fmt.Sprintf("%q is already the name of field[%d]", f.Name, i), "a different name for each field")
	}
	c.half = r.readHalf(prefix, t, &f)
	if i := slices.IndexFunc(l.columns, func(d column) bool { return d.name == c.name && (d.half == wholeNumber || d.half == c.half) }); i >= 0 {
		r.fail(prefix+"column", fmt.Sprintf("column %q is already that of field[%d] (%s)", c.name, i, s.Fields[i].Name),
			"a different column for each field")
	}
	if c.name == l.Frame {
		r.fail(prefix+"column", fmt.Sprintf("column %q is already used by the key frame", c.name), "another column")
	}
	c.learn = t["values"] == "auto" && f.Kind == frame.Enum
	if !c.learn {
		f.Values = r.readValueNames(prefix, t, &f)
	}
	r.readRange(prefix, t, &f, c.learn)
	r.readHint(prefix, t, &f)
	r.readEmpty(prefix, t, &f, &c)
	s.Fields, l.columns = append(s.Fields, f), append(l.columns, c)
}

// half is the part of a number that is the value of a field.
type half uint8

// The halves of 64-bit numbers.
const (
	wholeNumber half = iota
	lowHalf
	highHalf
)

// halfNames are the names of the halves in schemas.
var halfNames = [...]string{"", "low", "high"}

// readHalf reads the key "half" of a field of 32 bits.
func (r *schemaReader) readHalf(prefix string, t map[string]any, f *frame.Field) half {
	var name string
	r.readText(prefix, t, "half", &name, optionalKey)
	switch i := slices.Index(halfNames[:], name); {
	case i > 0 && f.Kind != frame.Bits:
		r.fail(prefix+"half", "is not valid for kind "+f.Kind.String(), `kind = "bits"`)
	case i < 0:
		r.failUnknown(prefix+"half", "half", name, halfNames[1:])
	default:
		return half(i)
	}
	return wholeNumber
}

// readEmpty reads the key "empty", the text for which an empty cell of the field stands. The values of an enum whose
// words are learnt from the records include it.
func (r *schemaReader) readEmpty(prefix string, t map[string]any, f *frame.Field, c *column) {
	r.readText(prefix, t, "empty", &c.empty, optionalKey)
	if c.empty == "" || c.learn || r.err != nil {
		return
	}
	var problem *cellError
	if _, err := c.parse([]byte(c.empty), f, nil); errors.As(err, &problem) {
		r.fail(prefix+"empty", problem.problem, problem.expected)
	}
}

// oneOf returns the element of values whose String is name. For an unknown name it reports an error for key, whose
// value name is, in the table at prefix.
func oneOf[T fmt.Stringer](r *schemaReader, prefix, key, name string, values []T) (v T) {
	var names []string
	for _, v := range values {
		if v.String() == name {
			return v
		}
		names = append(names, v.String())
	}
	r.failUnknown(prefix+key, key, name, names)
	return v
}

// readValueNames reads the key "values", the names of an enum's values, and sets f.Max. It returns nil
// if the key does not exist. prefix is the key of the field with a dot, for errors.
func (r *schemaReader) readValueNames(prefix string, t map[string]any, f *frame.Field) (words []string) {
	v, ok := t["values"]
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if f.Kind != frame.Enum || !ok || len(list) < 1 {
		r.fail(prefix+"values", "is not valid here", `words, as in ["idle", "run"], or "auto", and kind = "enum"`)
		return nil
	}
	for _, v := range list {
		word, ok := v.(string)
		switch {
		case !ok || !isPrintableName(word):
			r.fail(prefix+"values", formatValue(v)+" is not a word", "printable words")
		case slices.Contains(words, word):
			r.fail(prefix+"values", quoted(word)+" is listed twice", "each value once")
		}
		words = append(words, word)
	}
	f.Max = int32(len(words) - 1)
	return words
}

// readRange reads the keys scale, tolerance and range of the field at prefix in the file, and sets the limits of f. The
// keys are errors for kinds that do not have them, and for enums with names of values, also if those are learnt.
func (r *schemaReader) readRange(prefix string, t map[string]any, f *frame.Field, learnt bool) {
	f.Scale = 1
	scale, scaled := t["scale"]
	limit, tolerant := t["tolerance"]
	span, ranged := t["range"]
	switch {
	case f.Kind == frame.Flag:
		f.Max = 1
		fallthrough
	case !f.Kind.Bounded(), f.Values != nil, learnt:
		f.Scale = 0
		for _, key := range []string{"range", "scale", "tolerance"} {
			if _, ok := t[key]; ok {
				r.fail(prefix+key, "is not valid for a "+f.Kind.String(), r.expectedInstead(f))
			}
		}
		return
	case f.Kind == frame.Enum && scaled:
		r.fail(prefix+"scale", "is not valid for an enum", "a range only")
		return
	case f.Kind == frame.Enum && tolerant:
		r.fail(prefix+"tolerance", "is not valid for an enum", "a range only")
		return
	case scaled && tolerant:
		r.fail(prefix+"tolerance", "is a second way to set the steps, next to scale", "one of both keys")
		return
	}
	if scaled {
		n, ok := toFloat(scale)
		if !ok || n < minScale || n > maxScale {
			r.fail(prefix+"scale", formatValue(scale)+" is not valid", fmt.Sprintf("units per step, %g to %g", minScale, maxScale))
			return
		}
		f.Scale = n
	}
	maxError := 0.0 // of rounding, in units; 0 without a tolerance
	if tolerant {
		var err error
		if maxError, err = ParseTolerance(limit, f.Unit); err != nil {
			r.fail(prefix+"tolerance", err.Error(), ToleranceExpected(f.Unit))
			return
		}
	}
	lo, hi, ok := r.readSpan(prefix, span, ranged)
	if !ok {
		return
	}
	f.Tolerance = maxError
	if tolerant {
		// The tolerance of a place is a distance: that of the corner of a cube, if all axes have the largest error.
		if group := groupOf(t); group != "" {
			maxError /= math.Sqrt(float64(r.axes[group]))
		}
		f.Scale = scaleWithin(f.Kind, maxError, hi-lo)
	}
	r.setSteps(prefix+"range", f, lo, hi, tolerant)
}

// readSpan returns the ends of the range of the field at prefix in the file. given reports whether the file has the key.
func (r *schemaReader) readSpan(prefix string, span any, given bool) (lo, hi float64, ok bool) {
	list, _ := span.([]any)
	if len(list) != 2 {
		if r.err == nil && !given { // fail below then has no effect, because r keeps the first error
			r.failMissing(prefix+"range", "[lowest, highest], in units")
		}
		r.fail(prefix+"range", formatValue(span)+" is not valid", "[lowest, highest], in units")
		return 0, 0, false
	}
	lo, okLo := toFloat(list[0])
	hi, okHi := toFloat(list[1])
	if !okLo || !okHi || lo > hi {
		r.fail(prefix+"range", fmt.Sprintf("[%v, %v] is not a range", list[0], list[1]), "[lowest, highest], in units")
		return 0, 0, false
	}
	return lo, hi, true
}

// expectedInstead returns the text after "expected" for a key that fields of the kind do not have.
func (r *schemaReader) expectedInstead(f *frame.Field) string {
	switch {
	case f.Kind == frame.Float32:
		return `nothing: a float32 keeps its bits; kind = "quantity" rounds to steps of scale`
	case f.Values != nil:
		return "nothing: there are as many values as words"
	}
	return "nothing"
}

// setSteps sets the range of f to the steps (multiples of its scale) between lo and hi, which are in units. For
// an angle, lo to hi is a turn, and the last step is one before hi. outward means that lo and hi themselves need not be
// steps: the range then has the steps nearest to them. key is that of the range, for errors.
func (r *schemaReader) setSteps(key string, f *frame.Field, lo, hi float64, outward bool) {
	slack := 1e-6 // allowance for rounding, as a fraction of a step: in float64 3 * 0.1 is not 0.3
	if outward {
		slack = 0.5
	}
	first, last := math.Ceil(lo/f.Scale-slack), math.Floor(hi/f.Scale+slack)
	if f.Kind == frame.Angle {
		turn := (hi - lo) / f.Scale
		first, last = math.Round(lo/f.Scale), math.Round(lo/f.Scale)+math.Round(turn)-1
		if remainder := math.Abs(turn - math.Round(turn)); remainder > 1e-6*max(1, turn*1e-6) { // rounding errors grow with turn
			r.fail(key, fmt.Sprintf("a turn of %g is not a multiple of the scale %g", hi-lo, f.Scale), "a scale that divides it")
			return
		}
	}
	switch {
	case first > last:
		r.fail(key, fmt.Sprintf("[%g, %g] contains no multiple of %g", lo, hi, f.Scale), "a range with at least one step")
	case first < math.MinInt32 || last > math.MaxInt32:
		r.fail(key, fmt.Sprintf("[%g, %g] in steps of %g exceeds 32 bits", lo, hi, f.Scale),
			"at most 4294967296 steps, from -2147483648 to 2147483647")
	case f.Kind == frame.Angle && last-first < 1:
		r.fail(key, fmt.Sprintf("a turn from %g to %g has fewer than two steps of %g", lo, hi, f.Scale), "at least two steps")
	case f.Kind == frame.Enum && (first != lo || last != hi):
		r.fail(key, fmt.Sprintf("[%g, %g] is not a range of whole numbers", lo, hi), "whole numbers")
	}
	f.Min, f.Max = int32(max(first, math.MinInt32)), int32(min(last, math.MaxInt32))
}

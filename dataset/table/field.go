package table

import (
	"fmt"
	"math"
	"slices"

	"wirelab/dataset/frame"
)

// Limits of a scale: what lies beyond is a mistyped one.
const (
	minScale = 1e-9
	maxScale = 1e9
)

func fieldKeys() []string {
	return append([]string{"name", "column", "kind", "range", "scale", "unit", "values"}, hintKeys()...)
}

// kinds are the kinds of field, as schemas spell them.
func kinds() []frame.Kind {
	return []frame.Kind{frame.Quantity, frame.Angle, frame.Enum, frame.Flag, frame.Bits, frame.Float32}
}

// fields reads the list of fields.
func (r *reader) fields(l *Layout, tree map[string]any) {
	list, ok := tree["field"].([]any)
	if !ok || len(list) == 0 || len(list) > MaxFields {
		r.fail("field", fmt.Sprintf("%d fields make no sense", len(list)), fmt.Sprintf("1 to %d tables [[field]]", MaxFields))
		return
	}
	for i, v := range list {
		key := fmt.Sprintf("field[%d]", i)
		t, ok := v.(map[string]any)
		if !ok {
			r.fail(key, shown(v)+" is no field", "a table [[field]]")
			return
		}
		r.field(l, key+".", t)
		if r.err != nil {
			return
		}
	}
}

// field reads one field and makes sure that it is not there already.
func (r *reader) field(l *Layout, at string, t map[string]any) {
	r.checkKeys(at, t, fieldKeys())
	var f frame.Field
	var kind string
	r.readText(at, t, "name", &f.Name, true)
	r.readText(at, t, "unit", &f.Unit, false)
	r.readText(at, t, "kind", &kind, true)
	column := f.Name
	r.readText(at, t, "column", &column, false)
	if r.err != nil {
		return
	}
	f.Kind = oneOf(r, at, "kind", kind, kinds())
	if r.err != nil {
		return
	}
	s := l.Schema
	if i := slices.IndexFunc(s.Fields, func(g frame.Field) bool { return g.Name == f.Name }); i >= 0 {
		r.fail(at+"name", fmt.Sprintf("%q is the name of field[%d] already", f.Name, i), "a name for each field")
	}
	if i := slices.Index(l.columns, column); i >= 0 {
		r.fail(at+"column", fmt.Sprintf("column %q is read by field[%d] (%s) already", column, i, s.Fields[i].Name),
			"a column for each field")
	}
	if column == l.Frame {
		r.fail(at+"column", fmt.Sprintf("column %q is the one that tells frames apart", column), "another one")
	}
	words := r.words(at, t, &f)
	r.limits(at, t, &f, words)
	r.readHint(at, t, &f)
	s.Fields, l.columns, l.values = append(s.Fields, f), append(l.columns, column), append(l.values, words)
}

// oneOf returns the value of a key by its name.
func oneOf[T fmt.Stringer](r *reader, at, key, name string, values []T) (v T) {
	var names []string
	for _, v := range values {
		if v.String() == name {
			return v
		}
		names = append(names, v.String())
	}
	r.failUnknown(at+key, key, name, names)
	return v
}

// words reads the values that an enum may have, if they are named.
func (r *reader) words(at string, t map[string]any, f *frame.Field) (words []string) {
	v, ok := t["values"]
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if f.Kind != frame.Enum || !ok || len(list) < 2 {
		r.fail(at+"values", "makes no sense here", `two words or more, as in ["idle", "run"], and kind = "enum"`)
		return nil
	}
	for _, v := range list {
		word, ok := v.(string)
		switch {
		case !ok || !showable(word):
			r.fail(at+"values", shown(v)+" is no word", "words that can be shown")
		case slices.Contains(words, word):
			r.fail(at+"values", quoted(word)+" is there twice", "each value once")
		}
		words = append(words, word)
	}
	f.Max = int32(len(words) - 1)
	return words
}

// limits reads scale and range, as far as the kind has them.
func (r *reader) limits(at string, t map[string]any, f *frame.Field, words []string) {
	f.Scale = 1
	scale, scaled := t["scale"]
	span, ranged := t["range"]
	switch {
	case f.Kind == frame.Flag:
		f.Max = 1
		fallthrough
	case !f.Kind.Bounded(), words != nil:
		f.Scale = 0
		if ranged {
			r.fail(at+"range", "makes no sense for a "+f.Kind.String(), r.expectedInstead(f, words))
		}
		if scaled {
			r.fail(at+"scale", "makes no sense for a "+f.Kind.String(), r.expectedInstead(f, words))
		}
		return
	case f.Kind == frame.Enum && scaled:
		r.fail(at+"scale", "makes no sense for an enum", "a range only")
		return
	}
	if scaled {
		n, ok := number(scale)
		if !ok || n < minScale || n > maxScale {
			r.fail(at+"scale", shown(scale)+" makes no sense here", fmt.Sprintf("units per step, %g to %g", minScale, maxScale))
			return
		}
		f.Scale = n
	}
	list, _ := span.([]any)
	if len(list) != 2 {
		if r.err == nil && !ranged {
			r.failMissing(at+"range", "[lowest, highest], in units")
		}
		r.fail(at+"range", shown(span)+" makes no sense here", "[lowest, highest], in units")
		return
	}
	lo, okLo := number(list[0])
	hi, okHi := number(list[1])
	if !okLo || !okHi || lo > hi {
		r.fail(at+"range", fmt.Sprintf("[%v, %v] holds no values", list[0], list[1]), "[lowest, highest], in units")
		return
	}
	r.steps(at+"range", f, lo, hi)
}

// expectedInstead returns what an error expects in place of a key that fields of the kind do not have.
func (r *reader) expectedInstead(f *frame.Field, words []string) string {
	switch {
	case f.Kind == frame.Float32:
		return `nothing: a float32 keeps its bits; kind = "quantity" rounds to steps of scale`
	case words != nil:
		return "nothing: there are as many values as words"
	}
	return "nothing"
}

// steps sets the range of f to the steps that lie between lo and hi, which are in units.
func (r *reader) steps(key string, f *frame.Field, lo, hi float64) {
	const slack = 1e-6 // of a step: 0.3 is not three times 0.1 to a computer
	first, last := math.Ceil(lo/f.Scale-slack), math.Floor(hi/f.Scale+slack)
	if f.Kind == frame.Angle {
		turn := (hi - lo) / f.Scale
		first, last = math.Round(lo/f.Scale), math.Round(lo/f.Scale)+math.Round(turn)-1
		if off := math.Abs(turn - math.Round(turn)); off > slack*max(1, turn*1e-6) {
			r.fail(key, fmt.Sprintf("a turn of %g is no whole number of steps of %g", hi-lo, f.Scale), "a scale that divides it")
			return
		}
	}
	switch {
	case first > last:
		r.fail(key, fmt.Sprintf("no multiple of %g lies in [%g, %g]", f.Scale, lo, hi), "a range with at least one step")
	case first < math.MinInt32 || last > math.MaxInt32:
		r.fail(key, fmt.Sprintf("[%g, %g] in steps of %g is beyond 32 bits", lo, hi, f.Scale),
			"at most 4294967296 steps, from -2147483648 to 2147483647")
	case f.Kind == frame.Angle && last-first < 1:
		r.fail(key, fmt.Sprintf("a turn from %g to %g in steps of %g goes nowhere", lo, hi, f.Scale), "at least two steps")
	case f.Kind == frame.Enum && (first != lo || last != hi):
		r.fail(key, fmt.Sprintf("[%g, %g] numbers no values", lo, hi), "whole numbers")
	}
	f.Min, f.Max = int32(max(first, math.MinInt32)), int32(min(last, math.MaxInt32))
}

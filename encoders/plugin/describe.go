package plugin

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// What wirelab.h calls the same, without WL_.
const (
	suitsTables, suitsBodies, suitsCubes = 1, 2, 4
	quantises, standalone                = 1, 2
	paramInt, paramNumber, paramBool     = 0, 1, 2
)

// Bounds of a description.
const (
	maxParams = 32
	maxMemo   = 1 << 20
)

// description is a wl_codec.
type description struct {
	index    int
	name     string
	memoRoom int
	params   []param
}

type param struct {
	name, help, unit  string
	kind              int
	initial, min, max float64
}

var (
	codecName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)
	paramName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
)

// describe asks a module what encoders it has.
func (p *Plugin) describe() ([]encoders.Codec, error) {
	x, err := p.instantiate()
	if err != nil {
		return nil, err
	}
	defer x.close()
	var list []encoders.Codec
	for i := range maxCodecs {
		at, err := x.call("wl_describe", uint32(i))
		if err != nil {
			return nil, err
		}
		if at == 0 {
			break
		}
		c, err := x.codec(i, at)
		if err != nil {
			return nil, fmt.Errorf("%w: encoder %d: %w", ErrContract, i, err)
		}
		list = append(list, *c)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: wl_describe(0) gives 0: it has no encoder", ErrContract)
	}
	return list, nil
}

// codec reads a wl_codec.
func (x *instance) codec(index int, at uint32) (*encoders.Codec, error) {
	w, ok := x.words(at, 9)
	if !ok {
		return nil, fmt.Errorf("its description is not in the module's memory")
	}
	var texts [3]string
	for i := range texts {
		if texts[i], ok = x.text(w[i]); !ok {
			return nil, fmt.Errorf("a text of its description has no end within %d bytes", maxText)
		}
		texts[i] = printable(texts[i])
	}
	d := &description{index: index, name: texts[0], memoRoom: int(w[6])}
	refs, suits, flags := int(w[3]), w[4], w[5]
	switch {
	case !codecName.MatchString(d.name):
		return nil, fmt.Errorf("its name is %q, expected a letter, then a-z, 0-9 and -, at most 40", d.name)
	case refs != 1 && refs != 2:
		return nil, fmt.Errorf("%s wants %d references, expected 1 or 2", d.name, refs)
	case suits == 0 || suits > suitsTables|suitsBodies|suitsCubes:
		return nil, fmt.Errorf("%s suits %#x, expected some of WL_SUITS_*", d.name, suits)
	case flags > quantises|standalone:
		return nil, fmt.Errorf("%s has flags %#x that nobody knows", d.name, flags)
	case w[6] > maxMemo:
		return nil, fmt.Errorf("%s wants memos of %d bytes, expected at most %d", d.name, w[6], maxMemo)
	case w[7] > maxParams:
		return nil, fmt.Errorf("%s has %d params, expected at most %d", d.name, w[7], maxParams)
	}
	for i := range int(w[7]) {
		q, err := x.param(w[8] + uint32(40*i))
		if err != nil {
			return nil, fmt.Errorf("%s, param %d: %w", d.name, i, err)
		}
		d.params = append(d.params, *q)
	}
	c := &encoders.Codec{ID: x.plugin.opt.FirstID + uint8(index), Name: d.name, Summary: texts[1], Source: texts[2], Refs: refs,
		Quantises: flags&quantises != 0, Standalone: flags&standalone != 0, Plugin: x.plugin.Path,
		Suits: func(s *frame.Schema) bool { return suit(suits, s) }}
	if len(d.params) > 0 {
		var err error
		if c.Params, err = structOf(d.params); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
	}
	c.New = func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		e, err := x.plugin.newEnd(d, c.Quantises, s, params)
		if err != nil {
			return nil, nil, err
		}
		dec, err := x.plugin.newEnd(d, c.Quantises, s, params)
		return e, dec, err
	}
	return c, nil
}

// suit reports whether an encoder takes a schema.
func suit(suits uint32, s *frame.Schema) bool {
	switch {
	case s.Delivery == frame.Every: // whole files, in blocks
		return false
	case suits&suitsCubes != 0 && frame.IsCubes(s):
		return true
	case s.Rows > 0:
		return suits&suitsTables != 0
	}
	return suits&suitsBodies != 0
}

// param reads a wl_param.
func (x *instance) param(at uint32) (*param, error) {
	w, ok := x.words(at, 10)
	if !ok {
		return nil, fmt.Errorf("it is not in the module's memory")
	}
	q := &param{kind: int(w[3])}
	for i, s := range []*string{&q.name, &q.help, &q.unit} {
		if *s, ok = x.text(w[i]); !ok {
			return nil, fmt.Errorf("a text of it has no end within %d bytes", maxText)
		}
		*s = printable(*s)
	}
	number := func(i int) float64 { return math.Float64frombits(uint64(w[i]) | uint64(w[i+1])<<32) }
	q.initial, q.min, q.max = number(4), number(6), number(8)
	switch {
	case !paramName.MatchString(q.name):
		return nil, fmt.Errorf("its name is %q, expected a letter, then a-z, 0-9 and _, at most 40", q.name)
	case q.kind != paramInt && q.kind != paramNumber && q.kind != paramBool:
		return nil, fmt.Errorf("%s is of kind %d, expected WL_INT, WL_NUMBER or WL_BOOL", q.name, q.kind)
	case q.kind == paramBool && (q.initial == 0 || q.initial == 1):
	case !(q.min <= q.initial && q.initial <= q.max) || math.Abs(q.min) > 1e15 || math.Abs(q.max) > 1e15:
		return nil, fmt.Errorf("%s is %v at first and from %v to %v, expected a number between its bounds", q.name, q.initial, q.min, q.max)
	case q.kind == paramInt && (q.initial != math.Trunc(q.initial) || q.min != math.Trunc(q.min) || q.max != math.Trunc(q.max)):
		return nil, fmt.Errorf("%s has bounds that are no integers", q.name)
	}
	return q, nil
}

// structOf makes a struct of defaults with the tags that encoders.Codec.Params wants.
func structOf(params []param) (any, error) {
	fields := make([]reflect.StructField, len(params))
	seen := map[string]bool{}
	for i, q := range params {
		if seen[q.name] {
			return nil, fmt.Errorf("two params are called %s", q.name)
		}
		seen[q.name] = true
		tag := "toml:" + strconv.Quote(q.name) + " help:" + strconv.Quote(q.help)
		if q.unit != "" {
			tag += " unit:" + strconv.Quote(q.unit)
		}
		kind := reflect.TypeFor[bool]()
		if q.kind != paramBool {
			if kind = reflect.TypeFor[float64](); q.kind == paramInt {
				kind = reflect.TypeFor[int]()
			}
			tag += fmt.Sprintf(" min:%q max:%q", number(q.min), number(q.max))
		}
		fields[i] = reflect.StructField{Name: "P" + strconv.Itoa(i), Type: kind, Tag: reflect.StructTag(tag)}
	}
	v := reflect.New(reflect.StructOf(fields))
	for i, q := range params {
		switch f := v.Elem().Field(i); q.kind {
		case paramInt:
			f.SetInt(int64(q.initial))
		case paramNumber:
			f.SetFloat(q.initial)
		case paramBool:
			f.SetBool(q.initial != 0)
		}
	}
	return v.Interface(), nil
}

// values are the params as the module takes them.
func values(params any) (list []float64) {
	if params == nil {
		return nil
	}
	v := reflect.ValueOf(params).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Int:
			list = append(list, float64(f.Int()))
		case reflect.Float64:
			list = append(list, f.Float())
		case reflect.Bool:
			one := 0.0
			if f.Bool() {
				one = 1
			}
			list = append(list, one)
		}
	}
	return list
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// printable leaves out what could move a terminal's cursor.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

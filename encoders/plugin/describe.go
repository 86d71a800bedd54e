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
	"wirelab/encoders/rangecoder"
	"wirelab/internal/units"
)

// What wirelab.h calls the same, without WL_.
const (
	suitsTables, suitsBodies, suitsCubes = 1, 2, 4
	flagQuantises, flagStandalone        = 1, 2
	paramInt, paramNumber, paramBool     = 0, 1, 2
)

// Bounds of a description.
const (
	maxParams = 32
	maxMemo   = 1 << 20
)

// description is a wl_codec.
type description struct {
	index                 int
	name, summary, source string
	refs, suits, flags    uint32
	memoRoom              uint32
	params                []param
}

func (d *description) quantises() bool { return d.flags&flagQuantises != 0 }

type param struct {
	name, help, unit  string
	kind              int
	initial, min, max float64
}

var (
	codecName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)
	paramName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
)

// describe asks a plugin what encoders it has.
func (p *Plugin) describe() ([]encoders.Codec, error) {
	describe := p.describeModule
	if p.Runs == Process {
		describe = p.describeProcess
	}
	list, err := describe()
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: it has no encoder", ErrContract)
	}
	codecs := make([]encoders.Codec, len(list))
	for i := range list {
		c, err := p.codec(&list[i])
		if err != nil {
			return nil, fmt.Errorf("%w: encoder %d: %w", ErrContract, i, err)
		}
		codecs[i] = *c
	}
	return codecs, nil
}

// describeModule reads all wl_codec of a module.
func (p *Plugin) describeModule() (list []description, err error) {
	x, err := p.instantiate()
	if err != nil {
		return nil, err
	}
	defer x.close()
	for i := range maxCodecs {
		at, err := x.call("wl_describe", uint32(i))
		if err != nil {
			return nil, err
		}
		if at == 0 {
			break
		}
		d, err := x.description(i, at)
		if err != nil {
			return nil, fmt.Errorf("%w: encoder %d: %w", ErrContract, i, err)
		}
		list = append(list, *d)
	}
	return list, nil
}

// description reads a wl_codec.
func (x *instance) description(index int, at uint32) (*description, error) {
	w, ok := x.words(at, 9)
	if !ok {
		return nil, fmt.Errorf("its description is not in the module's memory")
	}
	d := &description{index: index, refs: w[3], suits: w[4], flags: w[5], memoRoom: w[6]}
	for i, s := range []*string{&d.name, &d.summary, &d.source} {
		*s, ok = x.text(w[i])
		if !ok {
			return nil, fmt.Errorf("a text of its description has no end within %d bytes", maxText)
		}
	}
	if w[7] > maxParams {
		return nil, tooManyParams(w[7])
	}
	for i := range int(w[7]) {
		q, err := x.param(w[8] + uint32(40*i))
		if err != nil {
			return nil, fmt.Errorf("param %d: %w", i, err)
		}
		d.params = append(d.params, *q)
	}
	return d, nil
}

func tooManyParams(n uint32) error {
	return fmt.Errorf("it has %d params, expected at most %d", n, maxParams)
}

// codec makes an encoder of a description, if it makes sense.
func (p *Plugin) codec(d *description) (*encoders.Codec, error) {
	d.summary, d.source = printable(d.summary), printable(d.source)
	switch {
	case !codecName.MatchString(d.name):
		return nil, fmt.Errorf("its name is %q, expected a letter, then a-z, 0-9 and -, at most 40", d.name)
	case d.refs != 1 && d.refs != 2:
		return nil, fmt.Errorf("%s wants %d references, expected 1 or 2", d.name, d.refs)
	case d.suits == 0 || d.suits > suitsTables|suitsBodies|suitsCubes:
		return nil, fmt.Errorf("%s suits %#x, expected some of WL_SUITS_*", d.name, d.suits)
	case d.flags > flagQuantises|flagStandalone:
		return nil, fmt.Errorf("%s has flags %#x that nobody knows", d.name, d.flags)
	case d.memoRoom > maxMemo:
		return nil, fmt.Errorf("%s wants memos of %d bytes, expected at most %d", d.name, d.memoRoom, maxMemo)
	}
	for i := range d.params {
		if err := d.params[i].check(); err != nil {
			return nil, fmt.Errorf("%s, param %d: %w", d.name, i, err)
		}
	}
	suits := d.suits
	runs := p.Runs
	if runs == Process {
		runs = "a process and of what is said to it"
	}
	source := d.source + " (a plugin: its times, marked *, are those of " + runs + ")"
	c := &encoders.Codec{Name: d.name, Summary: d.summary, Source: source, Refs: int(d.refs),
		Quantises: d.quantises(), Standalone: d.flags&flagStandalone != 0, Plugin: p.origin(),
		Suits: func(s *frame.Schema) bool { return suit(suits, s) }}
	if len(d.params) > 0 {
		var err error
		if c.Params, err = structOf(d.params); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
	}
	c.New = func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		enc, err := p.newEnd(d, s, params)
		if err != nil {
			return nil, nil, err
		}
		dec, err := p.newEnd(d, s, params) // the ends share nothing
		if err != nil {
			return nil, nil, err
		}
		return enc, dec, nil
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
		*s, ok = x.text(w[i])
		if !ok {
			return nil, fmt.Errorf("a text of it has no end within %d bytes", maxText)
		}
	}
	number := func(i int) float64 { return math.Float64frombits(uint64(w[i]) | uint64(w[i+1])<<32) }
	q.initial, q.min, q.max = number(4), number(6), number(8)
	return q, nil
}

// check returns an error if a parameter does not keep the contract.
func (q *param) check() error {
	q.help, q.unit = printable(q.help), printable(q.unit)
	switch {
	case !paramName.MatchString(q.name):
		return fmt.Errorf("its name is %q, expected a letter, then a-z, 0-9 and _, at most 40", q.name)
	case q.kind != paramInt && q.kind != paramNumber && q.kind != paramBool:
		return fmt.Errorf("%s is of kind %d, expected WL_INT, WL_NUMBER or WL_BOOL", q.name, q.kind)
	case q.kind == paramBool && (q.initial == 0 || q.initial == 1):
	case !(q.min <= q.initial && q.initial <= q.max) || math.Abs(q.min) > 1e15 || math.Abs(q.max) > 1e15:
		return fmt.Errorf("%s is %v at first and from %v to %v, expected a number between its bounds", q.name, q.initial, q.min, q.max)
	case q.kind == paramInt && (!isInt32(q.initial) || !isInt32(q.min) || !isInt32(q.max)):
		return fmt.Errorf("%s has bounds that are no integers of 32 bits", q.name)
	}
	return nil
}

func isInt32(x float64) bool { return x == float64(int32(x)) }

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
			kind = reflect.TypeFor[float64]()
			if q.kind == paramInt {
				kind = reflect.TypeFor[int]()
			}
			tag += fmt.Sprintf(" min:%q max:%q", units.FormatDecimal(q.min), units.FormatDecimal(q.max))
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
			list = append(list, float64(rangecoder.Flag(f.Bool())))
		}
	}
	return list
}

// printable leaves out what could move a terminal's cursor.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

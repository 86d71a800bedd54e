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

// Constants of wirelab.h: WL_SUITS_*, flags, and kinds of parameters.
const (
	suitsTables, suitsBodies, suitsCubes = 1, 2, 4
	flagQuantises, flagStandalone        = 1, 2
	flagHints                            = 4
	paramInt, paramNumber, paramBool     = 0, 1, 2
)

// Limits of the description of an encoder.
const (
	maxParams = 32
	maxMemo   = 1 << 20 // bytes
)

// A description describes one encoder of a plugin, by the fields of wl_codec in wirelab.h.
type description struct {
	// index is the argument of wl_describe.
	index                 int
	name, summary, source string
	refs, suits, flags    uint32
	memoRoom              uint32
	params                []param
}

func (d *description) quantises() bool { return d.flags&flagQuantises != 0 }
func (d *description) hints() bool     { return d.flags&flagHints != 0 }

// hintWords is the size of a wl_hint, in 32-bit words.
const hintWords = 9

// appendHint appends the wl_hint of a field, word by word.
func appendHint(words []uint32, h *frame.Hint) []uint32 {
	words = append(words, uint32(h.Role), uint32(h.Group), uint32(h.Axis), uint32(h.Rides))
	for _, v := range []float64{h.Rate, h.Drag, h.StopSpeed, h.Turn, h.Step} {
		words = append(words, math.Float32bits(float32(v)))
	}
	return words
}

// A param is a wl_param. The values of all kinds are numbers; those of a Boolean are 0 and 1.
type param struct {
	name, help, unit  string
	kind              int
	initial, min, max float64
}

var (
	codecName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)
	paramName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
)

// describe requests the descriptions of the plugin's encoders and returns their codecs. It returns an error that
// wraps errContract if the plugin has no encoder or a description is not valid.
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
		return nil, fmt.Errorf("%w: has no encoders", errContract)
	}
	codecs := make([]encoders.Codec, len(list))
	for i := range list {
		c, err := p.buildCodec(&list[i])
		if err != nil {
			return nil, fmt.Errorf("%w: encoder %d: %w", errContract, i, err)
		}
		codecs[i] = *c
	}
	return codecs, nil
}

// describeModule returns the descriptions of a module's encoders: those that wl_describe returns for 0, 1 and
// so on, until it returns a null pointer.
func (p *Plugin) describeModule() (list []description, err error) {
	x, err := p.instantiate()
	if err != nil {
		return nil, err
	}
	defer x.close()
	for i := range maxCodecs {
		addr, err := x.call("wl_describe", uint32(i))
		if err != nil {
			return nil, err
		}
		if addr == 0 {
			break
		}
		d, err := x.readDescription(i, addr)
		if err != nil {
			return nil, fmt.Errorf("%w: encoder %d: %w", errContract, i, err)
		}
		list = append(list, *d)
	}
	return list, nil
}

// readDescription reads the wl_codec at addr, which is that of encoder index: the addresses of three texts,
// refs, suits, flags, the size of memos, the number of parameters, and their address.
func (x *instance) readDescription(index int, addr uint32) (*description, error) {
	words, ok := x.readWords(addr, 9)
	if !ok {
		return nil, fmt.Errorf("description is outside of the module's memory")
	}
	d := &description{index: index, refs: words[3], suits: words[4], flags: words[5], memoRoom: words[6]}
	for i, s := range []*string{&d.name, &d.summary, &d.source} {
		*s, ok = x.readText(words[i])
		if !ok {
			name := [...]string{"name", "summary", "source"}[i]
			return nil, fmt.Errorf("its %s is longer than %d bytes or outside of the module's memory", name, maxText)
		}
	}
	if words[7] > maxParams {
		return nil, tooManyParams(words[7])
	}
	const paramSize = 40 // bytes of a wl_param
	for i := range int(words[7]) {
		q, err := x.readParam(words[8] + uint32(paramSize*i))
		if err != nil {
			return nil, fmt.Errorf("param %d: %w", i, err)
		}
		d.params = append(d.params, *q)
	}
	return d, nil
}

// tooManyParams returns an error for an encoder with n parameters.
func tooManyParams(n uint32) error {
	return fmt.Errorf("encoder has %d params, expected at most %d", n, maxParams)
}

// buildCodec returns the codec for a description, or an error if the description violates the contract.
func (p *Plugin) buildCodec(d *description) (*encoders.Codec, error) {
	d.summary, d.source = printable(d.summary), printable(d.source)
	switch {
	case !codecName.MatchString(d.name):
		return nil, fmt.Errorf("name is %q, expected a lower-case letter, then a-z, 0-9 and -, at most 40 characters", d.name)
	case d.refs != 1 && d.refs != 2:
		return nil, fmt.Errorf("%s uses %d references, expected 1 or 2", d.name, d.refs)
	case d.suits == 0 || d.suits > suitsTables|suitsBodies|suitsCubes:
		return nil, fmt.Errorf("%s has suits %#x, expected a combination of WL_SUITS_*", d.name, d.suits)
	case d.flags > flagQuantises|flagStandalone|flagHints:
		return nil, fmt.Errorf("%s has flags %#x, expected a combination of WL_QUANTISES, WL_STANDALONE and WL_HINTS", d.name, d.flags)
	case d.memoRoom > maxMemo:
		return nil, fmt.Errorf("%s has memos of %d bytes, expected at most %d", d.name, d.memoRoom, maxMemo)
	}
	for i := range d.params {
		if err := d.params[i].check(); err != nil {
			return nil, fmt.Errorf("%s, param %d: %w", d.name, i, err)
		}
	}
	suits := d.suits
	timesNote := "are measured in " + p.Runs
	if p.Runs == Process {
		timesNote = "include the exchange of messages with its process"
	}
	source := d.source + " (a plugin; its times, marked with *, " + timesNote + ")"
	c := &encoders.Codec{Name: d.name, Summary: d.summary, Source: source, Refs: int(d.refs),
		Quantises: d.quantises(), Standalone: d.flags&flagStandalone != 0, Plugin: p.origin(),
		Suits: func(s *frame.Schema) bool { return accepts(suits, s) }}
	if len(d.params) > 0 {
		var err error
		if c.Params, err = newParamStruct(d.params); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
	}
	c.New = func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
		enc, err := p.newCodec(d, s, params)
		if err != nil {
			return nil, nil, err
		}
		dec, err := p.newCodec(d, s, params) // the decoder has a host of its own
		if err != nil {
			return nil, nil, err
		}
		return enc, dec, nil
	}
	return c, nil
}

// accepts reports whether an encoder accepts frames of schema s. suits is a combination of WL_SUITS_*: the kinds of
// frames that the encoder can encode.
func accepts(suits uint32, s *frame.Schema) bool {
	switch {
	case s.Delivery == frame.Reliable: // blocks of files: not possible with plugins
		return false
	case suits&suitsCubes != 0 && frame.IsCubes(s):
		return true
	case s.Rows > 0:
		return suits&suitsTables != 0
	}
	return suits&suitsBodies != 0
}

// readParam reads the wl_param at addr: the addresses of three texts, the kind, and three 64-bit floats of two
// words each.
func (x *instance) readParam(addr uint32) (*param, error) {
	words, ok := x.readWords(addr, 10)
	if !ok {
		return nil, fmt.Errorf("it is outside of the module's memory")
	}
	p := &param{kind: int(words[3])}
	for i, s := range []*string{&p.name, &p.help, &p.unit} {
		*s, ok = x.readText(words[i])
		if !ok {
			name := [...]string{"name", "help", "unit"}[i]
			return nil, fmt.Errorf("its %s is longer than %d bytes or outside of the module's memory", name, maxText)
		}
	}
	number := func(i int) float64 { return math.Float64frombits(uint64(words[i]) | uint64(words[i+1])<<32) }
	p.initial, p.min, p.max = number(4), number(6), number(8)
	return p, nil
}

// check returns an error if a parameter violates the contract. It removes characters that are not printable
// from help and unit.
func (p *param) check() error {
	p.help, p.unit = printable(p.help), printable(p.unit)
	switch {
	case !paramName.MatchString(p.name):
		return fmt.Errorf("name is %q, expected a lower-case letter, then a-z, 0-9 and _, at most 40 characters", p.name)
	case p.kind != paramInt && p.kind != paramNumber && p.kind != paramBool:
		return fmt.Errorf("%s is of kind %d, expected WL_INT, WL_NUMBER or WL_BOOL", p.name, p.kind)
	case p.kind == paramBool && (p.initial == 0 || p.initial == 1): // valid; bounds are ignored
	case !(p.min <= p.initial && p.initial <= p.max) || math.Abs(p.min) > 1e15 || math.Abs(p.max) > 1e15:
		return fmt.Errorf("%s has initial value %v, minimum %v and maximum %v, expected min <= initial <= max, at most 1e15",
			p.name, p.initial, p.min, p.max)
	case p.kind == paramInt && (!isInt32(p.initial) || !isInt32(p.min) || !isInt32(p.max)):
		return fmt.Errorf("%s is a WL_INT, expected 32-bit integers as initial value and bounds", p.name)
	}
	return nil
}

// isInt32 reports whether x is an integer that fits into 32 bits.
func isInt32(x float64) bool { return x == float64(int32(x)) }

// newParamStruct returns a pointer to a struct with one field for each parameter, set to its initial value,
// and with the tags that encoders.Codec.Params requires. The type is made by reflection, because the parameters
// are known only when the plugin is loaded.
func newParamStruct(params []param) (any, error) {
	fields := make([]reflect.StructField, len(params))
	seen := map[string]bool{}
	for i, p := range params {
		if seen[p.name] {
			return nil, fmt.Errorf("two params have the name %s", p.name)
		}
		seen[p.name] = true
		tag := "toml:" + strconv.Quote(p.name) + " help:" + strconv.Quote(p.help)
		if p.unit != "" {
			tag += " unit:" + strconv.Quote(p.unit)
		}
		kind := reflect.TypeFor[bool]()
		if p.kind != paramBool {
			kind = reflect.TypeFor[float64]()
			if p.kind == paramInt {
				kind = reflect.TypeFor[int]()
			}
			tag += fmt.Sprintf(" min:%q max:%q", units.FormatDecimal(p.min), units.FormatDecimal(p.max))
		}
		fields[i] = reflect.StructField{Name: "P" + strconv.Itoa(i), Type: kind, Tag: reflect.StructTag(tag)}
	}
	v := reflect.New(reflect.StructOf(fields))
	for i, p := range params {
		switch f := v.Elem().Field(i); p.kind {
		case paramInt:
			f.SetInt(int64(p.initial))
		case paramNumber:
			f.SetFloat(p.initial)
		case paramBool:
			f.SetBool(p.initial != 0)
		}
	}
	return v.Interface(), nil
}

// paramValues returns the values of a struct made by newParamStruct, in the order of the description, as
// wl_create receives them. params may be nil.
func paramValues(params any) (list []float64) {
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

// printable returns s without characters that are not printable, such as terminal escape sequences.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

package encoders

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// ErrParam marks a parameter of an encoder that does not exist or does not fit.
var ErrParam = errors.New("encoder parameter")

// ParamError says which parameter was refused and what was expected. It wraps
// ErrParam.
type ParamError struct {
	Name     string   // the parameter, as TOML spells it; "" if it is the set as a whole
	Got      string   // what came, as text
	Expected string   // in words: "an integer from 2 to 8"; "" if there is no such parameter
	Known    []string // the parameters there are, in order
}

// Error implements error.
func (e *ParamError) Error() string {
	switch {
	case e.Expected != "" && e.Name != "":
		return fmt.Sprintf("%v %s: got %s, expected %s", ErrParam, e.Name, e.Got, e.Expected)
	case e.Expected != "":
		return fmt.Sprintf("%vs: expected %s", ErrParam, e.Expected)
	case len(e.Known) == 0:
		return fmt.Sprintf("%v %q: this encoder has no parameters", ErrParam, e.Name)
	}
	return fmt.Sprintf("%v %q does not exist, expected one of %s", ErrParam, e.Name, strings.Join(e.Known, ", "))
}

// Unwrap lets errors.Is find ErrParam.
func (e *ParamError) Unwrap() error { return ErrParam }

// Unknown returns the name that is not known and those that are, so that a
// caller can suggest a near one; the name is empty if the error is another.
func (e *ParamError) Unknown() (name string, known []string) {
	if e.Expected != "" {
		return "", nil
	}
	return e.Name, e.Known
}

// ParamInfo describes one parameter, for help texts, sliders and JSON.
type ParamInfo struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"` // "int", "float", "bool" or "string"
	Unit    string   `json:"unit,omitempty"`
	Help    string   `json:"help"`
	Default any      `json:"default"`       // of the Go type that Type names
	Min     *float64 `json:"min,omitempty"` // nil: no bound
	Max     *float64 `json:"max,omitempty"`
}

// Defaults returns a fresh copy of the codec's default parameters, a pointer to
// a struct; nil if the codec has none.
func (c *Codec) Defaults() any {
	if c.Params == nil {
		return nil
	}
	from := reflect.ValueOf(c.Params).Elem()
	fresh := reflect.New(from.Type())
	fresh.Elem().Set(from)
	return fresh.Interface()
}

// ParamInfo describes the codec's parameters in the order of their struct.
func (c *Codec) ParamInfo() []ParamInfo {
	var infos []ParamInfo
	for _, p := range paramsOf(c.Params) {
		infos = append(infos, ParamInfo{
			Name: p.name, Type: p.typeName(), Unit: p.tag.Get("unit"), Help: p.tag.Get("help"),
			Default: p.value.Interface(), Min: p.bound("min"), Max: p.bound("max"),
		})
	}
	return infos
}

// SetParam sets one parameter of a struct that came from Defaults. The value may
// be an int, int64, float64, bool or string, as TOML, JSON and flags deliver
// them; text is parsed. On error, always a *ParamError, nothing is changed.
func SetParam(params any, name string, value any) error {
	all := paramsOf(params)
	for _, p := range all {
		if p.name == name {
			return p.set(value)
		}
	}
	return &ParamError{Name: name, Known: names(all)}
}

// Validate checks every parameter against its bounds, and the set as a whole by
// its own Validate method if it has one. The error is a *ParamError.
func Validate(params any) error {
	for _, p := range paramsOf(params) {
		if err := p.check(p.value); err != nil {
			return err
		}
	}
	if v, ok := params.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return &ParamError{Expected: err.Error()}
		}
	}
	return nil
}

// param is one field of a params struct.
type param struct {
	name  string
	tag   reflect.StructTag
	value reflect.Value
}

// paramsOf lists the fields of a params struct. A struct that breaks the rules
// of Codec.Params is a bug of its author.
func paramsOf(params any) []param {
	if params == nil {
		return nil
	}
	v := reflect.ValueOf(params)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("encoders: params must be a pointer to a struct, not %T", params))
	}
	v = v.Elem()
	list := make([]param, 0, v.NumField())
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := f.Tag.Get("toml")
		if name == "" {
			panic(fmt.Sprintf("encoders: field %s of %T has no toml tag", f.Name, params))
		}
		list = append(list, param{name: name, tag: f.Tag, value: v.Field(i)})
	}
	return list
}

func names(all []param) []string {
	list := make([]string, len(all))
	for i, p := range all {
		list[i] = p.name
	}
	return list
}

func (p param) typeName() string {
	switch p.value.Kind() {
	case reflect.Int:
		return "int"
	case reflect.Float64:
		return "float"
	case reflect.Bool:
		return "bool"
	case reflect.String:
		return "string"
	}
	panic(fmt.Sprintf("encoders: param %s is a %s, expected int, float64, bool or string", p.name, p.value.Type()))
}

// bound returns the bound that a tag states, nil if it states none.
func (p param) bound(key string) *float64 {
	text, ok := p.tag.Lookup(key)
	if !ok {
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("encoders: param %s: bound %s is not a number: %q", p.name, key, text))
	}
	return &f
}

// set converts value to the parameter's type, checks it, and stores it.
func (p param) set(value any) error {
	next := reflect.New(p.value.Type()).Elem()
	if !convert(next, value) {
		return p.refuse(value)
	}
	if err := p.check(next); err != nil {
		return err
	}
	p.value.Set(next)
	return nil
}

// check reports whether v, of the parameter's type, is within its bounds.
func (p param) check(v reflect.Value) error {
	var f float64
	switch p.value.Kind() {
	case reflect.Int:
		f = float64(v.Int())
	case reflect.Float64:
		f = v.Float()
	default:
		return nil
	}
	lo, hi := p.bound("min"), p.bound("max")
	if math.IsNaN(f) || math.IsInf(f, 0) || lo != nil && f < *lo || hi != nil && f > *hi {
		return p.refuse(v.Interface())
	}
	return nil
}

func (p param) refuse(got any) error {
	text := fmt.Sprint(got)
	if s, ok := got.(string); ok {
		text = strconv.Quote(s)
	}
	return &ParamError{Name: p.name, Got: text, Expected: p.expected()}
}

// expected says in words what the parameter takes.
func (p param) expected() string {
	words := map[string]string{"int": "an integer", "float": "a number", "bool": "true or false", "string": "text"}[p.typeName()]
	switch lo, hi := p.bound("min"), p.bound("max"); {
	case lo != nil && hi != nil:
		words += fmt.Sprintf(" from %g to %g", *lo, *hi)
	case lo != nil:
		words += fmt.Sprintf(" of at least %g", *lo)
	case hi != nil:
		words += fmt.Sprintf(" of at most %g", *hi)
	}
	return words
}

// convert stores value in dst if it means one of dst's type, and reports whether
// it does.
func convert(dst reflect.Value, value any) bool {
	if n, ok := value.(int); ok {
		value = int64(n)
	}
	switch dst.Kind() {
	case reflect.Int:
		return convertInt(dst, value)
	case reflect.Float64:
		return convertFloat(dst, value)
	case reflect.Bool:
		b, ok := value.(bool)
		if s, isText := value.(string); isText {
			b, ok = s == "true", s == "true" || s == "false"
		}
		dst.SetBool(b)
		return ok
	case reflect.String:
		s, ok := value.(string)
		dst.SetString(s)
		return ok
	}
	return false
}

func convertInt(dst reflect.Value, value any) bool {
	var n int64
	switch v := value.(type) {
	case int64:
		n = v
	case float64: // JSON knows no integers
		if n = int64(v); v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return false
		}
	case string:
		var err error
		if n, err = strconv.ParseInt(v, 10, 64); err != nil {
			return false
		}
	default:
		return false
	}
	dst.SetInt(n)
	return !dst.OverflowInt(n)
}

func convertFloat(dst reflect.Value, value any) bool {
	switch v := value.(type) {
	case int64:
		dst.SetFloat(float64(v))
	case float64:
		dst.SetFloat(v)
	case string:
		f, err := strconv.ParseFloat(v, 64)
		dst.SetFloat(f)
		return err == nil
	default:
		return false
	}
	return true
}

package encoders

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// A param is one field of a parameter struct.
type param struct {
	name  string // the toml tag
	tag   reflect.StructTag
	value reflect.Value // the field of the struct; setting it changes the struct
}

// listParams returns the fields of a parameter struct, including those of embedded structs; nil for
// nil. It panics if the struct violates the rules of Codec.Params, which is a bug of the codec.
func listParams(params any) []param {
	if params == nil {
		return nil
	}
	v := reflect.ValueOf(params)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("encoders: params must be a pointer to a struct, not %T", params))
	}
	v = v.Elem()
	list := make([]param, 0, v.NumField())
	for _, f := range reflect.VisibleFields(v.Type()) {
		name := f.Tag.Get("toml")
		switch {
		case f.Anonymous: // an embedded struct, whose fields VisibleFields also lists
			continue
		case name == "":
			panic(fmt.Sprintf("encoders: field %s of %T has no toml tag", f.Name, params))
		}
		list = append(list, param{name: name, tag: f.Tag, value: v.FieldByIndex(f.Index)})
	}
	return list
}

// paramNames returns the names of parameters.
func paramNames(all []param) []string {
	list := make([]string, len(all))
	for i, p := range all {
		list[i] = p.name
	}
	return list
}

// typeName returns the parameter's type as ParamInfo.Type names it.
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

// bound returns the bound that the tag "min" or "max" defines; nil if there is no such tag.
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

// set converts value to the parameter's type, checks it and stores it. The error is a *ParamError.
func (p param) set(value any) error {
	next := reflect.New(p.value.Type()).Elem()
	if !convert(next, value) {
		return p.paramError(value)
	}
	if err := p.check(next); err != nil {
		return err
	}
	p.value.Set(next)
	return nil
}

// check returns an error unless v, of the parameter's type, is finite and within the bounds.
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
		return p.paramError(v.Interface())
	}
	return nil
}

// paramError returns the error for a value that the parameter does not accept.
func (p param) paramError(got any) error {
	text := fmt.Sprint(got)
	if s, ok := got.(string); ok {
		text = strconv.Quote(s)
	}
	return &ParamError{Name: p.name, Got: text, Expected: p.expected()}
}

// expected describes the accepted values, such as "an integer from 2 to 8".
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

// convert stores value in dst if it can be converted to dst's type without loss, and reports
// whether it can. All values are converted through text, so that 5, 5.0 and "5" are accepted alike.
func convert(dst reflect.Value, value any) (ok bool) {
	text, isText := value.(string)
	if dst.Kind() == reflect.String {
		dst.SetString(text)
		return isText
	}
	switch v := value.(type) {
	case bool:
		text = strconv.FormatBool(v)
	case int, int64:
		text = fmt.Sprint(v)
	case float64: // numbers of JSON are of this type
		text = strconv.FormatFloat(v, 'f', -1, 64)
		if dst.Kind() == reflect.Int && math.Abs(v) > 1<<53 { // may be a rounded integer
			return false
		}
	}
	var err error
	switch dst.Kind() {
	case reflect.Int:
		var n int64
		n, err = strconv.ParseInt(text, 10, dst.Type().Bits())
		dst.SetInt(n)
	case reflect.Float64:
		var f float64
		f, err = strconv.ParseFloat(text, 64)
		dst.SetFloat(f)
	default: // bool
		dst.SetBool(text == "true")
		return text == "true" || text == "false"
	}
	return err == nil
}

package encoders

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// ErrParam is wrapped by errors about an encoder parameter that does not exist or has an invalid
// value.
var ErrParam = errors.New("encoder parameter")

// ParamError reports which parameter was refused and which values are accepted. It wraps ErrParam.
type ParamError struct {
	Name     string   // the parameter's TOML name; "" for an error of Validate, which concerns several
	Got      string   // the refused value as text
	Expected string   // such as "an integer from 2 to 8"; "" if there is no such parameter
	Known    []string // names of all parameters, if there is no such parameter
}

func (e *ParamError) Error() string {
	switch {
	case e.Expected != "" && e.Name != "":
		return fmt.Sprintf("%v %s: got %s, expected %s", ErrParam, e.Name, e.Got, e.Expected)
	case e.Expected != "": // no single parameter is wrong: "encoder parameters: expected ..."
		return fmt.Sprintf("%vs: expected %s", ErrParam, e.Expected)
	case len(e.Known) == 0:
		return fmt.Sprintf("%v %q: this encoder has no parameters", ErrParam, e.Name)
	}
	return fmt.Sprintf("%v %q does not exist, expected one of %s", ErrParam, e.Name, strings.Join(e.Known, ", "))
}

// Unwrap lets errors.Is find ErrParam.
func (e *ParamError) Unwrap() error { return ErrParam }

// Unknown returns the unknown name and the known names, so that a caller can suggest a similar one.
// name is empty if the parameter exists.
func (e *ParamError) Unknown() (name string, known []string) {
	if e.Expected != "" {
		return "", nil
	}
	return e.Name, e.Known
}

// ParamInfo describes one parameter, for help texts, controls and JSON.
type ParamInfo struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"` // "int", "float", "bool" or "string"
	Unit    string   `json:"unit,omitempty"`
	Help    string   `json:"help"`
	Default any      `json:"default"`       // the default value, an int, float64, bool or string
	Min     *float64 `json:"min,omitempty"` // nil means no bound
	Max     *float64 `json:"max,omitempty"`
}

// Defaults returns a new copy of the codec's default parameters, a pointer to a struct; nil if the
// codec has none.
func (c *Codec) Defaults() any {
	if c.Params == nil {
		return nil
	}
	from := reflect.ValueOf(c.Params).Elem()
	fresh := reflect.New(from.Type())
	fresh.Elem().Set(from)
	return fresh.Interface()
}

// ParamInfo describes the codec's parameters, in the order of the struct.
func (c *Codec) ParamInfo() []ParamInfo {
	var infos []ParamInfo
	for _, p := range listParams(c.Params) {
		infos = append(infos, ParamInfo{
			Name: p.name, Type: p.typeName(), Unit: p.tag.Get("unit"), Help: p.tag.Get("help"),
			Default: p.value.Interface(), Min: p.bound("min"), Max: p.bound("max"),
		})
	}
	return infos
}

// SetParam sets one parameter of a struct that Defaults returned. value may be an int, int64,
// float64, bool or string, as TOML, JSON and flags deliver them; a string is parsed. The error is a
// *ParamError; nothing changes in that case.
func SetParam(params any, name string, value any) error {
	all := listParams(params)
	for _, p := range all {
		if p.name == name {
			return p.set(value)
		}
	}
	return &ParamError{Name: name, Known: paramNames(all)}
}

// ParamValue returns the value of a parameter as int64, float64, bool or string, regardless of how
// it was set; ok is false if there is no such parameter.
func ParamValue(params any, name string) (value any, ok bool) {
	for _, p := range listParams(params) {
		if p.name == name {
			if p.value.Kind() == reflect.Int {
				return p.value.Int(), true
			}
			return p.value.Interface(), true
		}
	}
	return nil, false
}

// Changed returns the parameters that differ from the codec's defaults by name, with the values of ParamValue;
// nil if none do. params must have the type of c.Params.
func (c *Codec) Changed(params any) map[string]any {
	var changed map[string]any
	defaults := listParams(c.Params)
	for i, p := range listParams(params) {
		if p.value.Equal(defaults[i].value) {
			continue
		}
		if changed == nil {
			changed = map[string]any{}
		}
		changed[p.name], _ = ParamValue(params, p.name)
	}
	return changed
}

// Validate checks every parameter against its bounds, and then calls the struct's own Validate
// method, if any. The error is a *ParamError.
func Validate(params any) error {
	for _, p := range listParams(params) {
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

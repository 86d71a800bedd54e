package encoders

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
)

// MaxCanonical bounds the canonical text of a codec's parameters, in bytes: it
// travels in packet headers with its length in one byte.
const MaxCanonical = 255

// Canonical returns the parameters that differ from the codec's defaults as
// compact text, "xy_small=6 note=\"a b\"", in the order of the struct; empty if
// none do. Equal parameters give equal bytes on every platform. It travels in
// packet headers while an epoch is young. params must be of the type of Params.
func (c *Codec) Canonical(params any) []byte {
	if params == nil && c.Params == nil {
		return nil
	}
	if reflect.TypeOf(params) != reflect.TypeOf(c.Params) {
		panic(fmt.Sprintf("encoders: %s takes params of type %T, not %T", c.Name, c.Params, params))
	}
	var text []byte
	defaults := paramsOf(c.Params)
	for i, p := range paramsOf(params) {
		if p.value.Equal(defaults[i].value) {
			continue
		}
		if len(text) > 0 {
			text = append(text, ' ')
		}
		text = append(append(text, p.name...), '=')
		text = p.appendText(text)
	}
	return text
}

// ParseCanonical is the inverse of Canonical: it returns fresh parameters, nil
// for a codec that has none. Any bytes may come; what Canonical would not have
// written is refused with an error that wraps ErrParam.
func (c *Codec) ParseCanonical(text []byte) (any, error) {
	if len(text) > MaxCanonical {
		return nil, fmt.Errorf("%w: %s: text of %d bytes, expected at most %d", ErrParam, c.Name, len(text), MaxCanonical)
	}
	params := c.Defaults()
	for rest := text; len(rest) > 0; {
		name, value, ok := bytes.Cut(rest, []byte("="))
		if !ok {
			return nil, fmt.Errorf("%w: %s: %q, expected name=value", ErrParam, c.Name, rest)
		}
		value, rest = cutValue(value)
		s := string(value)
		if len(s) > 0 && s[0] == '"' {
			var err error
			if s, err = strconv.Unquote(s); err != nil {
				return nil, fmt.Errorf("%w: %s: %s: %q is not a quoted text", ErrParam, c.Name, name, value)
			}
		}
		if err := SetParam(params, string(name), s); err != nil {
			return nil, err
		}
	}
	if err := Validate(params); err != nil {
		return nil, err
	}
	// One spelling only: order, repetition, "+5" and defaults are all settled by
	// writing it again.
	if want := c.Canonical(params); !bytes.Equal(want, text) {
		return nil, fmt.Errorf("%w: %s: %q is not canonical, expected %q", ErrParam, c.Name, text, want)
	}
	return params, nil
}

// cutValue splits off the first value, which is quoted or ends at a space.
func cutValue(text []byte) (value, rest []byte) {
	if quoted, err := strconv.QuotedPrefix(string(text)); err == nil {
		value, rest = text[:len(quoted)], text[len(quoted):]
		return value, bytes.TrimPrefix(rest, []byte(" "))
	}
	value, rest, _ = bytes.Cut(text, []byte(" "))
	return value, rest
}

// appendText appends the value as Canonical spells it.
func (p param) appendText(dst []byte) []byte {
	switch p.value.Kind() {
	case reflect.Int:
		return strconv.AppendInt(dst, p.value.Int(), 10)
	case reflect.Float64:
		return strconv.AppendFloat(dst, p.value.Float(), 'g', -1, 64)
	case reflect.Bool:
		return strconv.AppendBool(dst, p.value.Bool())
	}
	return strconv.AppendQuote(dst, p.value.String())
}

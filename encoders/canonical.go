package encoders

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
)

// MaxCanonical is the maximum length in bytes of the canonical text of a codec's parameters. The
// length is one byte in packet headers.
const MaxCanonical = 255

// Canonical returns the parameters that differ from the codec's defaults as text, such as
// "xy_small=6 note=\"a b\"", in the order of the struct; empty if none differ. Equal parameters
// give equal bytes on every platform. The text is sent in packet headers until the receiver has
// acknowledged the epoch. params must have the type of c.Params.
func (c *Codec) Canonical(params any) []byte {
	if params == nil && c.Params == nil {
		return nil
	}
	if reflect.TypeOf(params) != reflect.TypeOf(c.Params) {
		panic(fmt.Sprintf("encoders: %s takes params of type %T, not %T", c.Name, c.Params, params))
	}
	var text []byte
	defaults := listParams(c.Params)
	for i, p := range listParams(params) {
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

// ParseCanonical is the inverse of Canonical. It returns new parameters, or nil for a codec that
// has none. text may hold any bytes; text that Canonical would not have written is refused with an
// error that wraps ErrParam.
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
				return nil, fmt.Errorf("%w: %s: %s: %q is not a valid quoted string", ErrParam, c.Name, name, value)
			}
		}
		if err := SetParam(params, string(name), s); err != nil {
			return nil, err
		}
	}
	if err := Validate(params); err != nil {
		return nil, err
	}
	// Writing the parameters again detects every other spelling: another order, repeated parameters,
	// "+5", default values.
	if want := c.Canonical(params); !bytes.Equal(want, text) {
		return nil, fmt.Errorf("%w: %s: %q is not canonical, expected %q", ErrParam, c.Name, text, want)
	}
	return params, nil
}

// cutValue splits off the first value, which is quoted or ends at a space, and the space.
func cutValue(text []byte) (value, rest []byte) {
	if quoted, err := strconv.QuotedPrefix(string(text)); err == nil {
		value, rest = text[:len(quoted)], text[len(quoted):]
		return value, bytes.TrimPrefix(rest, []byte(" "))
	}
	value, rest, _ = bytes.Cut(text, []byte(" "))
	return value, rest
}

// appendText appends the value as it appears in canonical text.
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

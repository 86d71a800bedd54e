package encoders

import (
	"reflect"

	"wirelab/dataset/frame"
)

// Located returns c with the files that its parameters name looked for by find, at both
// ends. Such a parameter is a string with the tag `file:"true"`. Its canonical text, which
// travels, stays as it is: only where the file lies is another matter on every machine.
func Located(c *Codec, find func(name string) (path string)) *Codec {
	if find == nil || !c.namesFiles() {
		return c
	}
	located, open := *c, c.New
	located.New = func(s *frame.Schema, params any) (Encoder, Decoder, error) {
		there := reflect.New(reflect.TypeOf(params).Elem())
		there.Elem().Set(reflect.ValueOf(params).Elem())
		for _, p := range paramsOf(there.Interface()) {
			if name := p.value; p.tag.Get("file") != "" && name.String() != "" {
				name.SetString(find(name.String()))
			}
		}
		return open(s, there.Interface())
	}
	return &located
}

// namesFiles reports whether any parameter names a file.
func (c *Codec) namesFiles() bool {
	for _, p := range paramsOf(c.Params) {
		if p.tag.Get("file") != "" {
			return true
		}
	}
	return false
}

// Files lists the files that the parameters name.
func (c *Codec) Files(params any) (names []string) {
	for _, p := range paramsOf(params) {
		if p.tag.Get("file") != "" && p.value.String() != "" {
			names = append(names, p.value.String())
		}
	}
	return names
}

// Unnamed lists the parameters that could name a file and do not.
func (c *Codec) Unnamed(params any) (names []string) {
	for _, p := range paramsOf(params) {
		if p.tag.Get("file") != "" && p.value.String() == "" {
			names = append(names, p.name)
		}
	}
	return names
}

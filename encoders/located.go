package encoders

import (
	"reflect"
	"slices"

	"wirelab/dataset/frame"
)

// Located returns c with the files that its parameters name looked for by find, at both
// ends. Such a parameter is a string with the tag `file:"true"`. Its canonical text, which
// travels, is unchanged: only the path of the file differs between machines.
func Located(c *Codec, find func(name string) (path string)) *Codec {
	if find == nil || len(filesOf(c.Params)) == 0 {
		return c
	}
	located, open := *c, c.New
	located.New = func(s *frame.Schema, params any) (Encoder, Decoder, error) {
		there := reflect.New(reflect.TypeOf(params).Elem())
		there.Elem().Set(reflect.ValueOf(params).Elem())
		for _, p := range filesOf(there.Interface()) {
			if p.value.String() != "" {
				p.value.SetString(find(p.value.String()))
			}
		}
		return open(s, there.Interface())
	}
	return &located
}

// filesOf lists the parameters that name files.
func filesOf(params any) []param {
	return slices.DeleteFunc(paramsOf(params), func(p param) bool { return p.tag.Get("file") == "" })
}

// Files lists the files that the parameters name.
func (c *Codec) Files(params any) (names []string) {
	for _, p := range filesOf(params) {
		if p.value.String() != "" {
			names = append(names, p.value.String())
		}
	}
	return names
}

// Unnamed lists the parameters that could name a file and do not.
func (c *Codec) Unnamed(params any) (names []string) {
	for _, p := range filesOf(params) {
		if p.value.String() == "" {
			names = append(names, p.name)
		}
	}
	return names
}

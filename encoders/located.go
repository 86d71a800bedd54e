package encoders

import (
	"reflect"
	"slices"

	"wirelab/dataset/frame"
)

// LocateFiles returns a copy of c that opens the files named by its parameters at resolve(name), at
// both endpoints. A parameter that names a file is a string with the tag `file:"true"`. The
// canonical text of the parameters does not change, because only the path of the file differs
// between machines. LocateFiles returns c itself if resolve is nil or no parameter names a file.
func LocateFiles(c *Codec, resolve func(name string) (path string)) *Codec {
	if resolve == nil || len(fileParams(c.Params)) == 0 {
		return c
	}
	located, newCodec := *c, c.New
	located.New = func(s *frame.Schema, params any) (Encoder, Decoder, error) {
		resolved := reflect.New(reflect.TypeOf(params).Elem())
		resolved.Elem().Set(reflect.ValueOf(params).Elem())
		for _, p := range fileParams(resolved.Interface()) {
			if p.value.String() != "" {
				p.value.SetString(resolve(p.value.String()))
			}
		}
		return newCodec(s, resolved.Interface())
	}
	return &located
}

// fileParams returns the parameters that name files.
func fileParams(params any) []param {
	return slices.DeleteFunc(listParams(params), func(p param) bool { return p.tag.Get("file") == "" })
}

// Files returns the files that the parameters name.
func (c *Codec) Files(params any) (names []string) {
	for _, p := range fileParams(params) {
		if p.value.String() != "" {
			names = append(names, p.value.String())
		}
	}
	return names
}

// UnsetFiles returns the names of parameters that can name a file but are empty.
func (c *Codec) UnsetFiles(params any) (names []string) {
	for _, p := range fileParams(params) {
		if p.value.String() == "" {
			names = append(names, p.name)
		}
	}
	return names
}

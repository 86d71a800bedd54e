package table

import (
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders"
)

// Default returns the name of the encoder to begin with on frames of schema s, for
// those who have not chosen one: half-way up the ladder of cubes, else the one that
// was made for such frames.
func Default(s *frame.Schema) string {
	switch {
	case frame.IsCubes(s):
		return "relative-orientation"
	case s.Name == "rpc":
		return "rpc-adaptive"
	case s.Rows > 0:
		return "delta-adaptive"
	case s.Delivery == frame.Every:
		return "patch"
	}
	return "receiver-adaptive"
}

// Suiting lists the names of those of the codecs that take frames of schema s: the
// default first, if it is among them, then in the order given.
func Suiting(codecs []encoders.Codec, s *frame.Schema) []string {
	var names []string
	for i := range codecs {
		if codecs[i].Suits(s) {
			names = append(names, codecs[i].Name)
		}
	}
	if at := slices.Index(names, Default(s)); at > 0 {
		copy(names[1:], names[:at])
		names[0] = Default(s)
	}
	return names
}

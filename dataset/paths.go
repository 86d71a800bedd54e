package dataset

import (
	"slices"
	"strings"
)

// WithPaths replaces each part of spec that may be a path by rename of that part. Some parts may not be
// paths, such as the script in "world:roll"; rename has to check that a file exists.
func WithPaths(spec string, rename func(path string) string) string {
	name, arg, _ := strings.Cut(spec, ":")
	i := slices.IndexFunc(Kinds(), func(k Kind) bool { return k.Name == name })
	switch {
	case i < 0: // spec names no kind of data, so it is the path of a recording
		return rename(spec)
	case arg == "":
		return spec
	case Kinds()[i].Paths == nil: // every part between commas may be a path
		parts := strings.Split(arg, ",")
		for i := range parts {
			parts[i] = rename(parts[i])
		}
		return name + ":" + strings.Join(parts, ",")
	}
	renamed := name + ":" // then the renamed paths, with the text between them unchanged
	for _, path := range Kinds()[i].Paths(arg) {
		before, after, _ := strings.Cut(arg, path)
		renamed += before + rename(path)
		arg = after
	}
	return renamed + arg
}

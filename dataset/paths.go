package dataset

import (
	"slices"
	"strings"
)

// WithPaths returns spec with the parts that may be names of files as rename returns them. Only the
// file system shows whether they are: an argument may be something else.
func WithPaths(spec string, rename func(path string) string) string {
	name, arg, _ := strings.Cut(spec, ":")
	i := slices.IndexFunc(Kinds(), func(k Kind) bool { return k.Name == name })
	switch {
	case i < 0:
		return rename(spec)
	case arg == "":
		return spec
	case Kinds()[i].Paths == nil:
		parts := strings.Split(arg, ",")
		for i := range parts {
			parts[i] = rename(parts[i])
		}
		return name + ":" + strings.Join(parts, ",")
	}
	renamed := name + ":"
	for _, path := range Kinds()[i].Paths(arg) {
		before, after, _ := strings.Cut(arg, path)
		renamed += before + rename(path)
		arg = after
	}
	return renamed + arg
}

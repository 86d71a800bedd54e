package dataset

import (
	"slices"
	"strings"

	"wirelab/dataset/packets"
)

// Paths returns the parts of spec that may be names of files. Whether they are, only the
// disk knows: an argument may be something else.
func Paths(spec string) (paths []string) {
	WithPaths(spec, func(path string) string {
		paths = append(paths, path)
		return path
	})
	return paths
}

// WithPaths returns spec with those parts as rename returns them.
func WithPaths(spec string, rename func(path string) string) string {
	name, arg, colon := strings.Cut(spec, ":")
	if !slices.ContainsFunc(Kinds(), func(k Kind) bool { return k.Name == name }) {
		return rename(spec)
	}
	if !colon || arg == "" {
		return spec
	}
	switch name {
	case recordingKind.Name, "text":
		return name + ":" + rename(arg)
	case "table": // names of schemas may have commas, if they end in .toml
		if schema, records, ok := strings.Cut(arg, ".toml,"); ok {
			return name + ":" + rename(schema+".toml") + "," + rename(records)
		}
	}
	if name == packets.Kind.Name {
		path, _, err := packets.ParseSpec(arg)
		if err != nil {
			return spec
		}
		return name + ":" + rename(path) + arg[len(path):]
	}
	parts := strings.Split(arg, ",")
	for i := range parts {
		parts[i] = rename(parts[i])
	}
	return name + ":" + strings.Join(parts, ",")
}

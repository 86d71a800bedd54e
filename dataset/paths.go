package dataset

import (
	"slices"
	"strings"

	"wirelab/dataset/packets"
	"wirelab/dataset/quake3"
	"wirelab/dataset/teeworlds"
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
	case recordingKind.Name, "text", teeworlds.Kind.Name:
		return name + ":" + rename(arg)
	case "table": // names of schemas may have commas, if they end in .toml
		if schema, records, ok := strings.Cut(arg, ".toml,"); ok {
			return name + ":" + rename(schema+".toml") + "," + rename(records)
		}
	}
	if split := pathFirst(name); split != nil {
		path, err := split(arg)
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

// pathFirst returns how to find the path at the beginning of the argument of a kind of data that
// has options after it; nil for other kinds.
func pathFirst(name string) func(arg string) (path string, err error) {
	switch name {
	case packets.Kind.Name:
		return func(arg string) (string, error) {
			path, _, err := packets.ParseSpec(arg)
			return path, err
		}
	case quake3.Kind.Name:
		return func(arg string) (string, error) {
			path, _, err := quake3.ParseSpec(arg)
			return path, err
		}
	}
	return nil
}

package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"wirelab/dataset/files"
	"wirelab/dataset/packets"
	"wirelab/dataset/quake3"
	"wirelab/dataset/rpc"
	"wirelab/dataset/source"
	"wirelab/dataset/table"
	"wirelab/dataset/text"
	"wirelab/dataset/world"
)

// Kinds returns all kinds of data in the order of lists for users. To add a kind, add a line here.
func Kinds() []Kind {
	return []Kind{
		demoKind,
		world.Kind,
		rpc.Kind,
		text.Kind,
		files.Kind,
		packets.Kind,
		quake3.Kind,
		recordingKind,
		table.Kind,
	}
}

// Open opens the source that spec describes: "demo", "world", "world:SCRIPT", "rpc", "text",
// "text:PATH", "files", "files:OLD,NEW", "packets:FILE", "quake3:MATCH.dm_71", "file:PATH",
// "table:SCHEMA.toml,PATH", or the path of a file, whose kind is recognised by its content. The
// caller must close sources that implement io.Closer.
//
// If spec is neither a kind nor an existing file, the error is a *source.UnknownError, or that of the
// file system if spec looks like a path. If it is an unknown kind with a file that no kind reads, the error
// says what the file is. If spec names a pipe, the end of ctx ends the wait for its writer.
func Open(ctx context.Context, spec string, opt Options) (Source, error) {
	kind, arg, err := resolve(spec)
	if err != nil {
		return nil, err
	}
	src, err := kind.Open(ctx, arg, opt)
	if notes, ok := src.(interface{ Remark(string, ...any) }); ok && kind.Name == text.Kind.Name && arg == spec {
		notes.Remark("%s is read as a text, which is sent in messages; a log needs one row on each line, as CSV or JSON Lines", spec)
	}
	return src, err
}

// KindName returns the name of the kind of data that spec describes; "" if spec is not valid.
func KindName(spec string) string {
	kind, _, _ := resolve(spec)
	return kind.Name
}

// resolve returns the kind of data that spec describes and its argument.
func resolve(spec string) (kind Kind, arg string, err error) {
	kinds := Kinds()
	name, arg, hasColon := strings.Cut(spec, ":")
	for _, k := range kinds {
		switch {
		case k.Name != name: // spec names another kind, or none
		case arg == "" && (k.Arg == source.NeedsArgument || hasColon):
			return Kind{}, "", fmt.Errorf("data %q: %w, expected %s", spec, ErrSpec, k.Spec)
		case k.Arg == source.NoArgument && hasColon:
			return Kind{}, "", fmt.Errorf("data %q: %w, expected %s and nothing after it", spec, ErrSpec, k.Spec)
		default:
			return k, arg, nil
		}
	}
	_, err = os.Stat(spec)
	_, argErr := os.Stat(arg)
	hasFile := argErr == nil // after an unknown kind, as in teeworlds:FILE
	if errors.Is(err, fs.ErrNotExist) && (hasFile || !looksLikePath(spec)) {
		if _, _, err := Recognise(arg); err != nil { // there is a file, but no kind reads it
			return Kind{}, "", err
		}
		return Kind{}, "", newUnknownError(spec, name, kinds)
	}
	kind, _, err = Recognise(spec)
	return kind, spec, err
}

// looksLikePath reports whether spec is probably a path and not a mistyped kind.
func looksLikePath(spec string) bool { return strings.ContainsAny(spec, `/\.`) }

// newUnknownError returns the error for a specification that is neither a kind of data nor a file. name
// is its part before the colon.
func newUnknownError(spec, name string, kinds []Kind) error {
	names, specs := make([]string, len(kinds)), make([]string, len(kinds))
	for i, k := range kinds {
		names[i], specs[i] = k.Name, k.Spec
	}
	text := fmt.Sprintf("data %q: no such kind and no such file; expected %s or the path of a file", spec, strings.Join(specs, ", "))
	return &source.UnknownError{Text: text, Name: name, Known: names}
}

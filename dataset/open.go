package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"wirelab/dataset/files"
	"wirelab/dataset/rpc"
	"wirelab/dataset/table"
	"wirelab/dataset/text"
	"wirelab/dataset/world"
)

// Options refine a specification of data.
type Options struct {
	// Cubes is how many cubes a frame of a recording holds; 0 means 901. The
	// demo and the world have 901 and take nothing else.
	Cubes int
	// Loop makes a recording start again at its end, instead of io.EOF. Seam
	// then reports the first frame of every further round.
	Loop bool
	// Seed drives what is random in generated data. Recordings ignore it.
	Seed uint64
	// Message is how many bytes of a text make a message; 0 means 500.
	Message int
	// Script names who plays the world; "" means "random". See world.Scripts.
	Script string
}

// Kind is one kind of data that Open understands.
type Kind struct {
	Name    string `json:"name"`    // the word before the colon
	Spec    string `json:"spec"`    // how users write it
	Summary string `json:"summary"` // one line: what it holds
	Source  string `json:"source"`  // whom it follows
	open    func(arg string, opt Options) (Source, error)
	arg     argument
}

// argument says whether a kind takes something after a colon.
type argument uint8

const (
	argNone argument = iota
	argMay
	argMust
)

// Kinds lists the kinds of data in the order in which users should meet them.
func Kinds() []Kind {
	const fiedler = "Glenn Fiedler, Networked Physics, 2014-15"
	return []Kind{
		{Name: "demo", Spec: "demo", Source: fiedler,
			Summary: "an embedded recording of the world, 48 s: hovering, katamari, rolling, all settling between",
			open: func(_ string, opt Options) (Source, error) {
				r, err := openDemo(opt)
				return checked(r, err)
			}},
		{Name: "world", Spec: "world", Source: fiedler,
			Summary: "the live cube world: 900 cubes and a player, simulated, never ends; world:katamari plays that script", arg: argMay,
			open: func(script string, opt Options) (Source, error) {
				s, err := openWorld(script, opt)
				return checked(s, err)
			}},
		{Name: "rpc", Spec: "rpc", Source: "High-frequency upstream RPC, 2023",
			Summary: "a player's movement calls, 540 bits each, 60 a second, generated, never ends",
			open:    func(_ string, opt Options) (Source, error) { return rpc.Open(opt.Seed), nil }},
		{Name: "text", Spec: "text:PATH", Source: "Jonathan Blow, Adaptive Compression Across Unreliable Networks, 2003",
			Summary: "a text in messages of 500 bytes, 60 a second; without a path the Declaration of Independence", arg: argMay,
			open: func(path string, opt Options) (Source, error) {
				s, err := text.Open(path, opt.Message, opt.Loop)
				return checked(s, err)
			}},
		{Name: "files", Spec: "files:OLD,NEW", Source: "Rich Geldreich, Mobile-friendly binary delta compression, 2015",
			Summary: "a new file for those who have the old one, delivered whole; without names a small example", arg: argMay,
			open: func(names string, opt Options) (Source, error) {
				s, err := files.Open(names, opt.Seed, opt.Loop)
				if err != nil && names != "" && !errors.Is(err, fs.ErrNotExist) {
					err = fmt.Errorf("data %q: %w: %w", "files:"+names, ErrSpec, err)
				}
				return checked(s, err)
			}},
		{Name: "file", Spec: "file:PATH", Source: "Glenn Fiedler, delta compression walk-off, 2015", arg: argMust,
			Summary: "a recording in walk-off records, raw, .zst or .gz; a bare path does as well",
			open: func(path string, opt Options) (Source, error) {
				r, err := OpenRecording(path, opt.Cubes, opt.Loop)
				return checked(r, err)
			}},
		{Name: "table", Spec: "table:SCHEMA.toml,PATH", Source: "a user's own", arg: argMust,
			Summary: "records of yours, CSV or packed int32, as a schema describes them; tui datasets describe prints one to start from",
			open: func(names string, opt Options) (Source, error) {
				s, err := openTable(names, opt.Loop)
				return checked(s, err)
			}},
	}
}

// openTable opens records by "SCHEMA.toml,PATH". Names of schemas may have commas, if
// they end in .toml.
func openTable(names string, loop bool) (*table.Source, error) {
	schema, records, ok := strings.Cut(names, ".toml,")
	if ok {
		schema += ".toml"
	} else {
		schema, records, ok = strings.Cut(names, ",")
	}
	if !ok || schema == "" || records == "" {
		return nil, fmt.Errorf("data %q: %w, expected table:SCHEMA.toml,PATH", "table:"+names, ErrSpec)
	}
	return table.Open(schema, records, loop)
}

// Open opens the data that spec names: "demo", "world", "world:SCRIPT", "rpc",
// "text", "text:PATH", "files", "files:OLD,NEW", "file:PATH",
// "table:SCHEMA.toml,PATH" or a bare path. Sources that hold files are io.Closers.
// What is neither a kind nor a file fails with an *UnknownError or, where it looks
// like a path, with the reason of the file system.
func Open(spec string, opt Options) (Source, error) {
	kinds := Kinds()
	name, arg, colon := strings.Cut(spec, ":")
	for _, k := range kinds {
		switch {
		case k.Name != name:
		case arg == "" && (k.arg == argMust || colon):
			return nil, fmt.Errorf("data %q: %w, expected %s", spec, ErrSpec, k.Spec)
		case k.arg == argNone && colon:
			return nil, fmt.Errorf("data %q: %w, expected %s and nothing after it", spec, ErrSpec, k.Spec)
		default:
			return k.open(arg, opt)
		}
	}
	if _, err := os.Stat(spec); errors.Is(err, fs.ErrNotExist) && !looksLikePath(spec) {
		return nil, &UnknownError{Spec: spec, name: name, kinds: kinds}
	}
	r, err := OpenRecording(spec, opt.Cubes, opt.Loop)
	return checked(r, err)
}

// checked returns src as a Source, or nothing if there was an error: a nil
// pointer in an interface would not be nil.
func checked[S Source](src S, err error) (Source, error) {
	if err != nil {
		return nil, err
	}
	return src, nil
}

// looksLikePath tells what was meant for a file from a mistyped kind.
func looksLikePath(spec string) bool {
	return strings.ContainsAny(spec, `/\.`)
}

// openWorld starts the live world under a script, which the specification may
// name, or the options.
func openWorld(script string, opt Options) (*world.Source, error) {
	if opt.Cubes != 0 && opt.Cubes != world.Cubes {
		return nil, fmt.Errorf("%w: the world has %d cubes, not %d", ErrSpec, world.Cubes, opt.Cubes)
	}
	if script == "" {
		script = opt.Script
	}
	src, err := world.Open(script, opt.Seed)
	if err != nil {
		return nil, fmt.Errorf("data %q: %w: %w", "world:"+script, ErrSpec, err)
	}
	return src, nil
}

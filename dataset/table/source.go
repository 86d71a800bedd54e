package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/unpack"
)

// Kind is this data for dataset.Open.
var Kind = source.Kind{Name: "table", Spec: "table:SCHEMA.toml,PATH", Source: "a user's own", Arg: source.NeedsArgument,
	Summary: "records of yours, CSV or packed int32, as a schema describes them; tui datasets describe prints one to start from",
	Open: func(names string, opt source.Options) (source.Source, error) {
		return source.Of(openNamed(opt.Context, names, opt.Loop))
	}}

// openNamed opens records by "SCHEMA.toml,PATH". Names of schemas may have commas, if
// they end in .toml.
func openNamed(ctx context.Context, names string, loop bool) (*Source, error) {
	schema, records, ok := strings.Cut(names, ".toml,")
	if ok {
		schema += ".toml"
	} else {
		schema, records, ok = strings.Cut(names, ",")
	}
	if !ok || schema == "" || records == "" {
		return nil, fmt.Errorf("data %q: %w, expected table:SCHEMA.toml,PATH", "table:"+names, source.ErrSpec)
	}
	l, err := readLayout(schema)
	if err != nil {
		return nil, err
	}
	return l.open(ctx, records, loop)
}

// Source plays records. It implements dataset.Source, Sized, Seamed and io.Closer.
type Source struct {
	path    string
	layout  *Layout
	file    *source.File
	in      *unpack.Reader
	records interface {
		// read fills a table with frame n of the file; io.EOF if there is none.
		read(table []int32, n int) error
	}
	loop bool

	initial frame.Frame
	first   frame.Frame // the frame at preamble, read when the source was opened
	at      int         // number in the file of the frame to be read next
	frames  int         // in the file; 0 while not known
	tick    uint32      // of the next frame: goes on growing when the file begins again
	begun   bool        // first was handed out
	seam    bool
	err     error // sticky
}

// Open begins to read the records at path, which are as l says.
func (l *Layout) Open(path string, loop bool) (*Source, error) {
	return l.open(context.Background(), path, loop)
}

func (l *Layout) open(ctx context.Context, path string, loop bool) (*Source, error) {
	file, err := source.OpenFile(ctx, path, "", nil)
	if err != nil {
		return nil, err
	}
	s := &Source{path: path, layout: l, file: file, loop: loop}
	if err := s.open(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Source) open() error {
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return &Error{File: s.path, Problem: "is a folder", Expected: "a file of records", Kind: ErrRecords}
	}
	if s.in, err = unpack.New(s.file, s.path, unpack.Errors{Format: ErrRecords, Truncated: ErrTruncated}); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if err := s.start(); err != nil {
		return err
	}
	if err := s.readPreamble(); err != nil {
		return err // before the size is looked at: what is no such file at all is told by its values
	}
	if p, ok := s.records.(*packed); ok && s.in.Packing() == unpack.None && info.Mode().IsRegular() {
		whole, left := info.Size()/int64(len(p.buf)), info.Size()%int64(len(p.buf))
		if left != 0 {
			return p.breaksOff(int(whole), int(left))
		}
		s.frames = int(whole)
	}
	return nil
}

// start begins at the beginning of the unpacked bytes.
func (s *Source) start() error {
	if s.layout.FormatOf(s.path) == formatPacked {
		p, _ := s.records.(*packed)
		if p == nil {
			p = &packed{path: s.path, layout: s.layout}
		}
		s.records = p
		p.start(s.in)
		return nil
	}
	t, _ := s.records.(*text)
	if t == nil {
		t = &text{lines: lines{path: s.path, comma: s.layout.Separator(s.path)}, layout: s.layout}
	}
	s.records = t
	if err := t.start(s.in); err != io.EOF {
		return err
	}
	return s.tooShort()
}

// readPreamble reads the frames that repeat the initial state, and the first after
// them.
func (s *Source) readPreamble() error {
	schema := s.layout.Schema
	s.initial = *schema.NewFrame()
	for i, v := range s.initial.Table {
		if f := &schema.Fields[i%len(schema.Fields)]; f.Kind.Bounded() {
			s.initial.Table[i] = min(max(v, f.Min), f.Max)
		}
	}
	s.first = *schema.NewFrame()
	for s.at <= s.layout.Preamble {
		if err := s.read(&s.first); err == io.EOF {
			return s.tooShort()
		} else if err != nil {
			return err
		}
		if s.at == 1 && s.layout.Preamble > 0 {
			s.initial.CopyFrom(&s.first)
		}
		if s.at <= s.layout.Preamble {
			if err := s.repeats(); err != nil {
				return err
			}
		}
	}
	s.tick = uint32(s.layout.Preamble)
	return nil
}

// repeats says where the frame read last is not the initial state.
func (s *Source) repeats() error {
	fields := s.layout.Schema.Fields
	for i, v := range s.first.Table {
		if was := s.initial.Table[i]; v != was {
			return &Error{File: s.path, Kind: ErrRecords,
				Place:    fmt.Sprintf("frame %d, %s %d, field %s", s.at-1, s.layout.Schema.Item, i/len(fields), fields[i%len(fields)].Name),
				Problem:  fmt.Sprintf("is at step %d, in frame 0 at %d", v, was),
				Expected: fmt.Sprintf("the initial state in the first %d frames: preamble in the schema says so", s.layout.Preamble)}
		}
	}
	return nil
}

func (s *Source) tooShort() error {
	return &Error{File: s.path, Problem: fmt.Sprintf("holds %d frames", s.at), Kind: ErrRecords,
		Expected: fmt.Sprintf("at least %d of %d rows", s.layout.Preamble+1, s.layout.Schema.Rows)}
}

// read reads the next frame of the file.
func (s *Source) read(f *frame.Frame) error {
	if n := s.layout.Schema.Cells(); cap(f.Table) < n {
		f.Table = make([]int32, n)
	} else {
		f.Table = f.Table[:n]
	}
	f.Body = f.Body[:0]
	if err := s.records.read(f.Table, s.at); err != nil {
		return err
	}
	s.at++
	return nil
}

// Layout returns what the schema file says.
func (s *Source) Layout() *Layout { return s.layout }

// Schema describes the frames.
func (s *Source) Schema() *frame.Schema { return s.layout.Schema }

// Initial fills f with the state that both ends begin with: frame 0 if the records
// have a preamble, else zero in every field, or what is nearest to it.
func (s *Source) Initial(f *frame.Frame) { f.CopyFrom(&s.initial) }

// Next fills f with the next frame. After an error it keeps failing with the same one.
func (s *Source) Next(f *frame.Frame) error {
	if s.err == nil {
		s.err = s.next(f)
	}
	return s.err
}

func (s *Source) next(f *frame.Frame) error {
	s.seam = false
	if !s.begun {
		s.begun = true
		f.CopyFrom(&s.first)
	} else if err := s.read(f); err == io.EOF {
		if s.frames = s.at; !s.loop {
			return io.EOF
		}
		if err := s.again(f); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	f.Tick = s.tick
	s.tick++
	return nil
}

// again begins anew and fills f with the first frame after the preamble.
func (s *Source) again(f *frame.Frame) error {
	if err := s.in.Rewind(); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	if err := s.start(); err != nil {
		return err
	}
	for s.at = 0; s.at <= s.layout.Preamble; {
		if err := s.read(f); err == io.EOF {
			return s.tooShort() // it was cut meanwhile
		} else if err != nil {
			return err
		}
	}
	s.seam = true
	return nil
}

// Seam reports whether the frame that Next filled last is the first once more.
func (s *Source) Seam() bool { return s.seam }

// Frames returns how many frames Next fills in one round, or 0 while that is not
// known: only of raw packed records is it known before they were read once.
func (s *Source) Frames() int { return max(0, s.frames-s.layout.Preamble) }

// Close closes the file. Next fails from then on.
func (s *Source) Close() error {
	if s.in != nil {
		s.in.Close()
		s.in = nil
	}
	if s.err == nil || errors.Is(s.err, io.EOF) {
		s.err = fmt.Errorf("%s: %w", s.path, errClosed)
	}
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Close()
}

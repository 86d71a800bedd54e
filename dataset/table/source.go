package table

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/unpack"
)

// Kind is this data for dataset.Open.
var Kind = source.Kind{Name: "table", Spec: "table:SCHEMA.toml,PATH", Source: "a user's own", Arg: source.NeedsArgument,
	Summary: "records of yours, CSV or packed int32, as a schema describes them; tui datasets describe prints one to start from",
	Open: func(ctx context.Context, names string, opt source.Options) (source.Source, error) {
		return source.Of(openNamed(ctx, names, opt.Loop))
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
	source.Playback
	layout  *Layout
	records interface {
		// start begins at the beginning of in.
		start(in *unpack.Reader) error
		// read fills a table with frame n of the file; io.EOF if there is none.
		read(table []int32, n int) error
	}
	initial frame.Frame
	first   frame.Frame // the frame after the preamble, read when the source was opened
	started bool        // Next returned first
}

// Open begins to read the records at path, which are as l says.
func (l *Layout) Open(path string, loop bool) (*Source, error) {
	return l.open(context.Background(), path, loop)
}

func (l *Layout) open(ctx context.Context, path string, loop bool) (*Source, error) {
	s := &Source{Playback: source.Playback{Path: path, Loop: loop, Lead: l.Preamble}, layout: l}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Source) open(ctx context.Context) error {
	info, err := s.Open(ctx)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return &source.Error{File: s.Path, Problem: "is a folder", Expected: "a file of records", Kind: ErrRecords}
	}
	if err := s.Unpack(nil, unpack.Errors{Format: ErrRecords, Truncated: ErrTruncated}); err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	if err := s.start(); err != nil {
		return err
	}
	if err := s.readPreamble(); err != nil {
		return err // before the size is looked at: what is no such file at all is told by its values
	}
	if p, ok := s.records.(*packed); ok && s.In.Packing() == unpack.None && info.Mode().IsRegular() {
		whole, left := info.Size()/int64(len(p.buf)), info.Size()%int64(len(p.buf))
		if left != 0 {
			return p.breaksOff(int(whole), int(left))
		}
		s.Total = int(whole)
	}
	return nil
}

// start prepares to read records from the beginning of the unpacked bytes.
func (s *Source) start() error {
	if s.records == nil && s.layout.FormatOf(s.Path) == formatPacked {
		s.records = &packed{path: s.Path, layout: s.layout, buf: make([]byte, s.layout.Schema.Cells()*4)}
	} else if s.records == nil {
		s.records = &text{lines: lines{path: s.Path, comma: s.layout.Separator(s.Path)}, layout: s.layout}
	}
	if err := s.records.start(s.In); err != io.EOF {
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
	for s.Count <= s.Lead {
		if err := s.read(&s.first); err == io.EOF {
			return s.tooShort()
		} else if err != nil {
			return err
		}
		if s.Count == 1 && s.Lead > 0 {
			s.initial.CopyFrom(&s.first)
		}
		if s.Count <= s.Lead {
			if err := s.repeats(); err != nil {
				return err
			}
		}
	}
	return nil
}

// repeats returns an error if the last frame read differs from the initial state.
func (s *Source) repeats() error {
	fields := s.layout.Schema.Fields
	for i, v := range s.first.Table {
		if was := s.initial.Table[i]; v != was {
			return &source.Error{File: s.Path, Kind: ErrRecords,
				Place:    fmt.Sprintf("frame %d, %s %d, field %s", s.Count-1, s.layout.Schema.Item, i/len(fields), fields[i%len(fields)].Name),
				Problem:  fmt.Sprintf("is at step %d, in frame 0 at %d", v, was),
				Expected: fmt.Sprintf("the initial state in the first %d frames: preamble in the schema says so", s.Lead)}
		}
	}
	return nil
}

// tooShort returns the error for a file that ends before the first frame after the preamble.
func (s *Source) tooShort() error {
	return &source.Error{File: s.Path, Problem: fmt.Sprintf("holds %d frames", s.Count), Kind: ErrRecords,
		Expected: fmt.Sprintf("at least %d of %d rows", s.Lead+1, s.layout.Schema.Rows)}
}

// read reads the next frame of the file.
func (s *Source) read(f *frame.Frame) error {
	f.Table, f.Body = slices.Grow(f.Table[:0], s.layout.Schema.Cells())[:s.layout.Schema.Cells()], f.Body[:0]
	if err := s.records.read(f.Table, s.Count); err != nil {
		return err
	}
	s.Count++
	return nil
}

// Layout returns the content of the schema file.
func (s *Source) Layout() *Layout { return s.layout }

// Schema describes the frames.
func (s *Source) Schema() *frame.Schema { return s.layout.Schema }

// Initial fills f with the state that both ends begin with: frame 0 if the records
// have a preamble, else zero in every field, or the nearest value within its bounds.
func (s *Source) Initial(f *frame.Frame) { f.CopyFrom(&s.initial) }

// Next fills f with the next frame. After an error, all calls return that error.
func (s *Source) Next(f *frame.Frame) error { return s.Fill(f, s.next) }

// next fills f with the next frame. At the end of the file it starts over if Loop is set.
func (s *Source) next(f *frame.Frame) error {
	s.Restart = false
	if !s.started {
		s.started = true
		f.CopyFrom(&s.first)
		return nil
	}
	err := s.read(f)
	if err == io.EOF {
		s.Total = s.Count
		if s.Loop {
			return s.rewind(f)
		}
	}
	return err
}

// rewind returns to the beginning of the file and fills f with the first frame after the preamble.
func (s *Source) rewind(f *frame.Frame) error {
	if err := s.In.Rewind(); err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	if err := s.start(); err != nil {
		return err
	}
	for s.Count = 0; s.Count <= s.Lead; {
		if err := s.read(f); err == io.EOF {
			return s.tooShort() // it was cut meanwhile
		} else if err != nil {
			return err
		}
	}
	s.Restart = true
	return nil
}

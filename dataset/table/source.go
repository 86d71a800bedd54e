package table

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/dataset/source"
	"wirelab/internal/unpack"
	"wirelab/internal/words"
)

// Kind describes a user's own records to dataset.Open.
var Kind = source.Kind{Name: "table", Spec: "table:SCHEMA.toml,PATH", Source: "a user's own", Arg: source.NeedsArgument,
	Summary: "your own records, CSV, JSON Lines or packed int32, described by a schema; tui datasets describe prints an example",
	Open: func(ctx context.Context, names string, opt source.Options) (source.Source, error) {
		return source.AsSource(openNamed(ctx, names, opt.Loop))
	}}

// openNamed opens the records given as "SCHEMA.toml,PATH", or as "PATH" with a guessed schema. The name of a schema may
// contain commas if it ends in .toml.
func openNamed(ctx context.Context, names string, loop bool) (*Source, error) {
	schema, records, ok := strings.Cut(names, ".toml,")
	if ok {
		schema += ".toml"
	} else if _, err := os.Stat(names); err == nil && !strings.HasSuffix(names, ".toml") {
		return openGuessed(ctx, names, loop)
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

// openGuessed opens the log at path with the schema that Infer guesses. A remark has its main assumptions.
func openGuessed(ctx context.Context, path string, loop bool) (*Source, error) {
	schema, remarks, err := Infer(ctx, path)
	if err != nil {
		return nil, err
	}
	l, err := ParseLayout(path+" (guessed schema)", schema)
	if err != nil {
		return nil, err
	}
	s, err := l.open(ctx, path, loop)
	if err == nil {
		s.Remark("%s", l.assumptions(path, remarks))
	}
	return s, err
}

// assumptions describes in one line what is assumed of the log at path, and what is left out. l is its guessed schema, and
// remarks are those of Infer.
func (l *Layout) assumptions(path string, remarks []string) string {
	parts := []string{fmt.Sprintf("%d frames a second", l.Schema.TickHz)}
	for _, column := range []struct{ use, name string }{{"a frame is ", l.Frame}, {"a row is ", l.Key}, {"the list is ", l.List}} {
		if column.name != "" {
			parts = append(parts, column.use+column.name)
		}
	}
	questions := 0
	for _, remark := range remarks {
		subject, question, isQuestion := strings.Cut(remark, ": QUESTION: ")
		switch {
		case subject == "frame" || subject == "key":
			parts = append(parts, strings.TrimSuffix(question, "."))
			questions++
		case !isQuestion:
			parts = append(parts, strings.Replace(remark, ": NOTE", "", 1))
		case subject == "rate_hz":
			parts[0] += ", which the log does not show"
			fallthrough
		default:
			questions++
		}
	}
	return fmt.Sprintf("the schema is guessed: %s; tui datasets infer %s > game.toml writes it with %s, "+
		"and table:game.toml,%[2]s plays it", strings.Join(parts, "; "), path, words.Count(questions, "question"))
}

// Source is the source of frames of a file of records. It implements dataset.Source, Sized, Looping, Remarked
// and io.Closer.
type Source struct {
	source.Playback
	source.Notes
	layout  *Layout
	records interface { // the reader for the format
		// start begins to read from the start of the unpacked file. It returns io.EOF if the file is
		// empty.
		start(in *unpack.Reader) error
		// read reads the next frame into f, whose table has the right size. n is its number. It returns io.EOF at the end.
		read(f *frame.Frame, n int) error
	}
	rounding []roundingErrors // of each field of text, then of Layout.Axes
	initial  frame.Frame
	first    frame.Frame // the frame after the preamble, read when the source was opened
	started  bool        // Next has returned first
}

// Open opens the records at path, which have the layout l. If loop is set, they begin again at their
// end.
func (l *Layout) Open(path string, loop bool) (*Source, error) {
	return l.open(context.Background(), path, loop)
}

// open is Open with a context, whose end ends the wait for the writer of a pipe.
func (l *Layout) open(ctx context.Context, path string, loop bool) (*Source, error) {
	s := &Source{Playback: source.Playback{Path: path, Loop: loop, Lead: l.Preamble}, layout: l}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// open opens the file, reads the preamble and the first frame, and determines the number of frames if
// the size of the file shows it.
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
	if err := s.survey(info.Mode().IsRegular()); err != nil {
		return err
	}
	if err := s.start(); err != nil {
		return err
	}
	if err := s.readPreamble(); err != nil {
		return err // before the size is checked, since a bad value shows better that the file is of another format
	}
	if p, ok := s.records.(*packedFrames); ok && s.In.Packing() == unpack.None && info.Mode().IsRegular() {
		whole, left := info.Size()/int64(len(p.buf)), info.Size()%int64(len(p.buf))
		if left != 0 {
			return p.truncated(int(whole), int(left))
		}
		s.Total = int(whole)
	}
	return nil
}

// start prepares to read records from the beginning of the unpacked bytes.
func (s *Source) start() error {
	if s.records == nil && s.layout.FormatOf(s.Path) == formatPacked {
		s.records = &packedFrames{path: s.Path, layout: s.layout, buf: make([]byte, s.layout.Schema.Cells()*4)}
	} else if s.records == nil {
		s.rounding = make([]roundingErrors, len(s.layout.Schema.Fields)+len(s.layout.Axes))
		t := newTextFrames(s.Path, s.layout)
		t.rounding = s.rounding
		s.records = t
	}
	if err := s.records.start(s.In); err != io.EOF {
		return err // an error, or nil
	}
	return s.tooShortError()
}

// readPreamble sets the initial state and reads the preamble, which must repeat it, and the first
// frame after it.
func (s *Source) readPreamble() error {
	schema := s.layout.Schema
	s.initial = frame.Frame{Table: slices.Repeat(absentRow(schema), schema.Rows)}
	s.first = *schema.NewFrame()
	for s.Count <= s.Lead { // Lead frames of the preamble, and one more
		if err := s.read(&s.first); err == io.EOF {
			return s.tooShortError()
		} else if err != nil {
			return err
		}
		if s.Count == 1 && s.Lead > 0 {
			s.initial.CopyFrom(&s.first)
		}
		if s.Count <= s.Lead {
			if err := s.checkInitial(); err != nil {
				return err
			}
		}
	}
	return nil
}

// absentRow returns the values of a row in which there is nothing: zero in every field, or the value nearest to zero in
// its range.
func absentRow(s *frame.Schema) []int32 {
	row := make([]int32, len(s.Fields))
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Kind.Bounded() {
			row[i] = min(max(0, f.Min), f.Max)
		}
	}
	return row
}

// checkInitial returns an error if the last frame read differs from the initial state.
func (s *Source) checkInitial() error {
	fields := s.layout.Schema.Fields
	for i, v := range s.first.Table {
		if initial := s.initial.Table[i]; v != initial {
			return &source.Error{File: s.Path, Kind: ErrRecords,
				Place:    fmt.Sprintf("frame %d, %s %d, field %s", s.Count-1, s.layout.Schema.Item, i/len(fields), fields[i%len(fields)].Name),
				Problem:  fmt.Sprintf("has the value %d (in steps), but %d in frame 0", v, initial),
				Expected: fmt.Sprintf("the initial state in the first %d frames, since the schema has preamble = %[1]d", s.Lead)}
		}
	}
	return nil
}

// tooShortError returns the error for a file that ends before the first frame after the preamble.
func (s *Source) tooShortError() error {
	return &source.Error{File: s.Path, Problem: fmt.Sprintf("contains %d frames of %d rows", s.Count, s.layout.Schema.Rows), Kind: ErrRecords,
		Expected: fmt.Sprintf("at least %d", s.Lead+1)}
}

// read reads the next frame of the file.
func (s *Source) read(f *frame.Frame) error {
	f.Table, f.Body = slices.Grow(f.Table[:0], s.layout.Schema.Cells())[:s.layout.Schema.Cells()], f.Body[:0]
	if err := s.records.read(f, s.Count); err != nil {
		return err
	}
	s.Count++
	return nil
}

// RowKeys returns the key of the thing that has or had each row in the frames read so far, "" if none had; nil if the schema
// has no key.
func (s *Source) RowKeys() []string {
	if t, ok := s.records.(*textFrames); ok {
		return slices.Clone(t.roster.keyOf)
	}
	return nil
}

// Layout returns the content of the schema file.
func (s *Source) Layout() *Layout { return s.layout }

// Schema describes the frames.
func (s *Source) Schema() *frame.Schema { return s.layout.Schema }

// Initial fills f with the initial state: frame 0 if the records have a preamble, otherwise zero in
// every field, or the value nearest to zero in the field's range.
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
			return s.tooShortError() // the file was truncated during playback
		} else if err != nil {
			return err
		}
	}
	s.Restart = true
	return nil
}

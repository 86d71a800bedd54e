package lossmodel

import "fmt"

// library holds the files of one link, read and parsed once each. What a file
// held stays what it is for that link, even if the file changes later: a slider
// that is moved does not change the past.
type library struct {
	load  Loader
	known map[volume]*content
}

// volume is a file and what it is read as.
type volume struct {
	path, sum string
	as        fileKind
}

// content is a file as a stage uses it; only what its kind needs is there.
type content struct {
	sum     string
	replay  *replay  // captures
	chances *chances // opportunities of delivery
	table   []int64  // offsets of delay, in 2^-unitBits of the jitter
	pattern []bool
}

// fileKind is what a file is read as. A new one is a constant and a case in read.
type fileKind uint8

const (
	asLosses fileKind = iota // captures, for what was lost or copied
	asDelays                 // captures, for how long packets took
	asChances
	asTable
	asPattern
)

func (k fileKind) read(data []byte) (*content, error) {
	c := &content{}
	var err error
	switch k {
	case asLosses, asDelays:
		c.replay, err = readReplay(data, k == asDelays)
	case asChances:
		c.chances, err = readChances(data)
	case asTable:
		c.table, err = readTable(data)
	case asPattern:
		c.pattern, err = readPattern(data)
	}
	return c, err
}

func newLibrary(load Loader) *library {
	if load == nil {
		load = ReadFile
	}
	return &library{load: load, known: map[volume]*content{}}
}

// get returns what file holds. It must have been opened before.
func (l *library) get(f File, as fileKind) *content { return l.known[volume{f.Path, f.SHA256, as}] }

// open makes sure that a file is there, and returns it with its hash.
func (l *library) open(f File, as fileKind) (File, error) {
	c := l.get(f, as)
	if c == nil {
		data, err := l.load(f.Path)
		if err != nil {
			return f, fmt.Errorf("%w %q: %w", ErrFile, f.Path, err)
		}
		sum, err := f.check(data)
		if err != nil {
			return f, fmt.Errorf("%w %q: %w", ErrFile, f.Path, err)
		}
		if c, err = as.read(data); err != nil {
			return f, fmt.Errorf("%w %q: %w", ErrFile, f.Path, err)
		}
		c.sum = sum
		l.known[volume{f.Path, f.SHA256, as}] = c
	}
	if f.SHA256 == "" {
		f.SHA256 = c.sum
		l.known[volume{f.Path, f.SHA256, as}] = c
	}
	if f.ByTime && c.replay != nil && c.replay.period <= 0 {
		return f, fmt.Errorf("%w %q: %w", ErrFile, f.Path, errNoTimes)
	}
	return f, nil
}

// Pin reads the files that s names and returns s with the hash of each, so that
// a report written from it tells when one has changed since. The error wraps
// ErrFile, and ErrChanged if the file is not the one that s means. A nil loader
// is ReadFile. A spec without files is returned as it is.
func (s Spec) Pin(load Loader) (Spec, error) { return newLibrary(load).pin(s) }

// pin opens all files of a spec.
func (l *library) pin(s Spec) (Spec, error) {
	for _, u := range s.uses() {
		f, err := l.open(u.file, u.as)
		if err != nil {
			return s, fmt.Errorf("%s: %w", u.key, err)
		}
		u.put(&s, f)
	}
	return s, nil
}

// use is a file that a spec names: where, what for, and how to name it anew.
type use struct {
	key  string
	file File
	as   fileKind
	put  func(*Spec, File)
}

func (s *Spec) uses() (all []use) {
	note := func(key string, as fileKind, field func(*Spec) *File) {
		if f := *field(s); f.Path != "" {
			all = append(all, use{key, f, as, func(s *Spec, f File) { *field(s) = f }})
		}
	}
	if m, ok := s.Loss.(filed); ok && m.source().Path != "" {
		all = append(all, use{"loss", m.source(), m.sourceKind(), func(s *Spec, f File) { s.Loss = m.from(f) }})
	}
	note("duplicate_trace", asLosses, func(s *Spec) *File { return &s.Duplicate.Trace })
	note("rate_trace", asChances, func(s *Spec) *File { return &s.Rate.Trace })
	note("delay_table", asTable, func(s *Spec) *File { return &s.Delay.Table.File })
	note("delay_trace", asDelays, func(s *Spec) *File { return &s.Delay.Trace })
	return all
}

// filed is a loss model that reads a file.
type filed interface {
	LossModel
	source() File
	sourceKind() fileKind
	from(File) LossModel // the same with another file
}

package tracefile

import "fmt"

// Kind is what a file is read as. Kinds are compared by address: a package that
// reads files of its own declares one.
type Kind struct {
	// Read parses a file's content. Links share what it returns: it must not change.
	Read func(content []byte) (any, error)
}

// Library holds the files of one link, each read and parsed once. A link keeps
// using what it has read, even if the file changes on disk later.
type Library struct {
	load  Loader
	known map[entry]*parsed
}

// entry is a file and what it is read as.
type entry struct {
	path, sum string
	kind      *Kind
}

// parsed is the content of a file as its kind returned it.
type parsed struct {
	sum     string
	content any
}

// NewLibrary returns an empty library; a nil loader is ReadFile.
func NewLibrary(load Loader) *Library {
	if load == nil {
		load = ReadFile
	}
	return &Library{load: load, known: map[entry]*parsed{}}
}

// Get returns what file holds, as returned by kind.Read. The file must have been
// opened before.
func (l *Library) Get(f File, kind *Kind) any { return l.known[entry{f.Path, f.SHA256, kind}].content }

// Open reads a file unless that has been done, and returns f with its hash. The
// error wraps ErrFile.
func (l *Library) Open(f File, kind *Kind) (File, error) {
	c := l.known[entry{f.Path, f.SHA256, kind}]
	if c == nil {
		var err error
		if c, err = l.read(f, kind); err != nil {
			return f, fmt.Errorf("%w %q: %w", ErrFile, f.Path, err)
		}
		l.known[entry{f.Path, f.SHA256, kind}] = c
	}
	if f.SHA256 == "" {
		f.SHA256 = c.sum
		l.known[entry{f.Path, f.SHA256, kind}] = c
	}
	if r, ok := c.content.(*replay); ok && f.ByTime && r.period <= 0 {
		return f, fmt.Errorf("%w %q: %w", ErrFile, f.Path, errNoTimes)
	}
	return f, nil
}

func (l *Library) read(f File, kind *Kind) (*parsed, error) {
	data, err := l.load(f.Path)
	if err != nil {
		return nil, err
	}
	sum, err := f.check(data)
	if err != nil {
		return nil, err
	}
	content, err := kind.Read(data)
	return &parsed{sum, content}, err
}

package tracefile

import "fmt"

// Kind is a file format. Kinds are compared by address; a package that reads its own format
// declares one.
type Kind struct {
	// Read parses the content of a file. The result is shared and must not be modified.
	Read func(content []byte) (any, error)
}

// Library holds the parsed files of one link. Each file is read once; later changes on disk have
// no effect.
type Library struct {
	load        Loader
	parsedFiles map[fileKey]*parsedFile
}

// fileKey identifies a parsed file by path, recorded hash ("" if any) and format.
type fileKey struct {
	path, sum string
	kind      *Kind
}

// parsedFile is the content of a file as returned by Kind.Read.
type parsedFile struct {
	sum     string // hash of the content, hashDigits long
	content any
}

// NewLibrary returns an empty library. A nil load means ReadFile.
func NewLibrary(load Loader) *Library {
	if load == nil {
		load = ReadFile
	}
	return &Library{load: load, parsedFiles: map[fileKey]*parsedFile{}}
}

// Get returns the parsed content of a file that was opened before with the same kind; otherwise it
// panics.
func (l *Library) Get(f File, kind *Kind) any {
	return l.parsedFiles[fileKey{f.Path, f.SHA256, kind}].content
}

// Open reads and parses a file unless that was done before, and returns f with its hash. The
// content can then be read with Get, with or without the hash in f. Errors wrap ErrFile.
func (l *Library) Open(f File, kind *Kind) (File, error) {
	c := l.parsedFiles[fileKey{f.Path, f.SHA256, kind}]
	if c == nil {
		var err error
		if c, err = l.read(f, kind); err != nil {
			return f, fmt.Errorf("%w %q: %w", ErrFile, f.Path, err)
		}
		l.parsedFiles[fileKey{f.Path, f.SHA256, kind}] = c
	}
	if f.SHA256 == "" { // store the content under its hash too
		f.SHA256 = c.sum
		l.parsedFiles[fileKey{f.Path, f.SHA256, kind}] = c
	}
	if r, ok := c.content.(*replay); ok && f.ByTime && r.period <= 0 {
		return f, fmt.Errorf("%w %q: %w", ErrFile, f.Path, errNoTimes)
	}
	return f, nil
}

// read loads a file, checks its hash if f has one, and parses it as kind.
func (l *Library) read(f File, kind *Kind) (*parsedFile, error) {
	data, err := l.load(f.Path)
	if err != nil {
		return nil, err
	}
	sum, err := f.checkHash(data)
	if err != nil {
		return nil, err
	}
	content, err := kind.Read(data)
	return &parsedFile{sum, content}, err
}

package lossmodel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Sentinels for what can be wrong with a file that a spec names.
var (
	// ErrFile: it cannot be read, or its content makes no sense.
	ErrFile = errors.New("bad file")
	// ErrChanged: its content is not what the spec says it was.
	ErrChanged = errors.New("file has changed")
)

// MaxFile is the largest file that a spec may name, in bytes.
const MaxFile = 1 << 28

// hashDigits is how many hexadecimal digits of a file's hash Pin notes: enough
// that no two files meet by chance, few enough to read.
const hashDigits = 16

// File names a file that a link reads: a capture, a trace of a line, a table, a
// pattern. A spec holds the name and the hash of the content, not the content, so
// specs stay values that compare with ==. A link reads a file once, when it first
// needs it. What the file held is noted in the link's Spec as SHA256; whoever
// gets that spec, from a report say, is refused if the file has changed.
//
// As text: the path, in double quotes if it has spaces, then by=time and
// sha256=DIGITS if they apply.
type File struct {
	Path   string // "": no file
	SHA256 string // what the content's hash begins with, in hexadecimal; "": any
	ByTime bool   // of captures: replay by time of sending rather than packet by packet
}

// Loader returns the content of a file.
type Loader func(path string) ([]byte, error)

// ReadFile is the loader of links that are given none. It reads from disk.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	var b bytes.Buffer
	if n, err := io.Copy(&b, io.LimitReader(f, MaxFile+1)); err != nil || n > MaxFile {
		return nil, errors.Join(err, fmt.Errorf("expected at most %d bytes", MaxFile))
	}
	return b.Bytes(), nil
}

// check compares content with the hash and returns the hash to note.
func (f File) check(content []byte) (sum string, err error) {
	hash := sha256.Sum256(content)
	sum = hex.EncodeToString(hash[:])
	if !strings.HasPrefix(sum, f.SHA256) {
		return "", fmt.Errorf("%w: its sha256 begins with %s, expected %s", ErrChanged, sum[:hashDigits], f.SHA256)
	}
	return sum[:hashDigits], nil
}

// options writes what goes with the path.
func (f File) options() string {
	text := ""
	if f.ByTime {
		text += " by=time"
	}
	if f.SHA256 != "" {
		text += " sha256=" + f.SHA256
	}
	return text
}

// option sets by or sha256.
func (f *File) option(key, value string) bool {
	switch key {
	case "by":
		f.ByTime = value == "time"
		return value == "time" || value == "packet"
	case "sha256":
		f.SHA256 = value
		return isHash(value)
	}
	return false
}

// isHash: at least 8 digits, lest two files meet.
func isHash(s string) bool {
	return len(s) >= 8 && len(s) <= 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

func (f File) valid() bool {
	if f.Path == "" {
		return f == File{}
	}
	return len(f.Path) <= 4096 && (f.SHA256 == "" || isHash(f.SHA256))
}

func parseFile(text string) (f File, ok bool) {
	words, ok := splitWords(text)
	if !ok || len(words) == 0 {
		return File{}, false
	}
	f.Path = words[0]
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		if !f.option(key, value) {
			return File{}, false
		}
	}
	return f, f.Path != ""
}

func formatFile(f File) string {
	if f.Path == "" {
		return "off"
	}
	return quoteWord(f.Path) + f.options()
}

// fileUnit is the unit of keys that name a file; timed says that by=time makes
// sense.
func fileUnit(what string, timed bool) *unit[File] {
	expected := "the path of " + what + `, perhaps with sha256=DIGITS after it, or "off"`
	if timed {
		expected = "the path of " + what + `, perhaps with by=packet, by=time or sha256=DIGITS after it, or "off"`
	}
	return &unit[File]{
		name: fileUnitName, expected: expected,
		parse: func(v any) (File, bool) {
			if isOff(v) {
				return File{}, true
			}
			text, ok := v.(string)
			if !ok {
				return File{}, false
			}
			return parseFile(text)
		},
		format: formatFile,
		number: func(f File) float64 { return switchUnit.number(f.Path != "") },
		in:     func(f File) bool { return f.valid() && (timed || !f.ByTime) },
	}
}

// fileUnitName is the unit of keys that name a file; it has no bounds.
const fileUnitName = "file"

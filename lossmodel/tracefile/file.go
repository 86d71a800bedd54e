// Package tracefile reads the files that a link can name: captures to replay, and other files for
// which a loss model or a stage declares a Kind. Each link reads a file once and records its hash.
package tracefile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"wirelab/internal/boundedio"
	"wirelab/internal/setting"
	"wirelab/internal/words"
)

// Errors about files that a spec names.
var (
	// ErrFile means that the file cannot be read, or that its content is invalid.
	ErrFile = errors.New("bad file")
	// ErrChanged means that the content does not have the hash in the spec.
	ErrChanged = errors.New("file has changed")
)

// MaxFile is the largest file that a spec may name, in bytes.
const MaxFile = 1 << 28

// hashDigits is the number of hexadecimal digits of a hash that are recorded: enough to make
// collisions by chance very unlikely, and few enough to read.
const hashDigits = 16

// File names a file that a link reads: a capture, a line trace, a table or a pattern. A spec
// holds the name and the hash, not the content, so that specs can be compared with ==. A link
// reads a file when it first needs it and records the hash in its spec. A link created from that
// spec, for example from a report, refuses a file that has changed since.
//
// The text form is the path, in double quotes if it contains spaces, followed by by=time and
// sha256=DIGITS if set.
type File struct {
	Path   string // path of the file; "" means no file
	SHA256 string // first hexadecimal digits of the content's hash; "" means any content
	ByTime bool   // replays a capture by send time instead of packet by packet
}

// Loader returns the content of a file.
type Loader func(path string) ([]byte, error)

// ReadFile is the default Loader. It reads from disk.
func ReadFile(path string) ([]byte, error) {
	data, err := boundedio.ReadFile(path, MaxFile)
	switch {
	case errors.As(err, new(*boundedio.KindError)):
		return nil, errors.New("not a regular file")
	case errors.As(err, new(*boundedio.SizeError)):
		return nil, fmt.Errorf("expected at most %d bytes", MaxFile)
	case err != nil:
		return nil, withoutPath(err)
	}
	return data, nil
}

// withoutPath removes the path from an error, because the caller adds it.
func withoutPath(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// checkHash compares content with the hash of f, if any, and returns the hash to record: the first
// hashDigits digits. If the hash differs, the error is ErrChanged.
func (f File) checkHash(content []byte) (sum string, err error) {
	hash := sha256.Sum256(content)
	sum = hex.EncodeToString(hash[:])
	if !strings.HasPrefix(sum, f.SHA256) {
		return "", fmt.Errorf("%w: sha256 begins with %s, expected %s", ErrChanged, sum[:hashDigits], f.SHA256)
	}
	return sum[:hashDigits], nil
}

// Options formats the options that follow the path, each with a space before it; "" if none.
func (f File) Options() string {
	text := ""
	if f.ByTime {
		text += " by=time"
	}
	if f.SHA256 != "" {
		text += " sha256=" + f.SHA256
	}
	return text
}

// Option sets the option by ("time" or "packet") or sha256. It returns false if key or value is
// invalid; f must then not be used.
func (f *File) Option(key, value string) bool {
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

// isHash reports whether s has only lower-case hexadecimal digits, and from 8, so that it
// identifies a file, to the length of a SHA-256.
func isHash(s string) bool {
	return len(s) >= 8 && len(s) <= 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// Valid reports whether f names a file with valid options, or none.
func (f File) Valid() bool {
	if f.Path == "" {
		return f == File{}
	}
	const maxPathBytes = 4096
	return len(f.Path) <= maxPathBytes && (f.SHA256 == "" || isHash(f.SHA256))
}

// Parse parses a trace file specification: a path followed by key=value options, separated by spaces.
// ok is false if the path is missing, a quote is not closed or an option is invalid.
func Parse(text string) (f File, ok bool) {
	fields, ok := words.Split(text)
	if !ok || len(fields) == 0 {
		return File{}, false
	}
	f.Path = fields[0]
	for _, word := range fields[1:] {
		key, value, _ := strings.Cut(word, "=")
		if !f.Option(key, value) {
			return File{}, false
		}
	}
	return f, f.Path != ""
}

// Format is the inverse of Parse; it returns "off" if f names no file.
func Format(f File) string {
	if f.Path == "" {
		return "off"
	}
	return words.Quote(f.Path) + f.Options()
}

// Unit returns the unit of keys that name a file. description names the file in messages, such as
// "a capture". hasTimes permits by=time.
func Unit(description string, hasTimes bool) setting.Unit[File] {
	expected := "the path of " + description + `, optionally followed by sha256=DIGITS, or "off"`
	if hasTimes {
		expected = "the path of " + description + `, optionally followed by by=packet, by=time or sha256=DIGITS, or "off"`
	}
	return setting.Unit[File]{
		Name: UnitName, Expected: expected,
		Parse: func(v any) (File, bool) {
			if setting.IsOff(v) {
				return File{}, true
			}
			text, ok := v.(string)
			if !ok {
				return File{}, false
			}
			return Parse(text)
		},
		Format:  Format,
		Number:  func(f File) float64 { return setting.Switch.Number(f.Path != "") },
		InRange: func(f File) bool { return f.Valid() && (hasTimes || !f.ByTime) },
	}
}

// UnitName is the unit of keys that name a file; it has no bounds.
const UnitName = "file"

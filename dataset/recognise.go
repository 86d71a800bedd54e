package dataset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"unicode"

	"wirelab/dataset/packets"
	"wirelab/dataset/quake3"
	"wirelab/dataset/source"
	"wirelab/dataset/table"
	"wirelab/dataset/text"
	"wirelab/internal/filetype"
	"wirelab/internal/unpack"
)

// errUnreadable means that a file is empty, or is not compressed as its name promises.
var errUnreadable = errors.New("cannot be read")

// Recognise returns the kind of data in the file at path, and the first bytes of the file after decompression, by which
// it is recognised. A file of another kind is an error that names it. A pipe, whose bytes can be read only once, is taken
// for a recording, as is a missing file; head is then nil.
func Recognise(path string) (kind Kind, head []byte, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return recordingKind, nil, nil
	}
	head, err = readHead(path)
	if err == nil {
		kind, err = recognise(path, head)
	}
	return kind, head, err
}

// recognise is Recognise for a file with these first bytes.
func recognise(path string, head []byte) (Kind, error) {
	problem, expected := filetype.Describe(head), ""
	known := filetype.Detect(head)
	switch {
	case packets.IsCapture(head):
		return packets.Kind, nil
	case quake3.IsDemo(path, head):
		return quake3.Kind, nil
	case known != nil:
		expected = known.Advice
	case isText(head) && strings.HasSuffix(path, ".toml"):
		problem, expected = "is TOML", "data, or table:"+path+",LOG if it is the schema of a log"
	case isText(head):
		isLog, err := table.IsLog(path, head)
		if isLog {
			return table.Kind, err
		}
		return text.Kind, nil
	case len(head) >= 4 && binary.LittleEndian.Uint32(head) <= maxLargest:
		return recordingKind, nil
	}
	if expected == "" {
		expected = "a recording of cubes, a demo of Quake III, a capture, CSV, JSON Lines or a text, plain, .zst or .gz"
	}
	return Kind{}, &source.Error{File: path, Problem: problem, Expected: expected, Kind: ErrFormat}
}

// maxLargest is the highest index of the largest component of a quaternion, with which each recording begins.
const maxLargest = 3

// readHead returns the first bytes of a file after decompression.
func readHead(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in, err := unpack.New(file, path, unpack.Errors{Format: errUnreadable, Truncated: ErrTruncated})
	if err != nil {
		return nil, &source.Error{File: path, Problem: err.Error(), Kind: ErrFormat}
	}
	defer in.Close()
	head := make([]byte, filetype.HeadBytes)
	n, err := in.Fill(head)
	if n == 0 {
		return nil, &source.Error{File: path, Problem: err.Error(), Kind: ErrFormat}
	}
	return head[:n], nil // the reader of the kind reports an error after the first bytes
}

// isText reports whether head has no control characters but blanks.
func isText(head []byte) bool {
	return !bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && !unicode.IsSpace(r) })
}

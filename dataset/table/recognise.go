package table

import (
	"bytes"
	"path/filepath"
	"strings"

	"wirelab/dataset/source"
)

// IsLog reports whether the text at path, which begins with head, is a log. A log is JSON, or CSV by the name of
// the file, or has equal numbers of separators in all lines and a digit in the second line. IsLog returns an error
// that describes JSON of another kind.
func IsLog(path string, head []byte) (bool, error) {
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte(byteOrderMark)))
	if isJSON(text) {
		return true, checkJSON(path, text)
	}
	byName := new(Layout).FormatOf(path)
	if byName != formatPacked && !strings.Contains(filepath.Base(path), ".txt") {
		return true, nil
	}
	var lines [][]byte
	for line := range bytes.Lines(text) {
		isWhole := bytes.HasSuffix(line, []byte("\n")) || len(lines) < 2
		if isWhole && len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	if len(lines) < 2 || !bytes.ContainsAny(lines[1], "0123456789") {
		return false, nil
	}
	for _, separator := range []byte(separators) {
		columns := bytes.Count(lines[0], []byte{separator})
		equal := columns > 0
		for _, line := range lines {
			equal = equal && bytes.Count(line, []byte{separator}) == columns
		}
		if equal {
			return true, nil
		}
	}
	return false, nil
}

// isJSON reports whether text begins an object, or a list of objects, lists or texts.
func isJSON(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	inner := map[byte]string{'{': `"}`, '[': `{["]`}[text[0]]
	next := bytes.TrimSpace(text[1:])
	return len(next) > 0 && strings.IndexByte(inner, next[0]) >= 0
}

// checkJSON returns an error if the JSON at path is a trace, or an object that goes on in further lines.
func checkJSON(path string, text []byte) error {
	has := func(key string) bool { return bytes.Contains(text, []byte(`"`+key+`"`)) }
	line, _, more := bytes.Cut(text, []byte("\n"))
	e := &source.Error{File: path, Kind: ErrRecords}
	switch {
	case has("traceEvents") || has("ph") && has("ts") && has("pid"):
		e.Problem, e.Expected = "is a Chrome trace", "a log of states; jq -c '.traceEvents[]' FILE makes JSON Lines of its events"
	case text[0] == '{' && more && !bytes.HasSuffix(bytes.TrimSpace(line), []byte("}")):
		e.Problem, e.Expected = "is one object over several lines", "one object on each line; jq -c '.NAME[]' FILE makes such lines of a list in it"
	default:
		return nil
	}
	return e
}

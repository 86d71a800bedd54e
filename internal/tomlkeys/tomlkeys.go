// Package tomlkeys decodes TOML and finds the line of each key, so that an error about a value
// can name its line.
package tomlkeys

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Error describes why a text cannot be decoded.
type Error struct {
	Line              int // line of the text, from 1; 0 if unknown
	Problem, Expected string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d: %s; expected %s", e.Line, e.Problem, e.Expected)
}

// Parse decodes a text, which may begin with a byte order mark, as Notepad writes it. tree holds
// the values as package toml decodes them; lines contains the line of each value and of each table by
// dotted key. Errors are of type *Error.
func Parse(data []byte) (tree map[string]any, lines map[string]int, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := checkLimits(data); err != nil {
		return nil, nil, err
	}
	if err := toml.Unmarshal(data, &tree); err != nil {
		e := &Error{Problem: strings.TrimPrefix(err.Error(), "toml: "), Expected: "valid TOML"}
		if de, ok := errors.AsType[*toml.DecodeError](err); ok {
			e.Line, _ = de.Position()
		}
		return nil, nil, e
	}
	return tree, findLines(data), nil
}

// LineOf returns the line of a dotted key as Parse returns them, or of the closest enclosing table; 0
// if unknown.
func LineOf(lines map[string]int, key string) int {
	for key != "" {
		if n := lines[key]; n > 0 {
			return n
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)] // removes the last part of the key, or its index
	}
	return 0
}

// findLines returns the line of each key and table of a text. Keys begin with the name of their table,
// as in "down.loss" or "at[1].loss". The text must be valid TOML.
func findLines(data []byte) map[string]int {
	lines := map[string]int{}
	counts := map[string]int{}
	lineCount := lineCounter{data: data, currentLine: 1}
	var p unstable.Parser
	p.Reset(data)
	prefix := ""
	for p.NextExpression() {
		e := p.Expression()
		var parts []string
		line := 0
		for it := e.Key(); it.Next(); {
			if line == 0 {
				line = lineCount.line(int(it.Node().Raw.Offset))
			}
			parts = append(parts, string(it.Node().Data))
		}
		key := strings.Join(parts, ".")
		switch e.Kind {
		case unstable.Table:
			prefix = indexedKey(parts, counts)
			lines[prefix] = line
		case unstable.ArrayTable:
			counts[key]++
			prefix = indexedKey(parts, counts)
			lines[prefix] = line
		case unstable.KeyValue:
			if prefix != "" {
				key = prefix + "." + key
			}
			lines[key] = line
		}
	}
	return lines
}

// A lineCounter counts lines up to increasing offsets. Counting from the beginning for each key
// would take minutes for a megabyte of keys.
type lineCounter struct {
	data        []byte
	counted     int // number of bytes whose lines were counted
	currentLine int // line at the offset counted, from 1
}

// line returns the line of an offset, which must not be smaller than in the previous call.
func (c *lineCounter) line(offset int) int {
	c.currentLine += bytes.Count(c.data[c.counted:offset], []byte("\n"))
	c.counted = offset
	return c.currentLine
}

// indexedKey joins the parts of a table's name. A part that is an array of tables is followed by
// its current index: [at.down] after the second [[at]] gives at[1].down. counts holds the number of
// tables of each array so far.
func indexedKey(parts []string, counts map[string]int) string {
	plain, key := "", ""
	for _, part := range parts {
		if plain != "" {
			plain, key = plain+".", key+"."
		}
		plain, key = plain+part, key+part
		if n := counts[plain]; n > 0 {
			key = fmt.Sprintf("%s[%d]", key, n-1)
		}
	}
	return key
}

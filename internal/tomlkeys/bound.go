package tomlkeys

import (
	"bytes"
	"fmt"
)

// Limits of a text, far beyond those that people and programs write. They are checked before
// decoding, because the decoder compares every key of a table with all others of the table, and
// takes memory proportional to the square of the length of a dotted key.
const (
	maxDepth    = 16      // largest number of dots in a key, and of nested brackets
	maxKeys     = 100_000 // largest number of keys in the text
	maxSiblings = 1000    // largest number of keys of one table, and of table names
)

// checkLimits checks the limits in one pass, without decoding. The error is an *Error. Texts that
// are not TOML may pass.
func checkLimits(data []byte) error {
	b := bounds{data: data, line: 1, names: map[string]bool{}}
	for b.offset < len(data) {
		if err := b.checkNext(); err != nil {
			return err
		}
	}
	return nil
}

// bounds is the state of checkLimits.
type bounds struct {
	data    []byte
	offset  int // offset of the next byte
	line    int
	inValue bool // the line has a key or value already, or a bracket is open
	dots    int  // dots since the last byte that cannot be part of a key
	keys    int
	depth   int               // number of open brackets
	table   [maxDepth + 1]int // number of keys so far in the current table, by depth; depth 0 is the table of the last header
	names   map[string]bool   // names of tables so far
}

// checkNext checks and skips the next byte, string, comment or header.
func (b *bounds) checkNext() error {
	c := b.data[b.offset]
	if c == '[' && !b.inValue {
		return b.checkHeader()
	}
	b.offset++
	switch c {
	case '\n':
		b.line++
		b.dots, b.inValue = 0, b.depth > 0 // a value continues on the next line only within brackets
	case ' ', '\t', '\r': // white space does not begin a key or value
	case '#':
		b.skipLine()
	case '"', '\'':
		b.inValue = true
		b.skipString(c)
	default:
		b.inValue = true
		return b.checkByte(c)
	}
	return nil
}

// checkByte updates the counts of dots, keys and open brackets for a byte outside of strings, comments and
// headers. It returns an error if a limit is exceeded.
func (b *bounds) checkByte(c byte) error {
	switch c {
	case '.':
		b.dots++
		if b.dots > maxDepth {
			return b.tooDeep("a key has more than %d levels")
		}
	case ',':
		b.dots = 0
	case '=':
		b.dots = 0
		b.keys++
		b.table[b.depth]++
		switch {
		case b.keys > maxKeys:
			return b.newError(fmt.Sprintf("the text has more than %d keys", maxKeys), fmt.Sprintf("at most %d", maxKeys))
		case b.table[b.depth] > maxSiblings:
			return b.newError(fmt.Sprintf("a table has more than %d keys", maxSiblings), fmt.Sprintf("at most %d", maxSiblings))
		}
	case '[', '{':
		b.dots = 0
		b.depth++
		if b.depth > maxDepth {
			return b.tooDeep("brackets are nested more than %d levels")
		}
		b.table[b.depth] = 0
	case ']', '}':
		b.depth = max(0, b.depth-1)
	}
	return nil
}

// checkHeader checks and skips a line such as [a.b] or [[c]], which begins a table: the dots in the name, and
// the number of different names so far.
func (b *bounds) checkHeader() error {
	rest := b.data[b.offset:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	name := rest
	if end := bytes.IndexByte(rest, ']'); end >= 0 {
		name = rest[:end] // excludes a comment behind the header
	}
	if bytes.Count(name, []byte(".")) > maxDepth {
		return b.tooDeep("the name of a table has more than %d levels")
	}
	b.names[string(name)] = true
	if len(b.names) > maxSiblings {
		return b.newError(fmt.Sprintf("the text has more than %d tables of different names", maxSiblings), fmt.Sprintf("at most %d", maxSiblings))
	}
	b.offset += len(rest)
	b.table[0] = 0
	return nil
}

// tooDeep returns the error for an excess of maxDepth. format describes the problem and has a %d for
// maxDepth.
func (b *bounds) tooDeep(format string) error {
	return b.newError(fmt.Sprintf(format, maxDepth), fmt.Sprintf("at most %d", maxDepth))
}

// newError returns an error for the current line.
func (b *bounds) newError(problem, expected string) error {
	return &Error{Line: b.line, Problem: problem, Expected: expected}
}

// skipLine advances to the end of the line.
func (b *bounds) skipLine() {
	if end := bytes.IndexByte(b.data[b.offset:], '\n'); end >= 0 {
		b.offset += end
		return
	}
	b.offset = len(b.data)
}

// skipString skips the rest of a string that began with quote: to the next quote on the line, or to
// the next three quotes if it began with three.
func (b *bounds) skipString(quote byte) {
	long := bytes.HasPrefix(b.data[b.offset:], []byte{quote, quote})
	if long {
		b.offset += 2
	}
	for ; b.offset < len(b.data); b.offset++ {
		switch c := b.data[b.offset]; {
		case c == '\n' && !long:
			return // the quote does not begin a string; the decoder reports that
		case c == '\n':
			b.line++
		case c == '\\' && quote == '"':
			b.offset++
			if b.offset < len(b.data) && b.data[b.offset] == '\n' {
				b.line++
			}
		case c == quote && (!long || bytes.HasPrefix(b.data[b.offset:], []byte{quote, quote, quote})):
			b.offset++
			if long {
				b.offset += 2
			}
			return
		}
	}
}

package tomlkeys

import (
	"bytes"
	"fmt"
)

// Limits of a text, far beyond what people and programs write. They are checked before the text
// is decoded: the decoder compares every key of a table with all others of the table, and takes
// memory in proportion to the square of the length of a dotted key.
const (
	maxDepth    = 16      // dots in a key, and brackets within brackets
	maxKeys     = 100_000 // in all
	maxSiblings = 1000    // keys of one table, and names of tables
)

// checkLimits compares a text with the limits, in one pass and without decoding it. The error is
// an *Error. Texts that are not TOML may pass.
func checkLimits(data []byte) error {
	b := bounds{data: data, line: 1, names: map[string]bool{}}
	for b.at < len(data) {
		if err := b.step(); err != nil {
			return err
		}
	}
	return nil
}

// bounds is the state of checkLimits.
type bounds struct {
	data  []byte
	at    int // of the next byte
	line  int
	begun bool // the line holds more than spaces already, or a bracket is open
	dots  int  // since the last byte that cannot be part of a key
	keys  int
	depth int               // open brackets
	table [maxDepth + 1]int // keys so far of the table at each depth; 0 is the one under the last header
	names map[string]bool   // of tables
}

func (b *bounds) step() error {
	c := b.data[b.at]
	if c == '[' && !b.begun {
		return b.header()
	}
	b.at++
	switch c {
	case '\n':
		b.line++
		b.dots, b.begun = 0, b.depth > 0
	case ' ', '\t', '\r':
	case '#':
		b.skipLine()
	case '"', '\'':
		b.begun = true
		b.skipString(c)
	default:
		b.begun = true
		return b.count(c)
	}
	return nil
}

// count counts a byte between keys and values.
func (b *bounds) count(c byte) error {
	switch c {
	case '.':
		b.dots++
		if b.dots > maxDepth {
			return b.tooDeep("a key has")
		}
	case ',':
		b.dots = 0
	case '=':
		b.dots = 0
		b.keys++
		b.table[b.depth]++
		switch {
		case b.keys > maxKeys:
			return b.fail(fmt.Sprintf("the text holds more than %d keys", maxKeys), "fewer")
		case b.table[b.depth] > maxSiblings:
			return b.fail(fmt.Sprintf("a table holds more than %d keys", maxSiblings), "fewer")
		}
	case '[', '{':
		b.dots = 0
		b.depth++
		if b.depth > maxDepth {
			return b.tooDeep("brackets are nested")
		}
		b.table[b.depth] = 0
	case ']', '}':
		b.depth = max(0, b.depth-1)
	}
	return nil
}

// header checks a line such as [a.b] or [[c]].
func (b *bounds) header() error {
	rest := b.data[b.at:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	name := rest
	if end := bytes.IndexByte(rest, ']'); end >= 0 {
		name = rest[:end] // and not the comment behind it
	}
	if bytes.Count(name, []byte(".")) > maxDepth {
		return b.tooDeep("the name of a table has")
	}
	b.names[string(name)] = true
	if len(b.names) > maxSiblings {
		return b.fail(fmt.Sprintf("the text holds more than %d tables of different names", maxSiblings), "fewer")
	}
	b.at += len(rest)
	b.table[0] = 0
	return nil
}

func (b *bounds) tooDeep(what string) error {
	return b.fail(fmt.Sprintf("%s more than %d levels", what, maxDepth), fmt.Sprintf("at most %d", maxDepth))
}

func (b *bounds) fail(problem, expected string) error {
	return &Error{Line: b.line, Problem: problem, Expected: expected}
}

func (b *bounds) skipLine() {
	if end := bytes.IndexByte(b.data[b.at:], '\n'); end >= 0 {
		b.at += end
		return
	}
	b.at = len(b.data)
}

// skipString advances past the string that begins with the quote before b.at: to the next such
// quote on the line or, if there are three, to the next three.
func (b *bounds) skipString(quote byte) {
	long := bytes.HasPrefix(b.data[b.at:], []byte{quote, quote})
	if long {
		b.at += 2
	}
	for ; b.at < len(b.data); b.at++ {
		switch c := b.data[b.at]; {
		case c == '\n' && !long:
			return // not a string; the decoder reports it
		case c == '\n':
			b.line++
		case c == '\\' && quote == '"':
			b.at++
			if b.at < len(b.data) && b.data[b.at] == '\n' {
				b.line++
			}
		case c == quote && (!long || bytes.HasPrefix(b.data[b.at:], []byte{quote, quote, quote})):
			b.at++
			if long {
				b.at += 2
			}
			return
		}
	}
}

package tomlkeys

import (
	"bytes"
	"fmt"
)

// Limits of a text, far beyond what anybody writes by hand or has a program write. They
// are checked before the text is decoded: the decoder holds every key of a table against
// all others of it, and takes memory by the square of a dotted key's length.
const (
	MaxDepth    = 16      // dots in a key, and brackets within brackets
	MaxKeys     = 100_000 // in all
	MaxSiblings = 1000    // keys of one table, and names of tables
)

// LimitError says which limit a text exceeds, and where.
type LimitError struct {
	Line              int
	Problem, Expected string
}

// Error puts it in one sentence.
func (e *LimitError) Error() string {
	return fmt.Sprintf("line %d: %s; expected %s", e.Line, e.Problem, e.Expected)
}

// Bound holds a text against the limits, in one pass and without an idea of what it
// means. The error is a *LimitError. What is no TOML it may let pass.
func Bound(data []byte) error {
	b := bounds{data: data, line: 1, names: map[string]bool{}}
	for b.at < len(data) {
		if err := b.step(); err != nil {
			return err
		}
	}
	return nil
}

// bounds is how far a text is looked through.
type bounds struct {
	data  []byte
	at    int // of the next byte
	line  int
	begun bool // something stands on this line already, or a bracket is open
	dots  int  // since the last byte that no key holds
	keys  int
	depth int               // open brackets
	table [MaxDepth + 1]int // keys so far of the table at each depth; 0 is the one under the last header
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

// count counts what stands between keys and values.
func (b *bounds) count(c byte) error {
	switch c {
	case '.':
		if b.dots++; b.dots > MaxDepth {
			return b.tooDeep("a key has")
		}
	case ',':
		b.dots = 0
	case '=':
		b.dots = 0
		b.keys++
		b.table[b.depth]++
		switch {
		case b.keys > MaxKeys:
			return b.fail(fmt.Sprintf("the text holds more than %d keys", MaxKeys), "fewer")
		case b.table[b.depth] > MaxSiblings:
			return b.fail(fmt.Sprintf("a table holds more than %d keys", MaxSiblings), "fewer")
		}
	case '[', '{':
		b.dots = 0
		if b.depth++; b.depth > MaxDepth {
			return b.tooDeep("brackets are nested")
		}
		b.table[b.depth] = 0
	case ']', '}':
		b.depth = max(0, b.depth-1)
	}
	return nil
}

// header looks at a line such as [a.b] or [[c]].
func (b *bounds) header() error {
	rest := b.data[b.at:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	name := rest
	if end := bytes.IndexByte(rest, ']'); end >= 0 {
		name = rest[:end] // and not the comment behind it
	}
	if bytes.Count(name, []byte(".")) > MaxDepth {
		return b.tooDeep("the name of a table has")
	}
	if b.names[string(name)] = true; len(b.names) > MaxSiblings {
		return b.fail(fmt.Sprintf("the text holds more than %d tables of different names", MaxSiblings), "fewer")
	}
	b.at += len(rest)
	b.table[0] = 0
	return nil
}

func (b *bounds) tooDeep(what string) error {
	return b.fail(fmt.Sprintf("%s more than %d levels", what, MaxDepth), fmt.Sprintf("at most %d", MaxDepth))
}

func (b *bounds) fail(problem, expected string) error {
	return &LimitError{Line: b.line, Problem: problem, Expected: expected}
}

func (b *bounds) skipLine() {
	if end := bytes.IndexByte(b.data[b.at:], '\n'); end >= 0 {
		b.at += end
		return
	}
	b.at = len(b.data)
}

// skipString goes behind a string that begins with the quote before b.at: to the next
// such quote on the line or, if there are three, to the next three.
func (b *bounds) skipString(quote byte) {
	long := bytes.HasPrefix(b.data[b.at:], []byte{quote, quote})
	if long {
		b.at += 2
	}
	for ; b.at < len(b.data); b.at++ {
		switch c := b.data[b.at]; {
		case c == '\n' && !long:
			return // no string at all, as the decoder will say
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

// Package tomlkeys tells where the keys of a TOML text stand, so that whoever refuses
// a value can name its line.
package tomlkeys

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Lines walks the text once more for what decoding forgets: the order of the
// keys and the line each stands on. The text has been decoded already, so it is
// well-formed.
func Lines(data []byte) (keys []string, lines map[string]int) {
	lines = map[string]int{}
	counts := map[string]int{}
	at := counter{data: data, now: 1}
	var p unstable.Parser
	p.Reset(data)
	prefix := ""
	for p.NextExpression() {
		e := p.Expression()
		var parts []string
		line := 0
		for it := e.Key(); it.Next(); {
			if line == 0 {
				line = at.line(int(it.Node().Raw.Offset))
			}
			parts = append(parts, string(it.Node().Data))
		}
		key := strings.Join(parts, ".")
		switch e.Kind {
		case unstable.Table:
			prefix = placed(parts, counts)
			lines[prefix] = line
		case unstable.ArrayTable:
			counts[key]++
			prefix = placed(parts, counts)
			lines[prefix] = line
		case unstable.KeyValue:
			if prefix != "" {
				key = prefix + "." + key
			}
			keys = append(keys, key)
			lines[key] = line
		}
	}
	return keys, lines
}

// counter counts lines as far as it was asked, once: to count them from the top for
// each key takes minutes for a megabyte of keys.
type counter struct {
	data    []byte
	counted int // bytes
	now     int // the line there, from 1
}

// line returns the line of an offset no smaller than the one before.
func (c *counter) line(offset int) int {
	c.now += bytes.Count(c.data[c.counted:offset], []byte("\n"))
	c.counted = offset
	return c.now
}

// placed joins the parts of a table's name, with the present index behind each
// that is an array of tables: [at.down] after the second [[at]] is at[1].down.
func placed(parts []string, counts map[string]int) string {
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

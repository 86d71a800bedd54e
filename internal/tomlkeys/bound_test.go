package tomlkeys

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Texts that would take a decoder minutes or gigabytes are refused before they are decoded.
func TestBound(t *testing.T) {
	many := func(n int, line string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, strings.ReplaceAll(line, "#", "%[1]d")+"\n", i)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text, problem string
		line          int
	}{
		"keys of a table":        {many(100_000, "k#=1"), "more than 1000 keys", 1001},
		"keys of an inline one":  {"\na = {" + strings.Repeat("b=1,", 1001) + "c=1}", "more than 1000 keys", 2},
		"keys in all":            {many(50_001, "[[a]]\nb=#\nc=2"), "more than 100000 keys", 150_002},
		"names of tables":        {many(2000, "[t#]"), "more than 1000 tables", 1001},
		"a dotted key":           {"x = 1\n" + strings.Repeat("a.", 200_000) + "a = 1", "a key has more than 16 levels", 2},
		"a dotted name":          {"[" + strings.Repeat("a.", 200_000) + "a]", "name of a table has more than 16", 1},
		"arrays":                 {"a = " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000), "nested more than 16", 1},
		"tables":                 {"a = " + strings.Repeat("{a=", 9000) + "1" + strings.Repeat("}", 9000), "nested more than 16", 1},
		"a dotted key in quotes": {"a = '''\n'''\n" + strings.Repeat("'a'.", 200) + "a = 1", "a key has more than 16 levels", 3},
	} {
		var much *Error
		if err := checkLimits([]byte(c.text)); !errors.As(err, &much) || !strings.Contains(err.Error(), c.problem) || much.Line != c.line {
			t.Errorf("%s: %v, want line %d: %q", name, err, c.line, c.problem)
		}
	}
	for name, text := range map[string]string{
		"a long script": many(10_000, "[[at]] # no. #.\nt = \"#ms\"\n[at.down] # a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r\nloss = \"5%%\""),
		"one of tables": "at = [\n" + many(10_000, "{ t = \"#ms\", loss = \"5%%\" },") + "]",
		"a long list":   "[[sweep]]\nvalues = [" + strings.Repeat("0.5, ", 50_000) + "]",
		"dots in strings": "a = \"" + strings.Repeat("=.[{", 5000) + "\\\"" + strings.Repeat(".", 99) + "\" # " + strings.Repeat(".", 99) +
			"\nb = '''\n" + strings.Repeat("[=.\n", 5000) + "'''",
		"nothing":     "",
		"open string": "a = \"\\",
	} {
		if err := checkLimits([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

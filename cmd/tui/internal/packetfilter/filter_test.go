package packetfilter

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

const ms = time.Millisecond

// examples are packets with every property that filters compare.
var examples = []packetlog.Record{
	{Seq: 1, Payload: 900, Wire: 940, Outcome: packetlog.Lost, Cause: lossmodel.Queue, Sent: 16 * ms, Encoder: "rotor", Changed: 7},
	{Seq: 2, Payload: 900, Wire: 940, Outcome: packetlog.Decoded, Baseline: 7, Sent: 42300 * ms, Arrived: 42352 * ms, Late: 2 * ms, Encoder: "kinetic"},
	{Seq: 3, Payload: 300, Wire: 340, Outcome: packetlog.Stale, Baseline: 6, Sent: 50 * ms, Arrived: 130 * ms, Epoch: 2, EncodeNS: 41_000},
	{Seq: 4, Payload: 0, Wire: 36, Outcome: packetlog.NoBaseline, Baseline: 1, Sent: 70 * ms, Arrived: 90 * ms, Copy: 1},
	{Seq: 5, Payload: 801, Outcome: packetlog.InFlight, Baseline: 30, Sent: 80 * ms},
}

// matching returns the sequence numbers of the examples that the filter selects.
func matching(f Filter, e *Env) string {
	var list []string
	for i := range examples {
		if f.Matches(e, &examples[i]) {
			list = append(list, strconv.FormatUint(examples[i].Seq, 10))
		}
	}
	return strings.Join(list, " ")
}

// TestFilters checks which packets each kind of filter selects, at 60 packets per second.
func TestFilters(t *testing.T) {
	rows := func(seq uint64, row int) (carries, known bool) { return row == int(seq) || row == 417, true }
	for _, c := range []struct{ text, want string }{
		{"", "1 2 3 4 5"}, {"all", "1 2 3 4 5"}, {"trouble", "1 2 3 4"}, {"late", "2"}, {"lost", "1"}, {"LOST", "1"}, {"no-baseline", "4"},
		{"bytes > 800 && lost", "1"}, {"bytes>800 and not lost", "2 5"}, {"bytes == 900 || stale", "1 2 3"},
		{"lost || stale && bytes > 800", "1"}, {"(lost || stale) && bytes > 100", "1 3"}, {"!lost && !ok", "3 4 5"}, {"!(lost or ok)", "3 4 5"},
		{"age > 100ms", "2 5"}, {"age >= 100 ms", "2 3 5"}, {"age > 0.1s", "2 5"}, {"age > 100", "2 5"}, // 7, 6 and 30 packets at 60 Hz
		{"took > 52ms", "3"}, {"took <= 52", "2 4"}, {"took != 0", "2 3 4"}, // a lost packet has no delay
		{"sent > 00:42", "2"}, {"sent < 60ms", "1 3"}, {"sent >= 42.3s", "2"},
		{"encoder == ROTOR", "1"}, {"encoder != rotor", "2 3 4 5"}, {"outcome != ok", "1 3 4 5"}, {"outcome = no-baseline", "4"},
		{"cause == queue", "1"}, {"cause != queue", ""}, {"packet = 3", "3"}, {"copy > 0", "4"}, {"epoch == 2", "3"},
		{"baseline == 0", "1"}, {"changed > 5", "1"}, {"wire < 100", "4 5"}, {"encode > 40us", "3"},
		{"row == 3", "3"}, {"row == 417 && lost", "1"}, {"row != 417", ""},
	} {
		f, err := Parse(c.text)
		if got := matching(f, &Env{RateHz: 60, Carries: rows}); err != nil || got != c.want {
			t.Errorf("%q selects %q, want %q; error %v", c.text, got, c.want, err)
		}
		if usesRows := strings.Contains(c.text, "row "); f.NeedsRows() != usesRows {
			t.Errorf("%q needs rows: %v", c.text, f.NeedsRows())
		} else if usesRows && matching(f, &Env{}) != "" {
			t.Errorf("%q selects packets although the rows are unknown", c.text)
		}
	}
}

// TestErrors checks that errors state what is expected.
func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"byte > 3":                        "did you mean bytes?",
		"los":                             "did you mean lost?",
		"bytes":                           "expected a comparison after bytes, such as bytes > 5",
		"bytes >":                         `such as bytes > 5, not "bytes > "`,
		"bytes > many":                    `not "bytes > many"`,
		"age > 3 bytes":                   `expected && or || before "bytes"`,
		"age > 3kg":                       "such as age > 100ms",
		"outcome == loss":                 "such as outcome ==",
		"encoder > rotor":                 "such as encoder == rotor",
		"row == 1.5":                      "such as row == 417",
		"lost &&":                         "expected a condition at the end",
		"(lost":                           "closing parenthesis",
		"lost)":                           `before ")"`,
		"lost stale":                      `before "stale"`,
		"lost & stale":                    `before "&"`,
		"&& lost":                         `unknown filter "&&"; expected all, trouble, an outcome such as lost`,
		strings.Repeat("!", 401) + "lost": "at most 400 characters",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// evaluate evaluates an expression of Go over integer fields and conditions: the reference for FuzzPrecedence.
func evaluate(t *testing.T, x ast.Expr, r *packetlog.Record) (number int, truth bool) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return evaluate(t, x.X, r)
	case *ast.UnaryExpr:
		_, v := evaluate(t, x.X, r)
		return 0, !v
	case *ast.BasicLit:
		n, err := strconv.Atoi(x.Value)
		if err != nil {
			t.Fatal(err)
		}
		return n, false
	case *ast.Ident:
		return map[string]int{"bytes": r.Payload, "changed": r.Changed, "baseline": r.Baseline}[x.Name],
			x.Name == "lost" && r.Outcome == packetlog.Lost || x.Name == "ok" && r.Outcome == packetlog.Decoded
	}
	b := x.(*ast.BinaryExpr)
	n1, v1 := evaluate(t, b.X, r)
	n2, v2 := evaluate(t, b.Y, r)
	return 0, map[token.Token]bool{token.LAND: v1 && v2, token.LOR: v1 || v2, token.EQL: n1 == n2, token.NEQ: n1 != n2,
		token.LSS: n1 < n2, token.LEQ: n1 <= n2, token.GTR: n1 > n2, token.GEQ: n1 >= n2}[b.Op]
}

// randomFilter returns a filter that is also an expression of Go.
func randomFilter(rng *rand.Rand, depth int) string {
	if depth == 0 {
		switch rng.IntN(4) {
		case 0:
			return []string{"lost", "ok"}[rng.IntN(2)]
		default:
			return []string{"bytes", "changed", "baseline"}[rng.IntN(3)] + []string{"==", " != ", "<", " <= ", ">", " >= "}[rng.IntN(6)] +
				[]string{"0", "7", "300", "900"}[rng.IntN(4)]
		}
	}
	left, right := randomFilter(rng, depth-1), randomFilter(rng, rng.IntN(depth))
	return []string{left + "&&" + right, left + " || " + right, "!(" + left + ")", "(" + left + ")"}[rng.IntN(4)]
}

// FuzzPrecedence compares random filters with the evaluation of the same text by Go's own parser.
func FuzzPrecedence(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		text := randomFilter(rand.New(rand.NewPCG(seed, 0)), 3)
		filter, err := Parse(text)
		x, goErr := goparser.ParseExpr(text)
		if err != nil || goErr != nil {
			t.Fatal(text, err, goErr)
		}
		for i := range examples {
			if _, want := evaluate(t, x, &examples[i]); filter.Matches(&Env{}, &examples[i]) != want {
				t.Errorf("%s: packet %d: want %v", text, examples[i].Seq, want)
			}
		}
	})
}

// FuzzParse checks that any text gives an error or a filter that can be applied, and whose own text is the
// same filter.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"bytes > 800 && lost", "row == 417", "age > 100ms", "!(a||b)", "took<=1e9s", "sent > 1:2.5", "((((", "encoder==\xff", "= = ="} {
		f.Add(s)
	}
	rows := func(seq uint64, row int) (carries, known bool) { return row == int(seq) || row == 417, true }
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := Parse(text)
		if err != nil {
			if err.Error() == "" || !filter.SelectsAll() {
				t.Errorf("%q: %v, %v", text, filter, err)
			}
			return
		}
		again, err := Parse(filter.String())
		e := &Env{RateHz: 60, Carries: rows}
		if err != nil || matching(again, e) != matching(filter, e) || again.String() != filter.String() {
			t.Errorf("%q: parsed again as %q: %v", text, again, err)
		}
	})
}

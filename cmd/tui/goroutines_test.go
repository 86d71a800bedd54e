package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unguarded lists the functions whose goroutines need not recover, with the reason.
var unguarded = map[string]string{
	"cmd/tui/app.go main":                  "before any dashboard; only context.AfterFunc and a stop function",
	"cmd/tui/flags.go start":               "cancels a context",
	"cmd/tui/listen.go serve":              "tui listen has no dashboard",
	"dataset/source/open.go openPipe":      "sets a deadline",
	"encoders/train/mdn/mdn.go newPool":    "tui train has no dashboard",
	"experiment/remote/conn.go start":      "closes a socket and forgets a session",
	"experiment/remote/dial.go connect":    "sets a deadline",
	"experiment/remote/listen.go Listen":   "closes sockets",
	"experiment/sweep/sweep.go runMissing": "cancels a context",
	"experiment/sweep/queue.go claim":      "compares two texts",
	"experiment/replay.go readReport":      "tui replay has no dashboard",
	"experiment/runlive.go newLiveWriter":  "a headless session",
	"experiment/live/runner.go Start":      "loop recovers",
	"internal/panics/each.go Each":         "calls Call",
}

// TestGoroutinesRecover checks that every goroutine goes through internal/panics: a panic that
// nothing recovers leaves the terminal of a dashboard raw.
func TestGoroutinesRecover(t *testing.T) {
	found := 0
	used := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash("../../")))
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, text, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if !startsGoroutine(n) {
					return true
				}
				found++
				key := name + " " + f.Name.Name
				from, to := files.Position(n.Pos()), files.Position(n.End())
				switch {
				case bytes.Contains(text[from.Offset:to.Offset], []byte("panics.")):
				case unguarded[key] != "":
					used[key] = true
				default:
					t.Errorf("%s:%d: a goroutine of %s without panics.Guard or panics.Call", name, from.Line, f.Name.Name)
				}
				return false
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 30 {
		t.Errorf("only %d goroutines found", found)
	}
	for key := range unguarded {
		if !used[key] {
			t.Errorf("%s starts no goroutine without a guard; expected it off the list", key)
		}
	}
}

// startsGoroutine reports whether n is a go statement, or a call that runs a function in a
// goroutine of its own.
func startsGoroutine(n ast.Node) bool {
	if _, ok := n.(*ast.GoStmt); ok {
		return true
	}
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Go", "AfterFunc", "AddCleanup", "Subscribe", "Consume"}, selector.Sel.Name)
}

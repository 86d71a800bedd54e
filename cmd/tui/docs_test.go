package main

import (
	"bytes"
	"go/format"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/controls"
	"wirelab/encoders/table"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/lossmodel"

	"github.com/spf13/cobra"
)

// READMEs are in the folders of the code that they describe.
const root = "../.."

// maxReadmeLines is the largest length of the README of the project.
const maxReadmeLines = 250

// readmes returns the READMEs of the project, by their paths relative to its root.
func readmes(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if d.Name() == "README.md" {
			text, err := os.ReadFile(path)
			name, _ := filepath.Rel(root, path)
			all[filepath.ToSlash(name)] = string(text)
			return err
		}
		return nil
	})
	if err != nil || len(all) < 15 {
		t.Fatalf("%d READMEs, %v", len(all), err)
	}
	return all
}

// readme returns a README by its path.
func readme(t *testing.T, name string) string {
	t.Helper()
	text := readmes(t)[name]
	if text == "" {
		t.Fatalf("there is no %s", name)
	}
	return text
}

// blocks returns the fenced blocks of a README in a language.
func blocks(t *testing.T, name, language string) []string {
	t.Helper()
	var list []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(readme(t, name), -1) {
		list = append(list, m[1])
	}
	if len(list) == 0 {
		t.Fatalf("%s has no %s block", name, language)
	}
	return list
}

// TestReadmeIsShort checks that the README of the project is short enough to be read to its end.
func TestReadmeIsShort(t *testing.T) {
	if n := strings.Count(readme(t, "README.md"), "\n"); n > maxReadmeLines {
		t.Errorf("README.md has %d lines, expected at most %d; text about a single package belongs in its folder", n, maxReadmeLines)
	}
}

// TestReadmeConfig checks that the configuration in experiment/README.md is valid.
func TestReadmeConfig(t *testing.T) {
	for _, text := range blocks(t, "experiment/README.md", "toml") {
		if _, err := config.Parse("README.md", []byte(text)); err != nil {
			t.Error(err)
		}
	}
}

// TestReadmeGo checks that the Go file in encoders/README.md is formatted. A test of
// encoders/generic checks that it works.
func TestReadmeGo(t *testing.T) {
	for _, text := range blocks(t, "encoders/README.md", "go") {
		if !strings.HasPrefix(text, "package ") {
			continue // a single line, not a file
		}
		if formatted, err := format.Source([]byte(text)); err != nil || !bytes.Equal(formatted, []byte(text)) {
			t.Errorf("%v\n%s", err, formatted)
		}
	}
}

// TestExamples checks that the calls of tui in READMEs and help texts use existing commands,
// flags, encoders and presets.
func TestExamples(t *testing.T) {
	var lines []string
	call := regexp.MustCompile("`(tui [^`]*)`|(?m)^(?:\\$ | {4})?(tui .*)$")
	for _, text := range readmes(t) {
		for _, m := range call.FindAllStringSubmatch(text, -1) {
			lines = append(lines, strings.Join(strings.Fields(m[1]), " ")+m[2])
		}
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, l := range strings.Split(c.Example, "\n") {
			if l = strings.TrimSpace(l); l != "" {
				lines = append(lines, l)
			}
		}
		if c.Runnable() && !c.Hidden && c.Name() != "completion" && !c.HasExample() && c.Parent().Name() != "completion" &&
			c.Name() != "help" {
			t.Errorf("%s has no example", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(testApp().root())
	if len(lines) < 80 {
		t.Errorf("only %d examples found", len(lines))
	}
	for _, l := range lines {
		checkExample(t, l)
	}
}

// checkExample parses a call without executing it.
func checkExample(t *testing.T, line string) {
	t.Helper()
	call, _, _ := strings.Cut(line, " | ")
	call, _, _ = strings.Cut(call, " > ")
	call, _, _ = strings.Cut(call, "  ") // two spaces start a comment
	call, _, _ = strings.Cut(call, " #")
	quoted := false
	args := strings.FieldsFunc(strings.TrimRight(call, ")"), func(r rune) bool { // split as a shell does
		if r == '"' {
			quoted = !quoted
		}
		return r == '"' || r == ' ' && !quoted
	})
	if args[0] != "tui" {
		t.Errorf("%q is no call of tui", line)
		return
	}
	if len(args) > 1 && args[1] == "completion" {
		return // added by the flag library at execution
	}
	root := testApp().root()
	root.InitDefaultVersionFlag() // otherwise added at execution
	cmd, rest, err := root.Find(args[1:])
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil && len(rest) > 0 { // a command without arguments may be part of a sentence
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	isPattern := strings.Contains(line, "NAME") || strings.Contains(line, "DIR") || strings.Contains(line, "FILE")
	if err != nil && !isPattern {
		t.Errorf("%q: %v", line, err)
	}
	if f := cmd.Flags().Lookup("preset"); f != nil && f.Changed && f.Value.String() != "NAME" {
		if _, err := experiment.LoadPreset(f.Value.String()); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	if f := cmd.Flags().Lookup("encoder"); f != nil && f.Changed && f.Value.Type() == "string" &&
		!strings.Contains(line, "--plugin ") { // loads further encoders
		if _, err := table.ByName(f.Value.String()); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// testApp returns an app that discards its output.
func testApp() *app {
	return &app{stdin: strings.NewReader(""), stdout: newOutput(io.Discard), stderr: io.Discard, clock: metronome(),
		isTerminal: func(any) bool { return false }}
}

// TestReadmeTyped checks that the dashboard accepts the typed commands in the READMEs.
func TestReadmeTyped(t *testing.T) {
	count, cat := 0, controls.NewCatalog(table.All(), lossmodel.Profiles(), lossmodel.Keys())
	here := command.Context{Catalog: cat, Config: config.Default(), Screen: command.Lab}
	proxy := command.Context{Catalog: controls.NewCatalog(nil, lossmodel.Profiles(), lossmodel.Keys()), Config: config.Default(), Screen: command.Proxy}
	for name, text := range readmes(t) {
		for _, m := range regexp.MustCompile("`/([a-z][^`]*)`").FindAllStringSubmatch(text, -1) {
			count++
			line := strings.Join(strings.Fields(m[1]), " ")
			expanded, _ := command.Expand(here, line)
			_, err := command.Parse(here, expanded)
			if _, other := command.Parse(proxy, line); err != nil && other != nil { // accepted neither by the dashboard of the lab nor by that of a proxy
				t.Errorf("%s: /%s: %v", name, m[1], err)
			}
		}
	}
	if count < 6 {
		t.Errorf("only %d typed commands found", count)
	}
}

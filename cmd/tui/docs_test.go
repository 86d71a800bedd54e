package main

import (
	"bytes"
	"go/format"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"wirelab/encoders/table"
	"wirelab/experiment"
	"wirelab/experiment/config"

	"github.com/spf13/cobra"
)

// blocks returns the fenced blocks of README.md in a language.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(readme, -1) {
		list = append(list, string(m[1]))
	}
	if len(list) == 0 {
		t.Fatalf("README.md has no %s block", language)
	}
	return list
}

// TestReadmeConfig: the configuration that README.md shows is one.
func TestReadmeConfig(t *testing.T) {
	for _, text := range blocks(t, "toml") {
		if _, err := config.Parse("README.md", []byte(text)); err != nil {
			t.Error(err)
		}
	}
}

// TestReadmeGo: the encoder that README.md shows is Go as gofmt writes it.
func TestReadmeGo(t *testing.T) {
	for _, text := range blocks(t, "go") {
		if formatted, err := format.Source([]byte(text)); err != nil || !bytes.Equal(formatted, []byte(text)) {
			t.Errorf("%v\n%s", err, formatted)
		}
	}
}

// TestExamples: every call of tui in README.md and in the help texts names
// commands, flags, encoders and presets that there are.
func TestExamples(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range regexp.MustCompile("`(tui [^`]*)`|(?m)^\\$? ?(tui .*)$").FindAllStringSubmatch(string(readme), -1) {
		lines = append(lines, m[1]+m[2])
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
	if len(lines) < 40 {
		t.Errorf("only %d examples found", len(lines))
	}
	for _, l := range lines {
		checkExample(t, l)
	}
}

// checkExample parses a call without making it.
func checkExample(t *testing.T, line string) {
	t.Helper()
	call, _, _ := strings.Cut(line, " | ")
	call, _, _ = strings.Cut(call, " > ")
	call, _, _ = strings.Cut(call, "  ") // two spaces begin a remark
	call, _, _ = strings.Cut(call, " #")
	args := strings.Fields(strings.TrimRight(call, ")"))
	if args[0] != "tui" {
		t.Errorf("%q is no call of tui", line)
		return
	}
	if len(args) > 1 && args[1] == "completion" {
		return // the flag library adds it when it runs
	}
	cmd, rest, err := testApp().root().Find(args[1:])
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil && len(rest) > 0 { // a command alone may just be spoken of
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil && !strings.Contains(line, "NAME") && !strings.Contains(line, "DIR") {
		t.Errorf("%q: %v", line, err)
	}
	if f := cmd.Flags().Lookup("preset"); f != nil && f.Changed && f.Value.String() != "NAME" {
		if _, err := experiment.LoadPreset(f.Value.String()); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
	if f := cmd.Flags().Lookup("encoder"); f != nil && f.Changed && f.Value.Type() == "string" {
		if _, err := table.ByName(f.Value.String()); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// testApp is a program whose output nobody sees.
func testApp() *app {
	return &app{stdin: strings.NewReader(""), stdout: newOutput(io.Discard), stderr: io.Discard, clock: metronome(),
		isTerminal: func(any) bool { return false }}
}

package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/controls"
	"wirelab/dataset"
	"wirelab/encoders/table"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"

	"github.com/spf13/cobra"
)

// rowsOf returns the rows of the table under a heading that start with a word in backquotes:
// their other cells, by that word.
func rowsOf(t *testing.T, name, heading string) map[string][]string {
	t.Helper()
	_, text, found := strings.Cut(readme(t, name), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no %q", name, heading)
	}
	if end := strings.Index(text, "\n#"); end >= 0 {
		text = text[:end]
	}
	rows := map[string][]string{}
	for _, line := range regexp.MustCompile("(?m)^\\| `.*$").FindAllString(text, -1) {
		var cells []string
		for _, c := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(c))
		}
		for _, m := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(cells[0], -1) {
			rows[m[1]] = cells[1:]
		}
	}
	return rows
}

// TestReadmeCommands checks that README.md lists exactly the existing commands.
func TestReadmeCommands(t *testing.T) {
	rows, known := rowsOf(t, "README.md", "## Commands"), map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		known[c.CommandPath()] = true
		if _, listed := rows[c.CommandPath()]; !c.HasSubCommands() && !c.Hidden && c.Name() != "help" && !listed {
			t.Errorf("README.md does not list %s", c.CommandPath())
		}
		if c.Name() == "completion" {
			return
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(testApp().root())
	for name := range rows {
		if !known[name] {
			t.Errorf("README.md lists %s, which does not exist", name)
		}
	}
}

// TestReadmeKeys checks that experiment/README.md lists all configuration keys with their
// defaults, and marks those that can change during a run.
func TestReadmeKeys(t *testing.T) {
	rows := rowsOf(t, "experiment/README.md", "### Keys")
	for _, s := range config.Rows() {
		live := ""
		switch {
		case s.Restarts:
			live = "begins anew"
		case s.Short != "":
			live = "yes"
		}
		row, want := rows[s.Key], s.Text(config.Default())
		switch {
		case row == nil:
			t.Errorf("experiment/README.md does not list %s", s.Key)
		case row[0] != want || row[1] != live:
			t.Errorf("experiment/README.md: %s is %s, live %q; want %s, %q", s.Key, row[0], row[1], want, live)
		}
		delete(rows, s.Key)
	}
	others := []string{"encoder.name", "encoder.params.NAME", "profile", "down.KEY", "up.KEY"}
	for _, key := range others {
		if rows[key] == nil {
			t.Errorf("experiment/README.md does not list %s", key)
		}
		delete(rows, key)
	}
	for key := range rows {
		t.Errorf("experiment/README.md lists %s, which there is not", key)
	}
}

// TestReadmeFigures checks that experiment/README.md names only existing figures, and exactly the
// existing outcomes and presets.
func TestReadmeFigures(t *testing.T) {
	figures := rowsOf(t, "experiment/README.md", "### Figures")
	for name := range figures {
		if err := config.Default().Set("assert."+name, "== 0"); err != nil && !strings.Contains(err.Error(), "lag of the playout clock") {
			t.Error(err)
		}
	}
	if len(figures) < 15 {
		t.Errorf("only %d figures", len(figures))
	}
	var outcomes, presets []string
	for o := range packetlog.NumOutcomes {
		outcomes = append(outcomes, o.String())
	}
	for _, p := range experiment.Presets() {
		presets = append(presets, p.Name)
	}
	for heading, want := range map[string][]string{"### Outcomes": outcomes, "## Running one": presets} {
		got := slices.Sorted(maps.Keys(rowsOf(t, "experiment/README.md", heading)))
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("experiment/README.md, %s: %v, expected %v", heading, got, want)
		}
	}
}

// TestReadmeEncoders checks that encoders/README.md lists exactly the existing encoders.
func TestReadmeEncoders(t *testing.T) {
	var want []string
	for _, c := range table.All() {
		want = append(want, fmt.Sprintf("%d %s", c.ID, c.Name))
	}
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| (\\d+) \\| `([^`]*)`").FindAllStringSubmatch(readme(t, "encoders/README.md"), -1) {
		got = append(got, m[1]+" "+m[2])
	}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("encoders/README.md lists %v, expected %v", got, want)
	}
}

// TestReadmeSources checks that dataset/README.md lists exactly the existing sources.
func TestReadmeSources(t *testing.T) {
	rows := rowsOf(t, "dataset/README.md", "## Sources")
	for _, k := range dataset.Kinds() {
		if rows[k.Spec] == nil {
			t.Errorf("dataset/README.md does not list %s", k.Spec)
		}
	}
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

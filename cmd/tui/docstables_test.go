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
	"wirelab/internal/testkit"
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

// scalars returns the values of a configuration as text by key, without lists, links and the
// encoder.
func scalars(c *config.Config) map[string]string {
	out := map[string]string{}
	var add func(prefix string, v any)
	add = func(prefix string, v any) {
		if table, ok := v.(map[string]any); ok {
			for k, sub := range table {
				add(strings.TrimPrefix(prefix+"."+k, "."), sub)
			}
			return
		}
		out[prefix] = fmt.Sprint(v)
	}
	for k, v := range c.Values() {
		if k != "down" && k != "up" && k != "encoder" {
			add(k, v)
		}
	}
	return out
}

// TestReadmeKeys checks that experiment/README.md lists all configuration keys with their
// defaults, and marks those that can change during a run.
func TestReadmeKeys(t *testing.T) {
	rows := rowsOf(t, "experiment/README.md", "### Keys")
	usual, all := scalars(config.Default()), config.Default()
	testkit.Set(t, all, []any{"duration", "1s", "budget", 1, "data.source", "files", "data.again", true,
		"receiver.playout_compare", "all", "sender.control", "fixed", "sender.redundancy", "xor",
		"messages.rate_hz", 20, "traffic", "1 cubic", "sender.budget", "64kbit", "sender.budget_burst", 2,
		"sender.priority", "fiedler", "interest.radius", 4, "crowd.clients", 2, "crowd.profiles", "lte 100%", "crowd.uplink_rate", "1gbit",
		"crowd.budget", "10mbit", "crowd.player_rows", 2}...)
	live := map[string]string{}
	for _, s := range config.LiveSettings() {
		live[s.Key] = map[bool]string{false: "yes", true: "begins anew"}[s.Restarts]
		usual[s.Key] = fmt.Sprint(s.Get(config.Default()))
	}
	policy := config.Default()
	if err := policy.Set("receiver.playout", "mirror"); err != nil { // replaces receiver.playout_delay
		t.Fatal(err)
	}
	keys := scalars(all)
	maps.Copy(keys, scalars(policy))
	live["receiver.playout"] = live["receiver.playout_delay"]
	for key := range keys {
		row := rows[key]
		switch {
		case row == nil:
			t.Errorf("experiment/README.md does not list %s", key)
		case usual[key] != "" && row[0] != usual[key]:
			t.Errorf("experiment/README.md: %s is %s, not %s", key, usual[key], row[0])
		case row[1] != live[key]:
			t.Errorf("experiment/README.md: live of %s is %q, not %q", key, live[key], row[1])
		}
		delete(rows, key)
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

package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirelab/dataset"
	"wirelab/encoders/table"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/golden"

	"github.com/spf13/cobra"
)

// A docTable is a table in a README that names what the program has. The beginnings of its rows are generated; the cells
// after these are written by hand.
type docTable struct {
	file, heading string
	rows          map[string]string // by name: the beginning of the row, or "" if only the name is in the row
	known         func(name string) bool
}

// docTables returns the tables of the READMEs.
func docTables() []docTable {
	commands, keys, sources, codecs := map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}
	for _, c := range leafCommands(testApp().root()) {
		commands[c.CommandPath()] = ""
	}
	for _, s := range config.Rows() {
		live := ""
		switch {
		case s.Restarts:
			live = "begins anew "
		case s.Short != "":
			live = "yes "
		}
		keys[s.Key] = fmt.Sprintf("| `%s` | %s | %s|", s.Key, s.Text(config.Default()), live)
	}
	for _, key := range []string{"encoder.name", "encoder.params.NAME", "profile", "down.KEY", "up.KEY"} {
		keys[key] = ""
	}
	outcomes, presets := map[string]string{}, map[string]string{}
	for o := range packetlog.NumOutcomes {
		outcomes[o.String()] = ""
	}
	for _, p := range experiment.Presets() {
		presets[p.Name] = fmt.Sprintf("| `%s` | %s |", p.Name, p.Summary)
	}
	for _, k := range dataset.Kinds() {
		sources[k.Spec] = ""
	}
	for _, c := range table.All() {
		codecs[c.Name] = fmt.Sprintf("| %d | `%s` |", c.ID, c.Name)
	}
	isFigure := func(name string) bool {
		err := config.Default().Set("assert."+name, "== 0")
		return err == nil || strings.Contains(err.Error(), "lag of the playout clock")
	}
	isCommand := func(name string) bool {
		c, _, err := testApp().root().Find(strings.Fields(name)[1:])
		return err == nil && c.CommandPath() == name
	}
	return []docTable{
		{"README.md", "| command | purpose | example |", commands, isCommand},
		{"experiment/README.md", "| key | default | live | what it sets |", keys, nil},
		{"experiment/README.md", "| key of `totals` | meaning |", nil, isFigure},
		{"experiment/README.md", "| outcome | meaning |", outcomes, nil},
		{"experiment/README.md", "| preset | what it shows |", presets, nil},
		{"encoders/README.md", "| id | name | data | idea |", codecs, nil},
		{"dataset/README.md", "| spec | source |", sources, nil},
	}
}

// leafCommands returns the commands below c that a user calls and that have no subcommands.
func leafCommands(c *cobra.Command) (list []*cobra.Command) {
	for _, sub := range c.Commands() {
		switch {
		case sub.Hidden || sub.Name() == "help" || sub.Name() == "completion":
		case sub.HasSubCommands():
			list = append(list, leafCommands(sub)...)
		default:
			list = append(list, sub)
		}
	}
	return list
}

// tableNames matches the names in a row, in backquotes.
var tableNames = regexp.MustCompile("`([^`]*)`")

// write returns a README with the rows of the table as they are generated, in the order of the README. Rows of what does
// not exist are left out, and missing rows are added at the end, without the cells that are written by hand.
func (d *docTable) write(text string) string {
	before, rest, _ := strings.Cut(text, d.heading+"\n")
	rule, rest, _ := strings.Cut(rest, "\n")
	end := regexp.MustCompile(`(?m)^[^|]|^\n|\z`).FindStringIndex(rest)[0]
	missing := map[string]bool{}
	for name := range d.rows {
		missing[name] = true
	}
	out := []string{before + d.heading, rule}
	for line := range strings.Lines(rest[:end]) {
		line = strings.TrimSuffix(line, "\n")
		cells := strings.Split(line, "|")
		named := cells[1]
		if _, err := strconv.Atoi(strings.TrimSpace(named)); err == nil { // a number precedes the name
			named = cells[2]
		}
		isKept := !strings.Contains(named, "`") // a row such as "a path"
		for _, m := range tableNames.FindAllStringSubmatch(named, -1) {
			begin, exists := d.rows[m[1]]
			isKept = isKept || exists || d.known != nil && d.known(m[1])
			delete(missing, m[1])
			if begin != "" {
				line = begin + strings.Join(cells[strings.Count(begin, "|"):], "|")
			}
		}
		if isKept {
			out = append(out, line)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		begin := d.rows[name]
		if begin == "" {
			begin = "| `" + name + "` |"
		}
		out = append(out, begin)
	}
	return strings.Join(out, "\n") + "\n" + rest[end:]
}

// TestReadmeTables generates the tables of the READMEs and compares them with those that are there. With -update it writes
// them.
func TestReadmeTables(t *testing.T) {
	for _, d := range docTables() {
		text := readme(t, d.file)
		if !strings.Contains(text, d.heading) {
			t.Fatalf("%s has no table %q", d.file, d.heading)
		}
		written := d.write(text)
		switch {
		case written == text:
		case golden.IsUpdating():
			write(t, filepath.Join(root, d.file), written)
		default:
			isNew := func(line string) bool { return !strings.Contains(text, line+"\n") }
			isGone := func(line string) bool { return !strings.Contains(written, line+"\n") }
			t.Errorf("%s, table %q: it has\n%s\nexpected\n%s\n.ci/figures -update writes it", d.file, d.heading,
				strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return !isGone(l) }), "\n"),
				strings.Join(slices.DeleteFunc(strings.Split(written, "\n"), func(l string) bool { return !isNew(l) }), "\n"))
		}
	}
}

package ui

import (
	"strings"

	"wirelab/cmd/tui/internal/room"
)

// helpKey is a row of the help: keys by what is printed on them, and what they are for.
type helpKey struct {
	label, group, help string
	here               string // what they are for on the page in sight; "": nothing of its own
	brief              string // what the footer calls them, where it names them
}

// helpKeys makes the rows from the key map. A binding without words of its own belongs to
// the row before it. Keys that the page has another use for are left out.
func helpKeys(keys []room.Binding, page room.Page) []helpKey {
	var rows []helpKey
	for _, b := range keys {
		var names []string
		for _, k := range b.Keys() {
			if b.Page != nil || !(owns(page, k) || isViArrow(k) && viTaken(page)) {
				names = append(names, keyName(k))
			}
		}
		label := strings.Join(names, " ")
		if help := b.Help(); help.Key == "" && help.Desc == "" && len(rows) > 0 {
			last := &rows[len(rows)-1]
			last.label = strings.TrimSpace(last.label + " " + label)
			continue
		}
		row := helpKey{label: label, group: b.Group, help: b.Help().Desc, brief: b.Brief}
		if b.Page != nil {
			row.here, row.help = row.help, ""
		} else if e, ok := page.(room.Explainer); ok && len(names) > 0 {
			row.here = e.Means(b.Keys()[0])
		}
		rows = append(rows, row)
	}
	shown := rows[:0]
	for _, r := range rows {
		if r.label != "" {
			shown = append(shown, r)
		}
	}
	return shown
}

// keyName is what is printed on a key.
func keyName(k string) string {
	for _, x := range [][2]string{{"shift+up", "S-↑"}, {"shift+down", "S-↓"}, {"shift+left", "S-←"}, {"shift+right", "S-→"}, {"shift+tab", "S-tab"},
		{"up", "↑"}, {"down", "↓"}, {"left", "←"}, {"right", "→"}, {" ", "space"}, {"pgdown", "pgdn"}, {"delete", "del"}} {
		if k == x[0] {
			return x[1]
		}
	}
	return strings.Replace(k, "ctrl+", "^", 1)
}

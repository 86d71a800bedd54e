package ui

import (
	"strings"

	"wirelab/cmd/tui/internal/room"
)

// helpKey is a row of the help: one or more keys and their description.
type helpKey struct {
	label    string // names of the keys
	group    string // heading of the section
	help     string // description; "" for a key of the open page only
	pageHelp string // description of what the keys do on the open page; "" if they do the same on all pages
}

// helpKeys makes the rows of the help from the key bindings. The keys of a binding without a
// description are added to the row before it. Keys of all pages to which the open page gives
// another meaning are left out, and so are rows without any key.
func helpKeys(keys []room.Binding, page *room.Page) []helpKey {
	var rows []helpKey
	for _, b := range keys {
		var names []string
		for _, k := range b.Keys() {
			givenOtherMeaning := hasBinding(page, k) || isViArrow(k) && usesViArrows(page)
			if b.Page != nil || !givenOtherMeaning {
				names = append(names, room.KeyLabel(k))
			}
		}
		label := strings.Join(names, " ")
		if help := b.Help(); help.Key == "" && help.Desc == "" && len(rows) > 0 {
			last := &rows[len(rows)-1]
			last.label = strings.TrimSpace(last.label + " " + label)
			continue
		}
		row := helpKey{label: label, group: b.Group, help: b.Help().Desc}
		if b.Page != nil { // a key of the open page only
			row.pageHelp, row.help = row.help, ""
		} else if len(names) > 0 {
			row.pageHelp = page.KeyHelp(b.Keys()[0])
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

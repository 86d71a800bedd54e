package ui

import (
	"slices"
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

// helpKeys makes the rows of the help: the keys of the open page, then those of all pages. The keys of a binding without a
// description are added to the row before it. Keys of all pages to which the open page gives
// another meaning are left out, and so are rows without any key.
func helpKeys(page *room.Page, common []room.Binding) []helpKey {
	var rows []helpKey
	// add adds a row for b, whose keys have the given names.
	add := func(b *room.Binding, names []string, row helpKey) {
		row.label = strings.Join(names, " ")
		if help := b.Help(); help.Key == "" && help.Desc == "" && len(rows) > 0 {
			last := &rows[len(rows)-1]
			last.label = strings.TrimSpace(last.label + " " + row.label)
			return
		}
		row.group = b.Group
		rows = append(rows, row)
	}
	if page != nil {
		for _, b := range page.Bindings() {
			var names []string
			for _, k := range b.Keys() {
				names = append(names, room.KeyLabel(k))
			}
			add(&b, names, helpKey{pageHelp: b.Help().Desc})
		}
	}
	for _, b := range common {
		var names []string
		row := helpKey{help: b.Help().Desc}
		for _, k := range b.Keys() {
			if page == nil || !hasBinding(page, k) && !(isViArrow(k) && usesViArrows(page)) {
				names = append(names, room.KeyLabel(k))
			}
		}
		if page != nil && len(names) > 0 {
			row.pageHelp = page.KeyHelp(b.Keys()[0])
		}
		add(&b, names, row)
	}
	return slices.DeleteFunc(rows, func(r helpKey) bool { return r.label == "" })
}

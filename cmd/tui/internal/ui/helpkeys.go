package ui

import (
	"wirelab/cmd/tui/internal/room"
)

// helpKey is a row of the help: a key or two opposite keys, and their description.
type helpKey struct {
	label    string
	help     string // description; "" for a key of the open page only
	pageHelp string // description of what the keys do on the open page; "" if they do the same on all pages
}

// helpKeys makes the rows of the help: the keys of the open page, then those of all pages, without those that
// have no effect on the page or that the page uses for something else.
func helpKeys(page *room.Page, common []room.Binding) (rows []helpKey) {
	for _, b := range page.Bindings() {
		rows = append(rows, helpKey{label: b.Label, pageHelp: b.Help})
	}
	for _, b := range common {
		key := b.Keys()[0]
		if isIdle := b.Idle != nil && b.Idle(); !isIdle && !hasBinding(page, key) {
			rows = append(rows, helpKey{label: b.Label, help: b.Help, pageHelp: page.KeyHelp(key)})
		}
	}
	return rows
}

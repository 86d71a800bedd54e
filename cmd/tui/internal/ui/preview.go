package ui

import (
	"strings"

	"wirelab/lossmodel"
)

// previewLink is what there is to say about a profile: what it is, whose it is,
// and what it does to packets.
func (cat *catalog) previewLink(name string, w int, ascii bool) []string {
	for _, p := range cat.profiles {
		if p.Name != name {
			continue
		}
		lines := append(wrap(p.Summary, w), wrap("source: "+p.Source, w)...)
		if cat.picture == nil {
			return lines
		}
		lines = append(lines, "", sideShown(p))
		return append(lines, strings.Split(cat.picture(p.Down, w, ascii), "\n")...)
	}
	return nil
}

// sideShown says which of the two links the picture is of.
func sideShown(p lossmodel.Profile) string {
	if p.Down == p.Up {
		return "each way:"
	}
	return "down, to the receiver:"
}

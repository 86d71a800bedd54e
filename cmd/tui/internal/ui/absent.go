package ui

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// absentPage is a page that the current run has no data for. It shows why.
type absentPage struct{ name, reason string }

func (p absentPage) Name() string { return p.name }

func (p absentPage) Lines(th *look.Theme, w, h int) []string {
	c := look.NewCanvas(w, h)
	c.Centre(0, look.Dim, p.reason)
	return c.Lines(th)
}

// replaceForCrowd replaces the pages that show a single receiver.
func replaceForCrowd(pages []room.Page) {
	for i, reason := range []string{
		"This run has a crowd, and this page shows one receiver. Page 8 shows the clients; / types a setting, such as /encoder adaptive.",
		"A crowd does not measure what bits are spent on. A run without [crowd] shows it for the same encoder.",
		"A crowd keeps no list of all packets. Page 8 shows the newest packets of the client under the cursor.",
		"A crowd displays nothing. A run without [crowd] shows the data at both ends.",
		"A crowd has one encoder and no shadows. A [[sweep]] over encoder.name compares encoders.",
		"", // reports
		"The clients of a crowd have no queues, messages or policies of their own. Page 8 shows what the server sends.",
	} {
		if reason != "" {
			pages[i] = absentPage{pages[i].Name(), reason}
		}
	}
}

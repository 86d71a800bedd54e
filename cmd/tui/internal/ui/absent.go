package ui

import (
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
)

// absent is the pane of a page that the current run has no data for. It shows why.
type absent struct{ reason string }

func (p absent) Name() string { return "" }

func (p absent) Draw(c *look.Canvas, _ *look.Theme, _ bool) { c.Centre(0, look.Dim, p.reason) }

// newAbsent returns a page with only that pane.
func newAbsent(name, reason string) *room.Page {
	p := &room.Page{Name: name}
	s := p.Add(absent{reason})
	p.LayOut = func(w, h int) []room.Place { return []room.Place{s[0].Place(0, 0, w, h)} }
	p.Small = p.LayOut
	return p
}

// replaceForCrowd replaces the pages that show a single receiver.
func replaceForCrowd(pages []*room.Page) {
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
			pages[i] = newAbsent(pages[i].Name, reason)
		}
	}
}

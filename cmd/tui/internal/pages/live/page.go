package live

import (
	"wirelab/cmd/tui/internal/controls"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/tour"
)

// The panes of the page, in the order of the tab key.
const (
	paneCharts = iota
	paneControls
	panePackets
	paneBits
	paneNow
	paneChanges
)

// tourCharts are the charts. The guided tour highlights one of them; a small screen then shows only that.
type tourCharts struct {
	panes.Charts
	page *room.Page
}

func (p *tourCharts) Light(s tour.Spot) bool {
	p.Selected, p.InTour = -1, s != tour.Nowhere
	isChart := s == tour.OnBandwidth || s == tour.OnRatio || s == tour.OnFailures
	if isChart {
		p.Selected = int(s - tour.OnBandwidth) // spots are in the order of the charts
	}
	return isChart
}

func (p *tourCharts) Draw(c *look.Canvas, th *look.Theme, focused bool) {
	p.OnlySelected = p.Selected >= 0 && !p.page.Wide()
	p.Charts.Draw(c, th, focused)
}

// New returns the page: three charts, the packets, the controls, the figures, the changes and the bit
// budget. cat lists what the controls can set.
func New(cat *controls.Catalog) *room.Page {
	p := &room.Page{Name: "Live", Top: room.NewSlot(&panes.SummaryLine{})}
	controls := &controls.Pane{Cat: cat}
	s := p.Add(&tourCharts{panes.Charts{Selected: -1}, p}, controls, &strip{}, &panes.Bits{}, &now{}, &panes.Changes{})
	p.Bottom = controls.Line(p)
	// Charts above packets on the left; controls, figures and changes on the right; the bit budget at the bottom. The
	// names of heights end in H.
	p.LayOut = func(w, h int) []room.Place {
		const (
			highScreen     = 44 // with fewer rows, three of the panes get their minimum height
			veryHighScreen = 56 // with as many, the packets get more rows
		)
		const (
			maxControlsH = 23
			maxNowH      = 26 // with all figures
			usualChanges = 8  // rows of the changes before the figures get more; the changes get what is left
		)
		rightW := room.RightColumn(w)
		leftW := w - rightW
		bitsH, packetsH, nowH := 7, 5, 12
		switch {
		case h < highScreen:
			bitsH, packetsH, nowH = 4, 4, 11
		case h >= veryHighScreen:
			packetsH = 10
		}
		upperH := h - bitsH
		nowH = min(max(nowH, upperH-maxControlsH-usualChanges), maxNowH)
		changesH := max(upperH-nowH-maxControlsH, 4)
		return []room.Place{
			s[paneCharts].Place(0, 0, leftW, upperH-packetsH),
			s[panePackets].Place(0, upperH-packetsH, leftW, packetsH),
			s[paneControls].Place(leftW, 0, rightW, upperH-nowH-changesH),
			s[paneNow].Place(leftW, upperH-nowH-changesH, rightW, nowH),
			s[paneChanges].Place(leftW, upperH-changesH, rightW, changesH),
			s[paneBits].Place(0, upperH, w, bitsH),
		}
	}
	return p
}

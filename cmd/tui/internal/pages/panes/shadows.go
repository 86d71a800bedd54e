package panes

import (
	"fmt"

	"wirelab/cmd/tui/internal/look"
)

// Shadows are further encoders that run on the same frames and losses as the active encoder. The
// marker and the colour of a shadow depend on its index and are the same on all pages.

// shadowFigure is the entry of a shadow in a legend.
type shadowFigure struct {
	index      int // of the shadow
	name, text string
}

// shadowLegend returns name and figure of each shadow in at most maxWidth columns. A name is omitted if it does not fit.
// The number of shadows that do not fit, and of others, follows as "+n".
func shadowLegend(th *look.Theme, maxWidth int, list []shadowFigure, others int) []look.Span {
	var out []look.Span
	for i, s := range list {
		style, marker := look.ShadowStyle(s.index), "  "+string(look.ShadowSymbol(s.index))+" "
		figure := look.Value.Span(look.PadLeft(s.text, figureWidth))
		full := []look.Span{style.Span(marker + s.name + " "), figure}
		brief := []look.Span{style.Span(marker), figure}
		moreWidth := 0
		if left := len(list) - 1 - i + others; left > 0 {
			moreWidth = look.TextWidth(moreShadows(left))
		}
		pieces := look.Fit(maxWidth-moreWidth, full, brief, nil)
		if pieces == nil {
			others += len(list) - i
			break
		}
		maxWidth -= look.SpansWidth(pieces)
		out = append(out, pieces...)
	}
	if others > 0 {
		out = append(out, look.Fit(maxWidth, []look.Span{look.Dim.Span(moreShadows(others))}, nil)...)
	}
	return out
}

// moreShadows counts shadows without an entry.
func moreShadows(n int) string { return fmt.Sprintf("  +%d", n) }

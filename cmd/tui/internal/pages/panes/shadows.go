package panes

import (
	"fmt"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/engine"
)

// Shadows are further encoders that run on the same frames and losses as the active encoder. The
// marker and the colour of a shadow depend on its index and are the same on all pages.

// shadowLegend returns name and figure of each shadow in at most maxWidth columns. A name contains only
// what distinguishes the shadow from the active encoder, and is omitted if it does not fit. The number
// of shadows that do not fit follows as "+n".
func shadowLegend(th *look.Theme, maxWidth int, active *engine.Lane, lanes []engine.Lane, figure func(*engine.Lane) string) []look.Span {
	var out []look.Span
	for i := range lanes {
		marker := string(look.ShadowSymbol(th, i))
		full := []look.Span{look.ShadowStyle(i).Span("  " + marker + " " + lanes[i].ShortName(active) + " "), look.Value.Span(figure(&lanes[i]))}
		brief := []look.Span{look.ShadowStyle(i).Span("  " + marker + " "), look.Value.Span(figure(&lanes[i]))}
		more := look.Dim.Span(fmt.Sprintf("  +%d", len(lanes)-i))
		moreWidth := 0
		if i < len(lanes)-1 {
			moreWidth = look.SpansWidth([]look.Span{more})
		}
		pieces := look.Fit(maxWidth-moreWidth, full, brief, nil)
		if pieces == nil {
			return append(out, look.Fit(maxWidth, []look.Span{more}, nil)...)
		}
		maxWidth -= look.SpansWidth(pieces)
		out = append(out, pieces...)
	}
	return out
}

package look

import (
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"wirelab/encoders"
)

func TestWideRunesKeepTheirPlace(t *testing.T) {
	c := NewCanvas(8, 1)
	c.Text(0, 0, Plain, "a日本b")
	c.Set(2, 0, Plain, 'x') // the right half of 日
	c.Set(3, 0, Plain, 'y') // the left half of 本
	got := c.Lines(bareTheme(false))[0]
	if got != "a xy b  " {
		t.Errorf("got %q", got)
	}
}

// A word that is longer than a line is broken, and nothing of it is lost.
func TestWrapLosesNothing(t *testing.T) {
	const text = "saved as /a/very/long/path/to/the/世界世界世界/reports now"
	for n := 2; n < 70; n++ {
		lines := Wrap(text, n)
		for _, line := range lines {
			if TextWidth(line) > n {
				t.Errorf("%d columns: %q", n, line)
			}
		}
		if got := strings.ReplaceAll(strings.Join(lines, ""), " ", ""); got != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%d columns: %q", n, lines)
		}
	}
	if lines := Wrap("世", 1); len(lines) != 1 {
		t.Errorf("%q", lines)
	}
}

// A word of two colours is one word: a part's sign stays with its name.
func TestFlowKeepsWordsOfTwoColoursTogether(t *testing.T) {
	pieces := []Span{Plain.Span("■"), Dim.Span("flags 3% "), Plain.Span("■"), Dim.Span("index ")}
	for n := 8; n < 30; n++ {
		for _, line := range Flow(pieces, n) {
			text := ""
			for _, p := range line {
				text += p.Text
			}
			if strings.HasSuffix(strings.TrimSpace(text), "■") {
				t.Errorf("%d columns: %q", n, text)
			}
		}
	}
}

// bareTheme paints nothing.
func bareTheme(ascii bool) *Theme {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	return NewTheme(r, schemeAuto, ascii)
}

// Where there is no colour a shape is all that tells the bits of one slot from those
// of another.
func TestNoTwoSlotsHaveOneShape(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		th := bareTheme(ascii)
		seen := map[rune]int{}
		for slot := range int(encoders.FieldSlot(0)) + 26 { // more fields than letters no schema has
			r := th.Shade(slot)
			if other, twice := seen[r]; twice || r == ' ' {
				t.Errorf("ascii %v: slots %d and %d both are %q", ascii, other, slot, r)
			}
			seen[r] = slot
		}
	}
}

// Every lane has a sign of its own, in ASCII too.
func TestNoTwoLanesHaveOneSign(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		th := bareTheme(ascii)
		seen := map[rune]int{}
		for lane := range 1 + numShadowStyles {
			r := LaneSign(th, lane)
			if other, twice := seen[r]; twice {
				t.Errorf("ascii %v: lanes %d and %d both are %q", ascii, other, lane, r)
			}
			seen[r] = lane
		}
	}
}

package look

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"unicode"

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

// TestWrapLosesNothing checks that words longer than a line are broken without loss.
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

// TestFlowKeepsWordsOfTwoColoursTogether checks that a word in two styles, such as a symbol with
// its name, is not broken.
func TestFlowKeepsWordsOfTwoColoursTogether(t *testing.T) {
	pieces := []Span{Plain.Span("■"), Dim.Span("flags 3% "), Plain.Span("■"), Dim.Span("index ")}
	for n := 8; n < 30; n++ {
		lines := WrapSpans(pieces, n)
		for i, line := range lines {
			text := ""
			for _, p := range line {
				text += p.Text
			}
			if i < len(lines)-1 && TextWidth(text) > n {
				t.Errorf("%d columns: %q", n, text)
			}
			if strings.HasSuffix(strings.TrimSpace(text), "■") {
				t.Errorf("%d columns: %q", n, text)
			}
		}
	}
}

// bareTheme returns a theme without colours.
func bareTheme(ascii bool) *Theme {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	return NewTheme(r, schemeAuto, ascii)
}

// TestSymbolsAreDistinct checks that the parts of the bit budget, the lanes and the outcomes of packets have
// different symbols, which distinguish them without colours, also in ASCII.
func TestSymbolsAreDistinct(t *testing.T) {
	outcomes := bareTheme(false).Outcome
	for name, symbols := range map[string]struct {
		n  int
		of func(i int) rune
	}{
		"shade":   {int(encoders.FieldSlot(0)) + 26, Shade}, // no schema has more fields than letters
		"lane":    {1 + numShadowStyles, LaneSymbol},
		"outcome": {len(outcomes), func(i int) rune { return outcomes[i] }},
	} {
		seen := map[string]int{}
		for i := range symbols.n {
			for _, ascii := range []bool{false, true} {
				c := NewCanvas(1, 1)
				c.Set(0, 0, Plain, symbols.of(i))
				text := c.Lines(bareTheme(ascii))[0]
				if other, twice := seen[text]; twice && other != i || text == " " || text == "?" && name != "outcome" {
					t.Errorf("ascii %v: %s %d and %d both are %q", ascii, name, other, i, text)
				}
				seen[text] = i
			}
		}
	}
}

// TestPlotsAreASCII: every line, block and Braille pattern, of which charts and maps consist, has an ASCII form.
func TestPlotsAreASCII(t *testing.T) {
	for _, plane := range [][2]rune{{0x2500, 0x259f}, {0x2800, 0x28ff}} {
		for r := plane[0]; r <= plane[1]; r++ {
			if form := toASCII(r); form == '?' || form >= unicode.MaxASCII {
				t.Errorf("%c is drawn as %q", r, form)
			}
		}
	}
}

// TestCanvasDropsControls draws a text with each control, format character and line separator of Unicode: none
// reaches the terminal, and the text keeps its other characters and its width.
func TestCanvasDropsControls(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			continue
		}
		c := NewCanvas(3, 1)
		if x := c.Text(0, 0, Plain, "a"+string(r)+"b"); x != 2 || c.Lines(bareTheme(false))[0] != "ab " {
			t.Errorf("%U: %q, then column %d", r, c.Lines(bareTheme(false))[0], x)
		}
	}
}

// Times below a microsecond are not shown as 0, which means that none was measured.
func TestFormatMicroseconds(t *testing.T) {
	for us, want := range map[float64]string{0: "-", 0.01: "<0.1", 0.42: "0.4", 0.97: "1", 1.4: "1", 41: "41", math.NaN(): "-"} {
		if got := FormatMicroseconds(us); got != want {
			t.Errorf("%v µs are shown as %q, want %q", us, got, want)
		}
	}
}

// Widths of runes that are frequent on screens are not looked up; they agree with the table.
func TestRuneWidth(t *testing.T) {
	for r := ' '; r < 0x3000; r++ {
		if got, want := RuneWidth(r), ansi.StringWidth(string(r)); got != want {
			t.Errorf("%U: %d, want %d", r, got, want)
		}
	}
}

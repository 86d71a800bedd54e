package labtest

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"wirelab/internal/testkit"
)

// Sizes returns sizes of a screen: the smallest and the largest, sizes next to limits of layouts, sizes that are too
// small for pages, and others from 60x18 to 220x60 by a seed.
func Sizes(seed uint64) [][2]int {
	list := [][2]int{{60, 18}, {220, 60}, {220, 18}, {60, 60}, {103, 32}, {104, 31}, {1, 1}, {59, 18}, {60, 17}}
	rng := rand.New(rand.NewPCG(9, seed))
	for range testkit.ChooseLong(200, 60, 9) {
		list = append(list, [2]int{60 + rng.IntN(161), 18 + rng.IntN(43)})
	}
	return list
}

// CheckScreen checks that the view has exactly h lines of exactly w columns.
func CheckScreen(t *testing.T, what, view string, w, h int) {
	t.Helper()
	lines := strings.Split(view, "\n")
	if len(lines) != h {
		t.Fatalf("%s at %dx%d: %d lines", what, w, h, len(lines))
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n != w {
			t.Fatalf("%s at %dx%d: line %d has %d columns: %q", what, w, h, i+1, n, line)
		}
	}
}

// CheckLayout checks a screen at the sizes of Sizes: the view that draw returns fills the screen, no line is longer, and
// there are only ASCII characters if ascii is set. If isPage is set, the view is also one of a page, see checkPage.
func CheckLayout(t *testing.T, seed uint64, ascii bool, draw func(w, h int) (view string, isPage bool)) {
	t.Helper()
	for _, size := range Sizes(seed) {
		view, isPage := draw(size[0], size[1])
		view = ansi.Strip(view)
		CheckScreen(t, "the screen", view, size[0], size[1])
		isOther := func(r rune) bool { return r > '~' }
		switch {
		case ascii && strings.ContainsFunc(view, isOther):
			t.Fatalf("%v: not ASCII alone:\n%s", size, view)
		case isPage && !ascii: // the frames of ASCII screens are not recognized
			checkPage(t, view)
		}
	}
}

// checkPage checks the view of a page without colours and without a box over it. The footer names help and quit. Each
// frame has a whole title, also at its dividers, and no content covers its sides.
func checkPage(t *testing.T, view string) {
	t.Helper()
	lines := strings.Split(view, "\n")
	if footer := lines[len(lines)-1]; !strings.Contains(footer, "? help") || !strings.Contains(footer, "q quit") {
		t.Fatalf("the footer is %q", footer)
	}
	cells := make([][]rune, len(lines))
	for y, line := range lines {
		cells[y] = []rune(line)
	}
	frames := 0
	for y, row := range cells {
		for left, corner := range row {
			if corner != '╭' {
				continue
			}
			frames++
			if problem := checkFrame(cells, left, y); problem != "" {
				t.Fatalf("the frame at column %d of line %d: %s:\n%s", left+1, y+1, problem, view)
			}
		}
	}
	if frames == 0 {
		t.Fatalf("no panes:\n%s", view)
	}
}

// checkFrame returns what is wrong with the frame whose upper left corner is in column left of row top; "" for nothing.
func checkFrame(cells [][]rune, left, top int) (problem string) {
	right := left + slices.Index(cells[top][left:], '╮')
	if right < left+4 {
		return "no upper edge"
	}
	for _, row := range cells[top:] {
		switch string(row[left]) + string(row[right]) {
		case "╰╯":
			return ""
		case "││":
		case "╭╮", "├┤":
			const longName = "relative-orientation" // the only title that may be cut
			title, _, isCut := strings.Cut(string(row[left+3:right]), "…")
			if row[left+3] == row[left+1] || isCut && !strings.HasPrefix(longName, title) {
				return "no title, or it is cut"
			}
		default:
			return "a side is covered"
		}
	}
	return "no lower edge"
}

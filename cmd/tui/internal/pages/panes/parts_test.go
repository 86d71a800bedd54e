package panes_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/figures"
)

// shareShown matches a share on a screen.
var shareShown = regexp.MustCompile(`(\d+(?:\.\d)?) ?%`)

// TestSharesAddUpAtEverySize: at every size of the pane the shares add up to 100 %, names are
// distinct, and every name in the bar is also among the figures.
func TestSharesAddUpAtEverySize(t *testing.T) {
	for _, size := range [][2]int{{80, 19}, {80, 8}, {80, 4}, {100, 25}, {104, 4}, {160, 7}, {200, 7}, {200, 40}, {60, 15}, {300, 4}} {
		w, h := size[0], size[1]
		p := &panes.Bits{}
		lines := labtest.Draw(p, labtest.NewView(labtest.NewCalls().Snap), w, h)
		text := strings.Join(lines[2:], "\n") // without the border and the bar
		sum, n := 0.0, 0
		for _, m := range shareShown.FindAllStringSubmatch(text, -1) {
			v, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += v
			n++
		}
		rounding := 0.05
		if !strings.Contains(text, ".") { // whole percents in a single line
			rounding = 0.5
		}
		if math.Abs(sum-100) > rounding*float64(n)+1e-9 {
			t.Errorf("%dx%d: %d shares add up to %.1f %%\n%s", w, h, n, sum, strings.Join(lines, "\n"))
		}
		names := regexp.MustCompile(`■ (\S+(?: others)?)`).FindAllStringSubmatch(strings.ReplaceAll(text, "▧", "■"), -1)
		var seen []string
		for _, m := range names {
			if slices.Contains(seen, m[1]) {
				t.Errorf("%dx%d: two are called %s", w, h, m[1])
			}
			seen = append(seen, m[1])
		}
		for _, name := range strings.Fields(lines[1]) {
			if slices.Contains(append(labtest.CallFields(), "padding"), name) && !strings.Contains(text, name[:min(len(name), 9)]) {
				t.Errorf("%dx%d: the bar names %s, the figures do not:\n%s", w, h, name, strings.Join(lines, "\n"))
			}
		}
		if all := len(labtest.CallFields()) + 1; n < all && !strings.Contains(text, fmt.Sprint(all-n+1, " others")) {
			t.Errorf("%dx%d: %d of %d parts, without the number of others:\n%s", w, h, n, all, strings.Join(lines, "\n"))
		}
	}
}

// TestSharedSlotIsNamedByItsFields: a slot that several fields share is named by their number.
func TestSharedSlotIsNamedByItsFields(t *testing.T) {
	s := &frame.Schema{}
	const fields = encoders.MaxSlots + 12
	for i := range fields {
		s.Fields = append(s.Fields, frame.Field{Name: fmt.Sprint("field", i)})
	}
	var b encoders.Budget
	for i := range s.Fields {
		b.Bits(encoders.FieldSlot(i), 10)
	}
	parts := panes.BudgetParts(&b, s)
	last := parts[len(parts)-1]
	if want := fmt.Sprint(fields-(len(parts)-1), " others"); last.Name != want {
		t.Errorf("the last of %d parts is %q, want %q", len(parts), last.Name, want)
	}
	few := panes.LimitParts(parts, 5, func(int) float64 { return 0 })
	if got := few[4]; got.Name != fmt.Sprint(fields-4, " others") || math.Abs(got.Share-(fields-4.)/fields) > 1e-9 {
		t.Errorf("%+v", got)
	}
}

// TestUnknownAge: over a network the age of the display is not known, and has no chart.
func TestUnknownAge(t *testing.T) {
	snap := labtest.NewCalls().Snap
	snap.Lanes[0].Totals.Remote = &figures.Remote{}
	if title := labtest.Draw(panes.NewPlayout(snap.Schema), labtest.NewView(snap), 60, 10)[0]; !strings.Contains(title, " Starved %") {
		t.Errorf("the title is %q", title)
	}
}

package bits

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/pages/panes"
)

// accountLine is a row of the table: a name, and the kbps and the share behind it.
var accountLine = regexp.MustCompile(`│[ ▸]*\S? +(\S+(?: others)?) +(\d+\.\d) +(\d+\.\d) `)

// Whatever the size and whatever is chosen, the rows add up to the payload.
func TestRowsOfTheAccountAddUp(t *testing.T) {
	for _, size := range [][2]int{{80, 22}, {100, 28}, {160, 46}, {160, 30}, {200, 58}} {
		s := labtest.NewStage(New(&panes.Second{}), labtest.NewWide(), size[0], size[1])
		for _, keys := range [][]string{nil, {"down"}, strings.Fields(strings.Repeat("down ", 14)), strings.Fields(strings.Repeat("down ", 30))} {
			s.Press(keys...)
			view := s.View()
			sum, all, n := 0.0, 0.0, 0
			for _, m := range accountLine.FindAllStringSubmatch(view, -1) {
				v, err := strconv.ParseFloat(m[3], 64)
				if err != nil {
					t.Fatal(err)
				}
				if m[1] == "payload" {
					all = v
					continue
				}
				sum += v
				n++
			}
			if all != 100 || math.Abs(sum-all) > 0.05*float64(n)+1e-9 {
				t.Errorf("%v after %d keys: %d rows add up to %.1f of %.1f %%:\n%s", size, len(keys), n, sum, all, view)
			}
		}
	}
}

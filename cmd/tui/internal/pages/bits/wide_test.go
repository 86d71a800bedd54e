package bits_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/pages/bits"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/experiment/engine/meters"
)

// tableLine matches a row of the table: name, kbps and share.
var tableLine = regexp.MustCompile(`│[ ▸]*\S? +(\S+(?: others)?) +(\d+\.\d) +(\d+\.\d) `)

// TestAreasFillShortSessions: the areas fill the chart, however short the session is.
func TestAreasFillShortSessions(t *testing.T) {
	for _, there := range []time.Duration{2 * time.Second, 9 * time.Second, 16 * time.Second, 50 * time.Second} {
		for _, size := range [][2]int{{80, 22}, {160, 46}} {
			lab := labtest.NewCalls()
			lane := &lab.Snap.Lanes[0]
			lane.Samples = lane.Samples[len(lane.Samples)-int(there/meters.SamplePeriod):]
			view := labtest.NewStage(bits.New(&panes.SelectedShadow{}), lab, size[0], size[1]).View()
			axis := regexp.MustCompile(`└(.*now)`).FindStringSubmatch(view)[1]
			bottom := regexp.MustCompile(` 0┤([^│]*)│`).FindStringSubmatch(view)[1]
			filled := len([]rune(strings.TrimLeft(bottom, " ")))
			if cols := len([]rune(axis)); filled < cols*2/5-1 {
				t.Errorf("%v at %v: %d of %d columns are filled:\n%s", there, size, filled, cols, view)
			}
		}
	}
}

// TestRowsAddUp: at every size and with every selection the rows add up to the payload.
func TestRowsAddUp(t *testing.T) {
	for _, size := range [][2]int{{80, 22}, {100, 28}, {160, 46}, {160, 30}, {200, 58}} {
		s := labtest.NewStage(bits.New(&panes.SelectedShadow{}), labtest.NewCalls(), size[0], size[1])
		for _, keys := range [][]string{nil, {"down"}, strings.Fields(strings.Repeat("down ", 14)), strings.Fields(strings.Repeat("down ", 30))} {
			s.Press(keys...)
			view := s.View()
			sum, all, n := 0.0, 0.0, 0
			for _, m := range tableLine.FindAllStringSubmatch(view, -1) {
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

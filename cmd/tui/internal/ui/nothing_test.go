package ui

import (
	"strings"
	"testing"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/encoders"
)

// TestPagesAfterTheEnd checks that no page claims that nothing was sent if packets were
// delivered, even if none was sent recently.
func TestPagesAfterTheEnd(t *testing.T) {
	for _, sent := range []int64{0, 45} {
		for _, lab := range []*labtest.Lab{newFile(0), labtest.NewCalls()} {
			lane := &lab.Snap.Lanes[0]
			lane.Totals.Sent, lane.Recent.Budget, lane.Blocks = sent, encoders.Budget{}, nil
			for i := range lab.Snap.Lanes {
				lab.Snap.Lanes[i].Totals.Sent = sent
			}
			for i := range lane.Samples {
				lane.Samples[i].Budget = encoders.Budget{}
			}
			for _, keys := range []string{"1", "1 tab tab tab", "2", "4", "4 tab tab"} {
				for _, w := range []int{80, 160} {
					m := screen(lab, w, 48)
					press(m, keys)
					if denied := strings.Contains(m.View(), "nothing has been sent yet"); denied && sent > 0 {
						t.Errorf("%s after %s, %d columns, %d packets sent:\n%s", lab.Snap.Item, keys, w, sent, m.View())
					}
				}
			}
		}
	}
}

package bits_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/pages/bits"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/encoders"
	"wirelab/experiment/engine"
)

// The list has the ten rows with the highest costs, the highest first, and the rest in two sums; the key $ requests it. The
// order stays for five seconds, and follows a mean of ten.
func TestMostExpensiveRows(t *testing.T) {
	lab := labtest.NewLab()
	m := labtest.NewStage(bits.New(&panes.SelectedShadow{}), lab, 160, 46)
	m.Press("$")
	if c := lab.Got[len(lab.Got)-1]; c.RowCosts == nil || !*c.RowCosts {
		t.Fatalf("$ sends %+v", c)
	}
	const bit = encoders.BitUnit
	costs := &engine.RowCosts{Now: 90 * time.Second, Since: 88 * time.Second, Packets: 4, Shared: 8 * bit,
		Rows: make([]int64, lab.Snap.Schema.Rows), Slots: []encoders.Slot{encoders.SlotPosition}}
	costs.Total = costs.Shared
	for i := range 12 { // cube 100 costs 50 bits, cube 101 51 bits, and so on
		costs.Rows[100+i] = int64(50+i) * bit
		costs.Total += costs.Rows[100+i]
	}
	costs.BySlot = costs.Rows
	snap := *lab.Snap
	snap.RowCosts = costs
	lab.Snap = &snap
	m.Tick(true)
	var got []string
	for _, line := range strings.Split(m.View(), "\n") {
		for _, name := range []string{"cube 1", "all other rows", "headers, padding"} {
			if i := strings.Index(line, name); i >= 0 {
				fields := strings.Fields(line[i:])
				got = append(got, fields[0]+" "+fields[1]+" "+fields[2]+" "+fields[3])
			}
		}
	}
	want := "cube 111 15.2 15.2,cube 110 15.0 15.0,cube 109 14.8 14.8,cube 108 14.5 14.5,cube 107 14.2 14.2,cube 106 14.0 14.0,cube 105 13.8 13.8," +
		"cube 104 13.5 13.5,cube 103 13.2 13.2,cube 102 13.0 13.0,all other rows 25.2,headers, padding 2.0 1.2"
	if s := strings.Join(got, ","); s != want {
		t.Errorf("got  %s\nwant %s\n%s", s, want, m.View())
	}
	for _, c := range []struct {
		after time.Duration
		first string
	}{{500 * time.Millisecond, "1  cube 111"}, {4 * time.Second, "1  cube 111"}, {30 * time.Second, "1  cube 100"}} {
		next := *costs
		next.Now, next.Rows = costs.Now+c.after, slices.Clone(costs.Rows)
		slices.Reverse(next.Rows[100:112]) // cube 100 is now the most expensive
		next.BySlot = next.Rows
		snap.RowCosts = &next
		if m.Tick(true); !strings.Contains(m.View(), c.first) {
			t.Errorf("%v later the first row is not %q:\n%s", c.after, c.first, m.View())
		}
	}
	m.Press("$")
	if c := lab.Got[len(lab.Got)-1]; c.RowCosts == nil || *c.RowCosts {
		t.Errorf("the second $ sends %+v", c)
	}
}

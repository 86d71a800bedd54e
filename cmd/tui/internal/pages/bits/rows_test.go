package bits_test

import (
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/pages/bits"
	"wirelab/cmd/tui/internal/pages/panes"
	"wirelab/encoders"
	"wirelab/experiment/engine"
)

// The list has the ten rows with the highest costs, the highest first, and the rest in two sums; the key $ requests it.
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
	want := "cube 111 15.2 9.1,cube 110 15.0 8.9,cube 109 14.8 8.8,cube 108 14.5 8.6,cube 107 14.2 8.5,cube 106 14.0 8.3,cube 105 13.8 8.2," +
		"cube 104 13.5 8.0,cube 103 13.2 7.9,cube 102 13.0 7.7,all other rows 25.2,headers, padding 2.0 1.2"
	if s := strings.Join(got, ","); s != want {
		t.Errorf("got  %s\nwant %s\n%s", s, want, m.View())
	}
	m.Press("$")
	if c := lab.Got[len(lab.Got)-1]; c.RowCosts == nil || *c.RowCosts {
		t.Errorf("the second $ sends %+v", c)
	}
}

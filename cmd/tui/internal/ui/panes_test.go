package ui

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"wirelab/experiment/engine"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"

	tea "github.com/charmbracelet/bubbletea"
)

func TestWrongIsUnmistakable(t *testing.T) {
	lab := labtest.NewLab()
	lab.Snap.Lanes[0].Totals.Wrong = 3
	for _, size := range [][2]int{{160, 48}, {80, 24}, {60, 18}} {
		m := screen(lab, size[0], size[1], Options{Renderer: labtest.ColourRenderer()})
		head := header(m)
		if !strings.Contains(head, "WRONG DATA: 3 packets") || !strings.Contains(head, "48;5;160m") {
			t.Errorf("at %v the header is %q", size, head)
		}
	}
}

func TestSlowEngineIsShown(t *testing.T) {
	lab := labtest.NewLab()
	for _, c := range []struct {
		speed, actual float64
		state         engine.RunState
		want          string
	}{
		{1, 0.8, engine.Running, "×0.8 of ×1"}, {1, 0.99, engine.Running, "30.0 · ×1 "}, {0, 38.2, engine.Running, "max ×38"},
		{1, 0.2, engine.Paused, "PAUSED"}, {1, 0, engine.Ended, "ENDED"}, {1, 0, engine.Seeking, "TO 00:00.0"},
	} {
		snap := *lab.Snap
		snap.Speed, snap.Actual, snap.State = c.speed, c.actual, c.state
		head, _, _ := strings.Cut(large(&labtest.Lab{Snap: &snap}).View(), "\n")
		if !strings.Contains(head, c.want) {
			t.Errorf("header %q lacks %q", head, c.want)
		}
	}
}

func TestNoticeComesAndGoes(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 80, 24)
	next := *lab.Snap
	next.Notice = engine.Notice{ID: 1, Text: "saved as /reports/x"}
	lab.Snap = &next
	press(m)
	checkShown(t, m, "● saved as /reports/x")
	for range noteLasts {
		press(m)
	}
	checkLacking(t, m, "saved as")
}

func TestRefusedFrameIsShown(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 120, 40)
	next := *lab.Snap
	next.Lanes = slices.Clone(next.Lanes)
	next.Lanes[0].Err = errors.New("cube 7 is out of range")
	next.Lanes[0].Totals.EncodeFailed++
	lab.Snap = &next
	press(m)
	checkShown(t, m, "refused a frame: cube 7")
}

func TestMouse(t *testing.T) {
	lab := labtest.NewLab()
	m := large(lab)
	find := func(text string) (x, y int) {
		for y, line := range strings.Split(m.View(), "\n") {
			if i := strings.Index(line, text); i >= 0 {
				return look.TextWidth(line[:i]), y
			}
		}
		t.Fatalf("%q is not on the screen", text)
		return 0, 0
	}
	click := func(button tea.MouseButton, x, y int) {
		m.Update(tea.MouseMsg{X: x, Y: y, Button: button, Action: tea.MouseActionPress})
		tick(m, 1)
	}
	x, y := find("Latency")
	click(tea.MouseButtonLeft, x, y)
	click(tea.MouseButtonWheelUp, x, y)
	click(tea.MouseButtonWheelDown, x, y)
	click(tea.MouseButtonWheelDown, x, y)
	checkSent(t, lab.Got, "latency 60ms; latency 50ms; latency 40ms")
	x, y = find("◐●")
	click(tea.MouseButtonLeft, x, y)
	checkShown(t, m, "◐ stale, took")
	small := screen(labtest.NewLab(), 80, 24)
	small.Update(tea.MouseMsg{X: 33, Y: 2, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	if small.render(); !strings.Contains(small.View(), "[Bits]") {
		t.Errorf("a click on a name does not open it:\n%s", small.View())
	}
}

func TestZoom(t *testing.T) {
	m := large(labtest.NewLab())
	checkShown(t, m, " 50s┬")
	checkLacking(t, m, " 60s┬")
	press(m, "Z")
	checkShown(t, m, "90s┬")
}

// TestMaximise checks that z shows one pane alone on every page that has several, that tab goes through all panes then,
// and that z shows all panes again.
func TestMaximise(t *testing.T) {
	for _, c := range []struct {
		page string
		keys string   // to all panes again
		seen []string // titles that are seen alone, in this order, one after each key
		gone string   // a title that is not seen meanwhile
	}{
		{"1", "z tab shift+tab shift+tab z", []string{"Payload kbps", "Controls ", "Payload kbps", "Changes "}, "Bit budget"},
		{"2", "z tab tab z", []string{"relative-orientation", "shadow changed-index", "Bit budget"}, ""},
		{"3", "z shift+tab tab z", []string{"Packets  filter", "Last problem", "Packets  filter"}, ""},
		{"3 #", "z z", []string{"Bits of"}, "Row"},
		{"5", "z tab tab z", []string{"Compare", "Payload kbps", "Payload ratio"}, "encoders"},
	} {
		lab := labtest.NewBits(true)
		lab.Snap.Lanes[0].Incidents = labtest.NewPackets().Snap.Lanes[0].Incidents
		m := large(lab)
		press(m, c.page)
		before := m.View()
		keys := strings.Fields(c.keys)
		for i, k := range keys {
			press(m, k)
			view := m.View()
			labtest.CheckScreen(t, "page "+c.page, view, 160, 48)
			switch isLast := i == len(keys)-1; {
			case isLast && view != before:
				t.Errorf("page %s: after %v the page differs:\n%s\nbefore:\n%s", c.page, c.keys, view, before)
			case isLast:
			case !strings.Contains(view, c.seen[i]) || c.gone != "" && strings.Contains(view, "╭─ "+c.gone) || view == before:
				t.Errorf("page %s: after %v %q is not seen alone:\n%s", c.page, keys[:i+1], c.seen[i], view)
			}
		}
	}
	m := screen(labtest.NewWorld(), 60, 18)
	press(m, "4 c c z")
	checkShown(t, m, "Starved %")
	checkLacking(t, m, "all panes")
}

// TestKeysOfTheFocusedTab checks that on a small screen only the focused pane has keys, except on the first tab, which
// shows the selected control.
func TestKeysOfTheFocusedTab(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 80, 24)
	hasLine := func() bool { return strings.Contains(m.View(), "▸ Encoder   relative-orientation") }
	if !hasLine() {
		t.Errorf("the first tab does not show the control:\n%s", m.View())
	}
	press(m, "shift+tab") // Changes
	if press(m, "j k h left d enter"); hasLine() || len(lab.Got) > 0 || m.overlay != nil {
		t.Errorf("keys act on a pane that is not shown: %s\n%s", spell(lab.Got), m.View())
	}
}

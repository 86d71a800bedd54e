package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/session"
	"wirelab/experiment/engine"
)

// TestPastMovesAndReturns checks that the time cursor moves while the run goes on, that the lab gets the last position as
// a request, and which keys return to the present.
func TestPastMovesAndReturns(t *testing.T) {
	lab := labtest.NewEcho()
	m := large(lab)
	now := m.View()
	press(m, "< < ,")
	if lab.Snap.State != engine.Running || !m.lab.Past.Active || m.lab.Shown().Now != 90*time.Second-2100*time.Millisecond {
		t.Fatalf("%v, away %v, at %v", lab.Snap.State, m.lab.Past.Active, m.lab.Shown().Now)
	}
	checkShown(t, m, "2.1 s AGO", "01:27.9", "end present", "space continue")
	checkView(t, m)
	tick(m, 1)
	if got := lab.Got[len(lab.Got)-1]; got.At == nil || *got.At != m.lab.Past.At {
		t.Errorf("the lab got %+v", got)
	}
	press(m, ". >")
	if m.lab.Shown().Now != 89*time.Second {
		t.Errorf("on by 1.1 s it shows %v", m.lab.Shown().Now)
	}
	for _, keys := range []string{"end", "esc", ">", "> >", ". . . . . . . . . .",
		"space", "/resume"} {
		press(m, "<")
		if press(m, keys); m.lab.Past.Active {
			t.Errorf("%v does not lead back to the present", keys)
			m.lab.ReturnToPresent()
		}
	}
	lab.Snap.Past = &engine.Past{To: 20 * time.Second, Reached: 5 * time.Second}
	tick(m, 1)
	checkLacking(t, m, "REPLAY")
	tick(m, minReplay)
	checkShown(t, m, "REPLAY 00:05.0 of 00:20.0, esc ends")
	if press(m, "esc"); !lab.Got[len(lab.Got)-1].Return {
		t.Error("esc does not end the replay")
	}
	lab.Snap.Past = nil
	lab.Snap.State = engine.Running
	m.lab.Dismiss()
	if press(m); m.View() != now {
		t.Error("the present looks other than before")
	}
}

// TestPastEndsWithTheHistory checks that the time cursor stops at the start, over a network at the oldest stored sample.
func TestPastEndsWithTheHistory(t *testing.T) {
	lab := labtest.NewEcho()
	lane := &lab.Snap.Lanes[0]
	lane.Samples = lane.Samples[300:]
	m := screen(lab, 80, 24)
	press(m, "home < < ,")
	if got := m.lab.Shown().Now; got != session.SmallStep {
		t.Errorf("shown is %v, the first sample period ends at %v", got, session.SmallStep)
	}
	press(m, "end")
	lab.Snap.To = "elsewhere"
	press(m, "home < < ,")
	if want := lane.Samples[0].T; m.lab.Shown().Now != want {
		t.Errorf("shown is %v, the oldest is %v", m.lab.Shown().Now, want)
	}
	checkView(t, m)
	lab.Snap.Lanes, lab.Snap.To = nil, ""
	m = screen(lab, 80, 24)
	press(m, "< home b B , . end")
	checkView(t, m)
}

func TestPastFromMarkToMark(t *testing.T) {
	lab := labtest.NewEcho()
	m := large(lab)
	var at []time.Duration
	for _, key := range []string{"b", "b", "b", "b", "B", "B", "B"} {
		press(m, key)
		at = append(at, m.lab.Shown().Now)
	}
	s := func(v float64) time.Duration { return time.Duration(v * float64(time.Second)) }
	if want := []time.Duration{s(72.4), s(50), s(48), s(48), s(50), s(72.4), s(90)}; !slices.Equal(at, want) {
		t.Errorf("it goes to %v, want %v: two seconds after each mark", at, want)
	}
}

// TestPastShowsTheSameScreen checks that the screen of a past moment is the one that was shown at
// that time.
func TestPastShowsTheSameScreen(t *testing.T) {
	then, lab := labtest.Changed(80*time.Second), labtest.NewChanged()
	lab.Snap.State = engine.Paused
	m := large(lab)
	m.lab.MoveCursorTo(80 * time.Second)
	got := m.lab.Shown()
	sent := func(l *engine.Lane) (text string) { // what was sent; the outcome of the newest packets was not known then
		for _, s := range l.Samples {
			text += fmt.Sprintln(s.T, s.Sent, s.PayloadBits)
		}
		for _, p := range l.Packets {
			text += fmt.Sprintln(p.ID(), p.Sent, p.Payload)
		}
		return text
	}
	if got, want := sent(&got.Lanes[0]), sent(&then.Lanes[0]); got != want {
		t.Errorf("the samples and packets are\n%s, want\n%s", got, want)
	}
	if n := len(got.Marks); n != 3 || got.Marks[2].Label != "down loss 5%" {
		t.Errorf("marks %v", got.Marks)
	}
	var kbps float64
	for _, s := range then.Lanes[0].Samples[780:] {
		kbps += float64(s.PayloadBits) / 2000
	}
	if v := got.Lanes[0].Recent.PayloadKbps; v < kbps-0.01 || v > kbps+0.01 {
		t.Errorf("payload %v, want %v", v, kbps)
	}
}

// TestPastKeepsTotals checks that figures that exist only for the whole run, such as those of
// this run beside a report, do not change with the time cursor.
func TestPastKeepsTotals(t *testing.T) {
	m := reportScreen(labtest.NewEcho(), 160, 48, Options{ReportsDir: labtest.WriteReports(t)}, "down", "down", "down")
	tick(m, 20)
	figures := func() (text string) {
		for _, label := range []string{"payload, kbps", "on the wire, kbps", "lost"} {
			_, row, found := strings.Cut(m.View(), " "+label)
			if !found {
				t.Fatalf("no %s on the page", label)
			}
			row, _, _ = strings.Cut(row, "\n")
			text += label + row + "; "
		}
		return text
	}
	now := figures()
	press(m, "<")
	tick(m, 20)
	if got := figures(); !m.lab.Past.Active || got != now {
		t.Errorf("away %v: %s, it was %s", m.lab.Past.Active, got, now)
	}
}

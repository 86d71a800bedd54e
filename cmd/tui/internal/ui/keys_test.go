package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/room"

	tea "github.com/charmbracelet/bubbletea"
)

// press sends keys and then a tick.
func press(m *dashboard, keys ...string) (last tea.Cmd) {
	for _, k := range keys {
		_, last = m.Update(labtest.KeyMsg(k))
	}
	m.Update(room.Tick{})
	return last
}

// line returns the keys of a typed command.
func line(text string) []string { return []string{"/", text, "enter"} }

func TestKeysMakeCommands(t *testing.T) {
	loss := []string{"down", "down", "down", "down"} // from the encoder past its two parameters and the profile
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"space"}, "toggle"},
		{[]string{"."}, "step 1"},
		{[]string{"u"}, "undo"},
		{[]string{"s"}, "save /reports"},
		{[]string{"m"}, "mark 1"},
		{[]string{"+", "+"}, "speed 2; speed 4"},
		{[]string{"++"}, "speed 2; speed 4"}, // two keys in one message
		{[]string{"/undo", "enter"}, "undo"},
		{[]string{"-"}, "speed 0.5"},
		{[]string{"e", "down", "enter"}, "encoder rotor"},
		{[]string{"e", "up", "enter"}, "encoder raw"},
		{[]string{"down", "right"}, `params {"xy_small":7}`},
		{[]string{"down", "down", "right"}, `params {"xy_large":10}`},
		{append(loss, "right"), "loss 7%"},
		{append(loss, "right", "right"), "loss 10%"},
		{append(loss, "]"), "loss 20%"},
		{append(loss, "left", "left"), "loss 2%"},
		{append(loss, "right", "left"), "loss 5%"},
		{append(loss, "up", "enter", "esc"), ""},
		{append(loss, "enter", "12%", "enter"), "loss 12%"},
		{[]string{"enter", "down", "enter"}, "encoder rotor"},
		{[]string{"enter", "/", "r", "a", "w", "enter"}, "encoder raw"},
		{[]string{"p", "esc"}, ""},
		{[]string{"tab", "left", "right", "up", "down"}, ""}, // the arrows only move the selection in the list of packets
		{line("loss 5%"), "loss 5%"},
		{line("set loss=5%"), "loss 5%"},
		{line("loss 5"), "loss 5%"}, // a bare number is in the unit of the control
		{line("latency 70"), "latency 70ms"},
		{line("latency 70±10"), "latency 70ms±10ms"},
		{line("down jitter 2.5"), "down jitter 2.5ms"},
		{line("playout 120"), "playout 120ms"},
		{line("burst 3"), "burst 3"},
		{line("rate 80"), "rate 80kbit"}, // the rate is off, so the unit is that of its first step
		{line("queue 16"), "queue 16KB"},
		{line("loss gilbert-elliott p=1 r=20"), "loss gilbert-elliott p=1% r=20%"},
		{line("down loss 20%"), "down loss 20%"},
		{line("up latency 80ms"), "up latency 80ms"},
		{line("latency 50ms±10ms"), "latency 50ms±10ms"},
		{line("seek 01:30"), "seek 1m30s"},
		{line("speed max"), "speed 0"},
		{line("step 12"), "step 12"},
		{line("pause"), "pause true"},
		{line("save here and there"), "save here and there"},
		{line("param xy_small 5"), `params {"xy_small":"5"}`},
		{line("playout 100ms"), "playout 100ms"},
		{line("every 6"), "every 6"},
		{line("interpolation Hermite"), "interpolation hermite"},
		{line("mark the knock"), "the knock"},
		{append([]string{"d"}, append(loss, "right")...), "down loss 7%"},
		{append([]string{"d", "d"}, append(loss, "right")...), "up loss 0.1%"},
		{append([]string{"d", "d", "d"}, append(loss, "right")...), "loss 7%"},
		{append([]string{"d", "esc"}, append(loss, "right")...), "loss 7%"},
		{append([]string{"d", "d"}, append(loss, "enter", "3%", "enter")...), "up loss 3%"},
		{line("netem delay 50ms 10ms loss 1%"), "netem delay 50ms 10ms loss 1%"},
		{line("netem off"), "netem off"},
		{line("up netem tc qdisc add dev eth0 root netem loss 1%"), "up netem tc qdisc add dev eth0 root netem loss 1%"},
		{line("loss gilbert-elliott p=1% r=20%"), "loss gilbert-elliott p=1% r=20%"},
		{line("loss 140%"), ""},
		{line("loss"), ""},
		{line(""), ""},
		{line("help"), ""},
	} {
		lab := labtest.NewLab()
		m := screen(lab, 160, 48, Options{ReportsDir: "/reports"})
		press(m, c.keys...)
		if got := spell(lab.Got); got != c.want {
			t.Errorf("%v sent %q, want %q", c.keys, got, c.want)
		}
	}
}

func TestAdjustingSetsBothDirections(t *testing.T) {
	lab := labtest.NewLab()
	press(screen(lab, 160, 48, Options{}), "down", "down", "down", "down", "right")
	if ch := lab.Got[0].Change; ch.Text("down.loss") != "7%" || ch.Text("up.loss") != "7%" {
		t.Errorf("it sent %v", ch)
	}
}

func TestKeyShowsInTheNextRedraw(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 160, 48, Options{})
	press(m, "e", "down", "enter") // the snapshot of the lab has not changed yet
	if head, _, _ := strings.Cut(m.View(), "\n"); !strings.Contains(head, "rotor") {
		t.Errorf("header is %q", head)
	}
	for range askLasts + 1 {
		m.Update(room.Tick{})
	}
	if head, _, _ := strings.Cut(m.View(), "\n"); !strings.Contains(head, "relative-orientation") {
		t.Errorf("a change that never came is still shown: %q", head)
	}
}

func TestHeldKeyMovesSteadily(t *testing.T) {
	// The lab applies changes three ticks late; the value must still increase step by step.
	lab := labtest.NewLab()
	m := screen(lab, 160, 48, Options{})
	press(m, "down", "down", "down", "down")
	late := []*config.Config{lab.Snap.Config, lab.Snap.Config, lab.Snap.Config}
	var seen []string
	for i := range 6 {
		press(m, "right")
		text, err := m.lab.Config().Down.Get("loss")
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, text)
		answer := late[len(late)-1].Clone()
		for _, c := range lab.Got[len(lab.Got)-1:] {
			if err := answer.Apply(*c.Change); err != nil {
				t.Fatal(err)
			}
		}
		late = append(late, answer)
		next := *lab.Snap
		next.Config = late[i]
		lab.Snap = &next
	}
	if got, want := strings.Join(seen, " "), "7% 10% 15% 20% 25% 30%"; got != want {
		t.Errorf("seen %q, want %q", got, want)
	}
}

func TestPastedTextIsNoKeys(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 80, 24, Options{})
	paste := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("esuq.\nundo"), Paste: true}
	_, cmd := m.Update(paste)
	settle(m.Shell, cmd)
	if len(lab.Got) > 0 || m.overlay != nil || m.line.Open || m.quitting {
		t.Errorf("pasted text was obeyed: %q", spell(lab.Got))
	}
	press(m, "/")
	m.Update(paste)
	if got := m.line.Text(); got != "esuq. undo" {
		t.Errorf("pasted into the line: %q", got)
	}
}

func TestBusyLabLosesNoChange(t *testing.T) {
	lab := labtest.NewLab()
	lab.Full = true
	m := screen(lab, 160, 48, Options{})
	press(m, "e", "down", "enter")
	press(m, "space")
	if !strings.Contains(m.View(), "press again") {
		t.Error("no notice that the lab is busy")
	}
	lab.Full = false
	press(m)
	if got := spell(lab.Got); got != "encoder rotor" {
		t.Errorf("sent %q once there was room, want the encoder", got)
	}
}

func TestErrorsAreShownInTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"losz 5%":      "did you mean loss?",
		"loss 140%":    `got "140%"; expected`, // the line has the key
		"shadow rotoz": `unknown encoder "rotoz"; did you mean rotor?`,
		"speed 900":    `got "900"; expected a speed from 0.1 to 64`,
		"goto x":       `got "x"; expected the number of a packet`,
		"step 0":       "1 to 10000",
		"seek never":   "00:30",
		"quit smoking": "expected: quit",
		"down losz 5%": "did you mean loss?",
		"playout -5s":  "85ms",

		"interpolation cubic": "linear, hermite",
		"every 0":             "1 to 60",

		"frobnicate":    `unknown command "frobnicate"; ? lists`,
		"filter late":   `unknown filter "late"; expected all, trouble`,
		"filter failed": `unknown filter "failed"; expected all, trouble`,
		"set loss":      "expected: set KEY=VALUE",
		"set los=5%":    "did you mean loss?",

		"netem delaz 50ms":         "did you mean delay?",
		"netem delay 50ms loss x":  "random, state or gemodel",
		"up netem delay":           `nothing after "delay"`,
		"loss gilbert-eliott p=1%": "did you mean gilbert-elliott?",
		"loss gilbert-elliott x=1": "expected one of p, r, h, k",
		"param":                    "param NAME VALUE",
	} {
		lab := labtest.NewLab()
		m := screen(lab, 120, 40, Options{})
		press(m, line(text)...)
		if !m.line.Open || !strings.Contains(m.line.Err, want) || len(lab.Got) != 0 {
			t.Errorf("%q: open %v, error %q, sent %q; want an error with %q", text, m.line.Open, m.line.Err, spell(lab.Got), want)
		}
		press(m, "/", "undo", "enter") // begins another command
		if m.line.Open || spell(lab.Got) != "undo" {
			t.Errorf("%q: could not be mended", text)
		}
	}
}

// TestRateWithoutUnit checks that a rate without a unit has the unit that its control and the
// command line show.
func TestRateWithoutUnit(t *testing.T) {
	lab := labtest.NewEcho()
	m := screen(lab, 120, 40, Options{})
	press(m, line("rate 5mbit")...)
	press(m, "/", "rate 8")
	if !strings.Contains(m.View(), "a number without a unit is in mbit") {
		t.Errorf("the unit of 8 is not shown:\n%s", m.View())
	}
	press(m, "enter")
	if got := spell(lab.Got); got != "rate 5mbit; rate 8mbit" {
		t.Errorf("sent %q", got)
	}
}

// TestErrorIsShownOnce checks that a value that neither link accepts gives a single error.
func TestErrorIsShownOnce(t *testing.T) {
	m := screen(labtest.NewLab(), 160, 48, Options{})
	press(m, line("loss 500%")...)
	if n := strings.Count(m.line.Err, "500%"); n != 1 {
		t.Errorf("%d answers: %q", n, m.line.Err)
	}
}

func TestHistoryAndCompletion(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 120, 40, Options{})
	press(m, line("loss 5%")...)
	press(m, line("step 3")...)
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{"up"}, "step 3"},
		{[]string{"up", "up"}, "loss 5%"},
		{[]string{"up", "up", "up", "down"}, "loss 5%"}, // after the history come all commands,
		{[]string{"x", "up", "down"}, "x"},
		{[]string{"enc", "tab"}, "encoder "},
		{[]string{"encoder r", "tab"}, "encoder raw"},
		{[]string{"encoder r", "tab", "tab"}, "encoder relative-orientation"},
		{[]string{"encoder r", "tab", "shift+tab"}, "encoder rotor"},
		{[]string{"param ", "tab"}, "param xy_"}, // as far as all candidates agree
		{[]string{"param ", "tab", "tab"}, "param xy_small"},
		{[]string{"down la", "tab"}, "down latency "},
		{[]string{"zzz", "tab"}, "zzz"},
		{[]string{"netem ", "tab"}, "netem limit"},
		{[]string{"netem del", "tab"}, "netem delay "},
		{[]string{"netem delay 50ms 10ms dist", "tab"}, "netem delay 50ms 10ms distribution "},
		{[]string{"netem delay 50ms 10ms distribution n", "tab"}, "netem delay 50ms 10ms distribution normal "},
		{[]string{"netem delay d", "tab"}, "netem delay d"}, // a time is expected, which has no completion
		{[]string{"netem dely l", "tab"}, "netem dely l"},   // no completion after an error
		{[]string{"up netem lo", "tab"}, "up netem loss "},
		{[]string{"loss gilbert-", "tab"}, "loss gilbert-elliott "},
		{[]string{"loss gilbert-elliott r=5% p", "tab"}, "loss gilbert-elliott r=5% p="},
		{[]string{"loss gilbert-elliott p", "tab", "1%"}, "loss gilbert-elliott p=1%"},
		{[]string{"down loss peri", "tab", "e", "tab"}, "down loss periodic every="},
		{[]string{"loss 55", "backspace"}, "loss 5"},
		{[]string{"loss 55", "ctrl+w"}, "loss "},
		{[]string{"loss 5", "home", "left", "x"}, "xloss 5"},
		{[]string{"a\nb\tc\x00"}, "a b c"},
	} {
		press(m, append([]string{"/"}, c.keys...)...)
		if got := m.line.Text(); got != c.want {
			t.Errorf("%v: %q, want %q", c.keys, got, c.want)
		}
		press(m, "esc")
	}
}

// TestPalette checks the list above the command line: lines of the history first, then what matches, also in part,
// and an argument without its command.
func TestPalette(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 120, 40, Options{})
	press(m, line("loss 5%")...)
	press(m, line("enc rotor")...)
	for typed, want := range map[string][]string{ // from the line upwards
		"":         {"encoder rotor", "loss 5%"},
		"loss":     {"loss 5%", "loss"},
		"rotr":     {"encoder rotor", "shadow rotor"},
		"rel-ori":  {"encoder relative-orientation", "shadow relative-orientation"},
		"enc rotr": {"encoder rotor"},
	} {
		press(m, "/", typed)
		for n, line := range want {
			if press(m, "up"); m.line.Text() != line {
				t.Errorf("%q: choice %d is %q, want %q", typed, n+1, m.line.Text(), line)
			}
			if v := m.View(); !strings.Contains(v, "▸ "+line+" ") {
				t.Errorf("%q: choice %d is not marked:\n%s", typed, n+1, v)
			}
		}
		for range want {
			press(m, "down")
		}
		if m.line.Text() != typed {
			t.Errorf("back at %q, want %q", m.line.Text(), typed)
		}
		press(m, "esc")
	}
}

// TestAbbreviations checks that a line with abbreviated names does what the row above the line shows before enter.
func TestAbbreviations(t *testing.T) {
	for typed, want := range map[string][2]string{ // shown before enter, sent
		"encoder rotr":     {"enter: encoder rotor; now encoder relative-orientation", "encoder rotor"},
		"enc ro":           {"enter: encoder rotor; now", "encoder rotor"},
		"enc rel-ori":      {"enter: encoder relative-orientation (is set already)", "encoder relative-orientation"},
		"los 7":            {"enter: loss 7%; now down loss 5%", "loss 7%"},
		"param xy_s 7":     {"enter: xy_small 7; now encoder", `params {"xy_small":"7"}`},
		"shadow rotr":      {"enter: shadow rotor on; now shadow rotor off", "shadow rotor on"},
		"speed 3":          {"enter: speed 3: set the speed", "speed 3"}, // not 32, which begins with 3
		"pau":              {"enter: pause: stop virtual time", "pause true"},
		"resume":           {"enter: resume: continue virtual time", "pause false"},
		"re":               {"", ""}, // redo, reset, resume
		"rsm":              {"", ""}, // a command is not guessed
		"encoder r":        {"", ""}, // raw, rotor, relative-orientation
		"encoder nonsense": {"", ""},
	} {
		lab := labtest.NewLab()
		m := screen(lab, 160, 40, Options{})
		press(m, "/", typed)
		if v := m.View(); !strings.Contains(strings.ToLower(v), want[0]) || want[0] == "" && strings.Contains(v, "enter: ") {
			t.Errorf("%q does not show %q:\n%s", typed, want[0], v)
		}
		if press(m, "enter"); spell(lab.Got) != want[1] || m.line.Open != (want[1] == "") {
			t.Errorf("%q sent %q, want %q; the line is open: %v", typed, spell(lab.Got), want[1], m.line.Open)
		}
		if typed == "encoder r" && m.line.Err != `"r" may be raw, relative-orientation, rotor` {
			t.Errorf("%q gives the error %q", typed, m.line.Err)
		}
	}
}

func TestQuit(t *testing.T) {
	for _, c := range []struct {
		keys []string
		want error
	}{
		{[]string{"q", "d"}, nil}, // the run has 90 s, none of them saved
		{[]string{"q", "down", "enter"}, nil},
		{append(line("quit"), "d"), nil},
		{line("quit now"), nil},
		{line("q!"), nil},
		{[]string{"q", "ctrl+c"}, ErrInterrupted},
		{[]string{"ctrl+c"}, ErrInterrupted},
		{[]string{"/", "loss", "ctrl+c"}, ErrInterrupted},
		{[]string{"?", "ctrl+c"}, ErrInterrupted},
		{[]string{"p", "ctrl+c"}, ErrInterrupted},
	} {
		lab := labtest.NewChanged()
		m := screen(lab, 80, 24, Options{})
		m.Update(labtest.KeyMsg("right"))
		cmd := press(m, c.keys...)
		if cmd == nil || m.Err() != c.want {
			t.Errorf("%v: command %v, error %v, want %v", c.keys, cmd != nil, m.Err(), c.want)
			continue
		}
		if _, ok := cmd().(tea.QuitMsg); !ok {
			t.Errorf("%v does not quit", c.keys)
		}
		if got := spell(lab.Got); got != "encoder rotor" {
			t.Errorf("%v: the lab got %q, want the change before leaving", c.keys, got)
		}
	}
}

// TestQuitAsks checks that quitting asks only if a minute or more is unsaved.
func TestQuitAsks(t *testing.T) {
	for _, c := range []struct {
		length, saved time.Duration
		keys          []string
		quits         bool
	}{
		{90 * time.Second, 0, []string{"q"}, false},
		{90 * time.Second, 0, line("quit"), false},
		{90 * time.Second, 0, []string{"q", "q"}, false},
		{90 * time.Second, 0, []string{"q", "esc"}, false},
		{60 * time.Second, 0, []string{"q"}, true},
		{90 * time.Second, 40 * time.Second, []string{"q"}, true},
		{190 * time.Second, 40 * time.Second, []string{"q"}, false},
	} {
		lab := labtest.NewChanged()
		lab.Snap = labtest.Changed(c.length)
		lab.Snap.Saved = c.saved
		m := screen(lab, 80, 24, Options{})
		if cmd := press(m, c.keys...); (cmd != nil) != c.quits {
			t.Errorf("%v of %v saved, %v: it quits: %v", c.saved, c.length, c.keys, cmd != nil)
		}
		press(m, "esc")
		if m.overlay != nil || len(lab.Got) > 0 {
			t.Errorf("esc does not stay: the lab got %q", spell(lab.Got))
		}
	}
}

// TestQuitSaves checks that "quit save" ends the program when the report is written, and not if
// saving fails.
func TestQuitSaves(t *testing.T) {
	for _, keys := range [][]string{{"q", "s"}, {"q", "enter"}, line("wq"), line("quit save")} {
		for _, written := range []bool{true, false} {
			lab := labtest.NewChanged()
			m := screen(lab, 80, 24, Options{ReportsDir: "/reports"})
			if cmd := press(m, keys...); cmd != nil || spell(lab.Got) != "save /reports" {
				t.Fatalf("%v: it quits at once: %v; the lab got %q", keys, cmd != nil, spell(lab.Got))
			}
			next := *lab.Snap
			next.Saving = true
			lab.Snap = &next
			m.Update(room.Tick{})
			after := next
			after.Saving, after.Notice = false, engine.Notice{ID: next.Notice.ID + 1, Text: "the disk is full", Bad: true}
			if written {
				after.Saved, after.Notice = next.Now, engine.Notice{ID: next.Notice.ID + 1, Text: "saved as x"}
			}
			lab.Snap = &after
			_, cmd := m.Update(room.Tick{})
			if left := quits(cmd); left != written {
				t.Errorf("%v: written %v, it quits: %v", keys, written, left)
			}
			if !written && !strings.Contains(m.View(), "the disk is full") {
				t.Error("no notice why the program does not quit")
			}
		}
	}
}

// TestQuitSavesAgain checks "quit save" after a complete report. A failed attempt, or one
// cancelled by going back in time, must not end the program at a later save.
func TestQuitSavesAgain(t *testing.T) {
	for _, c := range []struct {
		what  string
		full  bool
		now   time.Duration // virtual time when the report is written
		quits bool
	}{
		{what: "saved already", now: 90 * time.Second, quits: true},
		{what: "the lab is busy", full: true, now: 90 * time.Second},
		{what: "it went back", now: 40 * time.Second},
	} {
		lab := labtest.NewChanged()
		lab.Snap.State, lab.Snap.Saved, lab.Full = engine.Paused, lab.Snap.Now, c.full
		m := screen(lab, 80, 24, Options{ReportsDir: "/reports"})
		press(m, line("wq")...)
		for i, want := range []bool{c.quits, false} {
			next := *lab.Snap
			next.Now, next.Saved, next.Notice = c.now, c.now, engine.Notice{ID: next.Notice.ID + 1, Text: "saved as x"}
			if i > 0 { // time continues, and s saves a report
				next.Now, next.Saved = 2*time.Minute, 2*time.Minute
			}
			lab.Snap = &next
			if _, cmd := m.Update(room.Tick{}); quits(cmd) != want {
				t.Errorf("%s: notice %d; it quits: %v", c.what, i+1, !want)
			}
			if want {
				break
			}
		}
	}
}

// quits reports whether a command ends the program.
func quits(cmd tea.Cmd) bool {
	if cmd == nil {
		return false
	}
	_, quit := cmd().(tea.QuitMsg)
	return quit
}

// TestLinesOfPagesAreExecuted checks that commands from lists of pages are executed.
func TestLinesOfPagesAreExecuted(t *testing.T) {
	m := screen(labtest.NewLab(), 80, 24, Options{})
	if cmd := m.perform(room.Request{Line: "quit now"}); !quits(cmd) {
		t.Error("the line was carried out, and its command dropped")
	}
}

// TestHomeAndEnd checks that home and end move within the list of a page, as on that of packets, and in time on a page
// without a list.
func TestHomeAndEnd(t *testing.T) {
	for page, inTime := range map[string]bool{"1": true, "2": false, "3": false, "4": true, "5": false} {
		m := screen(labtest.NewWorld(), 160, 48, Options{})
		if press(m, page, "home"); m.lab.Past.Active != inTime {
			t.Errorf("home on page %s: looking back %v, want %v", page, m.lab.Past.Active, inTime)
		}
	}
	for _, keys := range [][2]string{{"home", "end"}, {"g", "G"}} {
		lab := labtest.NewPackets()
		m := screen(lab, 160, 48, Options{})
		press(m, "3", keys[0])
		all := lab.Records()
		at := func() uint64 { return chosenPacket(&lab.Lab) }
		if m.lab.Past.Active || at() != all[0].Seq {
			t.Errorf("%s: looking back %v, packet %d", keys[0], m.lab.Past.Active, at())
		}
		if press(m, keys[1]); at() != all[len(all)-1].Seq {
			t.Errorf("%s: packet %d", keys[1], at())
		}
	}
}

// chosenPacket returns the packet that the lab was last requested to open, 0 if none.
func chosenPacket(lab *labtest.Lab) uint64 {
	for _, c := range slices.Backward(lab.Got) {
		if c.Open != nil {
			return c.Open.Seq
		}
	}
	return 0
}

// TestViKeys checks that the letters of vi act as arrows.
func TestViKeys(t *testing.T) {
	for _, c := range [][2][]string{
		{{"j", "j", "j", "j", "l"}, {"down", "down", "down", "down", "right"}},
		{{"j", "j", "j", "j", "j", "k", "l", "l", "h"}, {"down", "down", "down", "down", "right"}},
		{{"G", "l"}, {"end of the list"}},
		{{"ctrl+d", "ctrl+u", "j", "j", "j", "j", "l"}, {"down", "down", "down", "down", "right"}},
	} {
		var sent [2]string
		for i, keys := range c {
			lab := labtest.NewLab()
			if keys[0] == "end of the list" {
				keys = append(slices.Repeat([]string{"down"}, 40), "right")
			}
			press(screen(lab, 160, 48, Options{}), keys...)
			sent[i] = spell(lab.Got)
		}
		if sent[0] != sent[1] || sent[0] == "" {
			t.Errorf("%v sent %q, want %q", c[0], sent[0], sent[1])
		}
	}
	lab := labtest.NewLab()
	m := screen(lab, 160, 48, Options{})
	press(m, "u", "ctrl+r")
	if got := spell(lab.Got); got != "undo; redo" {
		t.Errorf("sent %q", got)
	}
}

// TestFilteredListOfEncoders checks that space and v act in a filtered list as in the whole list,
// and that they are typed while the filter is.
func TestFilteredListOfEncoders(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 160, 48, Options{})
	press(m, "e", "/", "ro", "tab", "v")
	if got := spell(lab.Got); got != "shadow rotor on" {
		t.Errorf("v sent %q", got)
	}
	if press(m, "space"); spell(lab.Got) != "shadow rotor on; encoder rotor" {
		t.Errorf("space: %q", spell(lab.Got))
	}
	lab = labtest.NewLab()
	m = screen(lab, 160, 48, Options{})
	press(m, "e", "/", "e", "v", "e") // every, in a summary
	if spell(lab.Got) != "" || !strings.Contains(m.View(), "/eve_ ") {
		t.Errorf("v is not typed: %q", spell(lab.Got))
	}
	if press(m, "ctrl+u", "r", "o", "enter"); spell(lab.Got) != "encoder rotor" {
		t.Errorf("filtered again: %q", spell(lab.Got))
	}
}

// TestFooterNamesRealKeys checks that every key in the footer has a binding.
func TestFooterNamesRealKeys(t *testing.T) {
	m := screen(labtest.NewLab(), 200, 50, Options{})
	footer := m.View()[strings.LastIndexByte(m.View(), '\n'):]
	for _, b := range m.activeKeys() {
		if b.Brief != "" && (b.Idle == nil || !b.Idle()) && !strings.Contains(footer, b.Label+" "+b.Brief) {
			t.Errorf("footer %q lacks %q", footer, b.Label)
		}
	}
}

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

func TestKeysMakeCommands(t *testing.T) {
	const loss = "down down down down" // from the encoder past its two parameters and the profile
	for _, c := range []struct {
		keys string
		want string
	}{
		{"space", "toggle"},
		{".", "step 1"},
		{"u", "undo"},
		{"s", "save /reports"},
		{"m", "mark 1"},
		{"++", "speed 2; speed 4"}, // two keys in one message
		{":undo enter", "undo"},
		{"-", "speed 0.5"},
		{"e down enter", "encoder rotor"},
		{"e up enter", "encoder raw"},
		{"down right", `params {"xy_small":7}`},
		{loss + " right", "loss 7%"},
		{loss + " ]", "loss 20%"},
		{loss + " left left", "loss 2%"},
		{loss + " right left", "loss 5%"},
		{loss + " up enter esc", ""},
		{loss + " enter 12% enter", "loss 12%"},
		{"enter / r a w enter", "encoder raw"},
		{"p esc", ""},
		{"tab left right up down", ""}, // the arrows only move the selection in the list of packets
		{"/loss 5%", "loss 5%"},
		{"/set loss=5%", "loss 5%"},
		{"/loss 5", "loss 5%"}, // a bare number is in the unit of the control
		{"/latency 70", "latency 70ms"},
		{"/latency 70±10", "latency 70ms±10ms"},
		{"/down jitter 2.5", "down jitter 2.5ms"},
		{"/playout 120", "playout 120ms"},
		{"/burst 3", "burst 3"},
		{"/rate 80", "rate 80kbit"}, // the rate is off, so the unit is that of its first step
		{"/queue 16", "queue 16KB"},
		{"/loss gilbert-elliott p=1 r=20", "loss gilbert-elliott p=1% r=20%"},
		{"/down loss 20%", "down loss 20%"},
		{"/seek 01:30", "seek 1m30s"},
		{"/speed max", "speed 0"},
		{"/step 12", "step 12"},
		{"/pause", "pause true"},
		{"/save here and there", "save here and there"},
		{"/param xy_small 5", `params {"xy_small":"5"}`},
		{"/every 6", "every 6"},
		{"/interpolation Hermite", "interpolation hermite"},
		{"/mark the knock", "the knock"},
		{"d " + loss + " right", "down loss 7%"},
		{"d d " + loss + " right", "up loss 0.1%"},
		{"d d d " + loss + " right", "loss 7%"},
		{"d esc " + loss + " right", "loss 7%"},
		{"d d " + loss + " enter 3% enter", "up loss 3%"},
		{"/netem delay 50ms 10ms loss 1%", "netem delay 50ms 10ms loss 1%"},
		{"/netem off", "netem off"},
		{"/up netem tc qdisc add dev eth0 root netem loss 1%", "up netem tc qdisc add dev eth0 root netem loss 1%"},
		{"/loss 140%", ""},
		{"/loss", ""},
		{"/ enter", ""},
		{"/help", ""},
	} {
		lab := labtest.NewLab()
		m := screen(lab, 160, 48, Options{ReportsDir: "/reports"})
		press(m, c.keys)
		checkSent(t, lab.Got, c.want)
	}
}

func TestAdjustingSetsBothDirections(t *testing.T) {
	lab := labtest.NewLab()
	press(screen(lab, 160, 48, Options{}), "down down down down right")
	if ch := lab.Got[0].Change; ch.Text("down.loss") != "7%" || ch.Text("up.loss") != "7%" {
		t.Errorf("it sent %v", ch)
	}
}

func TestKeyShowsInTheNextRedraw(t *testing.T) {
	lab := labtest.NewLab()
	m := large(lab)
	press(m, "e down enter") // the snapshot of the lab has not changed yet
	if head := header(m); !strings.Contains(head, "rotor") {
		t.Errorf("header is %q", head)
	}
	tick(m, askLasts+1)
	if head := header(m); !strings.Contains(head, "relative-orientation") {
		t.Errorf("a change that never came is still shown: %q", head)
	}
}

func TestHeldKeyMovesSteadily(t *testing.T) {
	// The lab applies changes three ticks late; the value must still increase step by step.
	lab := labtest.NewLab()
	m := large(lab)
	press(m, "down down down down")
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
	m := screen(lab, 80, 24)
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
	m := large(lab)
	press(m, "e down enter")
	press(m, "space")
	checkShown(t, m, "press again")
	lab.Full = false
	press(m)
	checkSent(t, lab.Got, "encoder rotor")
}

func TestErrorsAreShownInTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"losz 5%":      "did you mean loss?",
		"loss 140%":    `got "140%"; expected`, // the line has the key
		"shadow rotoz": `unknown encoder "rotoz"; did you mean rotor?`,
		"shadow off":   "expected: shadow [off] NAME", "shadow off raw": "there are no shadows", "shadow raw x": "NAME=VALUE",
		"shadow raw x=1": "no params", "shadow rotor =": "NAME=VALUE", "shadow off \u202eraw": "there are no shadows",
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
		m := screen(lab, 120, 40)
		press(m, "/"+text)
		if !m.line.Open || !strings.Contains(m.line.Err, want) || len(lab.Got) != 0 {
			t.Errorf("%q: open %v, error %q, sent %q; want an error with %q", text, m.line.Open, m.line.Err, spell(lab.Got), want)
		}
		press(m, "/ undo enter") // begins another command
		if m.line.Open || spell(lab.Got) != "undo" {
			t.Errorf("%q: could not be mended", text)
		}
	}
}

// TestRateWithoutUnit checks that a rate without a unit has the unit that its control and the
// command line show.
func TestRateWithoutUnit(t *testing.T) {
	lab := labtest.NewEcho()
	m := screen(lab, 120, 40)
	press(m, "/rate 5mbit")
	press(m, "/ rate space 8")
	checkShown(t, m, "a number without a unit is in mbit")
	press(m, "enter")
	checkSent(t, lab.Got, "rate 5mbit; rate 8mbit")
}

// TestErrorIsShownOnce checks that a value that neither link accepts gives a single error.
func TestErrorIsShownOnce(t *testing.T) {
	m := large(labtest.NewLab())
	press(m, "/loss 500%")
	if n := strings.Count(m.line.Err, "500%"); n != 1 {
		t.Errorf("%d answers: %q", n, m.line.Err)
	}
}

func TestHistoryAndCompletion(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 120, 40)
	press(m, "/loss 5%")
	press(m, "/step 3")
	for _, c := range []struct{ typed, keys, want string }{
		{"", "up", "step 3"},
		{"", "up up", "loss 5%"},
		{"", "up up up down", "loss 5%"}, // after the history come all commands,
		{"x", "up down", "x"},
		{"enc", "tab", "encoder "},
		{"encoder r", "tab", "encoder raw"},
		{"encoder r", "tab tab", "encoder relative-orientation"},
		{"encoder r", "tab shift+tab", "encoder rotor"},
		{"param ", "tab", "param xy_"}, // as far as all candidates agree
		{"param ", "tab tab", "param xy_small"},
		{"down la", "tab", "down latency "},
		{"zzz", "tab", "zzz"},
		{"netem ", "tab", "netem limit"},
		{"netem del", "tab", "netem delay "},
		{"netem delay 50ms 10ms dist", "tab", "netem delay 50ms 10ms distribution "},
		{"netem delay 50ms 10ms distribution n", "tab", "netem delay 50ms 10ms distribution normal "},
		{"netem delay d", "tab", "netem delay d"}, // a time is expected, which has no completion
		{"netem dely l", "tab", "netem dely l"},   // no completion after an error
		{"up netem lo", "tab", "up netem loss "},
		{"loss gilbert-", "tab", "loss gilbert-elliott "},
		{"loss gilbert-elliott r=5% p", "tab", "loss gilbert-elliott r=5% p="},
		{"loss gilbert-elliott p", "tab 1%", "loss gilbert-elliott p=1%"},
		{"down loss peri", "tab e tab", "down loss periodic every="},
		{"loss 55", "backspace", "loss 5"},
		{"loss 55", "ctrl+w", "loss "},
		{"loss 5", "home left x", "xloss 5"},
		{"a\nb\tc\x00", "", "a b c"},
	} {
		press(m, "/")
		pressOnce(m, c.typed)
		press(m, c.keys)
		if got := m.line.Text(); got != c.want {
			t.Errorf("%q %s: %q, want %q", c.typed, c.keys, got, c.want)
		}
		press(m, "esc")
	}
}

// TestPalette checks the list above the command line: lines of the history first, then what matches, also in part,
// and an argument without its command.
func TestPalette(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 120, 40)
	press(m, "/loss 5%")
	press(m, "/enc rotor")
	for typed, want := range map[string][]string{ // from the line upwards
		"":         {"encoder rotor", "loss 5%"},
		"loss":     {"loss 5%", "loss"},
		"rotr":     {"encoder rotor", "shadow rotor"},
		"rel-ori":  {"encoder relative-orientation", "shadow relative-orientation"},
		"enc rotr": {"encoder rotor"},
	} {
		press(m, "/")
		pressOnce(m, typed)
		for n, line := range want {
			if press(m, "up"); m.line.Text() != line {
				t.Errorf("%q: choice %d is %q, want %q", typed, n+1, m.line.Text(), line)
			}
			checkShown(t, m, "▸ "+line+" ")
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
		m := screen(lab, 160, 40)
		press(m, "/")
		pressOnce(m, typed)
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
		keys string
		want error
	}{
		{"q d", nil}, // the run has 90 s, none of them saved
		{"q down enter", nil},
		{"/quit; d", nil},
		{"/quit now", nil},
		{"/q!", nil},
		{"q ctrl+c", ErrInterrupted},
		{"ctrl+c", ErrInterrupted},
		{"/ loss ctrl+c", ErrInterrupted},
		{"? ctrl+c", ErrInterrupted},
		{"p ctrl+c", ErrInterrupted},
	} {
		lab := labtest.NewChanged()
		m := screen(lab, 80, 24)
		m.Update(labtest.KeyMsg("right"))
		cmd := press(m, c.keys)
		if cmd == nil || m.Err() != c.want {
			t.Errorf("%v: command %v, error %v, want %v", c.keys, cmd != nil, m.Err(), c.want)
			continue
		}
		if _, ok := cmd().(tea.QuitMsg); !ok {
			t.Errorf("%v does not quit", c.keys)
		}
		checkSent(t, lab.Got, "encoder rotor")
	}
}

// TestQuitAsks checks that quitting asks only if a minute or more is unsaved.
func TestQuitAsks(t *testing.T) {
	for _, c := range []struct {
		length, saved time.Duration
		keys          string
		quits         bool
	}{
		{90 * time.Second, 0, "q", false},
		{90 * time.Second, 0, "/quit", false},
		{90 * time.Second, 0, "q q", false},
		{90 * time.Second, 0, "q esc", false},
		{60 * time.Second, 0, "q", true},
		{90 * time.Second, 40 * time.Second, "q", true},
		{190 * time.Second, 40 * time.Second, "q", false},
	} {
		lab := labtest.NewChanged()
		lab.Snap = labtest.Changed(c.length)
		lab.Snap.Saved = c.saved
		m := screen(lab, 80, 24)
		if cmd := press(m, c.keys); (cmd != nil) != c.quits {
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
	for _, keys := range []string{"q s", "q enter", "/wq", "/quit save"} {
		for _, written := range []bool{true, false} {
			lab := labtest.NewChanged()
			m := screen(lab, 80, 24, Options{ReportsDir: "/reports"})
			if cmd := press(m, keys); cmd != nil || spell(lab.Got) != "save /reports" {
				t.Fatalf("%v: it quits at once: %v; the lab got %q", keys, cmd != nil, spell(lab.Got))
			}
			next := *lab.Snap
			next.Saving = true
			lab.Snap = &next
			tick(m, 1)
			checkShown(t, m, "saving a report")
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
		press(m, "/wq")
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
	m := screen(labtest.NewLab(), 80, 24)
	if cmd := m.perform(room.Request{Line: "quit now"}); !quits(cmd) {
		t.Error("the line was carried out, and its command dropped")
	}
}

// TestHomeAndEnd checks that home and end move within the list of a page, as on that of packets, and in time on a page
// without a list.
func TestHomeAndEnd(t *testing.T) {
	for page, inTime := range map[string]bool{"1": true, "2": false, "3": false, "4": true, "5": false} {
		m := large(labtest.NewWorld())
		if press(m, page, "home"); m.lab.Past.Active != inTime {
			t.Errorf("home on page %s: looking back %v, want %v", page, m.lab.Past.Active, inTime)
		}
	}
	for _, keys := range [][2]string{{"home", "end"}, {"g", "G"}} {
		lab := labtest.NewPackets()
		m := large(lab)
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
	for _, c := range [][2]string{
		{"j j j j l", "down down down down right"},
		{"j j j j j k l l h", "down down down down right"},
		{"G l", strings.Repeat("down ", 40) + "right"},
		{"ctrl+d ctrl+u j j j j l", "down down down down right"},
	} {
		var sent [2]string
		for i, keys := range c {
			lab := labtest.NewLab()
			press(large(lab), keys)
			sent[i] = spell(lab.Got)
		}
		if sent[0] != sent[1] || sent[0] == "" {
			t.Errorf("%v sent %q, want %q", c[0], sent[0], sent[1])
		}
	}
	lab := labtest.NewLab()
	m := large(lab)
	press(m, "u ctrl+r")
	checkSent(t, lab.Got, "undo; redo")
}

// TestFilteredListOfEncoders checks that space and v act in a filtered list as in the whole list,
// and that they are typed while the filter is.
func TestFilteredListOfEncoders(t *testing.T) {
	lab := labtest.NewLab()
	m := large(lab)
	press(m, "e / ro tab v")
	checkSent(t, lab.Got, "shadow rotor on")
	press(m, "space")
	checkSent(t, lab.Got, "shadow rotor on; encoder rotor")
	lab = labtest.NewLab()
	m = large(lab)
	press(m, "e / e v e") // every, in a summary
	if spell(lab.Got) != "" || !strings.Contains(m.View(), "/eve_ ") {
		t.Errorf("v is not typed: %q", spell(lab.Got))
	}
	press(m, "ctrl+u r o enter")
	checkSent(t, lab.Got, "encoder rotor")
}

// TestFooterNamesRealKeys checks that every key in the footer has a binding.
func TestFooterNamesRealKeys(t *testing.T) {
	m := screen(labtest.NewLab(), 200, 50)
	footer := m.View()[strings.LastIndexByte(m.View(), '\n'):]
	for _, b := range m.activeKeys() {
		if b.Brief != "" && (b.Idle == nil || !b.Idle()) && !strings.Contains(footer, b.Label+" "+b.Brief) {
			t.Errorf("footer %q lacks %q", footer, b.Label)
		}
	}
}

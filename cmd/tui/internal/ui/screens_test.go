package ui

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/internal/golden"
)

// screenState is a page, or a box over it, with data of one kind.
type screenState struct {
	name string
	open func(w, h int, opt Options) *dashboard
	keys string // pressed after open, separated by blanks
	want string // texts on the screen of 160 x 48, separated by "; "; "" means that it is compared with a golden file
}

// on returns the function that opens a dashboard of a new lab.
func on[L room.Lab](newLab func() L) func(w, h int, opt Options) *dashboard {
	return func(w, h int, opt Options) *dashboard { return screen(newLab(), w, h, opt) }
}

// ofFile is on for a lab that sends a file, see newFile.
func ofFile(done float64) func(w, h int, opt Options) *dashboard {
	return func(w, h int, opt Options) *dashboard { return fileScreen(newFile(done), w, h, opt) }
}

// newStarved returns a lab whose playout delay is shorter than the jitter.
func newStarved() *labtest.Lab {
	return &labtest.Lab{Snap: labtest.Run("receiver.playout_delay = \"20ms\"\nlink.latency = \"50ms\"\nlink.jitter = \"20ms\"\n", 5*time.Second)}
}

// screenStates returns states of every page, and of the boxes over pages.
func screenStates(t *testing.T) []screenState {
	reports := labtest.WriteReports(t)
	lab := on(labtest.NewLab)
	packets := on(labtest.NewPackets)
	shadows := on(func() *labtest.Lab { return &labtest.Lab{Snap: labtest.FourShadows()} })
	withReports := func(w, h int, opt Options) *dashboard {
		opt.ReportsDir = reports
		return reportScreen(labtest.NewLab(), w, h, opt)
	}
	return []screenState{
		{"live", on(labtest.NewChanged), "", ""},
		{"live with shadows", shadows, "d d", "▸ 4 shadows; ○ B 11.1; link up only to the sender"},
		{"live, remote", on(newRemote), "", "to 192.0.2.7:27970; round trip, median, ms; 84.9; ~ 295 unknown"},
		{"bits", on(func() room.Lab { return labtest.NewBits(true) }), "2 down", ""},
		{"bits of many fields", on(labtest.NewCalls), "2 down enter left", "only padding, bits per call; z base"},
		{"packets", packets, "3 up", ""},
		{"packets, filtered", packets, "3 f left", "filter trouble 369 of 5401; DROPPED: loss"},
		{"packets, remote", on(newRemote), "3", "no problem yet; arrows"},
		{"world", on(labtest.NewWorld), "4", ""},
		{"world, errors", on(labtest.NewWorld), "4 c ] ]", "max 32.4 mm"},
		{"world of a recording", lab, "4", "Sender 901 cubes"},
		{"budgets", on(newBudgets), "4 c", ""},
		{"priorities", on(newPriorities), "4", "Error by cube; Age by cube; Priorities"},
		{"half a world", on(newHalfWorld), "4 c", "Position error"},
		{"shown", on(labtest.NewCalls), "4", ""},
		{"patch", ofFile(0.6), "", "MAKING PATCH; computing the patch, 60 %; nothing sent yet"},
		{"patch, begun", ofFile(0), "", "computing the patch, 0 %"},
		{"patch, almost done", ofFile(0.99), "", "computing the patch, 99 %"},
		{"file, begun", ofFile(1.01), "", "0 of 78 blocks"},
		{"file", ofFile(3), "", ""},
		{"file, received", ofFile(9), "", "whole-zstd took 4.41 s, 3.1 times as long, over the same link with the same losses"},
		{"compare", shadows, "5", ""},
		{"compare with parameters", on(func() room.Lab { return &labtest.Lab{Snap: tuned()} }), "5 right right", "g…s=2 o…l=4 211.9"},
		{"compare, remote", on(newRemote), "5", "no shadows over a network"},
		{"compare, refused", on(func() room.Lab { return &labtest.Lab{Snap: labtest.RefusingSnapshot()} }), "5", "packet of 70000 bytes does not fit"},
		{"compare without shadows", on(labtest.NewChanged), "5", "figures since 00:47.0; v adds a shadow; Changes active encoder, before → after"},
		{"report", withReports, "down down down down", ""},
		{"report, unreadable", withReports, "down", "was saved by another version of Wirelab, with format 4"},
		{"transport", on(newTransportLab), "6", ""},
		{"transport, explained", on(newTransportLab), "6 x", "Limited by: the link; /down rate 1000kbit"},
		{"crowd", on(func() room.Lab { return newCrowdLab(200) }), "right right", ""},
		{"a client", on(func() room.Lab { return newCrowdLab(40) }), "enter", "Packet 5063"},
		{"a client without pages", on(func() room.Lab { return lonelyClient() }), "", "Packets of client 10"},
		{"past", on(labtest.NewEcho), "m b b <", ""},
		{"past packets", on(labtest.NewEcho), "< 3", "at 01:29.0"},
		{"first step of the tour", on(labtest.NewEcho), "/tour", "Tour 1 of 8: Quantise; now encoder raw; in 4 s: encoder quantized"},
		{"tour", on(labtest.NewEcho), "/tour; enter enter enter enter enter", ""},
		{"last step of the tour", on(labtest.NewEcho), "/tour;" + strings.Repeat(" enter", 7),
			"Tour 8 of 8: Send rate; now down rate 500kbit; in 4 s: down rate 50kbit"},

		{"help", lab, "4 ?", ""},
		{"encoders", lab, "e tab down 9 9 enter", ""},
		{"problem", packets, "x", ""},
		{"starved", on(newStarved), "/filter late; x", "filter late; ● ok, late 1; starved display; 54/120 frames; 54 of 120 frames: 58 snapshots late; /playout 57ms would have been"},
		{"starved, opened", on(newStarved), "x enter", "Packet 177"},
		{"profiles", lab, "p", "source: Wirelab"},
		{"no profiles", lab, "p / x y z", "/xyz_; no match"},
		{"quit", on(labtest.NewChanged), "q", "This run of 01:30.0 is not saved.; s save and quit"},
		{"command", lab, "/ l o", ""},
		{"long command", lab, "/ " + strings.Repeat("latency50ms", 40), "latency50mslate_"},
		{"wrong command", lab, "/losz 5%", "did you mean loss?"},
		{"completion", lab, "/ tab tab", "▸ shadow [off] NAME"},
	}
}

// start returns the dashboard of the state after all that it does in the background, without a notice.
func (s *screenState) start(w, h int, opt Options) *dashboard {
	m := s.open(w, h, opt)
	press(m, s.keys)
	for range 8 {
		redraw(m)
	}
	m.lab.Dismiss()
	tick(m, 1)
	return m
}

// Times in ticks after which notices and pending settings expire.
const noteLasts, noteFresh, askLasts = 120, 20, 20

// compareGolden compares a screen with testdata/name.golden.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	golden.Compare(t, filepath.Join("testdata", name+".golden"), got+"\n")
}

// TestScreens compares each state with golden files of two sizes, or looks for the text that matters.
func TestScreens(t *testing.T) {
	for _, s := range screenStates(t) {
		view := s.start(160, 48, Options{}).View()
		if s.want == "" {
			compareGolden(t, s.name+"-160x48", view)
			compareGolden(t, s.name+"-80x24", s.start(80, 24, Options{}).View())
			continue
		}
		words := oneLine(view)
		for _, want := range strings.Split(s.want, "; ") {
			if !strings.Contains(words, want) {
				t.Errorf("%s: no %q:\n%s", s.name, want, view)
			}
		}
	}
	shadows := screenState{open: on(func() room.Lab { return &labtest.Lab{Snap: labtest.FourShadows()} })}
	compareGolden(t, "ascii-160x48", shadows.start(160, 48, Options{ASCII: true}).View())
	for _, theme := range look.SchemeNames()[1:] { // with escape sequences
		m := screen(labtest.NewLab(), 80, 24, Options{Renderer: labtest.ColourRenderer(), Theme: theme})
		compareGolden(t, "theme-"+theme+"-80x24", m.View())
	}
}

// TestSmallTerminal checks that terminals that are too small for pages show why, and the question of q.
func TestSmallTerminal(t *testing.T) {
	m := screen(labtest.NewChanged(), 40, 10)
	for key, want := range map[string]string{"1": "Wirelab needs a terminal of 60 x 18 or more", "q": "This run of 01:30.0 is not saved.",
		"e": "this one is 40 x 10. Make it larger, or press q to quit."} {
		m.overlay = nil
		press(m, key)
		if words := oneLine(m.View()); !strings.Contains(words, want) || strings.Contains(words, "swap") {
			t.Errorf("after %s: no %q:\n%s", key, want, m.View())
		}
	}
}

// TestLayout checks the layout of each state, see labtest.CheckLayout. The next pane is shown before each size, because
// small screens show one at a time.
func TestLayout(t *testing.T) {
	for i, s := range screenStates(t) {
		t.Run(s.name, func(t *testing.T) {
			for _, ascii := range []bool{false, true} {
				opt := Options{Renderer: labtest.ColourRenderer(), ASCII: ascii}
				if !ascii {
					opt.Picture = widePicture
				}
				m := s.start(160, 48, opt)
				hasBox := m.overlay != nil || m.line.Open
				labtest.CheckLayout(t, uint64(i), ascii, func(w, h int) (view string, isPage bool) {
					if !hasBox {
						press(m, "tab")
						m.lab.Dismiss()
					}
					m.Update(tea.WindowSizeMsg{Width: w, Height: h})
					return m.View(), !hasBox && !m.tooSmall()
				})
			}
		})
	}
}

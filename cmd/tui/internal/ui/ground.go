package ui

import (
	"bytes"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	_ "a.wirelab/ahead" // else bubbletea asks too
)

// ask is what a terminal is asked for: the colour of its ground, and, as every terminal
// answers that, where the cursor is.
const ask = "\x1b]11;?\x1b\\\x1b[6n"

// groundMsg says whether the ground of the terminal is dark.
type groundMsg struct{ dark bool }

// patientTicks is for how many ticks nothing is drawn while the terminal has not answered:
// longer than an answer takes over a line of 150 ms. One that comes later is welcome too.
const patientTicks = 4

// answers reads the keyboard without the answers of the terminal, which it passes to report.
// Everything that was typed before, between and after the answers is returned.
type answers struct {
	*os.File
	report   func(dark bool)
	due      atomic.Bool
	reported bool
	rest     []byte // the beginning of an answer
}

var (
	groundAnswer = regexp.MustCompile(`\x1b\]11;rgba?:([0-9a-fA-F]+)/([0-9a-fA-F]+)/([0-9a-fA-F]+)[^\x07\x1b]*(\x07|\x1b\\)`)
	placeAnswer  = regexp.MustCompile(`\x1b\[[0-9]+;[0-9]+R`)
	halfAnswer   = regexp.MustCompile(`\x1b(\][^\x07\x1b]*\x1b?|\[[0-9;]*)$`)
)

// maxAnswer bounds what is taken for the beginning of an answer.
const maxAnswer = 64

// Read reads keys.
func (a *answers) Read(p []byte) (int, error) {
	if !a.due.Load() || len(p) <= maxAnswer {
		return a.File.Read(p)
	}
	n, err := a.File.Read(p[:len(p)-len(a.rest)])
	got := a.take(append(a.rest, p[:max(n, 0)]...))
	return copy(p, got), err
}

// take takes answers out of what was read, and keeps back the beginning of one.
func (a *answers) take(got []byte) []byte {
	got, a.rest = bytes.Clone(got), nil
	if m := groundAnswer.FindSubmatchIndex(got); m != nil {
		a.reported = true
		a.report(isDark(string(got[m[2]:m[3]]), string(got[m[4]:m[5]]), string(got[m[6]:m[7]])))
		got = append(got[:m[0]], got[m[1]:]...)
	}
	if m := placeAnswer.FindIndex(got); m != nil { // the last of the answers
		a.due.Store(false)
		if !a.reported {
			a.report(darkByName())
		}
		return append(got[:m[0]], got[m[1]:]...)
	}
	if m := halfAnswer.FindIndex(got); m != nil && len(got)-m[0] < maxAnswer {
		got, a.rest = got[:m[0]:m[0]], got[m[0]:]
	}
	return got
}

// isDark reports whether a colour of hexadecimal digits is dark.
func isDark(r, g, b string) bool {
	part := func(s string) float64 {
		v, _ := strconv.ParseUint(s, 16, 64)
		return float64(v) / float64(uint64(1)<<(4*min(len(s), 15))-1)
	}
	return 0.299*part(r)+0.587*part(g)+0.114*part(b) < 0.5
}

// darkByName is what the environment says of the ground of a terminal that does not.
func darkByName() bool {
	parts := strings.Split(os.Getenv("COLORFGBG"), ";")
	n, err := strconv.Atoi(parts[len(parts)-1])
	return len(parts) < 2 || err != nil || n < 7 || n == 8
}

// canQuery reports whether to query the terminal: not if its background makes no difference, nor
// if several terminals would answer.
func canQuery(r *lipgloss.Renderer) bool {
	term := os.Getenv("TERM")
	for _, several := range []string{"screen", "tmux", "dumb"} {
		if strings.HasPrefix(term, several) {
			return false
		}
	}
	return runtime.GOOS != "windows" && r.ColorProfile() != termenv.Ascii
}

// patience is how long the first picture waits for the terminal's answer.
type patience struct{ ticks int }

// tick is a beat; it reports whether the last of them has passed.
func (p *patience) tick() bool {
	p.ticks = max(p.ticks-1, -1)
	return p.ticks == 0
}

package ui

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"wirelab/internal/panics"
)

// backgroundQuery queries the background colour of the terminal (OSC 11), then the position of
// the cursor (DSR 6). All terminals answer the second query, so its reply ends the wait for the
// first.
const backgroundQuery = "\x1b]11;?\x1b\\\x1b[6n"

// backgroundMsg reports whether the background of the terminal is dark.
type backgroundMsg struct{ dark bool }

// maxWaitTicks is the number of ticks, 200 ms, for which nothing is drawn while the terminal has
// not replied. This suffices for a connection with a round trip of 150 ms. A later reply is used
// too.
const maxWaitTicks = 4

// replyFilter is the standard input without the terminal's replies to backgroundQuery, which it
// reports. Bubble Tea reads keys from it.
type replyFilter struct {
	*os.File
	report   func(dark bool)
	onPanic  func(error) // called if Read panics, because Bubble Tea does not recover panics of Read
	expected atomic.Bool // whether a reply is still expected
	reported bool        // whether the colour of the background was reported
	partial  []byte      // the beginning of an incomplete reply
}

// The replies to backgroundQuery.
var (
	// The background colour: red, green and blue, each as 1 to 4 hexadecimal digits.
	backgroundReply = regexp.MustCompile(`\x1b\]11;rgba?:([0-9a-fA-F]+)/([0-9a-fA-F]+)/([0-9a-fA-F]+)[^\x07\x1b]*(\x07|\x1b\\)`)
	// The position of the cursor: row and column.
	cursorReply = regexp.MustCompile(`\x1b\[[0-9]+;[0-9]+R`)
	// The beginning of either reply at the end of the input.
	partialReply = regexp.MustCompile(`\x1b(\][^\x07\x1b]*\x1b?|\[[0-9;]*)$`)
)

// maxReply is the largest length of a reply in bytes. Longer input is not held back as the
// beginning of a reply.
const maxReply = 64

// Read implements io.Reader. While a reply is expected it removes replies; a buffer without room
// for one is filled without removing them.
func (f *replyFilter) Read(p []byte) (n int, err error) {
	if !f.expected.Load() || len(p) <= maxReply {
		return f.File.Read(p)
	}
	err = panics.Call(func() error {
		read, err := f.File.Read(p[:len(p)-len(f.partial)]) // leave room for f.partial, which precedes the new input
		n = copy(p, f.removeReplies(append(f.partial, p[:max(read, 0)]...)))
		return err
	})
	if errors.As(err, new(*panics.Error)) {
		f.onPanic(err)
	}
	return n, err
}

// removeReplies returns got without complete replies, and reports the background: the colour in the
// reply to the first query or, if only the second is answered, what the environment states. The
// beginning of an incomplete reply at the end of got is moved to f.partial, for the next Read.
func (f *replyFilter) removeReplies(got []byte) []byte {
	got, f.partial = bytes.Clone(got), nil
	if m := backgroundReply.FindSubmatchIndex(got); m != nil {
		red, green, blue := got[m[2]:m[3]], got[m[4]:m[5]], got[m[6]:m[7]]
		f.reported = true
		f.report(isDark(string(red), string(green), string(blue)))
		got = append(got[:m[0]], got[m[1]:]...)
	}
	if m := cursorReply.FindIndex(got); m != nil { // the reply to the second query, so none follows
		f.expected.Store(false)
		if !f.reported {
			f.report(isDarkByEnv())
		}
		return append(got[:m[0]], got[m[1]:]...)
	}
	if m := partialReply.FindIndex(got); m != nil && len(got)-m[0] < maxReply {
		got, f.partial = got[:m[0]:m[0]], got[m[0]:]
	}
	return got
}

// isDark reports whether a colour is dark, by its luma according to ITU-R BT.601. r, g and b are
// hexadecimal numbers of 1 to 4 digits, as terminals write them; all digits F is full brightness.
func isDark(r, g, b string) bool {
	component := func(s string) float64 { // brightness of one component, 0 to 1
		v, _ := strconv.ParseUint(s, 16, 64)
		// The largest value of n digits is 16^n - 1; min avoids an overflow for malformed replies.
		return float64(v) / float64(uint64(1)<<(4*min(len(s), 15))-1)
	}
	return 0.299*component(r)+0.587*component(g)+0.114*component(b) < 0.5
}

// isDarkByEnv reports whether the background is dark according to the environment variable
// COLORFGBG, which some terminals set to "foreground;background" as indices of the 16 colours. It
// returns true if the variable is not set.
func isDarkByEnv() bool {
	parts := strings.Split(os.Getenv("COLORFGBG"), ";")
	n, err := strconv.Atoi(parts[len(parts)-1])
	return len(parts) < 2 || err != nil || n < 7 || n == 8 // 7 is light grey, 8 dark grey, 9 and above are bright
}

// canQuery reports whether the terminal can be queried. It is not queried without colours, where
// the background does not matter, and under terminal multiplexers.
func canQuery(r *lipgloss.Renderer) bool {
	term := os.Getenv("TERM")
	for _, prefix := range []string{"screen", "tmux", "dumb"} {
		if strings.HasPrefix(term, prefix) {
			return false
		}
	}
	return runtime.GOOS != "windows" && r.ColorProfile() != termenv.Ascii
}

// startDelay delays the first drawing while the reply of the terminal is expected.
type startDelay struct {
	ticks int // remaining ticks of the delay; 0 or less without a delay
}

// tick counts a tick, and reports whether the delay has just ended. ticks is -1 after that, or if
// there was no delay.
func (d *startDelay) tick() bool {
	d.ticks = max(d.ticks-1, -1)
	return d.ticks == 0
}

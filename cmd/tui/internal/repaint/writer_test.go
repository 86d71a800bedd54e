package repaint

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// terminal simulates the sequences that the writer and the renderer use: cursor movement, carriage
// returns, line feeds, clearing, and styles.
type terminal struct {
	w, h, x, y int
	cells      []string
	colour     string
	flags      []string

	synchronized bool // mode 2026 is set: the terminal does not draw
}

func newTerminal(w, h int) *terminal {
	return &terminal{w: w, h: h, cells: make([]string, w*h)}
}

func (t *terminal) write(tb testing.TB, p []byte) {
	for len(p) > 0 {
		if n := sequenceLength(p); n > 0 {
			t.obey(tb, string(p[2:n-1]), p[n-1])
			p = p[n:]
			continue
		}
		r, n := utf8.DecodeRune(p)
		p = p[n:]
		switch r {
		case '\r':
			t.x = 0
		case '\n':
			t.y = min(t.y+1, t.h-1)
		default:
			if r < ' ' || t.x >= t.w {
				tb.Fatalf("rune %q at column %d of %d", r, t.x, t.w)
			}
			slices.Sort(t.flags)
			colour := t.colour
			if r == ' ' && len(t.flags) == 0 {
				colour = "" // of nothing
			}
			t.cells[t.y*t.w+t.x] = fmt.Sprint(string(r), colour, t.flags)
			t.x++
		}
	}
}

func (t *terminal) obey(tb testing.TB, args string, last byte) {
	switch last {
	case 'H':
		row, col, _ := strings.Cut(args, ";")
		y, _ := strconv.Atoi(row)
		x, _ := strconv.Atoi(col)
		t.y, t.x = max(y-1, 0), max(x-1, 0)
	case 'C':
		n, _ := strconv.Atoi(args)
		t.x += max(n, 1)
	case 'G':
		n, _ := strconv.Atoi(args)
		t.x = n - 1
	case 'K':
		for x := t.x; x < t.w; x++ {
			t.cells[t.y*t.w+x] = ""
		}
	case 'J':
		clear(t.cells[t.y*t.w+t.x:])
	case 'm':
		switch {
		case args == "0" || args == "":
			t.colour, t.flags = "", nil
		case isForeground([]byte("\x1b[" + args + "m")):
			t.colour = args
		default:
			t.flags = append(slices.DeleteFunc(t.flags, func(s string) bool { return s == args }), args)
		}
	case 'h', 'l':
		if args != "?2026" || t.synchronized == (last == 'h') {
			tb.Fatalf("a sequence %q%c while synchronized is %v", args, last, t.synchronized)
		}
		t.synchronized = last == 'h'
	default:
		tb.Fatalf("a sequence %q%c", args, last)
	}
}

// renderer writes frames as bubbletea does: unchanged lines are omitted.
type renderer struct{ shown []string }

func (r *renderer) frame(lines []string) []byte {
	b := []byte(home)
	for i, line := range lines {
		if len(r.shown) <= i || r.shown[i] != line {
			b = append(b, line...)
			if i < len(lines)-1 {
				b = append(b, '\r')
			}
		}
		if i < len(lines)-1 {
			b = append(b, '\n')
		}
	}
	r.shown = slices.Clone(lines)
	return append(b, fmt.Sprintf("\x1b[%d;H", len(lines))...)
}

// scribble returns a line of w cells in styles like those of the dashboard: colours without a reset
// between them, bold text, which needs one, and rarely wide runes.
func scribble(rng *rand.Rand, w int) string {
	var b strings.Builder
	styles := []string{"\x1b[38;5;80m", "\x1b[38;5;203m", "\x1b[1m\x1b[38;5;80m", "\x1b[7m", "\x1b[1;38;5;12m", "\x1b[31m",
		"\x1b[38;2;1;2;3m"}
	plain := true
	for x := 0; x < w; {
		if rng.IntN(6) == 0 {
			if !plain {
				b.WriteString("\x1b[0m")
			}
			if plain = rng.IntN(3) == 0; !plain {
				b.WriteString(styles[rng.IntN(len(styles))])
			}
		}
		if !plain && rng.IntN(9) == 0 {
			b.WriteString("\x1b[38;5;9m")
		}
		b.WriteString([]string{"a", "b", " ", " ", "│", "⣿", "▙"}[rng.IntN(7)])
		x++
	}
	if !plain {
		b.WriteString("\x1b[0m")
	}
	return b.String()
}

// edit changes a part of a line without wide runes, or all of it.
func edit(rng *rand.Rand, line string, w int) string {
	if rng.IntN(4) == 0 || strings.Contains(line, "\x1b") {
		return scribble(rng, w)
	}
	runes := []rune(line)
	runes[rng.IntN(len(runes))] = 'X'
	return string(runes)
}

// TestScreenIsTheSame: for any frames, with styles, clearing, other output and resizes, the terminal
// shows the same as without the writer.
func TestScreenIsTheSame(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		w, h := 1+rng.IntN(60), 1+rng.IntN(12)
		var r renderer
		var sent bytes.Buffer
		out := New(&sent)
		plain, thrifty := newTerminal(w, h), newTerminal(w, h)
		lines := make([]string, h)
		for i := range lines {
			lines[i] = scribble(rng, w)
		}
		for step := range 60 {
			var p []byte
			switch n := rng.IntN(20); {
			case n == 0:
				p = []byte("\x1b[1m\x1b[0m") // something else
			case n == 1: // a resize: the terminal may hold anything, all is sent
				r.shown = nil
				for i := range thrifty.cells {
					thrifty.cells[i] = "junk"
				}
				p = r.frame(lines)
			default:
				for i := range lines {
					if rng.IntN(3) == 0 {
						lines[i] = edit(rng, lines[i], w)
					}
					if rng.IntN(60) == 0 {
						lines[i] = "short\x1b[K"[max(5-w, 0):]
					}
				}
				p = r.frame(lines)
			}
			sent.Reset()
			if n, err := out.Write(p); err != nil || n != len(p) {
				t.Fatalf("Write took %d of %d, %v", n, len(p), err)
			}
			plain.write(t, p)
			thrifty.write(t, sent.Bytes())
			if thrifty.synchronized {
				t.Fatalf("the terminal does not draw after %q", sent.Bytes())
			}
			for i := range plain.cells {
				if plain.cells[i] != thrifty.cells[i] {
					t.Fatalf("seed %d, step %d: cell %d,%d is %q, want %q\nwritten %q\nfor %q", seed, step, i%w, i/w,
						thrifty.cells[i], plain.cells[i], sent.Bytes(), p)
				}
			}
		}
		if out.Written() == 0 {
			t.Error("nothing was counted")
		}
	}
}

// TestOneCellIsCheap: one changed cell in a line of two hundred takes a few bytes, and an unchanged frame
// takes none.
func TestOneCellIsCheap(t *testing.T) {
	var r renderer
	var sent bytes.Buffer
	w := New(&sent)
	write := func(lines ...string) int {
		sent.Reset()
		if _, err := w.Write(r.frame(lines)); err != nil {
			t.Fatal(err)
		}
		return sent.Len()
	}
	long := strings.Repeat("⣿", 200)
	if n := write(long, long); n < 1200 {
		t.Errorf("the first frame has %d bytes", n)
	}
	changed := strings.Repeat("⣿", 100) + "\x1b[38;5;9m█\x1b[0m" + strings.Repeat("⣿", 99)
	if n := write(long, changed); n > 40+len(ansi.SetModeSynchronizedOutput+ansi.ResetModeSynchronizedOutput) {
		t.Errorf("a cell takes %d bytes: %q", n, sent.String())
	}
	if n := write(long, changed); n != 0 {
		t.Errorf("an unchanged frame takes %d bytes: %q", n, sent.String())
	}
}

// TestFewBytesAreWritten: colours continue from line to line, spaces need none, and unchanged cells
// between changes are skipped or rewritten, whichever is shorter.
func TestFewBytesAreWritten(t *testing.T) {
	const red, blue, off = "\x1b[38;5;9m", "\x1b[38;5;12m", "\x1b[0m"
	still := "still"
	for _, c := range []struct {
		name     string
		was, now []string
		want     string
	}{
		{"a colour over two lines", []string{"aa", "aa"}, []string{red + "ba" + off, red + "ba" + off},
			"\x1b[1H" + red + "ba\x1b[2Hba" + off},
		{"blanks in another colour", []string{red + "a  b" + off}, []string{red + "a" + off + "  " + blue + "c" + off},
			"\x1b[1;4H" + blue + "c" + off},
		{"blanks between two changes", []string{"a  b"}, []string{red + "c" + off + "  " + red + "d" + off},
			"\x1b[1H" + red + "c  d" + off},
		{"a short way", []string{"a⣿b"}, []string{"c⣿d"}, "\x1b[1Hc⣿d"},
		{"a long way", []string{"a⣿⣿b"}, []string{"c⣿⣿d"}, "\x1b[1Hc\x1b[2Cd"},
		{"another colour on the way", []string{"a" + blue + "x" + off + "b"}, []string{"c" + blue + "x" + off + "d"}, "\x1b[1Hc\x1b[Cd"},
		{"colours in turn", []string{"aaaaaa"}, []string{red + "b" + blue + "b" + red + "b" + blue + "b" + red + "b" + blue + "b" + off},
			"\x1b[1H" + red + "b\x1b[Cb\x1b[Cb" + "\x1b[2G" + blue + "b\x1b[Cb\x1b[Cb" + off},
		{"two colours", []string{"aaaa"}, []string{red + "bb" + blue + "bb" + off}, "\x1b[1H" + red + "bb" + blue + "bb" + off},
		{"a blank that shows", []string{"ab \x1b[7m " + off}, []string{red + "ab" + off + "\x1b[7m  " + off},
			"\x1b[1H" + red + "ab" + off + "\x1b[7m " + off},
	} {
		var r renderer
		var sent bytes.Buffer
		w := New(&sent)
		for _, lines := range [][]string{append(c.was, still), append(c.now, still)} {
			sent.Reset()
			if _, err := w.Write(r.frame(lines)); err != nil {
				t.Fatal(err)
			}
		}
		want := "\x1b[?2026h" + c.want + fmt.Sprintf("\x1b[%d;H\x1b[?2026l", len(c.now)+1) // synchronized output around the frame
		if sent.String() != want {
			t.Errorf("%s: %q, want %q", c.name, sent.String(), want)
		}
	}
}

func TestWriterAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var frames [][]byte
	var r renderer
	lines := make([]string, 10)
	for range 20 {
		for i := range 9 { // the last one stays, or the frame would be a whole one
			lines[i] = scribble(rng, 100)
		}
		frames = append(frames, r.frame(lines))
	}
	w, n := New(new(discard)), 0
	write := func() {
		if _, err := w.Write(frames[n%len(frames)]); err != nil {
			t.Fatal(err)
		}
		n++
	}
	for range 3 * len(frames) {
		write()
	}
	if n := testing.AllocsPerRun(100, write); n != 0 {
		t.Errorf("%v allocations a frame, expected none", n)
	}
}

func FuzzWriter(f *testing.F) {
	f.Add([]byte("\x1b[Ha\r\nb\x1b[2;H"), []byte("\x1b[H\nc\x1b[2;H"))
	f.Add([]byte("\x1b[H\x1b[1mé\x1b[0m\x1b[1;H"), []byte("\x1b[H\x1b[\x1b[1;H"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var sent bytes.Buffer
		w := New(&sent)
		for _, p := range [][]byte{a, b, a} {
			if n, err := w.Write(p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
		}
	})
}

// BenchmarkWriter writes frames in which half of a large screen changed.
func BenchmarkWriter(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var frames [][]byte
	var r renderer
	lines := make([]string, 48)
	for i := range lines {
		lines[i] = scribble(rng, 160)
	}
	frames = append(frames, r.frame(lines))
	for range 20 {
		for i := range 24 {
			lines[i] = scribble(rng, 160)
		}
		frames = append(frames, r.frame(lines))
	}
	w := New(new(discard))
	if _, err := w.Write(frames[0]); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := w.Write(frames[1+i%20]); err != nil {
			b.Fatal(err)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

package ui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wirelab/experiment/engine"
	"wirelab/internal/testkit"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/cmd/tui/internal/repaint"
	"wirelab/experiment/live"

	tea "github.com/charmbracelet/bubbletea"
)

// recorded returns the snapshots of a session, one per tick of the screen.
func recorded(n int) []*engine.Snapshot {
	snaps := make([]*engine.Snapshot, n)
	for i := range snaps {
		snaps[i] = labtest.Snapshot(90*time.Second + time.Duration(i)*tickEvery)
		// The numbers of a live session change all the time.
		r := &snaps[i].Lanes[0].Recent
		r.PayloadKbps += float64(i%17) / 10
		r.WireKbps += float64(i%13) / 10
		r.BitsPerChanged += float64(i%7) / 10
		r.EncodeUS += float64(i % 3)
		for k := range r.Budget.Units {
			r.Budget.Units[k] += r.Budget.Units[k] * int64((i+3*k)%11) / 50
		}
		snaps[i].Lanes[0].Totals.Decoded += int64(3 * i)
	}
	return snaps
}

// BenchmarkFrame160x48 draws a frame in which all panes and charts have changed.
func BenchmarkFrame160x48(b *testing.B) { benchmarkFrames(b, recorded(100), 160, 48, "shift+tab") }

func BenchmarkFrame80x24(b *testing.B) { benchmarkFrames(b, recorded(100), 80, 24, "shift+tab") }

// benchmarkFrames draws a frame per snapshot on the page that the keys open; all panes and charts have changed.
func benchmarkFrames(b *testing.B, snaps []*engine.Snapshot, w, h int, keys ...string) {
	lab := &labtest.Lab{Snap: snaps[0]}
	m := screen(lab, w, h, Options{Renderer: labtest.ColourRenderer()})
	press(m, keys...)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		lab.Snap = snaps[i%len(snaps)]
		m.lab.Ticks = m.ticksPerRedraw() - 1 // the next tick redraws the charts
		tick(m, 1)
		_ = m.View()
	}
}

// BenchmarkTick160x48 measures the mean cost of a tick; two of twenty ticks redraw the charts.
func BenchmarkTick160x48(b *testing.B) {
	snaps := recorded(100)
	lab := &labtest.Lab{Snap: snaps[0]}
	m := screen(lab, 160, 48, Options{Renderer: labtest.ColourRenderer()})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		lab.Snap = snaps[i%len(snaps)]
		tick(m, 1)
		_ = m.View()
	}
}

// BenchmarkResize measures a complete new layout, as after opening a page.
func BenchmarkResize(b *testing.B) {
	m := screen(labtest.NewLab(), 160, 48, Options{Renderer: labtest.ColourRenderer()})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Update(tea.WindowSizeMsg{Width: 160 - i%2, Height: 48 - i%2})
		_ = m.View()
	}
}

// counter counts the bytes written to the terminal.
type counter struct{ n atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// playLab returns the next recorded snapshot at each call.
type playLab struct {
	snaps []*engine.Snapshot
	at    atomic.Int64
}

func (l *playLab) Snapshot() *engine.Snapshot {
	return l.snaps[min(int(l.at.Add(1)), len(l.snaps)-1)]
}

func (l *playLab) Do(live.Command) bool { return true }

// TestTerminalBudget runs the program with Bubble Tea's own renderer over some seconds of changing
// data, and limits the bytes written per second. Seconds are those of the session, so that the
// result does not depend on the machine.
func TestTerminalBudget(t *testing.T) {
	if !testkit.Thorough() {
		t.Skip("takes six seconds: under WIRELAB_THOROUGH=1")
	}
	var programs sync.WaitGroup // all in parallel, because they mostly wait; t.Parallel is limited to the number of cores
	defer programs.Wait()
	for _, size := range []tea.WindowSizeMsg{{Width: 160, Height: 48}, {Width: 250, Height: 80}, {Width: 80, Height: 24}} {
		for _, page := range []string{"1", "4"} {
			snaps := worldSnapshots(terminalTicks())
			programs.Go(func() {
				checkBudget(t, fmt.Sprintf("page %s at %dx%d", page, size.Width, size.Height), size, page, snaps)
			})
		}
	}
	shadows := recorded(terminalTicks())
	for i := range shadows {
		shadows[i] = labtest.Shadows(shadows[i].Now, "rotor", "raw", "quantized", "changed-index")
	}
	for _, page := range []string{"1", "5"} {
		programs.Go(func() {
			checkBudget(t, "page "+page+" with four shadows", tea.WindowSizeMsg{Width: 160, Height: 48}, page, shadows)
		})
	}
}

// budgetSeconds is the number of measured seconds.
func budgetSeconds() int64 { return testkit.ChooseLong[int64](10, 4, 4) }

// terminalTicks is the number of ticks of two seconds of warm-up and the measured seconds.
func terminalTicks() int { return 20 * (2 + int(budgetSeconds())) }

func checkBudget(t *testing.T, name string, size tea.WindowSizeMsg, page string, snaps []*engine.Snapshot) {
	seconds := budgetSeconds()
	lab := &playLab{snaps: snaps}
	out := &counter{}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m := newDashboard(lab, Options{Renderer: labtest.ColourRenderer()})
	screen := repaint.New(out)
	m.output.written = screen.Written
	in, feed := io.Pipe()
	defer feed.Close()
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(screen), tea.WithAltScreen(), tea.WithoutSignalHandler())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = p.Run()
	}()
	p.Send(size)
	p.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(page)})
	waitFor := func(at int64) {
		for lab.at.Load() < at {
			time.Sleep(5 * time.Millisecond)
		}
	}
	waitFor(20) // the first complete picture is not part of the measurement
	before := out.n.Load()
	waitFor(20 + 20*seconds)
	rate := float64(out.n.Load()-before) / float64(seconds)
	cancel()
	<-done
	t.Logf("%s: %.1f KB a second", name, rate/1000)
	if rate > 30_000 {
		t.Errorf("%s: %.1f KB a second go to the terminal, the budget is 30", name, rate/1000)
	}
}

// TestRendererIsWritten checks that output is written at all, without which TestTerminalBudget
// would prove nothing.
func TestRendererIsWritten(t *testing.T) {
	// The budget above means nothing if nothing is written.
	var buf bytes.Buffer
	m := screen(labtest.NewLab(), 160, 48, Options{Renderer: labtest.ColourRenderer()})
	buf.WriteString(m.View())
	if !bytes.Contains(buf.Bytes(), []byte("\x1b[")) || buf.Len() < 10_000 {
		t.Errorf("a coloured screen has %d bytes, which cannot be all", buf.Len())
	}
}

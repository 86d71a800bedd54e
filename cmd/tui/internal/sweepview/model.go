package sweepview

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/sweep"
)

// Sweep is the sweep that the screen shows.
type Sweep struct {
	Watch *sweep.Watch
	Title string               // the file of the sweep
	Dir   string               // folder of the results; "" if they are not saved
	Queue bool                 // a queue is served, which workers may join
	Clock func() time.Duration // monotonic
}

var _ ui.Screen = (*model)(nil)

// model is the screen of a sweep, and its one page.
type model struct {
	*ui.Shell
	sweep   Sweep
	watch   *sweep.Watch  // sweep.Watch
	started time.Duration // sweep.Clock() when the screen was opened
	ticks   int

	axes      []sweep.WatchAxis
	axisOrder []int  // indices of axes; the last two are the rows and columns of the map
	cursor    []int  // the selected point: an index on each axis
	figure    int    // the figure shown, an index of watch.Names
	scroll    [2]int // first visible row and column of the map
	mapSize   [2]int // columns and rows of the map, which is at the upper left, as last drawn

	state  sweep.WatchState
	means  []float64 // mean of the figure at each point; NaN without results
	seeds  []int     // completed seeds of each point
	lo, hi float64   // range of the means
}

// newModel returns the screen of a sweep.
func newModel(s Sweep, opt ui.Options) *model {
	m := &model{sweep: s, watch: s.Watch, axes: s.Watch.Axes, started: s.Clock()}
	for i := range m.axes {
		m.axisOrder = append(m.axisOrder, i)
	}
	m.cursor = make([]int, len(m.axes))
	m.Shell = ui.NewShell(m, m, opt) // the model is both the screen and its only page
	m.Bind(append(m.MoveKeys(), m.ProgramKeys(ui.Leaving{Esc: "clear the selection", Quit: "quit and end the sweep; asks first while the sweep runs",
		Stop: "quit and end the sweep, without asking"})...))
	m.poll()
	return m
}

// Run shows the screen until the user quits or ctx ends, and restores the terminal before it returns. Ctrl-C
// is not an error, because the caller ends the sweep in any case.
func Run(ctx context.Context, s Sweep, opt ui.Options) error {
	err := ui.Show(ctx, opt, func(opt ui.Options) *ui.Shell { return newModel(s, opt).Shell })
	if errors.Is(err, ui.ErrInterrupted) {
		return nil
	}
	return err
}

// pollTicks is the number of ticks between two polls of the sweep.
const pollTicks = 4

// Tick implements ui.Screen.
func (m *model) Tick() (changed bool, cmd tea.Cmd) {
	m.ticks++
	if m.ticks%pollTicks != 0 {
		return false, nil
	}
	m.poll()
	return true, nil
}

// Refresh implements ui.Screen. It does nothing, because the page is always drawn from the last poll.
func (m *model) Refresh(bool) {}

// Context implements ui.Screen. A sweep has no settings to change.
func (m *model) Context() command.Context { return command.Context{Screen: command.Sweep} }

// Execute implements ui.Screen.
func (m *model) Execute(o command.Order) (tea.Cmd, error) {
	switch {
	case o.Quit == command.QuitAsking && m.state.Ended == "":
		m.Open(ui.AskToQuit(m.quitQuestion(), ui.QuitChoice{Key: "d", Description: "end the sweep", Command: "quit now"}))
	case o.Quit != command.NoQuit:
		return m.Quit(nil), nil
	}
	return nil, nil
}

// quitQuestion describes what ends with a sweep that is under way.
func (m *model) quitQuestion() string {
	text := fmt.Sprintf("The sweep has completed %d of %d runs. ", m.state.Runs, m.state.Planned)
	if m.sweep.Dir != "" {
		return text + "They are saved: tui sweep --resume " + m.sweep.Dir + " continues."
	}
	return text + "They are printed, but the sweep cannot be continued, because --out is not set."
}

// poll reads the current state of the sweep.
func (m *model) poll() {
	m.state = m.watch.State()
	m.means, m.seeds = m.watch.Means(m.figure)
	m.lo, m.hi = math.Inf(1), math.Inf(-1)
	for _, v := range m.means {
		if v == v { // not NaN
			m.lo, m.hi = min(m.lo, v), max(m.hi, v)
		}
	}
}

// Move implements room.Mover: it moves the cursor on the map.
func (m *model) Move(dx, dy int) room.Request {
	m.moveCursor(m.columns(), dx)
	m.moveCursor(m.rows(), dy)
	return room.Request{}
}

func (m *model) Arrows() [][2]string { return [][2]string{{"arrows", "point"}} }

func (m *model) KeyHelp(key string) string {
	return map[string]string{"up": "point above or below", "left": "point to the left or right"}[key]
}

// Bindings implements room.Binder. Keys that need several axes exist only for such grids.
func (m *model) Bindings() []room.Binding {
	bind := func(key, shown, help string, do func()) room.Binding {
		return room.Bind("Sweep", []string{key}, shown, help, room.WithoutRequest(do))
	}
	list := []room.Binding{
		room.Bind("Sweep", []string{"f", "tab"}, "f F", "next figure", room.WithoutRequest(func() { m.nextFigure(1) })).InFooter("figure"),
		room.Bind("Sweep", []string{"F", "shift+tab"}, "F", "previous figure", room.WithoutRequest(func() { m.nextFigure(-1) })),
		bind("home", "home", "first column", func() { m.Move(-room.ListEnd, 0) }),
		bind("end", "end", "last column", func() { m.Move(room.ListEnd, 0) }),
	}
	if len(m.axisOrder) > 1 {
		list = append(list, bind("x", "x", "rotate the axes: show another axis as columns", m.rotateAxes).InFooter("rotate"))
	}
	if len(m.axisOrder) > 2 {
		list = append(list,
			bind("[", "[ ]", "axes that are neither rows nor columns: previous value", func() { m.stepHiddenAxes(-1) }).InFooter("axes"),
			bind("]", "]", "axes that are neither rows nor columns: next value", func() { m.stepHiddenAxes(1) }))
	}
	return list
}

// Wheel implements room.Wheeler: over the map, it moves the cursor up or down.
func (m *model) Wheel(x, y, notches int) room.Request {
	if x < m.mapSize[0] && y < m.mapSize[1] {
		return m.Move(0, -notches)
	}
	return room.Request{}
}

// rotateAxes makes the last axis the first, so that another axis becomes the columns of the map.
func (m *model) rotateAxes() {
	n := len(m.axisOrder)
	m.axisOrder = append([]int{m.axisOrder[n-1]}, m.axisOrder[:n-1]...)
	m.scroll = [2]int{}
}

// rows returns the axis of the map's rows, -1 if there are no axes.
func (m *model) rows() int {
	switch n := len(m.axisOrder); n {
	case 0:
		return -1
	case 1:
		return m.axisOrder[0]
	default:
		return m.axisOrder[n-2]
	}
}

// columns returns the axis of the map's columns, -1 if there are fewer than two axes.
func (m *model) columns() int {
	if n := len(m.axisOrder); n > 1 {
		return m.axisOrder[n-1]
	}
	return -1
}

// moveCursor moves the cursor by some values on an axis. It does nothing if axis is -1.
func (m *model) moveCursor(axis, by int) {
	if axis >= 0 {
		m.cursor[axis] = max(0, min(m.cursor[axis]+by, len(m.axes[axis].Values)-1))
	}
}

// stepHiddenAxes moves the cursor to the next (by 1) or previous (-1) combination of values of the axes that
// the map does not show. Like in an odometer, the last of them changes first.
func (m *model) stepHiddenAxes(by int) {
	for i := len(m.axisOrder) - 3; i >= 0; i-- { // the last two axes are those of the map
		axis := m.axisOrder[i]
		n := len(m.axes[axis].Values)
		m.cursor[axis] += by
		if m.cursor[axis] >= 0 && m.cursor[axis] < n {
			return
		}
		m.cursor[axis] = (m.cursor[axis] + n) % n // begin again, and step the axis before it
	}
}

// nextFigure selects the next (by > 0) or previous figure that any point has.
func (m *model) nextFigure(by int) {
	n := len(m.watch.Names)
	for i := 1; i <= n; i++ {
		f := ((m.figure+by*i)%n + n) % n
		means, _ := m.watch.Means(f)
		for _, v := range means {
			if v == v { // not NaN
				m.figure = f
				m.poll()
				return
			}
		}
	}
}

// pointAt returns the index of a point of the sweep: the selected point, moved along axis to the given index.
// An axis of -1 means that the sweep has no axes; pointAt then returns the index of the only point.
func (m *model) pointAt(axis, index int) int {
	if axis < 0 {
		return m.watch.PointIndex(m.cursor)
	}
	indices := append([]int{}, m.cursor...)
	indices[axis] = index
	return m.watch.PointIndex(indices)
}

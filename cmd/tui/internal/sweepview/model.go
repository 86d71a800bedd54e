package sweepview

import (
	"context"
	"errors"
	"math"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/sweep"
)

// Sweep is what the screen shows, and what it is called.
type Sweep struct {
	Watch *sweep.Watch
	Title string               // of the sweep: its file
	Kept  string               // the folder of the results; "": they are not kept
	Queue bool                 // workers may join
	Clock func() time.Duration // monotonic
}

var _ ui.Screen = (*model)(nil)

// model is the screen of a sweep, and its one page.
type model struct {
	*ui.Shell
	sweep Sweep
	watch *sweep.Watch
	began time.Duration
	ticks int

	axes   []sweep.WatchAxis
	order  []int // of the axes; the last two are rows and columns of the map
	at     []int // the cursor: a place on each axis
	figure int
	scroll [2]int // first row and column of the map that are shown

	state  sweep.WatchState
	means  []float64 // by point, of the figure
	seeds  []int
	lo, hi float64 // of the means
}

// newModel makes the screen of a sweep.
func newModel(s Sweep, opt ui.Options) *model {
	m := &model{sweep: s, watch: s.Watch, axes: s.Watch.Axes, began: s.Clock()}
	for i := range m.axes {
		m.order = append(m.order, i)
	}
	m.at = make([]int, len(m.axes))
	m.Shell = ui.NewShell(m, m, opt)
	m.Bind(append(m.MoveKeys(), m.ProgramKeys(ui.Leaving{Esc: "let go of what is selected", Quit: "leave: the sweep ends here, without a question",
		Stop: "the same"})...))
	m.poll()
	return m
}

// Run shows the screen until the person leaves or ctx ends; the terminal has been restored
// then.
func Run(ctx context.Context, s Sweep, opt ui.Options) error {
	err := ui.Show(ctx, opt, func(opt ui.Options) *ui.Shell { return newModel(s, opt).Shell })
	if errors.Is(err, ui.ErrInterrupted) {
		return nil
	}
	return err
}

// pollTicks is how many ticks pass between two looks at the sweep.
const pollTicks = 4

func (m *model) Tick() (changed bool, cmd tea.Cmd) {
	m.ticks++
	if m.ticks%pollTicks != 0 {
		return false, nil
	}
	m.poll()
	return true, nil
}

// Refresh implements ui.Screen: the page is drawn from what was polled last.
func (m *model) Refresh(bool) {}

// Context implements ui.Screen: a sweep has nothing to set.
func (m *model) Context() command.Context { return command.Context{Screen: command.Sweep} }

func (m *model) Obey(o command.Order) (tea.Cmd, error) {
	if o.Leave != command.Stay {
		return m.Quit(nil), nil
	}
	return nil, nil
}

// poll takes what there is now.
func (m *model) poll() {
	m.state = m.watch.State()
	m.means, m.seeds = m.watch.Means(m.figure)
	m.lo, m.hi = math.Inf(1), math.Inf(-1)
	for _, v := range m.means {
		if v == v {
			m.lo, m.hi = min(m.lo, v), max(m.hi, v)
		}
	}
}

func (m *model) Move(dx, dy int) room.Request {
	m.move(m.columns(), dx)
	m.move(m.rows(), dy)
	return room.Request{}
}

func (m *model) Arrows() [][2]string { return [][2]string{{"arrows", "point"}} }

func (m *model) Means(key string) string {
	return map[string]string{"up": "the point above, below", "left": "the point to the left, to the right"}[key]
}

func (m *model) Bindings() []room.Binding {
	bind := func(key, shown, help string, do func()) room.Binding {
		return room.Bind("Sweep", []string{key}, shown, help, room.Quietly(do))
	}
	list := []room.Binding{
		room.Bind("Sweep", []string{"f", "tab"}, "f F", "the next figure", room.Quietly(func() { m.choose(1) })).InFooter("figure"),
		room.Bind("Sweep", []string{"F", "shift+tab"}, "F", "the figure before", room.Quietly(func() { m.choose(-1) })),
		bind("home", "home", "the first column", func() { m.Move(-room.Far, 0) }),
		bind("end", "end", "the last column", func() { m.Move(room.Far, 0) }),
	}
	if len(m.order) > 1 {
		list = append(list, bind("x", "x", "turn: another axis becomes the columns", m.turn).InFooter("turn"))
	}
	if len(m.order) > 2 {
		list = append(list,
			bind("[", "[ ]", "step back through the values of axes that the map does not show", func() { m.further(-1) }).InFooter("further"),
			bind("]", "]", "step through them", func() { m.further(1) }))
	}
	return list
}

// turn makes the last axis the first.
func (m *model) turn() {
	n := len(m.order)
	m.order = append([]int{m.order[n-1]}, m.order[:n-1]...)
	m.scroll = [2]int{}
}

// rows and columns are the axes of the map; -1 if there is none.
func (m *model) rows() int {
	switch n := len(m.order); n {
	case 0:
		return -1
	case 1:
		return m.order[0]
	default:
		return m.order[n-2]
	}
}

func (m *model) columns() int {
	if n := len(m.order); n > 1 {
		return m.order[n-1]
	}
	return -1
}

func (m *model) move(axis, by int) {
	if axis >= 0 {
		m.at[axis] = max(0, min(m.at[axis]+by, len(m.axes[axis].Values)-1))
	}
}

// further steps through the values of the axes that the map does not show, as a counter does.
func (m *model) further(by int) {
	for i := len(m.order) - 3; i >= 0; i-- {
		axis := m.order[i]
		n := len(m.axes[axis].Values)
		m.at[axis] += by
		if m.at[axis] >= 0 && m.at[axis] < n {
			return
		}
		m.at[axis] = (m.at[axis] + n) % n
	}
}

// choose goes to the next figure that any point has.
func (m *model) choose(by int) {
	n := len(m.watch.Names)
	for i := 1; i <= n; i++ {
		f := ((m.figure+by*i)%n + n) % n
		means, _ := m.watch.Means(f)
		for _, v := range means {
			if v == v {
				m.figure = f
				m.poll()
				return
			}
		}
	}
}

// point is the one under the cursor, with another place on one axis.
func (m *model) point(axis, place int) int {
	if axis < 0 {
		return m.watch.Point(m.at)
	}
	at := append([]int{}, m.at...)
	at[axis] = place
	return m.watch.Point(at)
}

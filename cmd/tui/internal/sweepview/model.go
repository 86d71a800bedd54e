package sweepview

import (
	"math"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"wirelab/cmd/tui/internal/look"
	"wirelab/experiment/sweep"
)

// Options are how the screen looks, and what it is called.
type Options struct {
	Title    string               // of the sweep: its file
	Kept     string               // the folder of the results; "": they are not kept
	Queue    bool                 // workers may join
	Clock    func() time.Duration // monotonic
	ASCII    bool
	Theme    string
	Dark     bool // the ground of the terminal, as far as is known
	Renderer *lipgloss.Renderer
}

// Model is the program of the screen.
type Model struct {
	watch *sweep.Watch
	opt   Options
	theme *look.Theme
	w, h  int
	began time.Duration
	help  bool

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

// New makes the screen of a sweep.
func New(w *sweep.Watch, opt Options) *Model {
	scheme, _ := look.SchemeNamed(opt.Theme)
	m := &Model{watch: w, opt: opt, theme: look.NewTheme(opt.Renderer, scheme, opt.ASCII), axes: w.Axes, began: opt.Clock()}
	for i := range m.axes {
		m.order = append(m.order, i)
	}
	m.at = make([]int, len(m.axes))
	m.poll()
	return m
}

// poll takes what there is now.
func (m *Model) poll() {
	m.state = m.watch.State()
	m.means, m.seeds = m.watch.Means(m.figure)
	m.lo, m.hi = math.Inf(1), math.Inf(-1)
	for _, v := range m.means {
		if v == v {
			m.lo, m.hi = min(m.lo, v), max(m.hi, v)
		}
	}
}

type tick struct{}

// every is how often the screen looks at the sweep.
const every = 200 * time.Millisecond

func next() tea.Cmd { return tea.Tick(every, func(time.Time) tea.Msg { return tick{} }) }

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd { return next() }

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tick:
		m.poll()
		return m, next()
	case tea.KeyMsg:
		return m, m.key(msg.String())
	}
	return m, nil
}

// key does what a key says.
func (m *Model) key(k string) tea.Cmd {
	if k == "q" || k == "ctrl+c" {
		return tea.Quit
	}
	if m.help {
		m.help = false // any key closes it
		return nil
	}
	switch k {
	case "?", "f1":
		m.help = true
	case "up", "k":
		m.move(m.rows(), -1)
	case "down", "j":
		m.move(m.rows(), 1)
	case "left", "h":
		m.move(m.columns(), -1)
	case "right", "l":
		m.move(m.columns(), 1)
	case "home":
		m.move(m.columns(), -1<<20)
	case "end":
		m.move(m.columns(), 1<<20)
	case "pgup":
		m.move(m.rows(), -1<<20)
	case "pgdown":
		m.move(m.rows(), 1<<20)
	case "]":
		m.further(1)
	case "[":
		m.further(-1)
	case "x":
		if n := len(m.order); n > 1 { // the last axis to the front
			m.order = append([]int{m.order[n-1]}, m.order[:n-1]...)
			m.scroll = [2]int{}
		}
	case "f", "tab":
		m.choose(1)
	case "F", "shift+tab":
		m.choose(-1)
	}
	return nil
}

// rows and columns are the axes of the map; -1 if there is none.
func (m *Model) rows() int {
	switch n := len(m.order); n {
	case 0:
		return -1
	case 1:
		return m.order[0]
	default:
		return m.order[n-2]
	}
}

func (m *Model) columns() int {
	if n := len(m.order); n > 1 {
		return m.order[n-1]
	}
	return -1
}

func (m *Model) move(axis, by int) {
	if axis >= 0 {
		m.at[axis] = max(0, min(m.at[axis]+by, len(m.axes[axis].Values)-1))
	}
}

// further steps through the values of the axes that the map does not show, as a counter does.
func (m *Model) further(by int) {
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
func (m *Model) choose(by int) {
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

// point is the one under the cursor, with other places on one axis.
func (m *Model) point(axis, place int) int {
	if axis < 0 {
		return m.watch.Point(m.at)
	}
	at := append([]int{}, m.at...)
	at[axis] = place
	return m.watch.Point(at)
}

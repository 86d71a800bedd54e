package sweepview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/command"
	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/room"
	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/figures"
	"wirelab/experiment/sweep"
)

// Sweep is the sweep that the screen shows.
type Sweep struct {
	Watch *sweep.Watch
	Title string               // the file of the sweep
	Dir   string               // folder of the results; "" if they are not saved
	Queue bool                 // a queue is served, which workers may join
	Clock func() time.Duration // monotonic

	// Live shows a live session with the settings of a point, which name describes, until the user leaves it.
	Live func(ctx context.Context, point int, name string) error
	// Export writes a new CSV file with the content that fill writes, and returns its path. It may be called from
	// any goroutine.
	Export func(fill func(io.Writer) error) (path string, err error)
}

var _ ui.Screen = (*model)(nil)

// model is the screen of a sweep.
type model struct {
	*ui.Shell
	page    *room.Page
	sweep   Sweep
	watch   *sweep.Watch  // sweep.Watch
	started time.Duration // sweep.Clock() when the screen was opened
	ticks   int

	axes []sweep.WatchAxis
	selection

	state                   sweep.WatchState
	means                   []figures.Mean // mean of the figure at each point, in the unit of the figure
	texts                   []pointText    // the same as text, one of allTexts
	allTexts                [][]pointText  // by figure, at each point; nil if the sweep has no data of the figure
	decimals, ratioDecimals int            // of means and ratios of the figure
	seeds                   []int          // completed seeds of each point
	lo, hi                  float64        // range of the means
	ranked                  []int          // all points, in the order of the ranking
	ranks                   []int          // rank of each point, from 1 for the best

	scroll     [2]int  // first visible row and column of the map
	mapGrid    mapGrid // where the map's cells were last drawn
	ranking    grid.Table
	figureList grid.Table // of the pane Point

	opened int // the point whose live session is shown next; -1 for none
}

// selection is what the user selected. It survives a live session.
type selection struct {
	axisOrder []int // indices of axes; the last two are the rows and columns of the map
	cursor    []int // the selected point: an index on each axis
	figure    int   // the figure shown, an index of watch.Names
	reference int   // the point with which the others are compared
	order     order // of the ranking
	focused   int   // the focused pane
	fromZero  bool  // charts along axes begin at 0 instead of fitting the data
}

// order is an order of points in the ranking.
type order uint8

// The orders. If neither small nor large values of the figure are better, the best is the lowest.
const (
	bestFirst order = iota
	worstFirst
	gridOrder
	numOrders
)

// newModel returns the screen of a sweep. before is the selection of an earlier screen of the same sweep, or nil.
func newModel(s Sweep, opt ui.Options, before *selection) *model {
	m := &model{sweep: s, watch: s.Watch, axes: s.Watch.Axes, started: s.Clock(), opened: -1, figureList: grid.Table{Sort: -1}}
	if before != nil {
		m.selection = *before
	} else {
		for i := range m.axes {
			m.axisOrder = append(m.axisOrder, i)
		}
		m.cursor = make([]int, len(m.axes))
	}
	m.page = newPage(m)
	m.Shell = ui.NewShell(m, m.page, opt)
	m.Bind(nil, ui.Leaving{Esc: "clear the selection",
		Quit: "quit and end the sweep; asks while it runs", Stop: "quit and end the sweep, without asking"})
	m.poll()
	return m
}

// Run shows the screen until the user quits or ctx ends, and restores the terminal before it returns. When the user
// opens a point, Run shows its live session instead, and then the screen again. After Ctrl-C the error is
// ui.ErrInterrupted, on the screen of a session too.
func Run(ctx context.Context, s Sweep, opt ui.Options) error {
	var before *selection
	var liveErr error // of the last live session
	for {
		var m *model
		err := ui.Show(ctx, opt, func(opt ui.Options) *ui.Shell {
			m = newModel(s, opt, before)
			if liveErr != nil {
				const isError = true
				m.ShowNotice("the point could not be opened: "+liveErr.Error(), isError)
			}
			return m.Shell
		})
		switch {
		case err != nil || m.opened < 0 || ctx.Err() != nil:
			return err
		}
		before = &m.selection
		before.focused = m.page.FocusedIndex()
		liveErr = s.Live(ctx, m.opened, m.describe(m.opened))
		if errors.Is(liveErr, context.Canceled) {
			return ui.ErrInterrupted
		}
	}
}

// pollTicks is the number of ticks between two polls of the sweep.
const pollTicks = 4

func (m *model) Tick() (changed bool, cmd tea.Cmd) {
	m.ticks++
	if m.ticks%pollTicks != 0 {
		return false, nil
	}
	m.poll()
	return true, nil
}

// Refresh implements ui.Screen: it redraws all panes from the last poll.
func (m *model) Refresh(bool) { m.page.Redraw() }

// Context implements ui.Screen. A sweep has no settings to change.
func (m *model) Context() command.Context { return command.Context{Screen: command.Sweep} }

func (m *model) Execute(o command.Order) (tea.Cmd, error) {
	switch {
	case o.Quit == command.QuitAsking && m.state.Ended == "":
		m.Open(ui.AskToQuit(m.quitQuestion(), ui.Choice{Key: "y", Description: "end the sweep", Request: room.Request{Line: "quit now"}}))
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
	for p, v := range m.means {
		m.means[p] = v.Times(m.row(m.figure).Scale())
		if v.N > 0 {
			m.lo, m.hi = min(m.lo, m.means[p].Mean), max(m.hi, m.means[p].Mean)
		}
	}
	m.decimals = commonDecimals(m.means)
	var ratios []figures.Mean
	for p := range m.means {
		ratios = append(ratios, m.watch.Ratio(p, m.reference, m.figure))
	}
	m.ratioDecimals = 3
	if narrowestHalfWidth(ratios) < 1e-3 {
		m.ratioDecimals = 4
	}
	m.allTexts = m.allTexts[:0]
	for figure := range m.watch.Names {
		m.allTexts = append(m.allTexts, m.figureTexts(figure))
	}
	m.texts = m.allTexts[m.figure]
	m.rank()
	m.Refresh(true)
}

// figureTexts returns a figure at each point, with the same decimals; nil if no point has the figure, or if it is only a
// count of 0. The figure of the map is never nil.
func (m *model) figureTexts(figure int) []pointText {
	means, _ := m.watch.Means(figure)
	row := m.row(figure)
	hasData := slices.ContainsFunc(means, func(v figures.Mean) bool { return v.N > 0 && !row.IsIdle(v.Mean) })
	if !hasData && figure != m.figure {
		return nil
	}
	for p := range means {
		means[p] = means[p].Times(row.Scale())
	}
	decimals, texts := commonDecimals(means), make([]pointText, 0, len(means))
	for p, v := range means {
		texts = append(texts, m.text(p, figure, v, m.watch.Ratio(p, m.reference, figure), decimals))
	}
	return texts
}

// selected returns the selected point.
func (m *model) selected() int { return m.watch.PointIndex(m.cursor) }

// selectPoint moves the cursor to a point.
func (m *model) selectPoint(point int) {
	for i := len(m.axes) - 1; i >= 0; i-- { // the last axis changes fastest
		n := len(m.axes[i].Values)
		m.cursor[i] = point % n
		point /= n
	}
}

// nextOrder sorts the ranking in the next order.
func (m *model) nextOrder() {
	m.order = (m.order + 1) % numOrders
	m.rank()
}

// setReference makes the selected point the one with which the others are compared.
func (m *model) setReference() room.Request {
	p := m.selected()
	if p == m.reference {
		return room.Request{Notice: m.describe(p) + " is the reference already; select another point, then r"}
	}
	m.reference = p
	m.poll() // computes the ratios
	return room.Request{Notice: "all points are compared with " + m.describe(p)}
}

// openLive ends the screen so that Run shows the live session of the selected point.
func (m *model) openLive() room.Request {
	m.opened = m.selected()
	return room.Request{Program: m.Quit(nil)}
}

// export writes the ranking to a CSV file, in the background because a large sweep takes a second.
func (m *model) export() room.Request {
	list, reference := slices.Clone(m.ranked), m.reference
	return room.Request{Program: func() tea.Msg {
		path, err := m.sweep.Export(func(w io.Writer) error { return m.watch.WriteCSV(w, list, reference) })
		if err != nil {
			return room.NoticeMsg{Text: err.Error(), IsError: true}
		}
		return room.NoticeMsg{Text: "wrote all points, " + m.orderName() + ", with all figures to " + path}
	}}
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

// moveRanked moves the cursor by some rows of the ranking.
func (m *model) moveRanked(by int) {
	at := slices.Index(m.ranked, m.selected())
	m.selectPoint(m.ranked[max(0, min(at+by, len(m.ranked)-1))])
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
		if m.allTexts[f] != nil {
			m.selectFigure(f)
			return
		}
	}
}

// selectFigure shows a figure on the map, in the ranking and in the charts.
func (m *model) selectFigure(figure int) {
	m.figure = figure
	m.poll()
}

// pointAt returns the index of a point of the sweep: the selected point, moved along axis to the given index.
// An axis of -1 means that the sweep has no axes; pointAt then returns the index of the only point.
func (m *model) pointAt(axis, index int) int {
	if axis < 0 {
		return m.selected()
	}
	indices := append([]int{}, m.cursor...)
	indices[axis] = index
	return m.watch.PointIndex(indices)
}

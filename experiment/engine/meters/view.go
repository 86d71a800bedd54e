package meters

import (
	"math"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/figures"
	"wirelab/experiment/view"
	"wirelab/internal/ring"
)

// View measures a sender with a budget, and what its receiver shows. Create it with NewView.
type View struct {
	schema  *frame.Schema
	metric  view.Metric
	cadence endpoint.Cadence
	recent  uint64 // ticks: rows that changed later than this ago are measured

	frames    [64]*frame.Shared // the newest frames of the source: that of tick n is at n % len
	tick      uint64            // of the newest frame
	compared  int64             // ticks with a client
	client    *view.Client      // of the newest tick; nil if there was none
	changedAt []uint64          // of each row: 1 + the tick of its newest change; 0 if it never changed
	currentAt []uint64          // of each row: the newest tick at which its shown value was the true one
	origin    []uint64          // of each row: 1 + the packet it comes from

	packets, full, over   int64
	rows, bits, encodings int64
	fill                  float64
	bytes                 int64
	sample                ViewSample
	window                ring.Queue[sentSize]
	windowBytes           int64
	longestWait           time.Duration

	place, turn, age measured
	resting          int64 // rows that rest and are wrong, summed over ticks
	settled          measured
	stopped          settling
}

// ViewSample contains what was measured of a lane with a budget in a sample.
type ViewSample struct {
	Bits  int64 // headers and payloads sent
	Rows  int64 // rows that changed in the last 100 ms, of each tick
	Error int64 // sum of their errors, in units of 1/view.ErrorUnit
}

// sentSize is a packet of the window in which the budget is checked.
type sentSize struct {
	at    time.Duration
	bytes int
}

// settling is the time since the source last changed.
type settling struct {
	moved   uint64 // tick of the newest change
	rightAt uint64 // first tick after it at which all rows were right, if isRight
	isRight bool
	counted bool
}

// measured is a distribution with its sum.
type measured struct {
	histogram
	sum int64
}

// add adds a value.
func (m *measured) add(v int64) {
	m.histogram.add(v)
	m.sum += v
}

// mean returns the mean divided by divisor.
func (m *measured) mean(divisor float64) figures.Figure {
	return figures.RatioFigure(float64(m.sum)/divisor, float64(m.n))
}

// NewView returns a meter for frames of schema s.
func NewView(s *frame.Schema, c endpoint.Cadence) *View {
	v := &View{schema: s, metric: view.NewMetric(s), cadence: c, recent: uint64(s.TickHz) / 10,
		changedAt: make([]uint64, s.Rows), currentAt: make([]uint64, s.Rows), origin: make([]uint64, s.Rows)}
	v.place.fine, v.turn.fine = true, true
	return v
}

// Sent counts a packet. interval is the time between two packets that could be sent.
func (v *View) Sent(now time.Duration, p *endpoint.Packet, b *endpoint.Budget, interval time.Duration) {
	size := p.Header + p.Payload
	v.packets++
	v.rows, v.bits, v.encodings = v.rows+int64(p.View.Rows), v.bits+int64(8*p.Payload), v.encodings+int64(p.View.Encodings)
	if p.View.Left > 0 {
		v.full++
		v.fill += float64(size) / float64(p.View.Allowed)
	}
	v.bytes += int64(size)
	v.sample.Bits += int64(8 * size)
	v.longestWait = max(v.longestWait, time.Duration(p.View.LongestWait)*interval)

	window := max(view.BudgetWindow, interval)
	for v.window.Len() > 0 && v.window.At(v.window.First()).at <= now-window+time.Microsecond { // ticks are rounded
		v.windowBytes -= int64(v.window.At(v.window.First()).bytes)
		v.window.Pop()
	}
	*v.window.Push() = sentSize{now, size}
	v.windowBytes += int64(size)
	allowed := float64(b.Bps) / 8 * (window.Seconds() + float64(b.Burst-1000)/1000*interval.Seconds())
	if float64(v.windowBytes) > allowed {
		v.over++
	}
}

// Tick compares what client shows with cur, the source's newest frame, which is that of the given tick. It must be called
// for every tick, without a client while the receiver does not show view frames.
func (v *View) Tick(tick uint64, cur *frame.Shared, client *view.Client) {
	v.tick = tick
	before := v.frames[(tick+uint64(len(v.frames))-1)%uint64(len(v.frames))]
	slot := &v.frames[tick%uint64(len(v.frames))]
	if *slot != nil {
		(*slot).Release()
	}
	*slot = cur.Retain()
	n := len(v.schema.Fields)
	for i := range cur.Changed.All() {
		if before != nil && !view.EqualRows(cur.Table[i*n:(i+1)*n], before.Table[i*n:(i+1)*n]) {
			v.changedAt[i] = tick + 1
			v.stopped = settling{moved: tick}
		}
	}
	v.begin(client)
	if client != nil {
		v.compare(cur, client)
	}
}

// begin records that client is the present one. If it is new, its display may contain rows of frames before it.
func (v *View) begin(client *view.Client) {
	if client == v.client {
		return
	}
	v.client = client
	if client == nil {
		return
	}
	clear(v.origin)
	n := len(v.schema.Fields)
	for i := range v.schema.Rows {
		v.currentAt[i] = v.newestTickWith(i, client.Display()[i*n:(i+1)*n], uint64(client.InitialTick()))
	}
}

// compare compares what client shows with cur, the source's newest frame.
func (v *View) compare(cur *frame.Shared, client *view.Client) {
	tick, n, shown := v.tick, len(v.schema.Fields), client.Display()
	v.compared++
	right := true
	for i := range v.schema.Rows {
		truth, row := cur.Table[i*n:(i+1)*n], shown[i*n:(i+1)*n]
		if seq, ok := client.Origin(i); ok && v.origin[i] != seq+1 {
			v.origin[i] = seq + 1
			v.currentAt[i] = max(v.currentAt[i], v.newestTickWith(i, row, v.cadence.Tick(seq)))
		}
		isRight := view.EqualRows(truth, row)
		if isRight {
			v.currentAt[i] = tick
		}
		right = right && isRight
		switch {
		case v.changedAt[i] != 0 && tick+1-v.changedAt[i] <= v.recent:
			place := int64(v.metric.Place(truth, row))
			v.place.add(place)
			v.sample.Rows++
			v.sample.Error += place
			v.turn.add(int64(math.Round(v.metric.Turn(truth, row) * 180 / math.Pi * 1000)))
			v.age.add(int64(tick - v.currentAt[i]))
		case !isRight:
			v.resting++
		}
	}
	v.stopped.tick(v, tick, right)
}

// TakeSample returns what was measured since the call before.
func (v *View) TakeSample() ViewSample {
	x := v.sample
	v.sample = ViewSample{}
	return x
}

// newestTickWith returns the newest tick, from sent on, at which row i of the source had the given value. sent is the
// tick of the packet with that value, or of the frame that the display began with.
func (v *View) newestTickWith(i int, value []int32, sent uint64) uint64 {
	n, size := len(v.schema.Fields), uint64(len(v.frames))
	for tick := v.tick; tick > sent && v.tick-tick < size-1; tick-- {
		f := v.frames[tick%size]
		if f == nil { // from before the first tick
			break
		}
		if view.EqualRows(f.Table[i*n:(i+1)*n], value) {
			return tick
		}
	}
	return min(sent, v.tick)
}

// tick counts how long it took until all rows were right, once the source has not changed for half a second.
func (s *settling) tick(v *View, tick uint64, right bool) {
	if right && !s.isRight {
		s.isRight, s.rightAt = true, tick
	}
	if s.isRight && !s.counted && s.moved > 0 && tick-s.moved >= uint64(v.schema.TickHz)/2 {
		s.counted = true
		v.settled.add(int64(s.rightAt - s.moved))
	}
}

// Ages returns for each row the time since its shown value was last the true one; nil if no client is compared, because
// the receiver does not show view frames, or is on another machine.
func (v *View) Ages() []time.Duration {
	if v.client == nil {
		return nil
	}
	ages := make([]time.Duration, v.schema.Rows)
	for i := range ages {
		ages[i] = time.Duration(v.tick-min(v.tick, v.currentAt[i])) * time.Second / time.Duration(v.schema.TickHz)
	}
	return ages
}

// Figures returns the measurements. elapsed is the time since the lane began.
func (v *View) Figures(b *endpoint.Budget, elapsed time.Duration) *figures.View {
	msPerTick := 1000 / float64(v.schema.TickHz)
	f := &figures.View{Policy: view.OrDefault(b.Priority).String(), LimitKbps: float64(b.Bps) / 1000, Over: v.over,
		UsedKbps:      figures.RatioFigure(float64(8*v.bytes)/1000, elapsed.Seconds()),
		RowsPerPacket: figures.RatioFigure(float64(v.rows), float64(v.packets)),
		BitsPerRow:    figures.RatioFigure(float64(v.bits), float64(v.rows)),
		FillRatio:     figures.RatioFigure(v.fill, float64(v.full)),
		Encodings:     figures.RatioFigure(float64(v.encodings), float64(v.packets)),
		RowAgeMS:      v.age.scaled(1 / msPerTick),
		MeanRowAgeMS:  v.age.mean(1 / msPerTick),
		SettledMS:     v.settled.scaled(1 / msPerTick),
		RestingWrong:  figures.RatioFigure(float64(v.resting), float64(v.compared)), // unknown if nothing was compared
		LongestWaitMS: figures.Known(float64(v.longestWait) / 1e6)}
	place, meanPlace := v.place.scaled(view.ErrorUnit), v.place.mean(view.ErrorUnit)
	if frame.IsCubes(v.schema) {
		turn, meanTurn := v.turn.scaled(1000), v.turn.mean(1000)
		f.ErrorMM, f.MeanErrorMM, f.ErrorDeg, f.MeanErrorDeg = &place, &meanPlace, &turn, &meanTurn
	} else {
		f.Error, f.MeanError = &place, &meanPlace
	}
	return f
}

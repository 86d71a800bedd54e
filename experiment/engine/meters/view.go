package meters

import (
	"math"
	"slices"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/figures"
	"wirelab/experiment/view"
	"wirelab/internal/quantile"
)

// Truth contains the newest frames of a source, with which Views compare what receivers show. Create it
// with NewTruth.
type Truth struct {
	schema *frame.Schema
	metric view.Metric
	hz     int    // ticks per second
	recent uint64 // ticks: rows that changed later than this ago are measured

	frames    [64]*frame.Shared // that of tick n is at n % len
	tick      uint64            // of the newest frame
	moved     uint64            // tick of the newest change; 0 if there was none
	changedAt []uint64          // of each row: 1 + the tick of its newest change; 0 if it never changed
}

// NewTruth returns a Truth for frames of schema s, of which there are hz per second.
func NewTruth(s *frame.Schema, hz int) *Truth {
	return &Truth{schema: s, metric: view.NewMetric(s), hz: hz, recent: uint64(hz) / 10, changedAt: make([]uint64, s.Rows)}
}

// Tick makes cur, the frame of the given tick, the newest frame. It must be called for every tick.
func (t *Truth) Tick(tick uint64, cur *frame.Shared) {
	t.tick = tick
	before := t.frames[(tick+uint64(len(t.frames))-1)%uint64(len(t.frames))]
	slot := &t.frames[tick%uint64(len(t.frames))]
	if *slot != nil {
		(*slot).Release()
	}
	*slot = cur.Retain()
	n := len(t.schema.Fields)
	for i := range cur.Changed.All() {
		if before != nil && !view.EqualRows(cur.Table[i*n:(i+1)*n], before.Table[i*n:(i+1)*n]) {
			t.changedAt[i] = tick + 1
			t.moved = tick
		}
	}
}

// newestTickWith returns the newest tick, from sent on, at which row i of the source had the given
// value. sent is the tick of the packet with that value, or of the frame that the display began with.
func (t *Truth) newestTickWith(i int, value []int32, sent uint64) uint64 {
	n, size := len(t.schema.Fields), uint64(len(t.frames))
	for tick := t.tick; tick > sent && t.tick-tick < size-1; tick-- {
		f := t.frames[tick%size]
		if f == nil { // from before the first tick
			break
		}
		if view.EqualRows(f.Table[i*n:(i+1)*n], value) {
			return tick
		}
	}
	return min(sent, t.tick)
}

// View measures a sender with a budget, and what its receiver shows. Create it with NewView or Truth.NewView.
type View struct {
	*Truth
	cadence   endpoint.Cadence
	brief     bool         // do not measure turns
	client    *view.Client // of the newest tick; nil if there was none
	currentAt []uint32     // of each row: the newest tick at which its shown value was the true one
	origin    []uint32     // of each row: 1 + the packet it comes from

	jumpedAt   uint32 // tick of the newest Jump that the client has not caught up with; 0 if none
	rowsBefore int64  // value of rows at that Jump

	stopped settling
	viewSums
}

// viewSums are the measurements of a View.
type viewSums struct {
	packets, full         int64
	rows, bits, encodings int64
	fill                  float64
	bytes                 int64
	sample                ViewSample
	longestWait           time.Duration

	compared         int64 // ticks with a client
	place, turn, age quantile.Histogram
	resting          int64 // rows that rest and are wrong, summed over ticks
	settled          quantile.Histogram
}

// ViewSample contains what was measured of a lane with a budget in a sample.
type ViewSample struct {
	Bits  int64 // headers and payloads sent
	Rows  int64 // rows that changed in the last 100 ms, of each tick
	Error int64 // sum of their errors, in units of 1/view.ErrorUnit
	// CatchingUp is set if the client has still to receive what it missed: see View.Jump.
	CatchingUp bool
}

// settling is the time since the source last changed.
type settling struct {
	moved   uint64 // tick of the newest change
	rightAt uint64 // first tick after it at which all rows were right, if isRight
	isRight bool
	counted bool
}

// Merge adds the measurements of o, which must have been created as v was.
func (v *View) Merge(o *View) {
	v.packets += o.packets
	v.full += o.full
	v.rows += o.rows
	v.bits += o.bits
	v.encodings += o.encodings
	v.fill += o.fill
	v.bytes += o.bytes
	v.longestWait = max(v.longestWait, o.longestWait)
	v.compared += o.compared
	v.resting += o.resting
	v.place.Merge(&o.place)
	v.turn.Merge(&o.turn)
	v.age.Merge(&o.age)
	v.settled.Merge(&o.settled)
}

// ViewProgress contains sums of a View, of which figures of a part of a run are differences.
type ViewProgress struct{ Bytes, ErrorSum, Compared int64 }

// Progress returns the sums so far.
func (v *View) Progress() ViewProgress { return ViewProgress{v.bytes, v.place.Sum, v.place.N} }

// ClientFigures returns the figures of one client of a crowd. Those that are sums or means are of
// the time between two results of Progress, the others since the start. active is the length of that time, limitBps
// the mean budget of the client over it, 0 if it is unknown or the client has none.
func (v *View) ClientFigures(before, after ViewProgress, active time.Duration, limitBps float64) *figures.CrowdClientView {
	msPerTick := 1000 / float64(v.hz)
	used := figures.RatioFigure(float64(8*(after.Bytes-before.Bytes))/1000, active.Seconds())
	place, age := figures.QuantilesOf(&v.place, view.ErrorUnit), figures.QuantilesOf(&v.age, 1/msPerTick)
	f := &figures.CrowdClientView{UsedKbps: used, Error: figures.RatioFigure(float64(after.ErrorSum-before.ErrorSum)/view.ErrorUnit, float64(after.Compared-before.Compared)),
		ErrorP95: place.Of(place.P95), RowAgeP50MS: age.Of(age.P50), RowAgeP99MS: age.Of(age.P99)}
	if limitBps > 0 {
		f.UsedRatio = used.Times(1000 / limitBps)
	}
	if v.packets > 0 {
		f.LongestWaitMS = figures.Known(float64(v.longestWait) / 1e6)
	}
	return f
}

// meanOf returns the mean of h, divided by divisor; unknown if h is empty.
func meanOf(h *quantile.Histogram, divisor float64) figures.Figure {
	return figures.RatioFigure(float64(h.Sum)/divisor, float64(h.N))
}

// NewView returns a meter for frames of schema s, with a Truth of its own.
func NewView(s *frame.Schema, c endpoint.Cadence) *View {
	v := NewTruth(s, s.TickHz).NewView(c)
	v.brief = false
	v.place.Precision = quantile.Fine
	v.turn.Precision = quantile.Fine
	return v
}

// NewView returns a meter that takes little memory: quantiles are exact to 1.6 %, and turns are not measured.
func (t *Truth) NewView(c endpoint.Cadence) *View {
	return &View{Truth: t, cadence: c, brief: true, currentAt: make([]uint32, t.schema.Rows), origin: make([]uint32, t.schema.Rows)}
}

// Sent counts a packet. interval is the time between two packets that could be sent.
func (v *View) Sent(p *endpoint.Packet, interval time.Duration) {
	size := p.Header + p.Payload
	v.packets++
	v.rows += int64(p.View.Rows)
	v.bits += int64(8 * p.Payload)
	v.encodings += int64(p.View.Encodings)
	if p.View.Left > 0 {
		v.full++
		v.fill += float64(size) / float64(p.View.Allowed)
	}
	v.bytes += int64(size)
	v.sample.Bits += int64(8 * size)
	v.Waited(p.View.LongestWait, interval)
}

// Waited counts that a row waits for the given number of frames, each of which takes interval.
func (v *View) Waited(frames int, interval time.Duration) {
	v.longestWait = max(v.longestWait, time.Duration(frames)*interval)
}

// Rows returns the number of rows of a frame.
func (t *Truth) Rows() int { return t.schema.Rows }

// Tick compares what client shows with cur, the source's newest frame, which is that of the given tick.
// It must be called for every tick, without a client while the receiver does not show view frames.
func (v *View) Tick(tick uint64, cur *frame.Shared, client *view.Client) {
	v.Truth.Tick(tick, cur)
	v.Compare(client)
}

// Compare compares what client shows with the newest frame. It must be called once for every tick,
// without a client while the receiver does not show view frames.
func (v *View) Compare(client *view.Client) {
	if v.stopped.moved != v.moved {
		v.stopped = settling{moved: v.moved}
	}
	v.begin(client)
	if client != nil {
		v.compare(client)
	}
	v.catchUp()
}

// Jump begins a time in which the lane catches up, because the frames from the given tick on have little
// in common with what the client shows: the lane joins, or the recording restarts. It ends when the
// client has shown for each row a value that was the true one at that tick or later, or when the lane
// has sent twice as many rows as the data have: some policies never send a row with a small error while
// others move. A tick of 0 has no effect.
func (v *View) Jump(tick uint64) { v.jumpedAt, v.rowsBefore = uint32(tick), v.rows }

// catchUp marks the sample if the lane catches up.
func (v *View) catchUp() {
	if v.jumpedAt == 0 {
		return
	}
	if v.rows-v.rowsBefore >= 2*int64(v.schema.Rows) || slices.Min(v.currentAt) >= v.jumpedAt {
		v.jumpedAt = 0
		return
	}
	v.sample.CatchingUp = true
}

// begin records that client is the present one. If it is new, its display may contain rows of frames
// before it.
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
		v.currentAt[i] = uint32(v.newestTickWith(i, client.Display()[i*n:(i+1)*n], uint64(client.InitialTick())))
	}
}

// compare compares what client shows with the source's newest frame.
func (v *View) compare(client *view.Client) {
	tick, n, shown := v.tick, len(v.schema.Fields), client.Display()
	cur := v.frames[tick%uint64(len(v.frames))]
	v.compared++
	right := true
	for i := range v.schema.Rows {
		truth, row := cur.Table[i*n:(i+1)*n], shown[i*n:(i+1)*n]
		if seq, ok := client.Origin(i); ok && v.origin[i] != uint32(seq)+1 {
			v.origin[i] = uint32(seq) + 1
			v.currentAt[i] = max(v.currentAt[i], uint32(v.newestTickWith(i, row, v.cadence.Tick(seq))))
		}
		isRight := view.EqualRows(truth, row)
		if isRight {
			v.currentAt[i] = uint32(tick)
		}
		right = right && isRight
		switch {
		case v.changedAt[i] != 0 && tick+1-v.changedAt[i] <= v.recent:
			var residual []float32
			if cur.Residual != nil {
				residual = cur.Residual[i*n : (i+1)*n]
			}
			place := int64(v.metric.Error(truth, residual, row))
			v.place.Add(place)
			v.sample.Rows++
			v.sample.Error += place
			if !v.brief {
				v.turn.Add(int64(math.Round(v.metric.Turn(truth, row) * 180 / math.Pi * 1000)))
			}
			v.age.Add(int64(tick - uint64(v.currentAt[i])))
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

// tick counts how long it took until all rows were right, once the source has not changed for half a second.
func (s *settling) tick(v *View, tick uint64, right bool) {
	if right && !s.isRight {
		s.isRight, s.rightAt = true, tick
	}
	if s.isRight && !s.counted && s.moved > 0 && tick-s.moved >= uint64(v.hz)/2 {
		s.counted = true
		v.settled.Add(int64(s.rightAt - s.moved))
	}
}

// Ages returns for each row the time since its shown value was last the true one; nil if no client is
// compared, because the receiver does not show view frames, or is on another machine.
func (v *View) Ages() []time.Duration {
	if v.client == nil {
		return nil
	}
	ages := make([]time.Duration, v.schema.Rows)
	for i := range ages {
		ages[i] = time.Duration(v.tick-min(v.tick, uint64(v.currentAt[i]))) * time.Second / time.Duration(v.hz)
	}
	return ages
}

// Figures returns the measurements. elapsed is the time since the lane began.
func (v *View) Figures(b *endpoint.Budget, elapsed time.Duration) *figures.View {
	msPerTick := 1000 / float64(v.hz)
	ticksPerMS := 1 / msPerTick
	f := &figures.View{Policy: view.OrDefault(b.Priority).String(), LimitKbps: float64(b.Bps) / 1000,
		UsedKbps:      figures.RatioFigure(float64(8*v.bytes)/1000, elapsed.Seconds()),
		RowsPerPacket: figures.RatioFigure(float64(v.rows), float64(v.packets)),
		BitsPerRow:    figures.RatioFigure(float64(v.bits), float64(v.rows)),
		FillRatio:     figures.RatioFigure(v.fill, float64(v.full)),
		Encodings:     figures.RatioFigure(float64(v.encodings), float64(v.packets)),
		RowAgeMS:      figures.QuantilesOf(&v.age, ticksPerMS),
		MeanRowAgeMS:  meanOf(&v.age, ticksPerMS),
		SettledMS:     figures.QuantilesOf(&v.settled, ticksPerMS),
		RestingWrong:  figures.RatioFigure(float64(v.resting), float64(v.compared)), // unknown if nothing was compared
		LongestWaitMS: figures.Known(float64(v.longestWait) / 1e6)}
	place := figures.QuantilesOf(&v.place, view.ErrorUnit)
	meanPlace := meanOf(&v.place, view.ErrorUnit)
	if frame.IsCubes(v.schema) {
		f.ErrorMM, f.MeanErrorMM = &place, &meanPlace
		if !v.brief {
			turn, meanTurn := figures.QuantilesOf(&v.turn, 1000), meanOf(&v.turn, 1000)
			f.ErrorDeg, f.MeanErrorDeg = &turn, &meanTurn
		}
	} else {
		f.Error, f.MeanError = &place, &meanPlace
	}
	return f
}

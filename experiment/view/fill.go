package view

import (
	"errors"
	"fmt"
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
	"wirelab/internal/policy"
)

// Filler fills packets with rows. It contains what is common to all clients of a server, and the memory
// to build a packet. Create it with NewFiller. It is not safe for use by several goroutines.
type Filler struct {
	Probe drive.Probe // called around each call of the encoder; nil means none

	schema   *frame.Schema
	metric   Metric
	rule     rule
	interest interest
	player   int // Coding.Player of the newest packet
	values   values
	cur      frame.Frame // newest frame
	frames   uint32      // number of calls of Advance
	changed  frame.Rows  // rows in which the newest frame differs from the one before

	candidates []candidate
	waiting    []waitingRow // buffer of findCandidates and Skip
	places     []int32      // of the candidates by row: index in Server.waiting
	bits       []int32      // estimates for the first candidates, which are sorted; see sortFirst
	chunk      int          // candidates that sortFirst sorts next
	filling    filling
	inView     frame.Rows         // rows in which the view of the newest packet differs from its reference
	coder      encoders.RowCoder  // codes the rows of the newest packet by themselves; nil if its encoder cannot
	coded      []coded            // of the newest frame, by coder; the first element is not used
	list       []int32            // the rows of inView
	codes      []encoders.RowCode // of list
	hasTables  bool               // ref and view have the tables of the newest packet; see loadTables
	ref, view  frame.Frame        // of the newest packet
	attempts   [2]attempt
	budget     encoders.Budget // of the attempt that is used, if a later one does not fit
}

// candidate is a row that may be sent. A smaller candidate is more urgent: the lowest rowBits bits are
// the row, and those above them maxPriority minus its priority. Of rows with the same priority the first
// is the most urgent.
type candidate uint64

const (
	rowBits     = 20
	maxPriority = 1<<(64-rowBits) - 1
)

func (c candidate) row() int { return int(c & (1<<rowBits - 1)) }

// newCandidate returns row i as a candidate.
func newCandidate(i int, priority uint64) candidate {
	return candidate((maxPriority-min(priority, maxPriority))<<rowBits | uint64(i))
}

// attempt is an encoding of the view frame.
type attempt struct {
	payload []byte
	memo    encoders.Memo
}

// maxAttempts is the largest number of encodings with which a packet is filled further. Dropping rows
// until the packet fits may take more.
const maxAttempts = 4

// retryFrames is the number of frames after which rows that did not fit into a packet alone are tried
// again. Otherwise such rows, if they are the most urgent ones, would keep all others from being sent.
const retryFrames = 60

// NewFiller returns a filler for frames of schema s with the default policy.
func NewFiller(s *frame.Schema) *Filler {
	f := &Filler{schema: s, metric: NewMetric(s), values: newValues(s), cur: *s.NewFrame(), changed: frame.NewRows(s.Rows),
		ref: *s.NewFrame(), view: *s.NewFrame(),
		inView: frame.NewRows(s.Rows), coded: make([]coded, 1), places: make([]int32, s.Rows)}
	f.SetPolicy(policy.Policy{})
	return f
}

// SetPolicy sets the policy, which must be one of Policies; the first one for the zero Policy.
func (f *Filler) SetPolicy(p policy.Policy) {
	f.rule = newRule(p)
	f.values.forgetCosts()
}

// Advance makes a copy of cur the newest frame. changed contains at least the rows in which it differs
// from the frame before; nil means unknown.
func (f *Filler) Advance(cur *frame.Frame, changed frame.Rows) {
	n := len(f.schema.Fields)
	f.frames++
	f.coded = f.coded[:1]
	if changed == nil || f.frames == 1 {
		f.changed.SetDiffering(cur.Table, f.cur.Table, n)
	} else {
		copy(f.changed, changed)
		f.changed.RemoveEqual(cur.Table, f.cur.Table, n)
	}
	for i := range f.changed.All() {
		r := &f.values.rows[i]
		r.changedAt = f.frames
		copy(f.curRow(i), f.row(cur.Table, i))
		f.values.release(i, r.newest)
		r.newest = 0
	}
}

// row returns row i of a table.
func (f *Filler) row(table []int32, i int) []int32 {
	n := len(f.schema.Fields)
	return table[i*n : (i+1)*n]
}

// curRow returns row i of the newest frame.
func (f *Filler) curRow(i int) []int32 { return f.row(f.cur.Table, i) }

// curValue returns the newest value of row i.
func (f *Filler) curValue(i int) valueID {
	r := &f.values.rows[i]
	if r.newest == 0 {
		r.newest = f.values.add(i, f.curRow(i), r.changedAt+1)
	}
	return r.newest
}

// initialValues sets list to the values of a frame with which a client begins. Clients that begin with
// the same frame share them.
func (f *Filler) initialValues(list []valueID, initial *frame.Frame) {
	for i := range list {
		row := f.row(initial.Table, i)
		root := &f.values.rows[i].root
		switch {
		case f.frames > 0 && EqualRows(row, f.curRow(i)):
			list[i] = f.values.retain(i, f.curValue(i))
		case *root != 0 && EqualRows(row, f.values.row(i, *root)):
			list[i] = f.values.retain(i, *root)
		default:
			list[i] = f.values.add(i, row, 0)
		}
		f.values.replace(i, root, list[i])
	}
}

// cost is computeCost for value k of row i instead of the newest one. The result is stored with the value.
func (f *Filler) cost(i int, k valueID) uint32 {
	r := &f.values.rows[i]
	if k == r.newest {
		return 0
	}
	v := &r.list[k]
	if v.costAt != r.changedAt+1 {
		v.costAt = r.changedAt + 1
		v.cost = f.computeCost(f.curRow(i), f.values.row(i, k))
	}
	return v.cost
}

// differs reports whether value k of row i is not the newest one.
func (f *Filler) differs(i int, k valueID) bool {
	return k != f.values.rows[i].newest && !EqualRows(f.curRow(i), f.values.row(i, k))
}

// computeCost returns what the policy adds to the priority of a row that has the values a and is shown
// with the values b, before the factors of groups and distance: the weighted error and the constant, in
// ErrorUnit. It is 0 if the values are equal, and 1 if they differ and the policy does not use errors.
func (f *Filler) computeCost(a, b []int32) uint32 {
	switch {
	case EqualRows(a, b):
		return 0
	case f.rule.kind != accumulated:
		return 1
	}
	return f.metric.weighted(a, b) + f.ruleConstant(a, b)
}

// Coding is the encoder of a packet.
type Coding struct {
	Encoder encoders.Encoder
	Epoch   uint64 // memos of other epochs are not passed to the encoder
	TickHz  int    // packet n has tick n*TickHz/RateHz
	RateHz  int
	RefTick uint32 // tick of the reference: that of packet Server.Acked, or of the initial state before the first ack
	// MaxPayload is the largest payload for which a later packet will have room, if this one is not sent; 0
	// means no more than this one. See ErrNoRoom.
	MaxPayload int
	Player     int // row of the client's player, from 0: the first rows of policies, and the row of Interest, count from it
}

// tick returns the tick of packet seq.
func (c *Coding) tick(seq uint64) uint32 { return uint32(seq * uint64(c.TickHz) / uint64(c.RateHz)) }

// Packet is the result of Fill. Its payload is valid until the next call.
type Packet struct {
	Ack         uint8 // the byte that names the ack whose display is the reference
	Payload     []byte
	Rows        int  // rows in which the view differs from the reference
	Left        int  // further rows that should be sent
	Encodings   int  // calls of the encoder
	LongestWait int  // result of Filler.LongestWait before the packet
	WithoutMemo bool // the encoder uses memos, but the reference has none of this epoch

	filler *Filler
	server *Server
}

// Frames returns the frame that the client must decode, and the reference. It must be called before the next call of a
// method of the filler or of the server.
func (p *Packet) Frames() (view *frame.Frame, ref encoders.Ref) {
	p.filler.loadTables(p.server)
	return &p.filler.view, p.filler.filling.refs[0]
}

// ErrNoRoom is the error of a packet that is not to be sent, because the budget has no room yet for the
// smallest payload of the encoder, or for the most urgent row alone: with packets of smaller rows, or
// without rows, that row would never be sent. A later packet will have room, see Server.Need.
var ErrNoRoom = errors.New("view: the budget has no room for a packet yet")

// TooLargeError is the error of an encoder that cannot encode part of a frame within the limit of a packet.
type TooLargeError struct{ Payload, Limit int }

// Error describes the error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("a view frame without changes takes %d bytes, and a packet may have %d: the encoder cannot encode part of a frame", e.Payload, e.Limit)
}

// Fill encodes packet seq to client s: the rows of the highest priority of which the payload takes at
// most limit bytes. It charges the bits of the packet to b, which may be nil. After an error nothing has
// changed, except that the priorities were accumulated, and what Server.Need returns.
func (f *Filler) Fill(s *Server, seq uint64, c Coding, limit int, b *encoders.Budget) (Packet, error) {
	f.player = c.Player
	f.view.Tick = c.tick(seq)
	fill := &f.filling
	*fill = filling{Filler: f, server: s, coding: c, limit: limit, budget: b}
	longestWait := f.findCandidates(s)
	if !s.maySendRows(seq) {
		f.candidates = f.candidates[:0]
	}
	total := len(f.candidates)
	f.keepUrgent(s, limit)
	f.removeTables()
	f.ref.Tick = c.RefTick
	f.setEncoder(c.Encoder, b)
	if f.coder == nil {
		f.loadTables(s)
	}
	fill.refs[0] = encoders.Ref{Frame: &f.ref, Changed: f.inView}
	if s.epoch == c.Epoch {
		fill.refs[0].Memo = s.memo
	}
	s.rowNeed = 0
	if err := fill.run(); err != nil {
		return Packet{}, err
	}
	best := &f.attempts[fill.best]
	p := Packet{filler: f, server: s, Ack: nameOf(s.ack), Payload: best.payload, Rows: fill.rows, Left: total - fill.rows,
		Encodings: fill.encodings, LongestWait: longestWait, WithoutMemo: best.memo != nil && fill.refs[0].Memo == nil}
	f.commit(s, seq, fill.rows, best, c.Epoch)
	return p, nil
}

// removeTables empties the view, so that it is that of no packet.
func (f *Filler) removeTables() {
	if f.hasTables {
		for i := range f.inView.All() {
			copy(f.row(f.view.Table, i), f.row(f.ref.Table, i))
		}
	}
	f.inView.Clear()
	f.hasTables = false
}

// loadTables sets the tables of ref and view to those of the packet to client s with the rows of inView.
func (f *Filler) loadTables(s *Server) {
	if f.hasTables {
		return
	}
	f.hasTables = true
	f.values.load(f.ref.Table, f.view.Table, s.ref)
	for i := range f.inView.All() {
		copy(f.row(f.view.Table, i), f.curRow(i))
	}
}

// setEncoder sets the coder of rows. Bits that are charged to a budget need Encode.
func (f *Filler) setEncoder(e encoders.Encoder, b *encoders.Budget) {
	coder, ok := e.(encoders.RowCoder)
	switch {
	case !ok || b != nil:
		f.coder = nil
	case f.coder != coder:
		f.coder = coder
		f.coded = f.coded[:1]
	}
}

// findCandidates sets f.candidates to the rows that should be sent, with their priorities. It returns what LongestWait
// would return then: a row that waits may differ, so that it is among those that are looked at.
func (f *Filler) findCandidates(s *Server) (longestWait int) {
	s.differing.Union(f.changed)
	if s.frames+1 != f.frames { // also rows that changed in frames without a packet, or all rows of a new client
		for i, k := range s.expected {
			if k != f.values.rows[i].newest {
				s.differing.Add(i)
			}
		}
	}
	s.frames = f.frames
	if f.frames >= s.retryAt {
		s.tooLarge.Clear()
		s.retryAt = f.frames + retryFrames
	}
	f.candidates = f.candidates[:0]
	f.interest.aim(f)
	f.waiting = f.waiting[:0]
	old := 0
	for i := range s.differing.All() {
		row := s.nextWaiting(i, &old)
		cost := f.cost(i, s.expected[i])
		if cost == 0 {
			s.differing.Remove(i)
			continue
		}
		if row.since == 0 {
			row.since = f.frames
		}
		longestWait = max(longestWait, f.waited(&row))
		priority := f.priority(s, i, &row, cost)
		f.places[i] = int32(len(f.waiting))
		f.waiting = append(f.waiting, row)
		// A row that equals the reference cannot be sent until an ack changes the reference.
		if priority >= f.rule.min && !s.tooLarge.Has(i) && (s.ref[i] == s.expected[i] || f.differs(i, s.ref[i])) {
			f.candidates = append(f.candidates, newCandidate(i, priority))
		}
	}
	f.setWaiting(s)
	return longestWait
}

// setWaiting makes f.waiting the entries of the rows that differ from what client s is expected to show.
func (f *Filler) setWaiting(s *Server) {
	copy(s.listed, s.differing)
	s.waiting = append(s.waiting[:0], f.waiting...)
}

// codedRow returns what is known of row i relative to the reference of client s. All clients with the same value in the
// reference share it.
func (f *Filler) codedRow(s *Server, i int) *coded {
	k := s.ref[i]
	v := &f.values.rows[i].list[k]
	isKnown := int(v.coded) < len(f.coded) && int(f.coded[v.coded].row) == i && f.coded[v.coded].value == k
	if !isKnown {
		v.coded = uint32(len(f.coded))
		f.coded = append(f.coded, coded{row: int32(i), value: k, bits: int32(f.metric.bits(f.curRow(i), f.values.row(i, k)))})
	}
	return &f.coded[v.coded]
}

// estimateBits returns about how many bits row i takes in a packet to client s.
func (f *Filler) estimateBits(s *Server, i int) int {
	return max(1, s.scale*int(f.codedRow(s, i).bits)/scaleUnit)
}

// appendRows appends the payload with the rows of inView to dst. It returns false if the encoder refuses a row.
func (f *Filler) appendRows(dst []byte, s *Server) ([]byte, bool) {
	f.list, f.codes = f.list[:0], f.codes[:0]
	for i := range f.inView.All() {
		c := f.codedRow(s, i)
		if !c.hasCode {
			code, ok := f.coder.CodeRow(f.curRow(i), f.values.row(i, c.value))
			if !ok {
				return dst, false
			}
			c.code, c.hasCode = code, true
		}
		f.list = append(f.list, int32(i))
		f.codes = append(f.codes, c.code)
	}
	return f.coder.AppendRows(dst, f.list, f.codes), true
}

// EqualRows reports whether two rows are equal.
func EqualRows(a, b []int32) bool {
	if len(a) == frame.CubeFields {
		return frame.EqualCubes((*[frame.CubeFields]int32)(a), (*[frame.CubeFields]int32)(b))
	}
	return slices.Equal(a, b)
}

// firstPriority is more than any priority of a row that is not one of the first.
const firstPriority = 1 << 43

// isFirst reports whether row i is one of the first rows, which precede all others.
func (f *Filler) isFirst(i int) bool { return uint(i-f.player) < uint(f.rule.first) }

// priority accumulates and returns the priority of row i, whose entry in Server.waiting is row. cost is that of what the
// client is expected to show.
func (f *Filler) priority(s *Server, i int, row *waitingRow, cost uint32) (p uint64) {
	r := &f.rule
	switch r.kind {
	case accumulated:
		p = f.accumulate(row, f.interest.scaled(f, i, cost))
	case newestChange:
		p = uint64(f.values.rows[i].changedAt)
	case roundRobin:
		rows := f.schema.Rows
		p = uint64(rows - (i-s.cursor+rows)%rows)
	case fiedler:
		p = f.accumulate(row, f.interest.scaled(f, i, f.weight(i, f.curRow(i))))
	case unity:
		ticks, gain := uint64(f.view.Tick)+1, r.newGain // if the row was never sent
		if seq, ok := s.newestSent(i); ok {
			ticks, gain = uint64(f.view.Tick-f.filling.coding.tick(seq)), 1
		}
		p = f.interest.scaled(f, i, r.gain) * ticks * gain
	}
	p = min(p, firstPriority-1)
	if f.isFirst(i) {
		p = firstPriority + uint64(f.player+r.first-i)
	}
	return p
}

// maxAccumulated is the limit of accumulated priorities.
const maxAccumulated = 1<<32 - 1

// accumulate adds to the accumulated priority of a row and returns the sum. Of the rows at the limit
// those that have waited longest precede the others, so that none waits for ever.
func (f *Filler) accumulate(row *waitingRow, add uint64) uint64 {
	sum := uint64(row.accumulated) + add
	if sum < maxAccumulated {
		row.accumulated = uint32(sum)
		return sum
	}
	row.accumulated = maxAccumulated
	return maxAccumulated + uint64(f.waited(row))
}

// Skip records that no packet to client s contains rows of the newest frame. They wait from this frame on.
func (f *Filler) Skip(s *Server) {
	s.differing.Union(f.changed)
	f.waiting = f.waiting[:0]
	old := 0
	for i := range s.differing.All() {
		row := s.nextWaiting(i, &old)
		if row.since == 0 && f.changed.Has(i) && f.differs(i, s.expected[i]) {
			row.since = f.frames
		}
		f.waiting = append(f.waiting, row)
	}
	f.setWaiting(s)
}

// LongestWait returns for how many frames a row has differed from what client s is expected to show, at most.
func (f *Filler) LongestWait(s *Server) (longest int) {
	for i := range s.waiting {
		longest = max(longest, f.waited(&s.waiting[i]))
	}
	return longest
}

// waited returns for how many frames a row has differed from what the client is expected to show, as of the newest
// packet.
func (f *Filler) waited(row *waitingRow) int {
	if row.since == 0 {
		return 0 // it has begun to differ since
	}
	return int(f.frames - row.since)
}

// weight returns Fiedler's weight of row i with value cur.
func (f *Filler) weight(i int, cur []int32) uint32 {
	w := &f.rule.weights
	switch {
	case i == f.player:
		return w[0]
	case f.metric.cubes && cur[frame.CubeInteracting] == 1:
		return w[1]
	case f.values.rows[i].changedAt == f.frames:
		return w[2]
	}
	return w[3]
}

// keepUrgent keeps about twice as many candidates as are expected to fit into limit bytes, the most urgent, unsorted, and
// drops the others. The first chunk of sortFirst is about what fits.
func (f *Filler) keepUrgent(s *Server, limit int) {
	bits := 8 * max(limit, 0)
	meanBits := max(s.meanBits, 16) // in 1/16
	want := 16 + 2*bits*16/meanBits
	if len(f.candidates) > want {
		partition(f.candidates, want)
		f.candidates = f.candidates[:want]
	}
	f.bits = f.bits[:0]
	f.chunk = 4 + bits*16/meanBits
}

// sortFirst sorts at least the first k candidates, the most urgent first, and estimates their bits. The candidates
// after them stay unsorted, because most packets do not need them.
func (f *Filler) sortFirst(s *Server, k int) {
	for len(f.bits) < k {
		rest := f.candidates[len(f.bits):]
		if len(rest) > f.chunk {
			partition(rest, f.chunk)
			rest = rest[:f.chunk]
		}
		slices.Sort(rest)
		for _, c := range rest {
			f.bits = append(f.bits, int32(f.estimateBits(s, c.row())))
		}
		f.chunk = 16
	}
}

// partition moves the k most urgent candidates to the front of list, in any order (Hoare's quickselect).
func partition(list []candidate, k int) {
	for lo, hi := 0, len(list)-1; lo < hi; {
		pivot, i, j := list[(lo+hi)/2], lo, hi
		for i <= j {
			for list[i] < pivot {
				i++
			}
			for pivot < list[j] {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return
		}
	}
}

// filling is the search for the number of candidates that fit into a packet.
type filling struct {
	*Filler
	server    *Server
	coding    Coding
	limit     int // bytes
	budget    *encoders.Budget
	refs      [1]encoders.Ref
	included  int // candidates that the view contains
	rows      int // candidates of the best attempt
	best      int // index of the best attempt
	size      int // bytes of the best attempt
	tooMany   int // candidates that did not fit
	encodings int
}

// run encodes the view with the most candidates that fit.
func (f *filling) run() error {
	k, room := 0, 8*(f.limit-f.limit/128) // estimates of many rows are 1 % too low or too high
	for ; k < len(f.candidates); k++ {
		f.sortFirst(f.server, k+1)
		if room < int(f.bits[k]) {
			break
		}
		room -= int(f.bits[k])
	}
	if k == 0 && len(f.candidates) > 0 {
		k = 1 // the estimate may be too high, and is adapted only by packets with rows
	}
	f.tooMany = len(f.candidates) + 1
	for found := false; ; {
		size, err := f.encode(k, 1-f.best)
		switch {
		case err != nil:
			return err
		case size > f.limit && k == 0 && size <= f.coding.MaxPayload:
			f.server.least = size
			return ErrNoRoom
		case size > f.limit && k == 0:
			return &TooLargeError{size, f.limit}
		case size > f.limit && k == 1 && !found && size <= f.coding.MaxPayload:
			f.server.rowNeed = size
			return ErrNoRoom
		case size > f.limit:
			f.tooMany = k
			if k == 1 && size > f.coding.MaxPayload {
				f.server.tooLarge.Add(f.candidates[0].row())
			}
			if !found {
				k = min(max(1, k*f.limit/size), k-1)
				continue
			}
		default:
			if found {
				f.server.spare(f.attempts[f.best].memo, f.coding.Epoch)
			}
			found, f.best, f.rows, f.size = true, 1-f.best, k, size
			if f.budget != nil {
				f.Filler.budget = *f.budget
			}
		}
		k = f.nextAttempt()
		if k == 0 {
			break
		}
	}
	f.include(f.rows)
	if f.budget != nil {
		f.budget.Units = f.Filler.budget.Units
	}
	return nil
}

// nextAttempt returns with how many candidates the packet could be filled further; 0 if it should be
// sent as it is: if hardly a row fits, or less than 3 % of the packet is free.
func (f *filling) nextAttempt() int {
	if f.rows == len(f.candidates) || f.encodings >= maxAttempts {
		return 0
	}
	f.sortFirst(f.server, f.rows+1)
	free, next := 8*(f.limit-f.size), int(f.bits[f.rows])
	if f.rows+1 < f.tooMany && 5*free >= 4*next && 32*free > 8*f.limit {
		return min(f.rows+max(1, free/next), f.tooMany-1, len(f.candidates))
	}
	f.include(f.rows)
	if 20*free > 8*f.limit && f.promoteSmaller(f.rows, free) { // in larger packets it is not worth an encoding
		f.tooMany = len(f.candidates) + 1
		return f.rows + 1
	}
	return 0
}

// promoteSmaller moves the first candidate from k on that is expected to fit into free bits to place k.
// It returns false if there is none.
func (f *filling) promoteSmaller(k, free int) bool {
	for j := k + 1; j < len(f.candidates); j++ {
		f.sortFirst(f.server, j+1)
		if c, bits := f.candidates[j], f.bits[j]; 10*int(bits) <= 9*free {
			copy(f.candidates[k+1:j+1], f.candidates[k:j])
			copy(f.bits[k+1:j+1], f.bits[k:j])
			f.candidates[k], f.bits[k] = c, bits
			return true
		}
	}
	return false
}

// encode encodes the view with the first k candidates into an attempt, and returns its size in bytes.
func (f *filling) encode(k, index int) (size int, err error) {
	f.include(k)
	if f.budget != nil {
		f.budget.Reset()
	}
	f.encodings++
	a := &f.attempts[index]
	if f.Probe != nil {
		f.Probe.Begin(&f.view, f.refs[:])
	}
	payload, memo, err := f.payload(a.payload[:0])
	if f.Probe != nil {
		f.Probe.End()
	}
	if err != nil {
		return 0, err
	}
	a.payload, a.memo = payload, memo
	if len(payload) > f.limit {
		f.server.spare(memo, f.coding.Epoch)
	}
	return len(payload), nil
}

// payload appends the payload of the view to dst, and returns it with the memo.
func (f *filling) payload(dst []byte) ([]byte, encoders.Memo, error) {
	if f.coder != nil {
		if payload, ok := f.appendRows(dst, f.server); ok {
			return payload, nil, nil
		}
		f.loadTables(f.server) // for the error of Encode
	}
	return f.coding.Encoder.Encode(dst, &f.view, f.refs[:], takeSpare(&f.server.spares, f.coding.Epoch), f.budget)
}

// include makes the view contain the first k candidates.
func (f *filling) include(k int) {
	f.sortFirst(f.server, k)
	for ; f.included < k; f.included++ {
		i := f.candidates[f.included].row()
		if f.hasTables {
			copy(f.row(f.view.Table, i), f.curRow(i))
		}
		f.inView.Add(i)
	}
	for ; f.included > k; f.included-- {
		i := f.candidates[f.included-1].row()
		if f.hasTables {
			copy(f.row(f.view.Table, i), f.row(f.ref.Table, i))
		}
		f.inView.Remove(i)
	}
}

// commit records that packet seq contains the first rows candidates.
func (f *Filler) commit(s *Server, seq uint64, rows int, a *attempt, epoch uint64) {
	if !s.any {
		s.first, s.any = seq, true
	}
	s.newest = seq
	if rows == 0 {
		s.spare(a.memo, epoch) // the memo of a packet without rows is not used; see Client
		return
	}
	var list []sentRow
	if n := len(f.values.spareRows); n > 0 {
		list, f.values.spareRows = f.values.spareRows[n-1], f.values.spareRows[:n-1]
	}
	estimate := 0
	for k, c := range f.candidates[:rows] {
		i := c.row()
		value := f.curValue(i)
		list = append(list, sentRow{int32(i), f.values.retain(i, value)})
		f.values.replace(i, &s.expected[i], value)
		s.sent[i] = uint16(seq%sentNames) + 1
		s.waiting[f.places[i]] = waitingRow{}
		estimate += int(f.bits[k])
		if !f.isFirst(i) {
			s.cursor = (i + 1) % f.schema.Rows
		}
	}
	if rows < len(f.candidates) {
		f.sortFirst(s, rows+1)
		s.cursor = f.candidates[rows].row() // the most urgent one that did not fit: smaller rows may have been sent instead
	}
	s.records = append(s.records, record{seq: seq, rows: list, memo: a.memo, epoch: epoch})
	s.learnSize(8*len(a.payload), estimate, rows)
}

// scaleUnit is the number of units of Server.scale.
const scaleUnit = 1 << 16

// learnSize adapts the estimates to a packet whose rows took bits and were estimated to take estimate.
func (s *Server) learnSize(bits, estimate, rows int) {
	s.meanBits += (bits*16/rows - s.meanBits) / 8
	ratio := min(bits*scaleUnit/estimate, 3*scaleUnit)
	s.scale = min(max(s.scale+s.scale/10*(ratio-scaleUnit)/scaleUnit, scaleUnit/16), 32*scaleUnit)
}

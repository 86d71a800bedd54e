package view

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/internal/policy"
	"wirelab/internal/testkit"
)

// checked is a codec that puts checksums of its reference and its memo into each payload, so that the
// decoder detects if the client has another reference or memo than the server. The memo of a frame is a
// hash of the frame and of the memo before.
type checked struct {
	schema *frame.Schema
	salt   uint32 // distinguishes encodings
}

func (c checked) sum(table []int32, memo encoders.Memo) uint32 {
	h := fnv.New32a()
	binary.Write(h, binary.LittleEndian, table)
	if m, ok := memo.(*uint32); ok {
		binary.Write(h, binary.LittleEndian, *m)
	}
	return h.Sum32() ^ c.salt
}

// memo returns the memo of a frame with the given table after ref. It overwrites spare if it can.
func (c checked) memo(table []int32, ref *encoders.Ref, spare encoders.Memo) encoders.Memo {
	memo, _ := spare.(*uint32)
	if memo == nil {
		memo = new(uint32)
	}
	*memo = c.sum(table, ref.Memo)
	return memo
}

func (c checked) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo, _ *encoders.Budget) ([]byte, encoders.Memo, error) {
	n := len(c.schema.Fields)
	changed := frame.NewRows(c.schema.Rows)
	changed.SetDiffering(cur.Table, refs[0].Frame.Table, n)
	if !slices.Equal(changed, refs[0].Changed) {
		return nil, nil, fmt.Errorf("Changed is not exact")
	}
	dst = binary.LittleEndian.AppendUint32(dst, c.sum(refs[0].Frame.Table, refs[0].Memo)+refs[0].Frame.Tick)
	for i := range changed.All() {
		dst = binary.AppendUvarint(dst, uint64(i))
		for _, v := range cur.Table[i*n : (i+1)*n] {
			dst = binary.AppendVarint(dst, int64(v))
		}
	}
	return dst, c.memo(cur.Table, &refs[0], spare), nil
}

func (c checked) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	n := len(c.schema.Fields)
	if binary.LittleEndian.Uint32(src) != c.sum(refs[0].Frame.Table, refs[0].Memo)+refs[0].Frame.Tick {
		return nil, errors.New("the reference or its memo differs from the server's")
	}
	copy(dst.Table, refs[0].Frame.Table)
	for src = src[4:]; len(src) > 0; {
		i, k := binary.Uvarint(src)
		src = src[k:]
		for j := range n {
			v, k := binary.Varint(src)
			dst.Table[int(i)*n+j] = int32(v)
			src = src[k:]
		}
	}
	return c.memo(dst.Table, &refs[0], spare), nil
}

// world moves cubes at random: some move for a while, jump, return to where they were, or change a flag.
type world struct {
	rng    *rand.Rand
	schema *frame.Schema
	frames []*frame.Frame // one per tick
	movers []mover
	still  bool
}

type mover struct {
	ticks int
	step  [2]int32 // in x and y
}

func newWorld(seed uint64, rows int) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 7)), schema: frame.Cubes(rows), movers: make([]mover, rows)}
	f := w.schema.NewFrame()
	for i := range rows {
		copy(f.Table[i*frame.CubeFields:], []int32{3, 256, 256, 256, int32(i) * 512, 0, 512, 0})
	}
	w.frames = []*frame.Frame{f}
	return w
}

// step adds the frame of the next tick.
func (w *world) step() *frame.Frame {
	last := w.frames[len(w.frames)-1]
	f := w.schema.NewFrame()
	f.CopyFrom(last)
	f.Tick = uint32(len(w.frames))
	for i := range w.movers {
		m, row := &w.movers[i], f.Table[i*frame.CubeFields:][:frame.CubeFields]
		switch n := w.rng.IntN(400); {
		case w.still:
		case m.ticks > 0:
			m.ticks--
			for axis, step := range m.step {
				row[frame.CubeX+axis] = min(max(row[frame.CubeX+axis]+step, -1<<17), 1<<17-1)
			}
			row[frame.CubeA] = min(511, max(0, row[frame.CubeA]+int32(w.rng.IntN(9)-4)))
		case n < 6:
			*m = mover{w.rng.IntN(60), [2]int32{int32(w.rng.IntN(41) - 20), int32(w.rng.IntN(41) - 20)}}
		case n < 9:
			row[frame.CubeInteracting] ^= 1
		case n < 10: // back to an older value
			copy(row, w.frames[max(0, len(w.frames)-1-w.rng.IntN(20))].Table[i*frame.CubeFields:][:frame.CubeFields])
		}
	}
	w.frames = append(w.frames, f)
	return f
}

// sentPacket is a packet on the link, with what only the test knows.
type sentPacket struct {
	due   time.Duration
	seq   uint64
	ack   uint8
	epoch uint64
	data  []byte
	view  *frame.Frame
}

type sentAck struct {
	due  time.Duration
	data []byte
}

// codec is an encoder with its decoder.
type codec struct {
	enc encoders.Encoder
	dec encoders.Decoder
}

// schedule is a random run.
type schedule struct {
	t       testing.TB
	rng     *rand.Rand
	world   *world
	filler  *Filler
	server  *Server
	client  *Client
	bucket  Bucket
	player  int
	codecs  []codec
	epoch   uint64
	codecOf map[uint64]int // by epoch
	seen    map[uint64]bool

	latency, jitter  time.Duration
	loss             float64
	deadDown, deadUp time.Duration // outages end then
	down             []sentPacket
	up               []sentAck
	displays         map[uint64][]int32 // of the client, by number of ack
	payloads         hash.Hash64        // of all packets
}

const testTick = time.Second / 60

// relative is the index of relative-orientation in the codecs of a schedule.
const relative = 2

// newSchedule returns a schedule with a budget of 64 kbit/s.
func newSchedule(t testing.TB, seed uint64, rows int) *schedule {
	s := &schedule{t: t, rng: rand.New(rand.NewPCG(seed, 11)), world: newWorld(seed, rows), payloads: fnv.New64a()}
	schema := s.world.schema
	s.filler = NewFiller(schema)
	c, err := table.ByName("relative-orientation")
	if err != nil {
		t.Fatal(err)
	}
	enc, dec, err := c.New(schema, c.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	first, second := checked{schema, 1}, checked{schema, 2}
	s.codecs = []codec{{first, first}, {second, second}, {enc, dec}}
	s.codecOf = map[uint64]int{0: s.rng.IntN(3)}
	s.join()
	s.setRate(64_000)
	return s
}

// setRate sets the budget in bits per second.
func (s *schedule) setRate(rate int64) {
	s.bucket.Set(rate, 1000, testTick)
	s.server.BudgetChanged()
}

// join replaces server and client: a client joins that has the initial state.
func (s *schedule) join() {
	initial := s.world.frames[0]
	if s.server != nil {
		s.server.Close()
	}
	s.server, s.client = NewServer(s.filler, initial), NewClient(s.world.schema, initial)
	s.down, s.up = nil, nil
	s.displays, s.seen = map[uint64][]int32{}, map[uint64]bool{}
}

// run runs the ticks from n up to end, without end.
func (s *schedule) run(n, end int) {
	for ; n < end; n++ {
		s.tick(n)
	}
}

// tick runs one tick: arrivals, then a packet.
func (s *schedule) tick(n int) {
	now := time.Duration(n) * testTick
	s.receive(now)
	before := s.world.frames[len(s.world.frames)-1]
	cur := s.world.step()
	changed := frame.NewRows(s.world.schema.Rows)
	changed.SetDiffering(cur.Table, before.Table, frame.CubeFields)
	s.filler.Advance(cur, changed)
	s.send(now, uint64(n))
}

// settle stops motion and loss at tick n, and returns the number of ticks until everything is right; at
// most 600.
func (s *schedule) settle(n int) (ticks int) {
	s.world.still = true
	s.loss, s.deadDown, s.deadUp = 0, 0, 0
	for ; ticks < 600 && !s.right(); ticks++ {
		s.tick(n + ticks)
	}
	return ticks
}

// send sends a packet of the newest frame, if the budget has room, as package endpoint does.
func (s *schedule) send(now time.Duration, seq uint64) {
	const header = 5
	largest := s.bucket.MaxNeed()
	need := s.server.Need(header, largest)
	allowed := s.bucket.Allow(now, need)
	if allowed < need {
		s.filler.Skip(s.server)
		return
	}
	p, err := s.filler.Fill(s.server, seq, s.coding(seq, largest-header), allowed-header, nil)
	if errors.Is(err, ErrNoRoom) {
		return
	}
	if err != nil {
		s.t.Fatalf("packet %d: %v", seq, err)
	}
	size := header + len(p.Payload)
	if size > allowed {
		s.t.Fatalf("packet %d of %d bytes, allowed are %d", seq, size, allowed)
	}
	s.bucket.Spend(now, size)
	s.payloads.Write(binary.LittleEndian.AppendUint64(nil, seq))
	s.payloads.Write(p.Payload)
	view := s.world.schema.NewFrame()
	sent, _ := p.Frames()
	view.CopyFrom(sent)
	if s.rng.Float64() < s.loss || now < s.deadDown {
		return
	}
	s.down = append(s.down, sentPacket{s.due(now), seq, p.Ack, s.epoch, slices.Clone(p.Payload), view})
}

// coding returns the encoder of packet seq.
func (s *schedule) coding(seq uint64, maxPayload int) Coding {
	c := Coding{Encoder: s.codecs[s.codecOf[s.epoch]].enc, Epoch: s.epoch, TickHz: 1, RateHz: 1, MaxPayload: maxPayload, Player: s.player}
	if acked, ok := s.server.Acked(); ok {
		c.RefTick = s.world.frames[acked].Tick
	}
	return c
}

func (s *schedule) due(now time.Duration) time.Duration {
	due := now + s.latency
	if s.jitter > 0 {
		due += time.Duration(s.rng.Int64N(int64(s.jitter)))
	}
	return due
}

func (s *schedule) receive(now time.Duration) {
	slices.SortStableFunc(s.down, func(a, b sentPacket) int { return int(a.due - b.due) })
	for len(s.down) > 0 && s.down[0].due <= now {
		p := s.down[0]
		s.down = s.down[1:]
		s.arrive(now, &p)
	}
	slices.SortStableFunc(s.up, func(a, b sentAck) int { return int(a.due - b.due) })
	for len(s.up) > 0 && s.up[0].due <= now {
		a := s.up[0]
		s.up = s.up[1:]
		ack, err := s.server.HandleAck(a.data)
		if err != nil || len(ack.Rest) > 0 {
			s.t.Fatalf("ack: %v, %d bytes left", err, len(ack.Rest))
		}
		for i := range uint64(15) {
			if wasDecoded := ack.Newest > i && s.seen[ack.Newest-1-i]; ack.Mask>>i&1 == 1 && !wasDecoded {
				s.t.Fatalf("the ack of packet %d lists packet %d, which was not decoded", ack.Newest, ack.Newest-1-i)
			}
		}
		var reference []int32
		for i, k := range s.server.ref {
			reference = append(reference, s.server.values.row(i, k)...)
		}
		if number := s.server.ack; ack.IsNew && !slices.Equal(reference, s.displays[number]) {
			s.t.Fatalf("ack %d: the server's reference is not what the client showed", number)
		}
	}
}

// arrive passes a packet to the client and compares: the decoded view with the server's, and the packet
// of each displayed row with the newest that the server sent.
func (s *schedule) arrive(now time.Duration, p *sentPacket) {
	if s.seen[p.seq] || !s.client.Accepts(p.seq) {
		return
	}
	s.seen[p.seq] = true
	ref, ok := s.client.Reference(p.ack, p.epoch, 0)
	if !ok { // after an outage of acks, many come at once, so that packets that cross name an ack too old
		return
	}
	refs := []encoders.Ref{ref}
	got := s.world.schema.NewFrame()
	got.Tick = p.view.Tick
	memo, err := s.codecs[s.codecOf[p.epoch]].dec.Decode(got, p.data, refs, s.client.SpareMemo(p.epoch))
	if err != nil || !got.Equal(p.view) {
		s.t.Fatalf("packet %d is wrong: %v", p.seq, err)
	}
	got.Tick = p.view.Tick
	if _, ok := s.client.Apply(p.seq, p.ack, got, memo, p.epoch); !ok {
		s.t.Fatalf("packet %d is too far from others for an ack", p.seq)
	}
	for i := range s.world.schema.Rows {
		shown, ok := s.client.Origin(i)
		if newest, isSent := s.server.newestSent(i); ok && (!isSent || shown > newest) {
			s.t.Fatalf("row %d is of packet %d, the server sent it last in %d, %v", i, shown, newest, isSent)
		}
	}
	if number := s.client.AckNumber(); s.displays[number] == nil {
		s.displays[number] = slices.Clone(s.client.Display())
		delete(s.displays, number-MaxStates-1)
	}
	if s.rng.Float64() >= s.loss && now >= s.deadUp {
		s.up = append(s.up, sentAck{s.due(now), s.client.AppendAck(nil, 0)})
	}
}

// right reports whether the client shows the newest frame.
func (s *schedule) right() bool {
	return slices.Equal(s.client.Display(), s.world.frames[len(s.world.frames)-1].Table)
}

// With any loss up to 60 %, outages of 3 s, reordering, swaps of the encoder, changes of budget and
// policy, and joins: every decoded view is the server's, the reference is what the client showed at its
// ack, no row is newer than what the server sent, and no packet is larger than the bucket allows. At the
// end, without loss, the client shows the newest frame.
func TestRandomSchedules(t *testing.T) {
	for seed := range uint64(testkit.ChooseLong(4000, 400, 40)) {
		s := newSchedule(t, seed, 20+int(seed%60))
		s.latency = time.Duration(s.rng.IntN(80)) * time.Millisecond
		s.jitter = time.Duration(s.rng.IntN(120)) * time.Millisecond
		s.loss = []float64{0, 0.02, 0.2, 0.6}[s.rng.IntN(4)]
		for n := 1; n < 900; n++ {
			now := time.Duration(n) * testTick
			switch s.rng.IntN(400) {
			case 0:
				s.deadUp = now + time.Duration(s.rng.IntN(3000))*time.Millisecond
			case 1:
				s.deadDown = now + time.Duration(s.rng.IntN(3000))*time.Millisecond
			case 2, 3:
				if s.epoch < 200 {
					s.epoch++
					s.codecOf[s.epoch] = s.rng.IntN(len(s.codecs))
					s.server.BeginEpoch()
				}
			case 4, 5:
				s.setRate(int64(16_000 + s.rng.IntN(100_000)))
			case 6, 7:
				k := &Policies[s.rng.IntN(len(Policies))]
				s.filler.SetPolicy(Policies.Default(k.Name))
			case 8:
				s.join()
			case 9:
				s.filler.SetInterest(Interest{Row: 1, Radius: float64(s.rng.IntN(2) * 4), Falloff: 2})
			}
			s.tick(n)
		}
		s.setRate(64_000)
		s.filler.SetPolicy(policy.Policy{})
		if s.settle(900); !s.right() {
			t.Fatalf("seed %d: rows are still wrong 10 s after motion stopped", seed)
		}
	}
}

// The bytes of small packets, of 16 to 100 bytes with the header, do not change: for each policy, with
// two codecs, loss, and a player whose rows go first; every second time with weights and an interest.
func TestSmallPackets(t *testing.T) {
	weights, err := ParseWeights("position=2, interacting:1=4")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint64{0x53bf3fa95f7d441f, 0x1fd8a816963677df, 0x459289ba721a4003, 0xcdd172a23734b7e2, 0x4e8510605afd57cb} {
		p, err := Policies.Parse(Policies[i].Name + " first=2")
		if err != nil {
			t.Fatal(err)
		}
		sum := fnv.New64a()
		for k, bytes := range []int64{16, 20, 28, 40, 60, 100} {
			s := newSchedule(t, uint64(k), 70)
			s.codecOf[0] = k % 4 / 2 * relative
			s.payloads, s.player = sum, k
			s.latency, s.jitter, s.loss = 40*time.Millisecond, 30*time.Millisecond, 0.1
			s.filler.SetPolicy(p)
			if k%2 == 1 {
				s.filler.SetWeights(weights)
				s.filler.SetInterest(Interest{Row: 67, Radius: 4, Falloff: 1, Point: [3]float64{9}})
			}
			s.setRate(bytes * 8 * 60)
			s.run(1, 300)
		}
		if got := sum.Sum64(); got != want {
			t.Errorf("%s: the digest is %#x, want %#x", p, got, want)
		}
	}
}

// An outage of acks that is longer than all limits, and one of both ways, leave both ends in agreement.
func TestLongOutages(t *testing.T) {
	for _, both := range []bool{false, true} {
		s := newSchedule(t, 5, 60)
		s.latency = 40 * time.Millisecond
		for n := 1; n < 4500; n++ {
			if n == 300 {
				s.deadUp = 60 * time.Second // 3300 packets: more than an ack can list
				if both {
					s.deadDown = s.deadUp
				}
			}
			s.tick(n)
			if n := len(s.server.records); n > maxUnderWay {
				t.Fatalf("%d packets are under way, want at most %d", n, maxUnderWay)
			}
		}
		if took := s.settle(4500); took > 30 {
			t.Errorf("both ways %v: rows are wrong for %d ticks after an outage of 55 s", both, took)
		}
	}
}

// When motion stops, the client shows everything right within a round trip and 100 ms at 64 kbit/s, if
// no packet or ack of the last 20 ticks was lost. Losses until motion stops cost a second round trip,
// because the server sends a row again only when the acks of later packets do not list the packet that
// contained the row.
func TestSettles(t *testing.T) {
	for seed := range uint64(testkit.Choose(200, 30)) {
		roundTrips := 1 + int(seed%2)
		s := newSchedule(t, seed, 200)
		s.codecOf[0] = relative
		s.latency = time.Duration(10+s.rng.IntN(70)) * time.Millisecond
		s.loss = 0.05
		s.run(1, 380)
		if roundTrips == 1 {
			s.loss = 0
		}
		s.run(380, 400)
		s.setRate(64_000)
		took, want := time.Duration(s.settle(400))*testTick, time.Duration(roundTrips)*2*s.latency+100*time.Millisecond
		if took > want {
			t.Errorf("seed %d: everything is right after %v, want at most %v", seed, took, want)
		}
	}
}

// The server accepts any bytes as an ack, and a client any packet that decodes, without panicking or growing.
func FuzzHandleAck(f *testing.F) {
	for _, a := range []ack{{number: 1, newest: 3, mask: 5}, {number: 9, newest: 29, gap: 17, list: []byte{1, 2}}} {
		f.Add(a.append(nil))
	}
	f.Add([]byte{1, 0x80, 2, 0, 1, 0, 0, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, src []byte) {
		s := newSchedule(t, 1, 20)
		s.loss = 1
		s.run(1, 30)
		for range 3 {
			ack, err := s.server.HandleAck(src)
			if err != nil && !errors.Is(err, errMalformed) {
				t.Fatal(err)
			}
			if ack.IsNew && (ack.Newest >= 30 || len(ack.Rest) > len(src)) {
				t.Fatalf("newest %d, %d bytes left", ack.Newest, len(ack.Rest))
			}
		}
		s.run(30, 40)
	})
}

// A client ignores a name of an ack that it did not send, and applies no packet that an ack could not list. It
// stays small if packets repeat a sequence number and name no ack, as no server does.
func TestClientRefuses(t *testing.T) {
	schema := frame.Cubes(3)
	c := NewClient(schema, schema.NewFrame())
	if _, ok := c.Reference(1, 0, 0); ok {
		t.Error("there is a reference before the first ack")
	}
	apply := func(seq uint64, x int32) bool {
		f := schema.NewFrame()
		f.Table[frame.CubeX] = x
		if _, ok := c.Reference(0, uint64(x), 0); !ok {
			t.Fatal("the initial state is no reference")
		}
		_, ok := c.Apply(seq, 0, f, new(int), uint64(x)) // the memo may be any value
		return ok
	}
	if !apply(5, 1) || apply(5+maxSpan, 2) || !apply(4+maxSpan, 3) || c.Display()[frame.CubeX] != 3 {
		t.Errorf("the display has %v", c.Display())
	}
	if c.Accepts(4 + maxSpan - Window - 1) {
		t.Error("a packet before the window is accepted")
	}
	if n := c.AckNumber(); n != 2 {
		t.Errorf("%d acks, want 2", n)
	}
	c = NewClient(schema, schema.NewFrame())
	for i := range 2 * maxSpan {
		ok := apply(1, int32(i+1))
		if ok != (i < maxSpan) || len(c.applied) > maxSpan || len(c.spares) > MaxStates {
			t.Fatalf("packet %d: %v, the client lists %d packets and has %d spare memos", i, ok, len(c.applied), len(c.spares))
		}
	}
}

// Explain agrees with what the next packet contains: the rows of the highest priority that wait, and it
// changes nothing.
func TestExplain(t *testing.T) {
	for seed := range uint64(len(Policies)) {
		s := newSchedule(t, seed, 60)
		s.setRate(24_000)
		s.codecOf[0] = relative
		s.latency = 40 * time.Millisecond
		s.filler.SetPolicy(Policies.Default(Policies[seed].Name))
		s.run(1, 200)
		standings := map[standing]int{}
		for n := 200; n < 300; n++ {
			server := *s.server
			server.waiting, server.listed, server.differing = slices.Clone(server.waiting), slices.Clone(server.listed), slices.Clone(server.differing)
			best := Reason{Row: -1}
			for i := range s.world.schema.Rows {
				r := s.filler.Explain(s.server, i)
				standings[r.Standing]++
				if r.Standing == Waiting && r.Error <= 0 || r.Standing == Right && r.Priority > 0 {
					t.Fatalf("row %d: %+v", i, r)
				}
				isShown := EqualRows(s.filler.curRow(i), s.server.values.row(i, s.server.ref[i]))
				if r.Standing == Right && !isShown || r.Standing == UnderWay && !slices.Contains(s.rowsOf(r.Packet), i) {
					t.Fatalf("the reference has row %d: %v; %+v", i, isShown, r)
				}
				if r.Standing == Waiting && (best.Row < 0 || r.Priority > best.Priority) {
					best = r
				}
			}
			if !slices.Equal(server.waiting, s.server.waiting) {
				t.Fatal("Explain changed priorities")
			}
			s.filler.findCandidates(s.server)
			if most := slices.Min(append(s.filler.candidates, newCandidate(0, 0))); best.Row >= 0 && most != newCandidate(best.Row, best.Priority) {
				t.Fatalf("policy %s: the most urgent row is %d, Explain says %+v", Policies[seed].Name, most.row(), best)
			}
			*s.server = server
			s.tick(n)
		}
		if standings[Right] == 0 || standings[UnderWay] == 0 || standings[Waiting] == 0 {
			t.Errorf("policy %s: standings %v", Policies[seed].Name, standings)
		}
	}
}

// rowsOf returns the rows of packet seq, which is under way.
func (s *schedule) rowsOf(seq uint64) (rows []int) {
	for _, r := range s.server.records {
		for _, sent := range r.rows {
			if r.seq == seq {
				rows = append(rows, int(sent.row))
			}
		}
	}
	return rows
}

// A server waits for room for the most urgent row, however small the others are, until the budget changes.
// A packet for whose header there is no room is refused. The client shows rows that a new server has not
// sent, and none that its own has not.
func TestNeed(t *testing.T) {
	s := newSchedule(t, 1, 60)
	s.setRate(8_000) // rows wait
	s.codecOf[0] = relative
	s.run(1, 100)
	const header, largest = 5, 500
	fill := func(limit int) error {
		_, err := s.filler.Fill(s.server, 100, s.coding(100, largest-header), limit, nil)
		return err
	}
	if err := fill(1); !errors.Is(err, ErrNoRoom) {
		t.Fatalf("got %v, want ErrNoRoom", err)
	}
	need := s.server.Need(header, largest)
	if err := fill(need - header - 1); !errors.Is(err, ErrNoRoom) {
		t.Errorf("with %d bytes, one less than needed: %v", need-1, err)
	}
	if err := fill(need - header); err != nil {
		t.Errorf("with the %d bytes that are needed: %v", need, err)
	}
	if got := s.server.Need(header, largest); got != header+MinPayload {
		t.Errorf("after the packet %d bytes are needed, want %d", got, header+MinPayload)
	}
	s.server.meanBits = 16
	_, err := s.filler.Fill(s.server, 101, s.coding(101, 0), -60, nil)
	if large := new(TooLargeError); !errors.As(err, &large) || large.Limit != -60 {
		t.Errorf("got %v, want a TooLargeError", err)
	}
	if s.client.ShowsUnsent(s.server) || !s.client.ShowsUnsent(NewServer(s.filler, s.world.frames[0])) {
		t.Error("the client shows rows that its server has not sent, or only rows that a new server has sent")
	}
}

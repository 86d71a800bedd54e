package engine

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/experiment/container"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/internal/labtest"
	"wirelab/experiment/view"
	"wirelab/lossmodel"
)

// schedule is one random session of a campaign. Its number determines all its settings.
type schedule struct {
	t        *testing.T
	seed     uint64
	rng      *rand.Rand
	world    string // the data
	cubes    int    // of a crowd
	config   *config.Config
	codecs   []encoders.Codec // that can encode the data
	session  *Session
	census   census // of the session's first lane
	ops      map[string]int64
	replayed int64 // packets
}

// census counts packets by encoder.
type census map[string]int64

func (census) Sample(*meters.Sample) {}
func (census) Settled(uint64)        {}

func (c census) Packet(p *packetlog.Record, _ *Problem) {
	if p.Copy == 0 {
		c[p.Encoder]++
	}
}

// worlds lists the data of schedules with their frequencies in percent. Most are small, so that
// many packets are sent.
var worlds = []struct {
	name  string
	of100 int
}{{"few cubes", 80}, {"cubes", 7}, {"rpc", 5}, {"text", 4}, {"demo", 2}, {"world", 1}, {"files", 1}}

func newSchedule(t *testing.T, seed uint64) *schedule {
	rng := rand.New(rand.NewPCG(seed, 77))
	x := &schedule{t: t, seed: seed, rng: rng, config: config.Default(), ops: map[string]int64{}}
	at := rng.IntN(100)
	for _, w := range worlds {
		if x.world = w.name; at < w.of100 {
			break
		}
		at -= w.of100
	}
	c := x.config
	switch x.world {
	case "few cubes":
		x.cubes = 2 + rng.IntN(4)
	case "cubes":
		x.cubes = 20 + rng.IntN(100)
	case "rpc", "text", "demo", "world":
		c.Data.Source = x.world
	}
	if x.world != "files" && rng.IntN(4) == 0 {
		setRandomMessages(c, rng)
	}
	c.Seed, c.Sender.History, c.Receiver.History = seed, 20+rng.IntN(236), 30+rng.IntN(226)
	c.Receiver.Playout = time.Duration(rng.IntN(120)) * time.Millisecond
	if rng.IntN(2) == 0 {
		c.Receiver.PlayoutPolicy = playout.Policies.Default(playout.Policies.Names()[rng.IntN(len(playout.Policies))])
	}
	x.open(c) // only to list the encoders that can encode the data
	x.codecs = slices.DeleteFunc(table.All(), func(k encoders.Codec) bool { return !k.Suits(x.session.Schema()) })
	x.close()
	for range rng.IntN(8) {
		key, rung := x.randomLinkSetting()
		if d := c.Clone(); d.Set(key, rung) == nil && d.Validate() == nil {
			*c = *d // a setting that conflicts with the others is left out
		}
	}
	c.Encoder.Name = x.randomCodec()
	x.open(c)
	return x
}

// fatal ends the schedule; other schedules continue.
func (x *schedule) fatal(format string, args ...any) {
	x.t.Helper()
	x.t.Errorf("schedule %d: %s", x.seed, fmt.Sprintf(format, args...))
	runtime.Goexit()
}

// dear lists slow encoders, with the percentage of random selections in which they are used.
var dear = map[string]int{"kinetic": 4, "kinetic-lite": 4, "zstd-dict": 4, "zstd-baseline": 4, "zstd": 4, "deflate": 4,
	"receiver-adaptive": 10, "delta-adaptive": 10}

// randomCodec returns a random encoder.
func (x *schedule) randomCodec() string {
	for {
		c := x.codecs[x.rng.IntN(len(x.codecs))].Name
		if of100, ok := dear[c]; !ok || x.rng.IntN(100) < of100 {
			return c
		}
	}
}

// randomLinkSetting returns a random key of a link, of any stage, with one of its predefined values, or
// other traffic.
func (x *schedule) randomLinkSetting() (key, rung string) {
	keys := lossmodel.Keys()
	if plans := []string{"off", "1 cubic", "2 cubic rtt=90ms, 1 constant rate=300kbit", "3 cubic start=5s"}; x.rng.IntN(15) == 0 {
		return "traffic", plans[x.rng.IntN(len(plans))]
	}
	for {
		k := keys[x.rng.IntN(len(keys))]
		words := append(append([]string{}, k.Ladder...), k.Choices...)
		if k.Key == "netem" {
			words = []string{"off", "off", "delay 30ms 8ms loss 4%", "loss gemodel 2% 30%", "duplicate 3% reorder 10% 50% delay 5ms"}
		}
		if len(words) == 0 {
			continue
		}
		return [...]string{"down.", "up.", "link."}[x.rng.IntN(3)] + k.Key, words[x.rng.IntN(len(words))]
	}
}

// open opens the session of the schedule.
func (x *schedule) open(c *config.Config) {
	x.t.Helper()
	x.census = census{}
	x.session = x.newSession(c, Options{Observer: x.census, Inspect: x.seed%4 == 0})
}

func (x *schedule) newSession(c *config.Config, opt Options) (s *Session) {
	x.t.Helper()
	opt.Endless, opt.KeepSamples, opt.KeepPackets = c.Duration == 0, 20, 256
	var err error
	switch {
	case x.cubes > 0:
		s, err = NewSessionFromSource(c, labtest.NewCubeSource(x.cubes, 1+x.cubes/2, -1, x.seed), opt)
	case x.world == "files":
		s, err = NewSessionFromSource(c, labtest.NewFileSource(20_000, x.seed), opt)
	default:
		s, err = NewSession(x.t.Context(), c, opt)
	}
	if err != nil {
		x.fatal("%v", err)
	}
	return s
}

func (x *schedule) close() {
	x.t.Helper()
	if err := x.session.Close(); err != nil {
		x.fatal("%v", err)
	}
}

// play runs the schedule to its end, checks the invariants, and returns the number of packets sent.
func (x *schedule) play() int64 {
	x.t.Helper()
	for range 10 + x.rng.IntN(40) {
		x.advance(time.Duration(x.rng.IntN(1500)) * time.Millisecond)
		x.step()
	}
	if x.ops["save"] == 0 { // each schedule is replayed at least once, from its end or from a save
		x.replay()
	}
	sent := x.check(x.session)
	x.close()
	return sent
}

// stepOps are the operations of a step. Those that run the session again are rare, because they
// repeat all packets sent before.
var stepOps = strings.Fields(`
encoder encoder encoder encoder encoder encoder link link link link link link link link link link param param param param
shadow shadow shadow setting setting setting budget budget budget budget redundancy redundancy policy policy policy undo undo undo outage outage pause pause pause profile profile profile play play
back save`)

// redundancies are the policies of redundancy in schedules.
var redundancies = []string{"none", "none", "repeat n=1", "repeat n=3", "xor data=2", "xor data=5", "rs data=4 parity=2", "rs data=8 parity=5"}

// setRandomMessages adds messages with random settings. Settings that conflict are left out.
func setRandomMessages(c *config.Config, rng *rand.Rand) {
	for _, s := range []struct {
		key    string
		values []string
	}{
		{"messages.rate_hz", []string{"0", "7", "20", "60"}}, {"messages.size", []string{"1B", "200B", "3KB"}},
		{"messages.burst", []string{"off", "5KB", "50KB"}}, {"messages.burst_every", []string{"2s"}}, {"messages.pace", []string{"off", "100kbit"}},
		{"messages.lanes", []string{"1", "2"}},
		{"messages.delivery", []string{"all-unacked", "resend after=30ms", "rto", "rto window=4", "stream", "stream coalesce=0 skip=1"}},
	} {
		if d := c.Clone(); d.Set(s.key, s.values[rng.IntN(len(s.values))]) == nil && d.Validate() == nil {
			*c = *d
		}
	}
}

// step performs one random operation of a user, a script or a bad link.
func (x *schedule) step() {
	x.t.Helper()
	op := stepOps[x.rng.IntN(len(stepOps))]
	x.ops[op]++
	switch s := x.session; op {
	case "encoder":
		x.change("encoder", x.randomCodec())
	case "link":
		x.change(x.randomLinkSetting())
	case "profile":
		all := lossmodel.Profiles()
		x.change("profile", all[x.rng.IntN(len(all))].Name)
	case "param":
		x.setRandomParam()
	case "shadow":
		if len(s.config.Shadows) < 3 && x.rng.IntN(2) == 0 {
			x.change("shadow", x.randomCodec())
		} else if len(s.config.Shadows) > 0 {
			x.change("shadow_off", s.config.Shadows[0].Name)
		}
	case "setting":
		x.change([...]string{"every", "playout_delay", "budget_line", "interpolation", "mark"}[x.rng.IntN(5)],
			[...]string{"1", "2", "30ms", "150ms", "256", "off", "linear", "hermite"}[x.rng.IntN(8)])
	case "policy": // a control is refused for data other than snapshots
		controls, playouts := append(endpoint.Controls.Names(), "off"), append(playout.Policies.Names(), "85ms")
		x.change("control", controls[x.rng.IntN(len(controls))])
		x.change("playout", playouts[x.rng.IntN(len(playouts))])
		x.change("playout_compare", [...]string{"all", "off"}[x.rng.IntN(2)])
	case "budget": // refused for data other than snapshots, and for encoders of whole frames
		x.change("budget", [...]string{"off", "16kbit", "64kbit", "200kbit", "1mbit"}[x.rng.IntN(5)])
		x.change("budget_burst", [...]string{"1", "2", "3.5"}[x.rng.IntN(3)])
		x.change("priority", view.Policies.Names()[x.rng.IntN(len(view.Policies))])
		x.change("weights", [...]string{"off", "position=4, orientation=0", "interacting:1=16"}[x.rng.IntN(3)])
	case "redundancy": // refused for files
		x.change("redundancy", redundancies[x.rng.IntN(len(redundancies))])
	case "undo":
		_, _ = s.Undo()
	case "play": // refused unless the source accepts input
		x.change([...]string{"press", "hover", "katamari", "autopilot", "reset"}[x.rng.IntN(5)],
			[...]string{"up left", "right", "true", "false"}[x.rng.IntN(4)])
	case "outage":
		x.change("link.loss", "100%")
		x.advance(time.Duration(x.rng.IntN(6000)) * time.Millisecond)
		x.change("link.loss", "1%")
	case "pause":
		x.readEverything()
	case "back":
		x.seekBack()
	case "save":
		x.replay()
	}
}

// change makes a change. A change that cannot be applied must have no effect.
func (x *schedule) change(key, value string) {
	var ch config.Change
	if ch.Set(key, value) == nil {
		_ = x.session.Change(ch)
	}
}

// setRandomParam sets a random parameter of the current encoder to a random valid value.
func (x *schedule) setRandomParam() {
	name := x.session.config.Encoder.Name
	i := slices.IndexFunc(x.codecs, func(c encoders.Codec) bool { return c.Name == name })
	all := x.codecs[i].ParamInfo()
	if len(all) == 0 {
		x.ops["param"]--
		return
	}
	p, word := all[x.rng.IntN(len(all))], fmt.Sprint(x.rng.IntN(2) == 0)
	if p.Type == "int" && p.Min != nil && p.Max != nil {
		word = fmt.Sprint(int(*p.Min) + x.rng.IntN(int(*p.Max-*p.Min)+1))
	}
	x.change("params."+p.Name, word)
}

func (x *schedule) advance(d time.Duration) {
	x.t.Helper()
	if err := x.session.Advance(d); err != nil {
		x.fatal("%v", err)
	}
}

// readEverything reads all data of the session as the dashboard does. This must not change the results,
// which the replay at the end checks.
func (x *schedule) readEverything() {
	s := x.session
	for range 1 + x.rng.IntN(3) {
		snap := s.View(ShownPackets)
		if packets := s.View(1 << 14).Lanes[0].Packets; len(packets) > 0 {
			p := packets[x.rng.IntN(len(packets))]
			_ = s.Opened(packetlog.ID{Seq: p.Seq, Copy: p.Copy})
		}
		s.ReplayStored(census{})
		_, _ = s.Result(), snap
	}
}

// seekBack runs the session again from its beginning, as a seek back in time does.
func (x *schedule) seekBack() {
	x.t.Helper()
	s := x.session
	to := time.Duration(x.rng.Int64N(int64(min(s.Now(), 20*time.Second)) + 1))
	x.open(x.config)
	x.session.ReplayChanges(s.Log(), to)
	if err := s.Close(); err != nil {
		x.fatal("%v", err)
	}
	if err := x.session.RunUntil(to); err != nil {
		x.fatal("%v", err)
	}
	x.replayed += x.check(x.session)
}

// replay saves the session's report, reads it, runs it from the beginning, and compares the
// digests.
func (x *schedule) replay() {
	x.t.Helper()
	saved, err := json.Marshal(x.session.Result())
	if err != nil {
		x.fatal("%v", err)
	}
	var r Result
	if err := json.Unmarshal(saved, &r); err != nil {
		x.fatal("%v", err)
	}
	c, err := r.Replayable()
	if err != nil {
		x.fatal("%v", err)
	}
	again := x.newSession(c, Options{})
	if err := again.RunUntil(c.Duration); err != nil {
		x.fatal("%v", err)
	}
	if got := again.Result(); got.Digests() != r.Digests() {
		x.fatal("at %v the report of the session does not replay: %s, want %s", c.Duration, got.Digests(), r.Digests())
	}
	x.replayed += x.check(again)
	if err := again.Close(); err != nil {
		x.fatal("%v", err)
	}
}

// check checks the invariants of every lane, and returns the number of packets sent.
func (x *schedule) check(s *Session) (sent int64) {
	x.t.Helper()
	for i, l := range s.lanes {
		got := l.totals(s.Now())
		// Packets in flight when a shadow copied a link are in flight in the copy, too. Those of a lane with
		// redundancy may wait for a repair, and parities are no packets.
		if under := int64(l.paths.downLink.InFlight()); l.carrier == nil && (got.InFlight > under || i == 0 && got.InFlight != under) {
			x.fatal("lane %d: %d in flight by the meter, %d by the link", i, got.InFlight, under)
		} else if hasStream := l.messenger != nil && l.messenger.stream != nil; l.carrier != nil && !hasStream && got.InFlight > (under+1)*(container.MaxData+1) {
			x.fatal("lane %d: %d packets in flight, %d datagrams", i, got.InFlight, under)
		}
		if sum := got.Decoded + got.Stale + got.Duplicate + got.Lost + got.Failures.NoBaseline + got.Failures.Corrupt +
			got.Failures.UnknownCodec + got.Wrong + got.InFlight; sum != got.Sent+got.Duplicated {
			x.fatal("lane %d: sent %d + duplicated %d, outcomes sum to %d", i, got.Sent, got.Duplicated, sum)
		}
		if m := got.Messages; m != nil && (m.Wrong != 0 || m.Sent != m.Delivered+m.UnderWay) {
			x.fatal("lane %d: %d of %d messages delivered, %d wrong", i, m.Delivered, m.Sent, m.Wrong)
		}
		if got.Wrong != 0 || got.DecodeRefused != 0 || got.EncodeFailed != 0 && got.View == nil {
			x.fatal("lane %d: wrong %d, refused %d, not encoded %d: %v", i, got.Wrong,
				got.DecodeRefused, got.EncodeFailed, l.lastErr)
		}
		var parts [3]int64 // sums over the stretches
		for _, f := range l.meter.Swaps.Figures(s.Now()) {
			parts[0], parts[1], parts[2] = parts[0]+f.Sent, parts[1]+f.Decoded, parts[2]+f.Lost
		}
		if want := [3]int64{got.Sent, got.Decoded, got.Lost}; parts != want && parts != [3]int64{} { // without changes there are none
			x.fatal("lane %d: the stretches have %d sent, decoded and lost, the lane %d", i, parts, want)
		}
		sent += got.Sent
	}
	for i, r := range s.Result().Shadows { // every shadow is in the report, also after it left
		if r.Lane == "" || r.Totals.Sent+r.Totals.Duplicated > 0 && r.Digest == "" {
			x.fatal("shadow %d has letter %q and digest %q", i, r.Lane, r.Digest)
		}
	}
	return sent
}

package live

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
)

// state is what a run shows at one time, without its configuration, which contains functions.
type state struct {
	at     time.Duration
	Snap   engine.Snapshot
	digest string
	seq    uint64 // of the newest packet
	traced *engine.Traced
}

// stateOf returns the state of a run.
func stateOf(r lab, x run) state {
	snap := *x.view(r.Runner)
	if crowd, ok := x.(*receivers); ok && crowd.client.next != nil {
		<-crowd.client.next.finished
		snap = *x.view(r.Runner)
	}
	out := state{at: x.Now(), digest: fmt.Sprint(snap.Config.Settings()) + withoutNaN(&snap)}
	if crowd := snap.Crowd; crowd != nil && crowd.Client != nil {
		client := *crowd.Client
		out.digest += withoutNaN(&client)
		client.Marks = nil
		crowd.Client = &client
	}
	marksBefore := slices.DeleteFunc(slices.Clone(snap.Marks), func(m engine.Mark) bool { return m.T >= snap.Now })
	out.digest += fmt.Sprint(marksBefore) // a mark of a crowd that is set now is not shown before
	snap.Marks = nil
	out.Snap = snap
	if s, ok := x.(*session); ok {
		out.digest += s.Result().Digests()
		if packets := snap.Lanes[0].Packets; len(packets) > 0 {
			out.seq = packets[len(packets)-1].Seq
			out.traced = s.Trace(out.seq)
		}
	}
	return out
}

// withoutNaN removes from a snapshot what cannot be compared, and returns it as text: NaN differs from NaN, but not as text.
func withoutNaN(snap *engine.Snapshot) (text string) {
	snap.Config = nil
	for i := range snap.Lanes {
		text += fmt.Sprint(snap.Lanes[i].Recent)
		snap.Lanes[i].Recent = meters.Recent{}
	}
	return text
}

// TestPastEqualsFormerPresent checks, for random configurations and changes during the run, that a look
// back at a time or at a packet gives what the run had then, that looks back do not change the run, and
// that it replays headless.
func TestPastEqualsFormerPresent(t *testing.T) {
	for seed := range uint64(testkit.Choose(60, 8)) {
		rng := rand.New(rand.NewPCG(seed, 42))
		c := config.Default()
		switch seed % 4 {
		case 0:
			c.Data.Source = "world"
		case 1:
			c = labtest.QuickConfig(t)
		case 2:
			c.Data.Source = "rpc"
		case 3:
			testkit.Set(t, c, "crowd.clients", "15", "crowd.rtt", "uniform min=20ms max=200ms")
		}
		r, clock := newManual(t, c)
		var states []state
		for range 12 {
			for _, command := range randomCommands(rng, c) {
				before := r.current
				r.handleCommand(t.Context(), command)
				if r.past != nil {
					r.finishPast(t.Context())
				}
				if r.current != before { // a new run, or a seek into the past
					states = nil
				}
			}
			r.play(clock, time.Duration(1+rng.IntN(900))*time.Millisecond)
			states = append(states, stateOf(r, r.current))
		}
		present := stateOf(r, r.current)
		for range 2 {
			rng.Shuffle(len(states), func(i, j int) { states[i], states[j] = states[j], states[i] })
			for _, want := range states {
				r.checkPast(seed, want)
			}
		}
		if got := stateOf(r, r.current); got.digest != present.digest || r.current.Now() != present.at {
			t.Errorf("seed %d: the looks back changed the run", seed)
		}
		r.handleCommand(t.Context(), Command{Return: true})
		r.play(clock, 100*time.Millisecond)
		r.saveAndReplay()
		if s := r.session(); s != nil && s.Result().Totals.Wrong+s.Result().Totals.EncodeFailed > 0 {
			t.Errorf("seed %d: %+v", seed, s.Result().Totals)
		}
	}
}

// randomCommands returns commands that change, pause, undo, restart and seek.
func randomCommands(rng *rand.Rand, c *config.Config) []Command {
	if c.Crowd.Clients > 0 {
		return [][]Command{{change("clients", 5+rng.IntN(20))}, {{Undo: true}}, {{Toggle: true}, {Toggle: true}}, {change("mark", "here")}, {change("seed", 3+rng.IntN(9))}, nil}[rng.IntN(6)]
	}
	back := time.Duration(rng.IntN(2000)) * time.Millisecond
	codec := []string{"raw", "zstd", "datagram", "xor-rle"}[rng.IntN(4)]
	if c.Data.Source == "world" && rng.IntN(2) == 0 { // inputs of a player
		all := labtest.CubeCodecs()
		return [][]Command{
			{change("press", config.Directions()[rng.IntN(4)])}, {change("hover", true)}, {change("katamari", true, "hover", false)}, {change("reset", true)},
			{change("autopilot", true)}, {change("encoder.name", all[rng.IntN(len(all))].Name)},
		}[rng.IntN(6)]
	}
	return [][]Command{
		{change("encoder.name", codec)}, {change("down.loss", fmt.Sprintf("%d%%", rng.IntN(30)), "down.latency", "60ms")}, {{Undo: true}}, {{Undo: true}, {Redo: true}},
		{{Pause: new(true)}, {Step: 3}, {Pause: new(false)}}, {change("seed", 3+rng.IntN(9))}, {{Seek: &back}}, {change("shadow", "raw")}, {change("shadow_off", []string{"raw"})}, {change("mark", "here")}, nil,
	}[rng.IntN(11)]
}

// checkPast checks a look back at the time of want and, for a session, at the packet of want.
func (r lab) checkPast(seed uint64, want state) {
	r.t.Helper()
	r.handleCommand(r.t.Context(), Command{At: &want.at})
	r.finishPast(r.t.Context())
	got := stateOf(r, r.past.run)
	if got.digest != want.digest || !reflect.DeepEqual(got.Snap, want.Snap) || !reflect.DeepEqual(got.traced, want.traced) {
		r.t.Errorf("seed %d: the look back at %v shows another state:%s", seed, want.at, difference(&got.Snap, &want.Snap))
	}
	if want.traced == nil || want.traced.Packet == nil {
		return
	}
	r.handleCommand(r.t.Context(), Command{Open: &packetlog.ID{Seq: want.seq}, Trace: &want.seq})
	if r.past.view == nil {
		r.finishPast(r.t.Context())
	}
	r.publish()
	snap := r.Snapshot().Past.Snap
	if snap.Traced == nil || snap.Traced.Packet == nil || snap.Opened.Gone || string(snap.Traced.Packet.Datagram) != string(want.traced.Packet.Datagram) ||
		!reflect.DeepEqual(snap.Traced.Packet, want.traced.Packet) {
		r.t.Errorf("seed %d: packet %d has other bits: %+v", seed, want.seq, snap.Opened)
	}
}

// difference names the fields in which two snapshots differ.
func difference(a, b *engine.Snapshot) (names string) {
	x, y := reflect.ValueOf(*a), reflect.ValueOf(*b)
	for i := range x.NumField() {
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			names += " " + x.Type().Field(i).Name
		}
	}
	return names
}

// TestLookBackAtEveryPacket checks that any packet of a run can be opened with its bits, and that
// stepping from packet to packet repeats nothing.
func TestLookBackAtEveryPacket(t *testing.T) {
	r, clock := newManual(t, endless(t))
	r.handleCommand(t.Context(), Command{Speed: new(64.0)})
	r.play(clock, time.Second)
	opens := 0 // looks back
	for _, seq := range []uint64{1000, 1001, 1127, 900, 872, 5, 0, 2000, 1900} {
		r.handleCommand(t.Context(), Command{Open: &packetlog.ID{Seq: seq}, Trace: &seq})
		isOpening := r.past.view == nil
		if isOpening {
			opens++
			r.finishPast(t.Context())
		}
		r.publish()
		snap := r.Snapshot().Past.Snap
		at := max(r.session().TimeOf(seq), pastSlice)
		if isOpening && snap.Now != at || (snap.Now-at).Abs() > r.session().TimeOf(packetsAfter+1) {
			t.Errorf("packet %d is shown at %v, and was sent at %v", seq, snap.Now, at)
		}
		if snap == nil || snap.Opened.ID.Seq != seq || snap.Opened.Gone || snap.Traced.Packet == nil || len(snap.Lanes[0].Packets) == 0 {
			t.Errorf("packet %d is not shown: %+v", seq, snap)
		}
	}
	if opens > 4 { // around 1000, at 872, around 0, and around 2000
		t.Errorf("%d looks back", opens)
	}
}

// TestLookBackKeepsOpenedPacket checks that the details and the bits of a packet stay shown in a look back at
// a time at which no session stores it.
func TestLookBackKeepsOpenedPacket(t *testing.T) {
	r, clock := newManual(t, endless(t))
	r.play(clock, time.Second)
	seq := uint64(5)
	r.handleCommand(t.Context(), Command{Open: &packetlog.ID{Seq: seq}, Trace: &seq, Speed: new(64.0)})
	r.publish() // as after each command
	r.play(clock, time.Second)
	r.handleCommand(t.Context(), Command{At: new(r.current.Now() - time.Second)})
	r.finishPast(t.Context())
	r.publish()
	snap := r.Snapshot().Past.Snap
	if !r.shown().Opened(packetlog.ID{Seq: seq}).Gone || snap.Opened.Gone || snap.Opened.ID.Seq != seq || snap.Traced.Packet == nil {
		t.Errorf("%+v, %+v", snap.Opened, snap.Traced)
	}
}

// TestLookBackIsCancelled checks that a look back beside a started run is shown, and leaves no goroutine
// when it is cancelled or the run is stopped: synctest requires that all have ended.
func TestLookBackIsCancelled(t *testing.T) { synctest.Test(t, lookBackIsCancelled) }

func lookBackIsCancelled(t *testing.T) {
	r := startLab(t, endless(t))
	far, back := 30*time.Second, 20*time.Second
	r.send(Command{Seek: &far})
	before := r.await("30 s", func(s *engine.Snapshot) bool { return s.Now >= far })
	r.send(Command{At: &back})
	shown := r.await("the past", func(s *engine.Snapshot) bool { return s.Past != nil && s.Past.Snap != nil })
	if shown.Past.Snap.Now != back || shown.Past.Snap.Lanes[0].Totals.Sent >= before.Lanes[0].Totals.Sent {
		t.Errorf("shown is %v", shown.Past.Snap.Now)
	}
	r.await("time going on", func(s *engine.Snapshot) bool { return s.Now > shown.Now && s.Past.Snap.Now == back })
	for range 3 {
		r.send(Command{At: &back})
		r.send(Command{Return: true})
	}
	r.await("the present", func(s *engine.Snapshot) bool { return s.Past == nil })
	r.send(Command{Seek: &back})
	r.send(Command{Return: true})
	r.send(change("down.loss", "7%"))
	r.await("a change after a cancelled seek", func(s *engine.Snapshot) bool { return len(s.Log) == 1 || s.Now < far })
	r.send(Command{At: new(time.Second)})
	r.saveAndReplay()
}

package script_test

import (
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/script"

	"wirelab/experiment/config"
	"wirelab/lossmodel"
	"wirelab/lossmodel/relay"
)

// fakeRelay is a relay that only stores the conditions.
type fakeRelay struct {
	mu  sync.Mutex
	now time.Duration
	c   relay.Conditions
}

func (w *fakeRelay) reshape(c relay.Conditions) (time.Duration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now += 5 * time.Second
	w.c = c
	return w.now, nil
}

func live(t *testing.T, text string) (*script.Live, *fakeRelay) {
	t.Helper()
	c, err := config.Parse("x.toml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := script.New(c, "x")
	if err != nil {
		t.Fatal(err)
	}
	w := &fakeRelay{}
	l := script.NewLive(s, w.reshape)
	w.c = l.Conditions()
	return l, w
}

// who returns the client with this number, always from the same address.
func who(turn int) relay.Client {
	if turn == 0 {
		return relay.Client{}
	}
	return relay.Client{Number: turn, Addr: netip.MustParseAddrPort("10.0.0.1:5")}
}

// losses returns the loss of the uplink and of the downlink of a client.
func losses(t *testing.T, w *fakeRelay, turn int) string {
	t.Helper()
	up, down := w.c(relay.Client{Number: turn, Addr: netip.MustParseAddrPort("10.0.0.1:5")})
	a, _ := up.Get("loss")
	b, _ := down.Get("loss")
	return a + " " + b
}

// TestChangesForAllAndForOne checks that changes for all clients and for a single one combine
// with the file's settings, and can be undone and redone step by step.
func TestChangesForAllAndForOne(t *testing.T) {
	l, w := live(t, "[link]\nloss = \"1%\"\n[[client]]\nturn = 2\nup.loss = \"9%\"\n")
	expect := func(when string, want ...string) {
		t.Helper()
		for turn, x := range want {
			if got := losses(t, w, turn); got != x {
				t.Errorf("%s: client %d loses %s, expected %s", when, turn, got, x)
			}
		}
	}
	change := func(client int, pairs ...any) {
		t.Helper()
		if _, err := l.Change(who(client), config.NewChange(pairs...)); err != nil {
			t.Fatal(err)
		}
	}
	back := func(move func() (*script.AppliedChange, error), some bool) {
		t.Helper()
		if made, err := move(); err != nil || (made != nil) != some {
			t.Fatalf("%v %v", made, err)
		}
	}
	expect("at first", "1% 1%", "1% 1%", "9% 1%", "1% 1%")
	change(0, "down.loss", "2%")
	change(3, "up.loss", "50%")
	change(2, "down.loss", "30%")
	expect("changed", "1% 2%", "1% 2%", "9% 30%", "50% 2%")
	change(0, "up.loss", "4%", "down.loss", "4%")
	expect("for all", "4% 4%", "4% 4%", "9% 30%", "50% 4%")
	back(l.Undo, true)
	expect("undone", "1% 2%", "1% 2%", "9% 30%", "50% 2%")
	back(l.Undo, true)
	back(l.Undo, true)
	expect("undone for clients", "1% 2%", "1% 2%", "9% 2%", "1% 2%")
	back(l.Redo, true)
	expect("again", "1% 2%", "1% 2%", "9% 2%", "50% 2%")
	back(l.Redo, true)
	back(l.Redo, true)
	back(l.Redo, false)
	expect("all again", "4% 4%", "4% 4%", "9% 30%", "50% 4%")
	for range 4 {
		back(l.Undo, true)
	}
	back(l.Undo, false)
	expect("at last", "1% 1%", "1% 1%", "9% 1%", "1% 1%")
	made := l.Changes(0)
	if len(made) != 14 || made[1].Client != 3 || !made[4].Undo || made[4].Change.Label() != "down loss 2%, up loss 1%" || made[7].Undo {
		t.Errorf("%d changes: %+v", len(made), made)
	}
}

// TestRefusedChanges checks that a change is refused and has no effect if it is invalid for a
// client with conditions of its own.
func TestRefusedChanges(t *testing.T) {
	l, w := live(t, "[[client]]\nturn = 2\nup.loss = \"9%\"\n")
	for _, c := range []struct {
		client   int
		key      string
		value    string
		wantText string
	}{
		{0, "up.netem", "delay 1ms", "client[0]"},
		{0, "up.loss", "120%", "up.loss"},
		{0, "down.trace", "/nowhere.csv", "nowhere"},
		{5, "down.trace", "/nowhere.csv", "nowhere"},
	} {
		if _, err := l.Change(who(c.client), config.NewChange(c.key, c.value)); err == nil || !strings.Contains(err.Error(), c.wantText) {
			t.Errorf("%s = %s: %v", c.key, c.value, err)
		}
	}
	if len(l.Changes(0)) != 0 || w.now != 0 {
		t.Error("a refused change had an effect")
	}
	if _, err := l.Change(who(7), config.NewChange("down.loss", "3%")); err != nil {
		t.Fatal(err)
	}
	for turn := 8; turn < 16; turn++ {
		if _, err := l.Change(who(turn), config.NewChange("down.loss", "3%")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Change(who(0), config.NewChange("down.netem", "delay 1ms")); err == nil || !strings.Contains(err.Error(), "client 7,") {
		t.Errorf("a line that client 7 cannot have: %v", err)
	}
}

// TestFastChangesAreOneStep checks that changes of one setting in quick succession are one undo
// step.
func TestFastChangesAreOneStep(t *testing.T) {
	c, err := config.Parse("x.toml", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := script.New(c, "x")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Duration(0)
	var last relay.Conditions
	l := script.NewLive(s, func(c relay.Conditions) (time.Duration, error) {
		now += 100 * time.Millisecond
		last = c
		return now, nil
	})
	for _, loss := range []string{"1%", "2%", "3%"} {
		if _, err := l.Change(who(0), config.NewChange("up.loss", loss)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Undo(); err != nil {
		t.Fatal(err)
	}
	if up, _ := last(relay.Client{}); up != lossmodel.DefaultSpec() {
		t.Errorf("one step back leaves %v", up.Loss)
	}
}

// TestConcurrentUse plays the script while the user changes settings, clients join and the
// settings are read, for the race detector.
func TestConcurrentUse(t *testing.T) {
	l, w := live(t, "[[at]]\nt = \"1ms\"\nloss = \"5%\"\n[[at]]\nt = \"5ms\"\nnetem = \"delay 1ms\"\n[[at]]\nt = \"9ms\"\nmark = \"here\"\n")
	reported := 0
	var running sync.WaitGroup
	running.Go(func() {
		l.Play(time.Now(), 0, nil, func(_ time.Duration, _ config.Change, err error) { reported++ })
	})
	for client := range 3 {
		running.Go(func() {
			for range 50 {
				_, _ = l.Change(who(client), config.NewChange("up.latency", "5ms"))
				_, _ = l.Undo()
				_ = l.Config(relay.Client{Number: client})
				w.mu.Lock()
				c := w.c
				w.mu.Unlock()
				_, _ = c(relay.Client{Number: client})
			}
		})
	}
	running.Wait()
	if reported != 3 {
		t.Errorf("%d changes reported, want 3", reported)
	}
}

// TestChangesOfClientsByAddress checks that a user's change for one client combines with the
// conditions for its address: valid changes are applied, and invalid ones refused with an error.
func TestChangesOfClientsByAddress(t *testing.T) {
	l, w := live(t, "[[client]]\naddress = \"10.0.0.1\"\ndown.loss = \"3%\"\n[[client]]\naddress = \"10.0.0.2\"\ndown.netem = \"delay 1ms\"\n"+
		"[[client]]\nturn = 5\nup.loss = \"2%\"\n")
	other := relay.Client{Number: 2, Addr: netip.MustParseAddrPort("10.0.0.2:5")}
	if _, err := l.Change(other, config.NewChange("down.loss", "9%")); err == nil || !strings.Contains(err.Error(), "client 2") {
		t.Errorf("loss in addition to netem: %v", err)
	}
	if _, err := l.Change(who(1), config.NewChange("down.loss", "9%")); err != nil {
		t.Error(err)
	}
	if got := losses(t, w, 1); got != "0% 9%" {
		t.Errorf("client 1 loses %s", got)
	}
	if got := losses(t, w, 5); got != "2% 3%" { // by turn and by address
		t.Errorf("client 5 loses %s", got)
	}
	if made, err := l.Undo(); err != nil || made == nil || made.Client != 1 || losses(t, w, 1) != "0% 3%" {
		t.Errorf("taken back: %+v, %v", made, err)
	}
}

package live

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
)

// stuck is a source whose Close fails.
type stuck struct{ *labtest.CubeSource }

var errStuck = errors.New("it cannot be closed")

func (stuck) Close() error { return errStuck }

// A session whose source cannot be closed is replaced nevertheless, by a restart and by a seek.
func TestErrorClosingReplacedSession(t *testing.T) {
	r := newLab(t, endless(t), Options{})
	jam := func() { // until the session is replaced
		opened := r.current.(*session).opened
		s, err := engine.NewSessionFromSource(opened, stuck{labtest.NewCubeSource(3, 1, -1, 1)}, engine.Options{Endless: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.current.Close(); err != nil {
			t.Fatal(err)
		}
		r.current = &session{s, opened}
	}
	check := func(what string, err error) {
		t.Helper()
		if seed := r.current.Config().Seed; !strings.Contains(fmt.Sprint(err), errStuck.Error()) || seed != 99 {
			t.Errorf("%s: %v; seed %d, want 99", what, err, seed)
		}
	}
	jam()
	check("change", r.change(t.Context(), config.NewChange("seed", 99)))
	jam()
	if err := r.current.RunUntil(2 * time.Second); err != nil {
		t.Fatal(err)
	}
	if err := r.seek(t.Context(), time.Second); err != nil {
		t.Fatal(err)
	}
	r.finishPast(t.Context())
	check("seek", errors.New(r.notice.Text))
	if r.current.Now() != time.Second {
		t.Errorf("it is at %v, want 1s", r.current.Now())
	}
}

// A change of the seed restarts the run: the script runs again, from the configuration before it, changes of
// the user are kept, and nothing is left to undo.
func TestRestartWithScript(t *testing.T) {
	c := endless(t)
	c.At = []config.StampedChange{config.Stamp(time.Second, config.NewChange("shadow", "raw", "encoder.name", "quantized"))}
	r, clock := newManual(t, c)
	scripted := func() bool {
		x := r.current.Config()
		return x.Encoder.Name == "quantized" && len(x.Shadows) == 1
	}
	r.play(clock, 2*time.Second)
	if !scripted() {
		t.Fatal("the script did not run")
	}
	r.handleCommand(t.Context(), change("down.loss", "10%"))
	r.handleCommand(t.Context(), change("seed", 99))
	r.handleCommand(t.Context(), Command{Undo: true})
	r.publish()
	s := r.Snapshot()
	if s.Now != 0 || s.Config.Encoder.Name != c.Encoder.Name || len(s.Config.Shadows) != 0 || len(s.Lanes[0].Packets)+len(s.Log) != 0 {
		t.Errorf("at %v: %s, %d shadows, %d packets of the run before, changes %v", s.Now, s.Config.Encoder.Name, len(s.Config.Shadows),
			len(s.Lanes[0].Packets), s.Log)
	}
	if loss := fmt.Sprint(s.Config.Down.Loss); !strings.Contains(loss, "0.1}") || s.Config.Seed != 99 || s.Notice.Text != "nothing to undo" {
		t.Errorf("loss %q, set by hand to 10%%; seed %d; %q", loss, s.Config.Seed, s.Notice.Text)
	}
	r.play(clock, 2*time.Second)
	if !scripted() {
		t.Error("the script did not run again")
	}
}

// Redo repeats undone changes one after the other. A new change clears the list.
func TestRedo(t *testing.T) {
	r := newLab(t, endless(t), Options{})
	obey := func(list ...Command) {
		for _, cmd := range list {
			r.handleCommand(t.Context(), cmd)
		}
	}
	state := func() string {
		x := r.current.Config()
		return fmt.Sprint(x.Encoder.Name, " ", x.Down.Loss, " ", len(x.Shadows))
	}
	undo, redo := Command{Undo: true}, Command{Redo: true}
	var was []string
	for _, ch := range []Command{change("encoder.name", "raw"), change("down.loss", "10%"), change("shadow", "rotor")} {
		obey(ch)
		was = append(was, state())
	}
	obey(undo, undo)
	if state() != was[0] {
		t.Fatalf("two changes taken back leave %s, want %s", state(), was[0])
	}
	for _, want := range was[1:] {
		if obey(redo); state() != want {
			t.Errorf("redo leads to %s, want %s", state(), want)
		}
	}
	if obey(redo); r.notice.Text != "nothing to redo" || r.notice.Bad {
		t.Errorf("one redo too many is answered by %q", r.notice.Text)
	}
	obey(undo, change("mark", "here"), redo)
	if state() != was[2] {
		t.Error("a mark keeps from redo")
	}
	obey(undo, change("down.latency", "70ms"), redo)
	if r.notice.Text != "nothing to redo" {
		t.Errorf("after another change: %q", r.notice.Text)
	}
}

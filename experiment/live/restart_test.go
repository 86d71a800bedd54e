package live

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
)

// A change of the seed restarts the run with all other settings, and leaves nothing to undo. A script
// cannot change the seed.
func TestSeedRestartsRun(t *testing.T) { synctest.Test(t, seedRestartsRun) }

func seedRestartsRun(t *testing.T) {
	c := endless(t)
	r := startLab(t, c)
	far, speed := 3*time.Second, 8.0
	r.send(Command{Seek: &far, Speed: &speed, Change: new(config.NewChange("down.loss", "10%", "encoder.name", "raw"))})
	was := r.await("three seconds", func(s *engine.Snapshot) bool { return s.Now >= far && s.State == engine.Running })
	r.send(change("seed", 99))
	s := r.await("the new run", func(s *engine.Snapshot) bool { return s.Config.Seed == 99 })
	if s.Now >= was.Now || s.Config.Encoder.Name != "raw" || s.Config.Down.Loss == nil || len(s.Log) != 0 {
		t.Errorf("it begins at %v with %s, %d changes", s.Now, s.Config.Encoder.Name, len(s.Log))
	}
	r.send(Command{Undo: true})
	r.await("a refusal", func(s *engine.Snapshot) bool { return s.Notice.Text == "nothing to undo" && s.Config.Seed == 99 })
}

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

// After a restart the script runs again, from the configuration before it, and changes of the user
// are kept.
func TestRestartWithScript(t *testing.T) { synctest.Test(t, restartWithScript) }

func restartWithScript(t *testing.T) {
	c := labtest.QuickConfig(t)
	c.Duration = 0
	c.At = []config.StampedChange{config.Stamp(time.Second, config.NewChange("shadow", "raw", "encoder.name", "quantized"))}
	r := startLab(t, c)
	far, speed := 2*time.Second, 8.0
	r.send(Command{Seek: &far, Speed: &speed})
	r.await("two seconds", func(s *engine.Snapshot) bool { return s.Now >= far && s.State == engine.Running })
	pause := true
	r.send(Command{Change: new(config.NewChange("down.loss", "10%")), Pause: &pause})
	r.await("all packets", func(s *engine.Snapshot) bool { return s.State == engine.Paused && len(s.Lanes[0].Packets) > 100 })
	r.send(change("seed", 99))
	s := r.await("the new run", func(s *engine.Snapshot) bool { return s.Config.Seed == 99 })
	if s.Now != 0 || s.Config.Encoder.Name != c.Encoder.Name || len(s.Config.Shadows) != 0 || len(s.Lanes[0].Packets) != 0 {
		t.Errorf("at %v: %s, %d shadows, %d packets of the run before", s.Now, s.Config.Encoder.Name, len(s.Config.Shadows),
			len(s.Lanes[0].Packets))
	}
	if loss := fmt.Sprint(s.Config.Down.Loss); !strings.Contains(loss, "0.1}") {
		t.Errorf("loss %q, set by hand to 10%%", loss)
	}
	r.send(Command{Seek: &far, Pause: new(bool)})
	s = r.await("the script", func(s *engine.Snapshot) bool { return s.Now >= far && s.State == engine.Running })
	if s.Config.Encoder.Name != "quantized" || len(s.Config.Shadows) != 1 {
		t.Errorf("after the script: %s, %d shadows", s.Config.Encoder.Name, len(s.Config.Shadows))
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
	if obey(redo); r.notice.Text != "nothing to redo" || !r.notice.Bad {
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

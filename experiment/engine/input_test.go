package engine

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/dataset/world"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/internal/labtest"
)

// keyboard is a source that records the keys held in each of its frames.
type keyboard struct {
	*labtest.CubeSource
	held   world.Input
	script bool
	log    []string // keys held in each frame
}

func newKeyboard() *keyboard {
	return &keyboard{CubeSource: labtest.NewCubeSource(3, 1, -1, 1), script: true}
}

func (k *keyboard) Hold(in world.Input) { k.held, k.script = in, false }
func (k *keyboard) Autopilot(on bool)   { k.held, k.script = world.Input{}, on }
func (k *keyboard) Reset()              { k.log = append(k.log, "reset") }
func (k *keyboard) Keys() world.Input   { return k.held }
func (k *keyboard) Next(f *frame.Frame) error {
	text := ""
	for _, key := range []struct {
		on   bool
		sign string
	}{{k.script, "script"}, {k.held.Left, "L"}, {k.held.Right, "R"}, {k.held.Up, "U"}, {k.held.Down, "D"}, {k.held.Push, "h"},
		{k.held.Pull, "k"}} {
		if key.on {
			text += key.sign
		}
	}
	k.log = append(k.log, text)
	return k.CubeSource.Next(f)
}

// runLengths writes a list with repeats as counts: "script*3 L*9".
func runLengths(list []string) string {
	var out []string
	for i := 0; i < len(list); {
		n := i
		for n < len(list) && list[n] == list[i] {
			n++
		}
		word := list[i]
		if word == "" {
			word = "-"
		}
		out = append(out, fmt.Sprintf("%s*%d", word, n-i))
		i = n
	}
	return strings.Join(out, " ")
}

// A press holds its key for the nine frames of 150 ms. A repeat extends this, and the opposite key
// releases the key. Modes stay on until switched off. The script plays until the first press, and
// again after autopilot is switched on.
func TestInputsHoldKeys(t *testing.T) {
	due := func(n uint64) time.Duration { return endpoint.TickTime(n, 60) }
	on, off := true, false
	for _, c := range []struct {
		name string
		at   []config.StampedChange
		want string
	}{
		{"nobody", nil, "script*30"},
		{"a press", []config.StampedChange{{T: due(2), Change: config.NewChange("press", "left")}}, "script*2 L*9 -*19"},
		{"a repeat", []config.StampedChange{
			{T: 1, Change: config.NewChange("press", "up")},
			{T: due(5) + 1, Change: config.NewChange("press", "up")}}, "script*1 U*14 -*15"},
		{"the opposite", []config.StampedChange{
			{T: 1, Change: config.NewChange("press", "left up")},
			{T: due(3) + 1, Change: config.NewChange("press", "right")}}, "script*1 LU*3 RU*6 R*3 -*17"},
		{"modes", []config.StampedChange{
			{T: 1, Change: config.NewChange("hover", on)},
			{T: due(3) + 1, Change: config.NewChange("katamari", on)},
			{T: due(5) + 1, Change: config.NewChange("hover", off)}}, "script*1 h*3 hk*2 k*24"},
		{"autopilot", []config.StampedChange{
			{T: 1, Change: config.NewChange("autopilot", off)},
			{T: due(3) + 1, Change: config.NewChange("press", "down", "hover", on)},
			{T: due(5) + 1, Change: config.NewChange("autopilot", on)},
			{T: due(7) + 1, Change: config.NewChange("press", "down")}}, "script*1 -*3 Dh*2 script*2 D*9 -*13"},
		{"a reset", []config.StampedChange{{T: due(2) + 1, Change: config.NewChange("reset", true)}}, "script*3 reset*1 script*27"},
	} {
		src := newKeyboard()
		config := config.Default()
		config.At = c.at
		s := mustOpen(t, config, src, Options{Endless: true})
		mustRun(t, s, due(29))
		if got := runLengths(src.log); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A user who takes over from the script begins with the script's modes.
func TestPlayerInheritsScriptModes(t *testing.T) {
	src := newKeyboard()
	src.held.Pull = true // set by the script
	s := mustOpen(t, config.Default(), src, Options{Endless: true})
	if err := errors.Join(s.RunUntil(time.Second), s.Change(config.NewChange("press", "left")), s.RunUntil(2*time.Second)); err != nil {
		t.Fatal(err)
	}
	if got := src.log[len(src.log)-1]; got != "k" {
		t.Errorf("a second later %q is held, want k", got)
	}
}

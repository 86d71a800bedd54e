package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/cmd/tui/internal/labtest"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/internal/setting"
)

// TestEncoderListKeys checks which commands the keys of the list send.
func TestEncoderListKeys(t *testing.T) {
	for _, c := range []struct {
		keys string
		want string
		over bool
	}{
		{"e esc", "", false},
		{"e down enter", "encoder rotor", false},
		{"e down space", "encoder rotor", true}, // the list stays open
		{"e tab right", `params {"xy_small":7}`, true},
		{"e tab down left", `params {"xy_large":8}`, true},
		{"e tab 8 enter", `params {"xy_small":"8"}`, true},
		{"e tab enter backspace 4 enter", `params {"xy_small":"4"}`, true},
		{"e tab 9 9 enter", "", true},
		{"e tab x right", `params {"xy_small":7}`, true},
		{"e tab 9 9 enter esc right", `params {"xy_small":7}`, true},
		{"e up tab right esc esc", "", false}, // raw has no parameters
		{"e tab right esc esc", `params {"xy_small":7}`, false},
		{"e / rot enter", "encoder rotor", false},
		{"e / zz tab space v enter", "", true},
	} {
		for _, size := range [][2]int{{160, 48}, {80, 24}, {60, 18}} {
			lab := labtest.NewLab()
			m := screen(lab, size[0], size[1])
			press(m, c.keys)
			checkView(t, m)
			if got := spell(lab.Got); got != c.want || m.overlay != nil != c.over {
				t.Errorf("%v at %v sent %q, want %q; open %v", c.keys, size, got, c.want, m.overlay != nil)
			}
		}
	}
}

// TestEncoderListSetsInactiveEncoder checks that setting a parameter of an inactive encoder also
// activates the encoder, in one change.
func TestEncoderListSetsInactiveEncoder(t *testing.T) {
	lab := labtest.NewLab()
	m := large(lab)
	press(m, "/encoder rotor")
	press(m, "e up tab down right")
	var ch *config.Change // the last one
	for _, c := range lab.Got {
		if c.Change != nil {
			ch = c.Change
		}
	}
	if v := ch.Params()["xy_large"]; ch.Encoder() != "relative-orientation" || v != int64(10) {
		t.Errorf("it sent %+v", ch)
	}
}

// TestEncoderListShowsErrors checks that the list shows the error for a wrong value.
func TestEncoderListShowsErrors(t *testing.T) {
	m := large(labtest.NewLab())
	press(m, "e tab 9 9 enter")
	checkShown(t, m, "99_", "xy_small", "encoder.params.xy_small: got 99")
	press(m, "backspace backspace 8 enter")
	checkLacking(t, m, "got 99", "8_")
}

// TestEncoderListHasWholeSummaries checks that a wide screen shows each summary of the list without an ellipsis.
func TestEncoderListHasWholeSummaries(t *testing.T) {
	m := screen(labtest.NewLab(), 240, 60)
	press(m, "e")
	view := m.View()
	for _, o := range m.cat.Encoders(m.lab.Snap.Schema) {
		if !strings.Contains(view, " "+o.Summary+" ") {
			t.Errorf("no whole summary of %s: %s", o.Name, o.Summary)
		}
	}
}

// TestEncoderListShowsEstimates checks that the lab is requested to estimate the encoders while the list is open, and
// that the list shows the estimates, the best first on request, and their period and loss in its title. The active encoder and
// those beside it are the first.
func TestEncoderListShowsEstimates(t *testing.T) {
	lab := labtest.NewLab()
	m := screen(lab, 120, 40)
	requested := func() []config.Encoder {
		tick(m, 1)
		for _, c := range slices.Backward(lab.Got) {
			if c.Estimate != nil {
				return *c.Estimate
			}
		}
		return nil
	}
	press(m, "e")
	list := requested()
	all := setting.Names(m.cat.Encoders(m.lab.Snap.Schema))
	if len(list) != len(all) {
		t.Errorf("requested: %v", list)
	}
	if at := slices.Index(all, m.lab.Config().Encoder.Name); list[0].Name != all[at] || list[1].Name != all[at+1] || list[2].Name != all[at-1] {
		t.Errorf("requested in the order %v", list)
	}
	slices.SortFunc(list, func(a, b config.Encoder) int { return slices.Index(all, a.Name) - slices.Index(all, b.Name) })
	lab.Snap.Estimates = &engine.Estimates{From: 5700 * time.Millisecond, Until: 7700 * time.Millisecond, List: []engine.Estimate{{Encoder: list[0], Kbps: 34.5, EncodeUS: 1234},
		{Encoder: list[1], Err: errors.New("no such thing")}, {Encoder: list[2], Kbps: 12.3, EncodeUS: 56}}}
	requested()
	rows := func() (cells []string) {
		for line := range strings.Lines(m.View()) {
			fields := strings.Fields(line)
			for i, word := range fields {
				if word == "34.5" || word == "12.3" || word == "fails" {
					cells = append(cells, fields[i-1]+" "+word)
					break
				}
			}
		}
		return cells
	}
	names := []string{list[0].Name + " 34.5", list[1].Name + " fails", list[2].Name + " 12.3"}
	if got := rows(); !slices.Equal(got, names) {
		t.Errorf("it shows %q, want %q", got, names)
	}
	sum := meters.Sum(meters.Between(lab.Snap.Lanes[0].Samples, 5700*time.Millisecond, 7700*time.Millisecond))
	if title := fmt.Sprintf("Encoder, frames 00:05.7-00:07.7, loss %.1f %%", 100*float64(sum.Lost)/float64(sum.Sent)); !strings.Contains(m.View(), title) {
		t.Errorf("no %q in\n%s", title, m.View())
	}
	if press(m, "S"); !slices.Equal(rows(), []string{names[2], names[0], names[1]}) {
		t.Errorf("sorted: %q", rows())
	}
	press(m, "tab right") // other parameters are estimated too
	if again := requested(); len(again) != len(list) || slices.EqualFunc(list, again, config.Encoder.Equal) {
		t.Errorf("after a change of a parameter: %v", again)
	}
	if press(m, "esc esc"); len(requested()) != 0 {
		t.Errorf("after the list was closed: %v", requested())
	}
}

// TestFieldsRefuseWhatCannotBeAValue checks that a letter that cannot be part of a value is not typed into the line that
// sets a value. A line of any command takes all letters.
func TestFieldsRefuseWhatCannotBeAValue(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"loss 5x0%", "loss 5x%"}, {"loss gil", "loss gil"}, {"loss zz5", "loss 5"}, {"latency -?8ms", "latency -8ms"}, {"latency off", "latency "},
		{"encoder rotr!", "encoder rotr"}, {"mark zz5?", "mark zz5?"}, {"budget q64k", "budget 64k"},
	} {
		m := screen(labtest.NewLab(), 80, 24)
		name, value, _ := strings.Cut(c.typed, " ")
		for field, want := range map[string]string{name + " ": c.want, "": c.typed} {
			m.line.Show(field)
			for _, letter := range strings.TrimPrefix(name+" "+value, field) {
				pressOnce(m, string(letter))
			}
			if got := m.line.Text(); got != want {
				t.Errorf("%q after %q becomes %q, want %q", value, field, got, want)
			}
		}
	}
	m := screen(labtest.NewLab(), 80, 24)
	press(m, "e tab x 1 q 2")
	checkShown(t, m, " 12_")
}

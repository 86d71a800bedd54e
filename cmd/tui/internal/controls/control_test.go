package controls

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/lossmodel"
)

// fullCatalog returns the catalog of the lab.
func fullCatalog() *Catalog { return NewCatalog(table.All(), lossmodel.Profiles(), lossmodel.Keys()) }

// runControls returns the controls of the settings of a run.
func runControls(cfg *config.Config) []control {
	all := NewCatalog(table.All(), nil, nil).buildControls(cfg, nil, scope{})
	return slices.DeleteFunc(all, func(c control) bool { return c.group != "Run" || c.Short == speedCommand })
}

// TestInterpolationIsOfferedAtLowRates checks that the interpolation can be chosen at low
// snapshot rates, where it is visible, or if it is not the default.
func TestInterpolationIsOfferedAtLowRates(t *testing.T) {
	words := func(c *config.Config) (list []string) {
		for _, x := range runControls(c) {
			list = append(list, x.Short)
		}
		return list
	}
	c := config.Default()
	if got := words(c); !slices.Equal(got, []string{"playout", "budget_line"}) {
		t.Errorf("at %d Hz: %v", c.Sender.RateHz, got)
	}
	c.Sender.RateHz = 10
	if got := words(c); !slices.Equal(got, []string{"playout", "interpolation", "every", "budget_line"}) {
		t.Errorf("at 10 Hz: %v", got)
	}
	blend := runControls(c)[1]
	for _, want := range []string{"hermite", "linear"} { // cycles
		cmd, ok := blend.stepCommand(c, 1)
		if !ok || cmd.Change == nil || c.Apply(*cmd.Change) != nil || blend.Show(c) != want {
			t.Fatalf("one step led to %s, want %s", blend.Show(c), want)
		}
	}
	c.Sender.RateHz, c.Receiver.Hermite = 60, true
	if got := words(c); !slices.Contains(got, "interpolation") {
		t.Errorf("hermite at 60 Hz cannot be switched off: %v", got)
	}
}

// TestEverySteps checks that stepping to the right increases the snapshot rate up to the end of
// the steps, and that a value between two steps moves to its neighbours.
func TestEverySteps(t *testing.T) {
	c := config.Default()
	c.Sender.Every = 2 // otherwise the control is not offered
	list := runControls(c)
	ctl := list[slices.IndexFunc(list, func(x control) bool { return x.Short == "every" })]
	c.Sender.Every = 1
	walk := func(n int) string {
		cmd, ok := ctl.stepCommand(c, n)
		if !ok {
			return "end"
		}
		if err := c.Apply(*cmd.Change); err != nil {
			t.Fatal(err)
		}
		return ctl.Show(c)
	}
	for i, s := range []struct {
		n    int
		want string
	}{{1, "end"}, {-1, "30 /s"}, {-3, "10 /s"}, {-20, "1 /s"}, {-1, "end"}, {5, "10 /s"}, {100, "60 /s"}} {
		if got := walk(s.n); got != s.want {
			t.Fatalf("step %d, by %d: %s, want %s", i, s.n, got, s.want)
		}
	}
	c.Sender.Every = 7
	if got := walk(1); got != "10 /s" {
		t.Errorf("from every 7th: %s", got)
	}
	least := config.Default()
	least.Sender.Every = 60
	full, _ := ctl.Level(config.Default())
	if none, _ := ctl.Level(least); full != 1 || none != 0 {
		t.Errorf("the gauge goes from %g to %g", none, full)
	}
}

// wordsOfControls returns the commands of all controls.
func wordsOfControls(list []control) []string {
	var words []string
	for _, c := range list {
		words = append(words, c.Short)
	}
	return words
}

func TestEveryKeyHasAControl(t *testing.T) {
	cat := fullCatalog()
	on := config.Default()
	if err := on.Apply(config.NewChange("down.netem", "delay 10ms")); err != nil {
		t.Fatal(err)
	}
	for what, cfg := range map[string]*config.Config{"off": config.Default(), "on": on} {
		for way := config.BothDirections; way <= config.UpOnly; way++ {
			words := wordsOfControls(cat.buildControls(cfg, frame.Cubes(frame.WalkoffCubes), scope{way, true}))
			for _, k := range lossmodel.Keys() {
				if n := countOf(words, k.Key); n != 1 {
					t.Errorf("netem %s, way %d: %s has %d controls", what, way, k.Key, n)
				}
			}
		}
	}
}

// TestRowsShowTheirSetting draws each control, which must show its value and, if it is selected and a number, the values of
// the next steps.
func TestRowsShowTheirSetting(t *testing.T) {
	cfg := config.Default()
	if err := cfg.Apply(config.NewChange("loss", "2%", "budget", "100kbit", "every", 2)); err != nil {
		t.Fatal(err)
	}
	p := &Pane{Cat: fullCatalog(), chosen: "loss"}
	p.Observe(room.View{Cfg: cfg, Snap: &engine.Snapshot{}, Speed: 1})
	th := look.NewTheme(lipgloss.NewRenderer(io.Discard), look.Scheme(0), true)
	c := look.NewCanvas(70, 60)
	p.Draw(c, th, look.Focused)
	shown := ansi.Strip(strings.Join(c.Lines(th), "\n"))
	for _, want := range []string{`Loss +2 % .*left 1%  right 3%`, `Budget +100 kbit`, `Rate +off`, `Speed +.1`} {
		if !regexp.MustCompile(want).MatchString(shown) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
}

func countOf(list []string, word string) int {
	n := 0
	for _, w := range list {
		if w == word {
			n++
		}
	}
	return n
}

func TestEveryControlMovesInBothDirections(t *testing.T) {
	cat := fullCatalog()
	for _, codec := range cat.codecs {
		cfg := config.Default()
		if err := cfg.Apply(config.NewChange("encoder.name", codec.Name)); err != nil {
			t.Fatal(err)
		}
		for _, c := range cat.buildControls(cfg, frame.Cubes(frame.WalkoffCubes), scope{more: true}) {
			if !c.canStep(cfg) {
				continue
			}
			moved := 0
			for _, n := range []int{1, -1, 4, -4} {
				cmd, ok := c.stepCommand(cfg, n)
				if !ok {
					continue
				}
				moved++
				// Every single value that a control offers must be valid.
				if err := cfg.Check(*cmd.Change); err != nil && c.Short != "burst" {
					t.Errorf("%s, %s by %d: %v", codec.Name, c.Label, n, err)
				}
			}
			if moved == 0 {
				t.Errorf("%s, %s does not move", codec.Name, c.Label)
			}
			if l, ok := c.Level(cfg); ok && !(l >= 0 && l <= 1) {
				t.Errorf("%s, %s: the gauge is %v", codec.Name, c.Label, l)
			}
			if v := c.Show(cfg); v == "" || v == "?" {
				t.Errorf("%s, %s has the value %q", codec.Name, c.Label, v)
			}
		}
	}
}

func TestGaugeClimbsWithTheLadder(t *testing.T) {
	cat := fullCatalog()
	for _, key := range mainKeys {
		info, ok := cat.Key(key)
		if !ok {
			t.Errorf("a link has no %q", key)
			continue
		}
		ctl := linkControl(config.Default(), info, config.BothDirections)
		last := -1.0
		for _, rung := range info.Ladder {
			cfg := config.Default()
			if err := cfg.Down.Set(key, rung); err != nil {
				t.Fatal(err)
			}
			if l, _ := ctl.Level(cfg); l > last {
				last = l
			} else {
				t.Errorf("%s %s: the gauge is %v, want more than %v", key, rung, l, last)
			}
		}
		if last != 1 {
			t.Errorf("the top of %s is %v of its gauge", key, last)
		}
	}
}

// After a change of a link the profile's control steps from the profile that was set, and its list begins there.
func TestProfileControlStepsFromChangedProfile(t *testing.T) {
	cat := fullCatalog()
	cfg := config.Default()
	if err := cfg.Apply(config.NewChange("profile", "unity-broadband", "loss", "5%")); err != nil {
		t.Fatal(err)
	}
	c := cat.profileControl()
	if got := c.Show(cfg); got != "unity-broadband, changed" {
		t.Errorf("the control shows %q", got)
	}
	if next, ok := c.Step(cfg, 1); !ok || next != "unity-congested" {
		t.Errorf("the next profile is %v", next)
	}
	list := cat.ProfileList(cfg)
	if name := list.Names()[list.Item]; name != "unity-broadband" {
		t.Errorf("the cursor of the list is on %q", name)
	}
}

// TestControlsStayUnderThePointer checks that the list does not scroll when the wheel sets a visible control, so
// that each further notch sets the same one.
func TestControlsStayUnderThePointer(t *testing.T) {
	cfg := config.Default()
	p := &Pane{Cat: fullCatalog()}
	p.Observe(room.View{Cfg: cfg, Snap: &engine.Snapshot{}, Speed: 1})
	p.scope.more = true
	p.rebuild()
	var auto look.Scheme
	th := look.NewTheme(lipgloss.NewRenderer(io.Discard), auto, true)
	draw := func() { p.Draw(look.NewCanvas(60, 12), th, look.Focused) }
	draw()
	for y := 1; y < 11; y++ {
		chosen := p.rows[y]
		if chosen == "" || chosen == foldCommand {
			continue
		}
		for range 2 {
			p.Wheel(0, y, 1)
			draw()
			if p.chosen != chosen || p.rows[y] != chosen {
				t.Errorf("row %d: %q is selected and %q is under the pointer, not %q", y, p.chosen, p.rows[y], chosen)
			}
		}
	}
	p.moveCursor(100)
	draw()
	if !slices.Contains(p.rows, p.chosen) {
		t.Errorf("%q is not visible", p.chosen)
	}
}

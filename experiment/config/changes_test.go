package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

// changeOf returns the change that sets keys to values, which alternate.
func changeOf(t *testing.T, pairs ...any) Change {
	t.Helper()
	var ch Change
	testkit.Set(t, &ch, pairs...)
	return ch
}

// fullChange returns a change that sets everything a change can set.
func fullChange(t *testing.T) Change {
	t.Helper()
	return changeOf(t, "encoder", "kinetic", "encoder.params.damping", 0.5, "profile", "lte", "loss", "5%", "up.latency", "9ms", "down", map[string]any{"rate": "1mbit"},
		"playout_delay", "40ms", "every", 2, "interpolation", "hermite", "budget_line", "off", "seed", 3, "press", " up  left", "hover", "on", "katamari", false,
		"autopilot", "off", "reset", true, "shadow", []any{"raw", "rotor"}, "shadow_off", "zstd", "mark", "here")
}

// What a change sets can be read from its keys, its label, and back from its JSON and from the table of
// a script.
func TestChangeForms(t *testing.T) {
	ch := fullChange(t)
	if got, want := strings.Join(ch.Keys(), " "), "encoder.name profile shadow_off autopilot budget_line down.loss down.rate encoder.params.damping hover katamari mark press "+
		"receiver.interpolation receiver.playout_delay reset seed sender.every shadow up.latency up.loss"; got != want {
		t.Errorf("keys\n%s, want\n%s", got, want)
	}
	if got, want := ch.Label(), "encoder kinetic, profile lte, shadow zstd off, autopilot off, budget_line off, loss 5%, down rate 1mbit, damping 0.5, hover on, katamari off, here, "+
		"press up left, interpolation hermite, playout_delay 40ms, reset the world, seed 3, every 2, shadow raw on, shadow rotor on, up latency 9ms"; got != want {
		t.Errorf("label\n%s, want\n%s", got, want)
	}
	data, err := json.Marshal(ch)
	if err != nil {
		t.Fatal(err)
	}
	var back Change
	if err := json.Unmarshal(data, &back); err != nil || back.Label() != ch.Label() || !reflect.DeepEqual(back.Keys(), ch.Keys()) {
		t.Errorf("%s is read as %s, %v", data, back.Label(), err)
	}
	// As an entry of [[at]] in a file.
	scripted := Default()
	scripted.At, scripted.Shadows = []StampedChange{Stamp(time.Second, ch)}, []Encoder{{Name: "zstd"}}
	if got := reread(t, scripted).At; !reflect.DeepEqual(got, scripted.At) {
		t.Errorf("read as %v", got)
	}
	// Shadows with parameters are tables, in scripts as in JSON.
	withParams := NewChange("shadow", []Encoder{{Name: "raw"}, {Name: "kinetic", Params: map[string]any{"damping": 0.5}}})
	if got, ok := withParams.table()["shadow"].([]any); !ok || len(got) != 2 {
		t.Errorf("shadows as a table: %v", withParams.table())
	}
	if got := withParams.Label(); got != "shadow raw on, shadow kinetic damping=0.5 on" {
		t.Error(got)
	}
	if text := (Change{}).Label(); text != "" || !(Change{}).IsZero() || ch.IsZero() || len((Change{}).Keys()) != 0 {
		t.Errorf("the empty change is %q", text)
	}
}

// A merged change has the effect of both changes in turn.
func TestMergeEqualsBoth(t *testing.T) {
	changes := []Change{
		changeOf(t, "encoder", "kinetic", "params.damping", 0.5), changeOf(t, "encoder", "raw"), changeOf(t, "encoder", "kinetic"), changeOf(t, "loss", "5%"), changeOf(t, "up.loss", "3%", "down.latency", "5ms"),
		changeOf(t, "profile", "lte"), changeOf(t, "every", 2), changeOf(t, "every", 3, "budget_line", 64), changeOf(t, "shadow", "rotor"), changeOf(t, "shadow", "zstd", "mark", "a"),
		changeOf(t, "mark", "b"), {}, changeOf(t, "hover", true, "press", "up"), changeOf(t, "hover", "off", "reset", "true"),
		changeOf(t, "playout", "mirror"), changeOf(t, "playout_delay", "100ms"),
	}
	for i, a := range changes {
		for j, b := range changes {
			inTurn := Default()
			if inTurn.Apply(a) != nil || inTurn.Apply(b) != nil {
				continue // such as the same shadow twice
			}
			merged := Default()
			both := a.Merge(b)
			if err := merged.Apply(both); err != nil || !reflect.DeepEqual(merged.Values(), inTurn.Values()) {
				t.Errorf("%d then %d, %s: %v\n%v, want\n%v", i, j, both.Label(), err, merged.Values(), inTurn.Values())
			}
			if !merged.SameLive(inTurn) {
				t.Errorf("%d then %d: settings differ", i, j)
			}
			if want := b.Mark(); want != "" && both.Mark() != want || want == "" && both.Mark() != a.Mark() {
				t.Errorf("%d then %d: mark %q", i, j, both.Mark())
			}
		}
	}
	if got := changes[12].Merge(changes[13]).Label(); got != "hover off, press up, reset the world" {
		t.Errorf("inputs in turn: %s", got)
	}
	if got := changes[13].Merge(changes[12]).Label(); got != "hover on, press up, reset the world" {
		t.Errorf("in the other order: %s", got)
	}
	if got := changes[12].SwitchesLabel(); got != "hover on" || len(changes[0].Inputs()) != 0 {
		t.Errorf("switches %q, inputs %v", got, changes[0].Inputs())
	}
	if !changeOf(t, "seed", 3).Restarts() || changeOf(t, "every", 3).Restarts() || (Change{}).Restarts() {
		t.Error("only a change of the seed restarts a run")
	}
	if !changes[0].SetsEncoder() || !changeOf(t, "params.damping", 1).SetsEncoder() || changes[3].SetsEncoder() {
		t.Error("SetsEncoder is wrong")
	}
}

// Undo restores everything that a session can change, from every change, and undoing nothing changes nothing.
func TestUndoRestores(t *testing.T) {
	before := Default()
	before.Shadows = []Encoder{{Name: "zstd"}, {Name: "changed-index"}, {Name: "kinetic", Params: map[string]any{"damping": 0.5}}, {Name: "kinetic"}}
	for _, ch := range []Change{fullChange(t), changeOf(t, "shadow", "rotor"), changeOf(t, "shadow_off", "kinetic"), changeOf(t, "shadow_off", []any{"changed-index", "kinetic"}, "shadow", "rotor"),
		changeOf(t, "every", 3), changeOf(t, "up.loss", "7%"), changeOf(t, "profile", "lte"), {}} {
		after := before.Clone()
		if err := after.Apply(ch); err != nil {
			t.Fatal(err)
		}
		undo := before.Undo(after)
		if changed := len(ch.Keys()) > 0; undo.IsZero() == changed || after.SameLive(before) == changed {
			t.Errorf("%s: undone by %q", ch.Label(), undo.Label())
		}
		undone := after.Clone() // the configuration with the change
		if err := after.Apply(undo); err != nil || !after.SameLive(before) || after.LinkProfileText() != before.LinkProfileText() {
			t.Errorf("%s: undone by %s: %v; differs by %s", ch.Label(), undo.Label(), err, before.Undo(after).Label())
		}
		redone := after.Clone()
		if redo := undone.Undo(after); redone.Apply(redo) != nil || !redone.SameLive(undone) || redone.LinkProfileText() != undone.LinkProfileText() {
			t.Errorf("%s: redone by %s; differs by %s", ch.Label(), redo.Label(), undone.Undo(redone).Label())
		}
		for _, s := range before.Shadows {
			if !s.IsIn(after.Shadows) || len(after.Shadows) != len(before.Shadows) {
				t.Errorf("%s: shadows %v", ch.Label(), after.Shadows)
			}
		}
	}
	other := before.Clone()
	other.Profile = "lte"
	if other.SameLive(before) {
		t.Error("another profile is the same")
	}
}

// Wrong keys and values of a change are refused in one sentence with the key, when the change is read
// from JSON or applied, and leave a configuration unchanged.
func TestChangesRefused(t *testing.T) {
	for _, x := range sections(t, "changes.txt") {
		c := Default()
		c.Shadows = []Encoder{{Name: "zstd"}}
		before := c.Values()
		var ch Change
		err := json.Unmarshal([]byte(x[1]), &ch)
		if err == nil {
			err = c.Apply(ch)
		}
		begin, end, _ := strings.Cut(x[0], " ...")
		if got := fmt.Sprint(err); !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end) || strings.Contains(got, "\n") {
			t.Errorf("%s: %v, want %s", x[1], err, x[0])
		}
		if !reflect.DeepEqual(c.Values(), before) {
			t.Errorf("%s was refused and applied: %v", x[1], c.Values())
		}
	}
}

// Consecutive key presses are summarised; a change with more than a press is described alone.
func TestSummarise(t *testing.T) {
	press := func(s float64) StampedChange { return Stamp(time.Duration(s*1e9), changeOf(t, "press", "up")) }
	other := Stamp(3*time.Second, changeOf(t, "press", "up", "hover", true))
	marked := Stamp(3*time.Second, changeOf(t, "press", "up", "mark", "x"))
	for i, x := range []struct {
		list  []StampedChange
		label string
		n     int
	}{
		{[]StampedChange{press(1), press(2), press(2.5), other}, "3 arrow key presses, until 2.500 s", 3}, {[]StampedChange{press(1), press(2)}, "2 arrow key presses, until 2.000 s", 2},
		{[]StampedChange{press(1), other}, "press up", 1}, {[]StampedChange{other, press(1)}, "hover on, press up", 1}, {[]StampedChange{marked, press(4)}, "x, press up", 1},
	} {
		if label, n := Summarise(x.list); label != x.label || n != x.n {
			t.Errorf("%d: %q, %d, want %q, %d", i, label, n, x.label, x.n)
		}
	}
	if !press(1).Change.OnlyInput() || !other.Change.OnlyInput() || marked.Change.OnlyInput() || NewChange("mark", "x").OnlyInput() {
		t.Error("OnlyInput is wrong")
	}
}

// The links keep the name of their profile. The name is followed by "changed" exactly while a link
// differs from the profile, whatever else is changed.
func TestLinkProfile(t *testing.T) {
	loaded, err := Parse("x.toml", []byte("profile = \"unity-broadband\"\n[link]\nloss = \"5%\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := loaded.LinkProfileText(); got != "unity-broadband, changed" {
		t.Errorf("a file that changes the loss of its profile: %q", got)
	}
	c := Default()
	if got := c.LinkProfileText(); got != "perfect" {
		t.Errorf("links without loss and delay: %q", got)
	}
	if err := c.Apply(changeOf(t, "loss", "7.5%")); err != nil || c.LinkProfileText() != "perfect, changed" {
		t.Errorf("links without a profile: %q, %v", c.LinkProfileText(), err)
	}
	for _, x := range [][3]string{ // key, value, and the text of the profile after this change
		{"profile", "lte", "lte"}, {"encoder", "kinetic", "lte"}, {"params.damping", "0.5", "lte"}, {"up.loss", "77%", "lte, changed"},
		{"params.damping", "0.25", "lte, changed"}, {"every", "2", "lte, changed"}, {"profile", "lte", "lte"},
		{"down.loss", "77%", "lte, changed"}, {"down.loss", "0%", "lte"},
		{"profile", "perfect", "perfect"}, {"loss", "5%", "perfect, changed"}, // not the profile rfc8868-0ms-5pct, which is equal
		{"profile", "unity-congested", "unity-congested"},
	} {
		if err := c.Apply(changeOf(t, x[0], x[1])); err != nil || c.LinkProfileText() != x[2] {
			t.Errorf("after %v the profile is %q: %v", x, c.LinkProfileText(), err)
		}
	}
	for _, p := range lossmodel.Profiles() { // two profiles may have equal links: the name stays
		c := Default()
		if err := c.Apply(changeOf(t, "profile", p.Name, "mark", "x")); err != nil || c.Profile != p.Name {
			t.Errorf("profile %s is named %q, %v", p.Name, c.Profile, err)
		}
	}
}

// Values are found by dotted keys, in nested tables; ExplicitTOML leaves out only what depends on the
// data and was not chosen.
func TestValuesText(t *testing.T) {
	v := Default().Values()
	for key, want := range map[string]string{"down.loss": "0%", "seed": "7", "down.bogus": "", "seed.x": "", "down.loss.x": ""} {
		if got := v.Text(key); got != want {
			t.Errorf("%s is %q", key, got)
		}
	}
	has := func(c *Config, text string) bool {
		data, err := c.ExplicitTOML()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(data), text)
	}
	for key, chosen := range map[string]string{"seed": "history", "sender.rate_hz": "rate_hz = 60", "encoder.name": "relative-orientation", "encoder.params.small": "relative-orientation", "budget_line": "budget_line"} {
		c := Default()
		value := c.Values().Text(key)
		testkit.Set(t, c, key, cmp.Or(value, "64"))
		for _, text := range []string{"rate_hz = 60", "relative-orientation", "budget_line"} {
			if has(c, text) != (text == chosen) && text != "budget_line" {
				t.Errorf("after %s the file has %s: %v", key, text, has(c, text))
			}
		}
		if !has(c, "history") || !has(c, "latency") {
			t.Errorf("after %s defaults are missing", key)
		}
		if err := c.Set("data.source", "world"); err != nil || has(c, "rate_hz = 60") {
			t.Errorf("%s was chosen for other data", key)
		}
	}
	c := Default()
	testkit.Set(t, c, "budget_line", "64")
	if !has(c, "budget_line = 64.0") || has(Default(), "budget_line = 256.0") {
		t.Error("a chosen budget is missing, or one that was not is there")
	}
	full, err := Parse("full.toml", []byte(fullConfig))
	if err != nil {
		t.Fatal(err)
	}
	for key := range full.Settings() {
		if head, _, _ := strings.Cut(key, "."); slices.Contains([]string{"at[0]", "sweep[0]", "search", "assert", "duration"}, head) {
			t.Errorf("settings contain %s", key)
		}
	}
}

// Encoders are equal with equal names and parameters.
func TestEncoderEquality(t *testing.T) {
	plain, same := Encoder{Name: "kinetic"}, Encoder{Name: "kinetic"}
	codec, params, err := plain.Resolve("encoder", nil)
	if err != nil || codec.Name != "kinetic" || params == nil {
		t.Fatal(err)
	}
	other := Encoder{Name: "kinetic", Params: map[string]any{"damping": 0.123}}
	if !plain.Equal(same) || plain.Equal(other) || plain.Equal(Encoder{Name: "raw"}) {
		t.Error("equality of encoders is wrong")
	}
	if other.Text() != "kinetic damping=0.123" || plain.Text() != "kinetic" {
		t.Errorf("%s, %s", other.Text(), plain.Text())
	}
}

// A change is the same after encoding as JSON and decoding, whatever the names of its params.
func TestChangeJSONNames(t *testing.T) {
	for _, name := range []string{"small", "\x01", "\a", "\x7f", `"`, `\`, "<&>", "\u2028"} {
		ch := NewChange("params."+name, "1")
		data, err := json.Marshal(ch)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		var got Change
		if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got, ch) {
			t.Errorf("%s: %v, %v", data, got, err)
		}
	}
}

// The number of shadows is limited, however they are added.
func TestShadowsAreBounded(t *testing.T) {
	c := Default()
	for i := range maxShadows {
		c.Shadows = append(c.Shadows, Encoder{Name: "rotor", Params: map[string]any{"xy_small": 1 + i%8, "xy_large": 7 + i/8%8}})
	}
	if err := c.Validate(); err != nil {
		t.Errorf("%d shadows: %v", maxShadows, err)
	}
	if err := c.Apply(NewChange("shadow", "rotor")); err == nil || !strings.Contains(err.Error(), "at most 64 shadows") {
		t.Errorf("one more shadow by a change: %v", err)
	}
	if len(c.Shadows) != maxShadows {
		t.Errorf("after a rejected change there are %d shadows", len(c.Shadows))
	}
}

package config

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

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
		"playout_delay", "40ms", "every", 2, "interpolation", "hermite", "budget", "off", "seed", 3, "press", " up  left", "hover", "on", "katamari", false,
		"autopilot", "off", "reset", true, "shadow", []any{"raw", "rotor"}, "shadow_off", "zstd", "mark", "here")
}

// What a change sets can be read from its keys, its label, and back from its JSON and from the table of a script.
func TestChangeForms(t *testing.T) {
	ch := fullChange(t)
	if got, want := strings.Join(ch.Keys(), " "), "encoder.name profile shadow_off autopilot budget down.loss down.rate encoder.params.damping hover katamari mark press "+
		"receiver.interpolation receiver.playout_delay reset seed sender.every shadow up.latency up.loss"; got != want {
		t.Errorf("keys\n%s, want\n%s", got, want)
	}
	if got, want := ch.Label(), "encoder kinetic, profile lte, shadow zstd off, autopilot off, budget off, loss 5%, down rate 1mbit, damping 0.5, hover on, katamari off, here, "+
		"press up left, interpolation hermite, playout_delay 40ms, reset the world, seed 3, every 2, shadow raw on, shadow rotor on, up latency 9ms"; got != want {
		t.Errorf("label\n%s, want\n%s", got, want)
	}
	if got, want := ch.TouchedKeys(), "down.loss down.rate encoder.name kinetic encoder.params.damping budget profile lte receiver.interpolation receiver.playout_delay "+
		"seed sender.every shadow raw on shadow rotor on shadow zstd off up.latency up.loss"; len(strings.Fields(got)) != len(strings.Fields(want)) {
		t.Errorf("touched keys\n%s, want in some order\n%s", got, want)
	}
	data, err := json.Marshal(ch)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), `{"key":"receiver.playout_delay","value":"40ms"}`) {
		t.Errorf("the playout delay is not among the settings: %s", data)
	}
	var back Change
	if err := json.Unmarshal(data, &back); err != nil || back.Label() != ch.Label() || !reflect.DeepEqual(back.Keys(), ch.Keys()) {
		t.Errorf("%s is read as %s, %v", data, back.Label(), err)
	}
	// As an entry of [[at]] in a file.
	entry := ch.table()
	entry["t"] = "1s"
	text, err := toml.Marshal(map[string]any{"at": []any{entry}, "shadow": []any{map[string]any{"name": "zstd"}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("x.toml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got := c.At[0].Change; got.Label() != ch.Label() || c.At[0].TS != 1 || c.At[0].T != time.Second {
		t.Errorf("read as %s at %v\n%s", got.Label(), c.At[0].T, text)
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
	// A list with one setting is a change of this setting alone.
	for _, set := range ch {
		var single Change
		data, _ := json.Marshal(Change{set})
		if err := json.Unmarshal(data, &single); err != nil || !reflect.DeepEqual(single.Keys(), []string{set.Key}) || single.Label() != (Change{set}).Label() {
			t.Errorf("%s is read as %v: %v", data, single, err)
		}
	}
}

// A merged change has the effect of both changes in turn.
func TestMergeEqualsBoth(t *testing.T) {
	changes := []Change{
		changeOf(t, "encoder", "kinetic", "params.damping", 0.5), changeOf(t, "encoder", "raw"), changeOf(t, "encoder", "kinetic"), changeOf(t, "loss", "5%"), changeOf(t, "up.loss", "3%", "down.latency", "5ms"),
		changeOf(t, "profile", "lte"), changeOf(t, "every", 2), changeOf(t, "every", 3, "budget", 64), changeOf(t, "shadow", "rotor"), changeOf(t, "shadow", "zstd", "mark", "a"),
		changeOf(t, "mark", "b"), {}, changeOf(t, "hover", true, "press", "up"), changeOf(t, "hover", "off", "reset", "true"),
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

// Wrong keys and values of a change are refused with the key, and leave a configuration unchanged.
func TestChangeRefused(t *testing.T) {
	for _, x := range []struct {
		key   string
		value any
		want  string
	}{
		{"encoder", 3, "encoder: 3 is not a name"}, {"profile", "", `profile: "" is not a name`}, {"mark", " ", "is not text"}, {"down", "5%", "down: \"5%\" is not a link"},
		{"link", 3, "is not a link"}, {"params", 3, "is not a table"}, {"encoder.params", 3, "is not a table"}, {"duration", "5s", "cannot be changed during a run"},
		{"sender.history", 5, "cannot be changed during a run"}, {"los", "5%", "did you mean loss?"}, {"evry", 3, "did you mean every?"}, {"", 3, "unknown key"},
		{"press", "sideways", "unknown direction"}, {"press", 3, "is not a direction"}, {"reset", false, "true, which restarts the world"}, {"reset", "x", "true, which"},
		{"hover", "x", `"on" or "off"`}, {"shadow", 3, "is not a name"}, {"shadow", []any{}, "is not a name"}, {"shadow_off", []any{3}, "is not a name"}, {"every", 0, "every: 0 is invalid"}, {"profile", "bogus", "unknown link profile"}, {"encoder.paramsmall", 3, "unknown key"},
		{"shadow[0].nme", "x", "did you mean name?"}, {"shadow_off.x", "rotor", "unknown key"}, {"shadow.name", "rotor", "unknown key"}, {"receiver.playout_delay", 3, "receiver.playout_delay: 3 is invalid"},
	} {
		var ch Change
		if err := ch.Set(x.key, x.value); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s = %v: %v, want %s", x.key, x.value, err, x.want)
		}
	}
	for _, x := range []struct {
		ch   Change
		want string
	}{
		{changeOf(t, "loss", "101%"), "down.loss"}, {changeOf(t, "up.loss", "101%"), "up.loss"}, {changeOf(t, "down.bogus", 1), "bogus"},
		{changeOf(t, "encoder", "bogus"), "encoder.name"}, {changeOf(t, "params.bogus", 3), "encoder.params.bogus"}, {changeOf(t, "shadow_off", "raw"), "there are no shadows"},
		{changeOf(t, "shadow", []any{"raw", "raw"}), "raw is already a shadow"}, {changeOf(t, "playout_delay", "59m"), "exceeds the receiver's history"},
		{changeOf(t, "shadow", "raw").Merge(changeOf(t, "shadow_off", "rotor")), "there are no shadows"},
	} {
		c := Default()
		if err := c.Apply(x.ch); err == nil || !strings.Contains(err.Error(), x.want) || !reflect.DeepEqual(c.Values(), Default().Values()) {
			t.Errorf("%s: %v, want %s; the configuration is now %v", x.ch.Label(), err, x.want, c.Values())
		}
		if c.Check(x.ch) == nil {
			t.Errorf("%s passes the check", x.ch.Label())
		}
	}
	c := Default()
	c.Shadows = []Encoder{{Name: "raw"}, {Name: "rotor"}}
	if err := c.Apply(changeOf(t, "shadow_off", "rotr")); err == nil || !strings.Contains(err.Error(), "did you mean rotor?") {
		t.Errorf("a misspelt shadow: %v", err)
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

// The links keep the name of their profile. The name is followed by "changed" exactly while a link differs from the
// profile, whatever else is changed.
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
	if err := c.Apply(changeOf(t, "loss", "7.5%")); err != nil || c.LinkProfileText() != "" {
		t.Errorf("links of no profile: %q, %v", c.LinkProfileText(), err)
	}
	for _, x := range []struct {
		ch   Change
		want string
	}{
		{changeOf(t, "profile", "lte"), "lte"},
		{changeOf(t, "encoder", "kinetic"), "lte"},
		{changeOf(t, "params.damping", 0.5), "lte"},
		{changeOf(t, "up.loss", "77%"), "lte, changed"},
		{changeOf(t, "params.damping", 0.25), "lte, changed"},
		{changeOf(t, "every", 2), "lte, changed"},
		{changeOf(t, "profile", "lte"), "lte"},
		{changeOf(t, "down.loss", "77%"), "lte, changed"},
		{changeOf(t, "down.loss", "0%"), "lte"},
		{changeOf(t, "profile", "unity-congested"), "unity-congested"},
	} {
		if err := c.Apply(x.ch); err != nil || c.LinkProfileText() != x.want {
			t.Errorf("after %s the profile is %q, want %q: %v", x.ch.Label(), c.LinkProfileText(), x.want, err)
		}
	}
	for _, p := range lossmodel.Profiles() { // two profiles may have equal links: the name stays
		c := Default()
		if err := c.Apply(changeOf(t, "profile", p.Name, "mark", "x")); err != nil || c.Profile != p.Name {
			t.Errorf("profile %s is named %q, %v", p.Name, c.Profile, err)
		}
	}
}

// Values are found by dotted keys, in nested tables; ExplicitTOML leaves out only what depends on the data and was not chosen.
func TestValuesText(t *testing.T) {
	c := Default()
	v := c.Values()
	if v.Text("down.loss") != "0%" || v.Text("seed") != "7" || v.Text("down.bogus") != "" || v.Text("seed.x") != "" || v.Text("down.loss.x") != "" {
		t.Errorf("values by key: %q, %q", v.Text("down.loss"), v.Text("seed"))
	}
	has := func(c *Config, text string) bool {
		data, err := c.ExplicitTOML()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(data), text)
	}
	if has(c, "rate_hz") || has(c, "relative-orientation") || !has(c, "history") || !has(c, "latency") {
		t.Error("defaults that depend on the data are explicit, or others are missing")
	}
	for _, set := range [][2]any{{"sender.rate_hz", 60}, {"encoder.name", "relative-orientation"}, {"encoder.params.small", 4}, {"budget", 64}} {
		d := Default()
		if err := d.Set(set[0].(string), set[1]); err != nil {
			t.Fatal(err)
		}
		if has(d, "rate_hz") != (set[0] == "sender.rate_hz") || has(d, "relative-orientation") != strings.HasPrefix(set[0].(string), "encoder") || has(d, "budget") != (set[0] == "budget") {
			t.Errorf("after %s", set[0])
		}
		if set[0] != "encoder.params.small" {
			if err := d.Set("data.source", "world"); err != nil || has(d, "rate_hz") || has(d, "relative-orientation") || has(d, "budget") {
				t.Errorf("%s was chosen for other data", set[0])
			}
		}
	}
	full, err := Parse("full.toml", []byte(fullConfig+"[search]\nminimise = \"wrong\"\nsubject_to = [\"playout.starved_ratio <= 5%\"]\nruns = 20\nseeds = 2\n[search.over]\n\"sender.every\" = [3, 4]\n"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := full.TOML()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse("again.toml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !reflect.DeepEqual(full.Values(), again.Values()) || again.Search.Runs != 20 || again.Search.Seeds != 2 || again.Search.Subject[0].Value != 0.05 ||
		len(again.Search.Over) != 1 || len(again.Search.Over[0].Values) != 2 {
		t.Errorf("%+v, %v\n%s", again.Search, err, text)
	}
	settings := full.Settings()
	for key := range settings {
		if head, _, _ := strings.Cut(key, "."); slices.Contains([]string{"at[0]", "sweep[0]", "search", "assert", "duration"}, head) {
			t.Errorf("settings contain %s", key)
		}
	}
	if settings["sender.every"] != "3" || settings["shadow[0].name"] != "raw" {
		t.Errorf("settings %v", slices.Sorted(maps.Keys(settings)))
	}
	if w := full.Warnings(); w != nil {
		t.Errorf("warnings %v", w)
	}
	if err := full.Set("client[0].turn", 1); err != nil || len(full.Warnings()) != 1 {
		t.Errorf("a run ignores clients: %v", full.Warnings())
	}
}

// Encoders are equal with equal explicit parameters, and equivalent with equal values of all.
func TestEncoderEquality(t *testing.T) {
	plain, same := Encoder{Name: "kinetic"}, Encoder{Name: "kinetic"}
	codec, params, err := plain.Resolve("encoder", nil)
	if err != nil || codec.Name != "kinetic" || params == nil {
		t.Fatal(err)
	}
	other := Encoder{Name: "kinetic", Params: map[string]any{"damping": 0.123}}
	if !plain.Equal(same) || plain.Equal(other) || plain.Equal(Encoder{Name: "raw"}) || !plain.IsEquivalent(same, nil) || plain.IsEquivalent(other, nil) ||
		plain.IsEquivalent(Encoder{Name: "raw"}, nil) || (Encoder{Name: "bogus"}).IsEquivalent(Encoder{Name: "bogus"}, nil) || (Encoder{Name: "raw"}).IsEquivalent(Encoder{Name: "zstd"}, nil) {
		t.Error("equality of encoders is wrong")
	}
	if other.Text() != "kinetic damping=0.123" || plain.Text() != "kinetic" {
		t.Errorf("%s, %s", other.Text(), plain.Text())
	}
}

// Invalid JSON of a change is rejected with the key of the problem.
func TestChangeJSONRefused(t *testing.T) {
	for text, want := range map[string]struct{ key, expected string }{
		`[{"key":"encoder.params","value":3}]`:                      {"encoder.params", "a parameter, such as"},
		`[{"key":"encoder.params","value":null}]`:                   {"encoder.params", "a parameter, such as"},
		`[{"key":"shadow","value":null}]`:                           {"shadow", "the name of an encoder"},
		`[{"key":"shadow","value":[]}]`:                             {"shadow", "the name of an encoder"},
		`[{"key":"shadow","value":[null]}]`:                         {"shadow", "the name of an encoder"},
		`[{"key":"shadow","value":[{"name":"rotor","parms":3}]}]`:   {"shadow[0].parms", "one of name, params"},
		`[{"key":"shadow","value":[{"name":"rotor","params":[]}]}]`: {"shadow[0].params", "a parameter, such as"},
		`[{"key":"every","value":61}]`:                              {"every", "1 to 60"},
	} {
		var ch Change
		err := json.Unmarshal([]byte(text), &ch)
		var e *Error
		if !errors.As(err, &e) || e.Key != want.key || !strings.HasPrefix(e.Expected, want.expected) {
			t.Errorf("%s: %v, want an Error about %s that expects %s", text, err, want.key, want.expected)
		}
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

// A change to a policy, or back to a delay, replaces the other when changes are merged.
func TestPlayoutChangesMerge(t *testing.T) {
	toPolicy, toDelay := NewChange("playout", "mirror"), NewChange("playout_delay", "100ms")
	for _, x := range []struct {
		ch   Change
		want string
	}{{toPolicy.Merge(toDelay), "100ms"}, {toDelay.Merge(toPolicy), "mirror buffer=0 tolerance=1 catchup=2% slowdown=4%"}} {
		c := Default()
		if err := c.Apply(x.ch); err != nil || c.Playout().String() != x.want {
			t.Errorf("%v, %v; want %s", c.Playout(), err, x.want)
		}
	}
}

// A change neither begins nor ends a crowd.
func TestCrowdChanges(t *testing.T) {
	for _, clients := range []int{0, 5} {
		c := Default()
		c.Crowd.Clients = clients
		for _, after := range []int{0, 9} {
			if err := c.Check(NewChange("clients", after)); (err == nil) != ((clients > 0) == (after > 0)) {
				t.Errorf("from %d to %d clients: %v", clients, after, err)
			}
		}
	}
}

// The number of shadows is limited, however they are added.
func TestShadowsAreBounded(t *testing.T) {
	c := Default()
	for range maxShadows {
		c.Shadows = append(c.Shadows, Encoder{Name: "raw"})
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

package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// The text, the file and the JSON of a shadow with settings of its own describe the same shadow.
func TestOwnSettingsRoundTrip(t *testing.T) {
	for _, text := range []string{"raw", "rotor rotor_small=5 priority=fiedler", "rotor priority=unity min=2 first=1", "adaptive budget=24kbit",
		"rotor budget=off control=ack-clock slack=100ms priority=round-robin first=1", "raw priority=accumulated", "rotor control=off"} {
		e, err := ParseEncoder(strings.Fields(text))
		if err != nil {
			t.Fatal(err)
		}
		var c Config
		if err := c.addShadows([]Encoder{e}); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := c.Shadows[0].Text(); got != text {
			t.Errorf("the text of %s is %s", text, got)
		}
		d := Default()
		d.Shadows = c.Shadows
		file, err := d.TOML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("f", file)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		data, err := json.Marshal(NewChange("shadow", c.Shadows))
		var ch Change
		if err != nil || json.Unmarshal(data, &ch) != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := again.Shadows[0].Text(); got != text || ch.Shadows()[0].Text() != text {
			t.Errorf("%s: %s in a file, %s in JSON", text, got, ch.Shadows()[0].Text())
		}
		scripted := Default()
		scripted.At = []StampedChange{Stamp(time.Second, ch)}
		if file, err = scripted.TOML(); err != nil {
			t.Fatal(err)
		}
		if again, err = Parse("f", file); err != nil || again.At[0].Change.Shadows()[0].Text() != text {
			t.Errorf("%s in [[at]]: %v\n%s", text, err, file)
		}
	}
}

// The lane of a shadow has its own settings, and those of all lanes otherwise.
func TestLanes(t *testing.T) {
	c, err := Parse("f", []byte(`
[sender]
budget = "64kbit"
priority = "unity"
[[shadow]]
name = "raw"
budget = "off"
[[shadow]]
name = "rotor"
priority = "fiedler"
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, lane := range c.Lanes() {
		got = append(got, sendBudgetText(lane.Sender.Budget)+" "+lane.Sender.Priority.Name()+" "+c.LaneKey(i, BudgetKey)+" "+c.LaneKey(i, priorityKey))
	}
	want := []string{"64kbit unity sender.budget sender.priority", "off unity shadow[0].budget sender.priority", "64kbit fiedler sender.budget shadow[1].priority"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("lanes %q, want %q", got, want)
	}
}

// A setting that a shadow cannot have is refused in one sentence that names its key.
func TestOwnSettingErrors(t *testing.T) {
	for text, want := range map[string]string{
		"priority = \"nearest\"": `f:3: shadow[0].priority: unknown policy "nearest"`,
		"priority = 3":           "f:3: shadow[0].priority: 3 is invalid",
		"budget = \"12\"":        `f:3: shadow[0].budget: "12" is invalid; expected 1 kbit/s to 1 Gbit/s`,
		"budget_burst = 2":       `f:3: shadow[0].budget_burst: unknown key "budget_burst"; expected one of name, params, budget, control, priority`,
		"budget = \"64kbit\"\n[[at]]\nt = \"1s\"\nshadow_off = \"adaptive\"": "",
	} {
		_, err := Parse("f", []byte("[[shadow]]\nname = \"adaptive\"\n"+text))
		if got := errorText(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if _, err := ParseEncoder([]string{"raw", "priority="}); err == nil || err.Error() != "expected a value after priority=" {
		t.Errorf("priority=: %v", err)
	}
	c := Default()
	c.Shadows = []Encoder{{Name: "raw", Priority: "unity"}, {Name: "raw", Budget: "24kbit"}}
	if got := strings.Join(c.Warnings(), "\n"); got != "shadow[0].priority: has no effect; expected sender.budget or crowd.budget" {
		t.Errorf("warnings %q", got)
	}
	c.Sender.Budget = 64_000
	if got := c.Warnings(); len(got) > 0 {
		t.Errorf("warnings %q", got)
	}
	c.Shadows[0].Budget = "off"
	if got := c.Warnings(); len(got) != 1 {
		t.Errorf("warnings %q", got)
	}
}

// errorText returns the text of an error; "" for nil.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

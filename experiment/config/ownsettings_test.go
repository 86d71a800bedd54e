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
	for _, text := range []string{"raw", "rotor rotor_small=6 priority=fiedler", "rotor priority=unity min=2 first=1", "adaptive budget=24kbit",
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
		data, err := json.Marshal(NewChange("shadow", c.Shadows))
		var ch Change
		if err != nil || json.Unmarshal(data, &ch) != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := reread(t, d).Shadows[0].Text(); got != text || ch.Shadows()[0].Text() != text {
			t.Errorf("%s: %s in a file, %s in JSON", text, got, ch.Shadows()[0].Text())
		}
		scripted := Default()
		scripted.At = []StampedChange{Stamp(time.Second, ch)}
		if got := reread(t, scripted).At[0].Change.Shadows()[0].Text(); got != text {
			t.Errorf("%s in [[at]] is %s", text, got)
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
		got = append(got, findSetting(BudgetKey).Text(lane)+" "+lane.Sender.Priority.Name()+" "+c.LaneKey(i, BudgetKey)+" "+c.LaneKey(i, priorityKey))
	}
	want := []string{"64kbit unity sender.budget sender.priority", "off unity shadow[0].budget sender.priority", "64kbit fiedler sender.budget shadow[1].priority"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("lanes %q, want %q", got, want)
	}
}

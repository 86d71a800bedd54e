package config_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"wirelab/experiment/config"
)

// Invalid JSON of a change is rejected with the key of the problem.
func TestChangeJSONRefused(t *testing.T) {
	for text, want := range map[string]struct{ key, expected string }{
		`[{"key":"encoder.params","value":3}]`:                      {"encoder.params", "the encoder's parameters"},
		`[{"key":"encoder.params","value":null}]`:                   {"encoder.params", "the encoder's parameters"},
		`[{"key":"shadow","value":null}]`:                           {"shadow", "a list of encoders"},
		`[{"key":"shadow","value":[]}]`:                             {"shadow", "a list of encoders"},
		`[{"key":"shadow","value":[null]}]`:                         {"shadow[0]", "a list of encoders"},
		`[{"key":"shadow","value":[{"name":"rotor","parms":{}}]}]`:  {"shadow", "a list of encoders"},
		`[{"key":"shadow","value":[{"name":"rotor","params":[]}]}]`: {"shadow", "a list of encoders"},
	} {
		var ch config.Change
		err := json.Unmarshal([]byte(text), &ch)
		var e *config.Error
		if !errors.As(err, &e) || e.Key != want.key || !strings.HasPrefix(e.Expected, want.expected) {
			t.Errorf("%s: %v, want an Error about %s that expects %s", text, err, want.key, want.expected)
		}
	}
}

// A change is the same after encoding as JSON and decoding, whatever the names of its params.
func TestChangeJSONNames(t *testing.T) {
	for _, name := range []string{"small", "\x01", "\a", "\x7f", `"`, `\`, "<&>", "\u2028"} {
		ch := config.NewChange("params."+name, "1")
		data, err := json.Marshal(ch)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		var got config.Change
		if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got, ch) {
			t.Errorf("%s: %v, %v", data, got, err)
		}
	}
}

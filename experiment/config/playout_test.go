package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A playout delay and a policy keep their form in files, in the JSON of a change and in scripts.
func TestPlayoutForms(t *testing.T) {
	for text, want := range map[string]struct{ key, value string }{
		"85ms":             {"receiver.playout_delay", "85ms"},
		"mirror":           {"receiver.playout", "mirror buffer=0 tolerance=1 catchup=2% slowdown=4%"},
		"age quantile=99%": {"receiver.playout", "age quantile=99% forget=8s outage=150ms speed=25%"},
	} {
		c := Default()
		if err := c.Set("receiver.playout", text); err != nil {
			t.Fatal(err)
		}
		c.At = []StampedChange{Stamp(1e9, NewChange("receiver.playout", text))}
		other := map[string]string{"receiver.playout": "receiver.playout_delay", "receiver.playout_delay": "receiver.playout"}[want.key]
		if v := c.Values(); v.Text(want.key) != want.value || v.Text(other) != "" {
			t.Errorf("%s: %s is %q and %s is %q", text, want.key, v.Text(want.key), other, v.Text(other))
		}
		file, err := c.TOML()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("again", file)
		if err != nil || again.Playout() != c.Playout() || len(again.At) != 1 || again.At[0].Change.Label() != c.At[0].Change.Label() {
			t.Errorf("%s: the file gives %v, %v:\n%s", text, again, err, file)
		}
		data, err := json.Marshal(c.At[0].Change)
		if wanted := fmt.Sprintf(`[{"key":%q,"value":%q}]`, want.key, want.value); err != nil || string(data) != wanted {
			t.Errorf("%s: the change is %s, %v; want %s", text, data, err, wanted)
		}
		var ch Change
		if err := json.Unmarshal(data, &ch); err != nil || ch.Label() != c.At[0].Change.Label() {
			t.Errorf("%s: the JSON gives %v, %v", text, ch, err)
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

func TestPlayoutErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[receiver]\nplayout = \"85ms\"\nplayout_delay = \"85ms\"":                `f:3: receiver.playout_delay: is set together with receiver.playout; expected one of the two`,
		"[[at]]\nt = \"1s\"\nplayout = \"age\"\nplayout_delay = \"85ms\"":         `f:4: at[0].playout_delay: is set together with at[0].playout`,
		"[receiver]\nplayout_delay = \"mirror\"":                                  `f:2: receiver.playout_delay: "mirror" is invalid; expected a time such as "85ms"`,
		"[receiver]\nplayout = \"miror\"":                                         `f:2: receiver.playout: unknown policy "miror"; expected one of mirror, lightyear, delay, age; did you mean mirror?`,
		"[receiver]\nplayout = 5":                                                 `f:2: receiver.playout: 5 is invalid`,
		"[receiver]\nplayout = \"2h\"":                                            `f:2: receiver.playout: got "2h"; expected a time from 0s to 1h`,
		"[receiver]\nplayout_compare = [\"age\", \"age quantile=10%\"]":           `f:2: receiver.playout_compare: got "quantile=10%"; expected a percentage from 50% to 99.9999% for quantile`,
		"[receiver]\nplayout_compare = 7":                                         `f:2: receiver.playout_compare: 7 is invalid; expected a list of times and policies`,
		"[receiver]\nplayout_compare = \"" + strings.Repeat("1ms,", 40) + "2ms\"": `f:2: receiver.playout_compare: too many policies; expected at most 32`,
	} {
		if _, err := Parse("f", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

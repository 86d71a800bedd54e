package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/experiment/engine/playout"
	"wirelab/internal/policy"
)

// Playout returns the playout delay or policy of the receiver.
func (c *Config) Playout() playout.Timing {
	return playoutField{&c.Receiver, false}.timing()
}

// ComparedPlayouts returns the playout delays and policies to measure on the same arrivals: that of the
// receiver, then those of receiver.playout_compare. It returns nil if none are to be compared.
func (c *Config) ComparedPlayouts() (timings []playout.Timing) {
	if c.Receiver.PlayoutCompare == "" {
		return nil
	}
	timings = append(timings, c.Playout())
	for text := range strings.SplitSeq(c.Receiver.PlayoutCompare, ",") {
		t, err := playout.ParseTiming(strings.TrimSpace(text))
		if err != nil {
			panic("config: the text was checked by the row of receiver.playout_compare: " + err.Error())
		}
		if !slices.Contains(timings, t) {
			timings = append(timings, t)
		}
	}
	return timings
}

// PlayoutRhythm returns the intervals for playout policies, for data with tickHz ticks per second.
func (c *Config) PlayoutRhythm(tickHz int) playout.Rhythm {
	return playout.Rhythm{Send: c.SendInterval(),
		Display: 1000 * time.Second / time.Duration(c.DisplayMilliHz(tickHz)), Tick: time.Second / time.Duration(tickHz)}
}

// playoutField is the field of the playout delay or policy.
type playoutField struct {
	receiver  *receiverSettings
	delayOnly bool // a policy is refused
}

func (f playoutField) timing() playout.Timing {
	if f.receiver.PlayoutPolicy != (policy.Policy{}) {
		return playout.Timing{Policy: f.receiver.PlayoutPolicy}
	}
	return playout.Fixed(f.receiver.Playout)
}

func (f playoutField) String() string { return f.timing().String() }

func (f playoutField) Set(text string) error {
	if n, ok := span.parse(text); ok && n >= 0 && n <= float64(playout.MaxDelay) {
		f.receiver.Playout, f.receiver.PlayoutPolicy = time.Duration(n), policy.Policy{}
		return nil
	}
	if f.delayOnly {
		return errInvalid
	}
	t, err := playout.ParseTiming(text)
	if err == nil {
		f.receiver.PlayoutPolicy = t.Policy
	}
	return err
}

// Label returns the text without parameters that have their defaults.
func (f playoutField) Label() string {
	if t := f.timing(); !t.IsFixed() {
		return t.Label()
	}
	return f.String()
}

func (f playoutField) HasSteps() bool { return true }

// Step returns the delay n steps further. The first step leaves a policy.
func (f playoutField) Step(n int) (any, bool) {
	const step = 5 * time.Millisecond
	before := f.receiver.Playout
	if !f.timing().IsFixed() {
		return before.String(), true
	}
	d := max(before+time.Duration(n)*step, 0)
	return d.String(), d != before
}

// checkPlayoutKeys returns an error if a table of a file sets both keys of the playout. flat has the
// values of the file.
func checkPlayoutKeys(flat map[string]any) error {
	for _, key := range sortedKeys(flat) {
		other, _ := strings.CutSuffix(key, "_delay")
		if _, both := flat[other]; both && strings.HasSuffix(key, "playout_delay") {
			return refuse(key, "is set together with "+other,
				"one of the two: a fixed delay or a policy")
		}
	}
	return nil
}

// textOrOff returns a text, off if it is empty.
func textOrOff(text string) string { return cmp.Or(text, off) }

// parseCompared converts a list of playout delays and policies, separated by commas, to the form of
// Values. "all" stands for every policy with its defaults.
func parseCompared(text string) (string, error) {
	list := strings.Split(text, ",")
	switch text {
	case off:
		return "", nil
	case "all":
		list = playout.Policies.Names()
	}
	for i, text := range list {
		t, err := playout.ParseTiming(strings.TrimSpace(text))
		if err != nil {
			return "", err
		}
		list[i] = t.String()
	}
	if len(list) > maxCompared {
		return "", refuse("", "too many policies", fmt.Sprintf("at most %d", maxCompared))
	}
	return strings.Join(list, ", "), nil
}

// maxCompared is the maximum number of playout policies that run beside the display's.
const maxCompared = 32

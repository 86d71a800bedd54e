package config

import (
	"slices"
	"strings"
	"time"

	"wirelab/experiment/engine/playout"
	"wirelab/internal/policy"
)

// The playout of the receiver has two keys: one accepts only a fixed delay, the other also a policy. A Change has
// either as the value of playoutKey.
const (
	playoutKey       = "receiver.playout_delay"
	playoutPolicyKey = "receiver.playout"
	compareKey       = "receiver.playout_compare"
	playoutName      = "playout_delay" // short name of playoutKey; its JSON form differs from the key
	policyName       = "playout"       // short name of playoutPolicyKey
)

// expectedDelay describes the values of playoutKey.
const expectedDelay = `a time such as "85ms"`

// expectedPlayout describes the values of playoutPolicyKey.
var expectedPlayout = "a time such as 85ms, or " + playout.Policies.Expected()

// PolicyKey returns the key that accepts a policy for the live setting key.
func PolicyKey(key string) string {
	if key == playoutKey {
		return playoutPolicyKey
	}
	return key
}

// Playout returns the playout delay or policy of the receiver.
func (c *Config) Playout() playout.Timing {
	if c.Receiver.PlayoutPolicy != (policy.Policy{}) {
		return playout.Timing{Policy: c.Receiver.PlayoutPolicy}
	}
	return playout.Fixed(c.Receiver.Playout)
}

// ComparedPlayouts returns the playout delays and policies to measure on the same arrivals: that of the receiver,
// then those of receiver.playout_compare. It returns nil if none are to be compared.
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

// idlePlayouts returns warnings about parameters of playout policies that have no effect.
func (c *Config) idlePlayouts() (out []string) {
	if p := c.Receiver.PlayoutPolicy; p.Name() == "mirror" && p.Int("buffer") > 0 && p.Int("tolerance") != playout.Policies.Default("mirror").Int("tolerance") {
		out = append(out, playoutPolicyKey+": mirror ignores tolerance, because buffer fixes the number of intervals")
	}
	return out
}

// PlayoutRhythm returns the intervals for playout policies, for data with tickHz ticks per second.
func (c *Config) PlayoutRhythm(tickHz int) playout.Rhythm {
	return playout.Rhythm{Send: c.SendInterval(),
		Display: 1000 * time.Second / time.Duration(c.DisplayMilliHz(tickHz)), Tick: time.Second / time.Duration(tickHz)}
}

// playoutStep is the step of the playout control.
const playoutStep = 5 * time.Millisecond

// playoutRow returns the row of the playout delay or policy for one of its two keys.
func playoutRow(key string) Row {
	r := scalarRow(key, expectedPlayout, func(c *Config) any { return c.Playout().String() }, nil)
	r.Set = func(c *Config, v any) error { return ErrorAt(key, setPlayout(c, v)) }
	r.Help = "playout delay: how long the receiver buffers snapshots. Three intervals plus the jitter cover two consecutive losses. " +
		"After a change the display runs slower or faster until it has the new delay; it never jumps back. A policy adapts the delay"
	r.DisplayText = func(c *Config) string {
		if t := c.Playout(); !t.IsFixed() {
			return t.Label()
		}
		return c.Receiver.Playout.String()
	}
	r.Step = func(c *Config, n int) (any, bool) {
		if !c.Playout().IsFixed() { // the first step leaves the policy
			return c.Receiver.Playout.String(), true
		}
		d := max(c.Receiver.Playout+time.Duration(n)*playoutStep, 0)
		return d.String(), d != c.Receiver.Playout
	}
	return r
}

// setPlayout sets the playout delay or policy.
func setPlayout(c *Config, v any) error {
	var delay time.Duration
	if setDuration(&delay, v, 0, playout.MaxDelay) {
		c.Receiver.Playout, c.Receiver.PlayoutPolicy = delay, policy.Policy{}
		return nil
	}
	var text string
	if !setText(&text, v) {
		return &Error{Problem: quoteValue(v) + " " + invalidValue, Expected: expectedPlayout}
	}
	t, err := playout.ParseTiming(text)
	if err != nil {
		return err
	}
	c.Receiver.PlayoutPolicy = t.Policy
	return nil
}

// checkPlayoutKey returns an error if value is not a time although key accepts only a time.
func checkPlayoutKey(key string, value any) error {
	var delay time.Duration
	if (key == playoutKey || key == playoutName) && !setDuration(&delay, value, 0, playout.MaxDelay) {
		return &Error{Key: key, Problem: quoteValue(value) + " " + invalidValue, Expected: expectedDelay + "; policies are set by " + playoutPolicyKey}
	}
	return nil
}

// checkPlayoutKeys returns an error if a table of a file sets both keys of the playout. flat has the values of the
// file, sorted are its keys.
func checkPlayoutKeys(flat map[string]any, sorted []string) error {
	for _, key := range sorted {
		table, isDelay := strings.CutSuffix(key, playoutName)
		if _, both := flat[table+policyName]; isDelay && both {
			return &Error{Key: key, Problem: "is set together with " + table + policyName, Expected: "one of the two: a fixed delay or a policy"}
		}
	}
	return nil
}

// compareRow returns the row of the playout policies that run beside the display's.
func compareRow() Row {
	expected := `a list of times and policies such as "60ms, mirror, age quantile=99%", "all" or "off"`
	r := scalarRow(compareKey, expected, func(c *Config) any {
		if c.Receiver.PlayoutCompare == "" {
			return "off"
		}
		return c.Receiver.PlayoutCompare
	}, nil)
	r.Set = func(c *Config, v any) error {
		text, err := parseCompared(v, expected)
		if err == nil {
			c.Receiver.PlayoutCompare = text
		}
		return ErrorAt(compareKey, err)
	}
	r.Help = "playout policies that are measured on the arrivals of the display"
	return r
}

// parseCompared converts a list of playout delays and policies, or a text that separates them by commas, to the
// form of Values. "all" stands for every policy with its defaults.
func parseCompared(v any, expected string) (string, error) {
	names, ok := parseNames(v)
	if !ok {
		return "", &Error{Problem: quoteValue(v) + " " + invalidValue, Expected: expected}
	}
	list := strings.Split(strings.Join(names, ","), ",")
	if len(list) == 1 && list[0] == "off" {
		return "", nil
	}
	if len(list) == 1 && list[0] == "all" {
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
		return "", &Error{Problem: "too many policies", Expected: "at most 32"}
	}
	return strings.Join(list, ", "), nil
}

// maxCompared is the maximum number of playout policies that run beside the display's.
const maxCompared = 32

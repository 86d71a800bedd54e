package config

import (
	"fmt"
	"strings"

	"wirelab/internal/setting"
	"wirelab/lossmodel"
)

// idleSettings returns a warning for each setting that has no effect because other settings do not meet
// its needs.
func (c *Config) idleSettings() (out []string) {
	warn := func(e *Error) {
		if e != nil {
			out = append(out, c.Locate(e).Error())
		}
	}
	for _, dir := range []Direction{DownOnly, UpOnly} {
		for _, k := range lossmodel.Keys() {
			needs := strings.Join(k.Needs, and)
			if need, ok := uplinkNeeds[k.Key]; ok && dir == UpOnly {
				needs = need
			}
			key := dir.String() + "." + k.Key
			isReplaced := dir.Link(c).Netem.On // NetemWarnings has what a netem line replaces
			if !isReplaced && c.isChosen(key) {
				warn(c.idleError(key, withDirection(needs, dir)))
			}
		}
	}
	for _, r := range Rows() {
		warn(c.idleError(r.Key, r.Needs))
	}
	for i, shadow := range c.Shadows {
		for _, name := range sortedKeys(shadow.Own) {
			lane := c.ForLane(shadow)
			lane.Shadows = nil
			row := findSetting("sender." + name)
			if e := lane.idleError(row.Key, row.Needs); e != nil {
				e.Key = c.LaneKey(i+1, row.Key)
				warn(e)
			}
		}
	}
	return out
}

// uplinkNeeds are the needs of keys that have an effect on the downlink in any case. A second copy of an
// ack matters only if it is the first to arrive, and only large acks can exceed an MTU.
var uplinkNeeds = map[string]string{
	"duplicate": "loss or corrupt or corrupt_ber or jitter or reorder or rate or rate_trace",
	"mtu":       "sender.control or sender.redundancy or messages.rate_hz or messages.burst or messages.delivery = stream or data.source = files",
}

// figureNeeds are the needs of groups of figures, which other runs do not have.
var figureNeeds = map[string]string{
	"messages":   hasMessages,
	"redundancy": redundancyKey,
	"control":    controlKey,
	"crowd":      "crowd.clients",
	"view":       anyBudget,
	"transfer":   filesOnly,
	"playout":    displayed,
	"age_ms":     displayed,
}

// withDirection returns the needs of a key of a link with the full keys of the link in a direction:
// "loss or rate" becomes "down.loss or down.rate".
func withDirection(needs string, dir Direction) string {
	words := strings.Fields(needs)
	for i, word := range words {
		if isLinkKey(word) {
			words[i] = dir.String() + "." + word
		}
	}
	return strings.Join(words, " ")
}

// unmet returns the first of the needs that is not met; "" if there is none.
func (c *Config) unmet(needs string) string {
	if needs == "" {
		return ""
	}
	return setting.Unmet(strings.Split(needs, and), c.valueForNeeds)
}

// isChosen reports whether a setting does not have its default, or varies in time.
func (c *Config) isChosen(key string) bool {
	text, standard := c.textOf(key)
	return text != standard || c.variesInTime(key) && !c.variesInTime("profile") // a profile sets every key of a link
}

// idleError returns an error if key is chosen and one of its needs is not met; otherwise nil.
func (c *Config) idleError(key, needs string) *Error {
	need := c.unmet(needs)
	if need == "" || !c.isChosen(key) {
		return nil
	}
	return &Error{Key: key, Problem: "has no effect", Expected: need}
}

// valueForNeeds returns the text of a setting and its default. The text is "" if the setting varies, or
// if it is a data source that is only a path.
func (c *Config) valueForNeeds(key string) (text, standard string) {
	text, standard = c.textOf(key)
	isPath := key == "data.source" && strings.ContainsAny(strings.Split(text, ":")[0], `/\.`)
	if isPath || c.varies(key) {
		text = ""
	}
	return text, standard
}

// textOf returns the text of a scalar setting, of a key of a link, or of all keys of a link, and that of
// its default.
func (c *Config) textOf(key string) (text, standard string) {
	if s := findSetting(key); s != nil {
		return s.Text(c), s.Text(defaultConfig())
	}
	switch dir, name, isLink := cutDirection(key); {
	case !isLink:
		return "", ""
	case name == "":
		return fmt.Sprint(*dir.Link(c)), fmt.Sprint(*dir.Link(defaultConfig()))
	default:
		return LinkValue(c, dir, name), LinkValue(defaultConfig(), dir, name)
	}
}

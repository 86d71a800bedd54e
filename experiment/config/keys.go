package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/transfer"

	messages "wirelab/dataset/text"
	"wirelab/lossmodel"
)

// maxEvery is the most of SenderConfig.Every: one snapshot a second of 60.
const maxEvery = 60

// setter sets one scalar key. Its text is what the error says was expected.
type setter struct {
	key      string
	expected string
	set      func(c *Config, v any) bool
}

// settings lists the scalar keys outside the links, the encoder and the tables.
func settings() []setter {
	return []setter{
		{"seed", "a whole number from 0", func(c *Config, v any) bool {
			n, ok := toUint(v)
			if ok {
				c.Seed = n
			}
			return ok
		}},
		{"duration", `a time such as "60s" or "2m"`, func(c *Config, v any) bool { return setDuration(&c.Duration, v, 0, 1000*time.Hour) }},
		{"data.source", `a data spec such as "demo" or "file:walk.bin.zst"`, func(c *Config, v any) bool { return setText(&c.Data.Source, v) }},
		{"data.script", "the name of a script of the world", func(c *Config, v any) bool { return setText(&c.Data.Script, v) }},
		{"data.cubes", "1 to 65535", func(c *Config, v any) bool { return setInt(&c.Data.Cubes, v, 1, 65535) }},
		{"data.message", "1 to 16383 bytes", func(c *Config, v any) bool { return setInt(&c.Data.Message, v, 1, messages.MaxMessage) }},
		{"data.loop", "true or false", func(c *Config, v any) bool { return setBool(&c.Data.Loop, v) }},
		{"data.again", "true or false", func(c *Config, v any) bool { return setBool(&c.Data.Again, v) }},
		{"sender.block", fmt.Sprintf("%d to %d bytes", minBlock, maxBlock), func(c *Config, v any) bool { return setInt(&c.Sender.Block, v, minBlock, maxBlock) }},
		{"sender.window", fmt.Sprintf("1 to %d datagrams", maxWindow), func(c *Config, v any) bool { return setInt(&c.Sender.Window, v, 1, maxWindow) }},
		{"sender.rate_hz", "1 to 1000", func(c *Config, v any) bool { return setInt(&c.Sender.RateHz, v, 1, 1000) }},
		{"sender.every", "1 to 60", func(c *Config, v any) bool { return setInt(&c.Sender.Every, v, 1, maxEvery) }},
		{"sender.history", "1 to 255 frames", func(c *Config, v any) bool { return setInt(&c.Sender.History, v, 1, frame.MaxHistory) }},
		{"receiver.history", "1 to 255 frames", func(c *Config, v any) bool { return setInt(&c.Receiver.History, v, 1, frame.MaxHistory) }},
		{"receiver.display_hz", "0 (in step with the source), or 1 to 1000, such as 59.9", func(c *Config, v any) bool { return setMilliHz(&c.Receiver.DisplayMilliHz, v) }},
		{"receiver.interpolation", `"linear" or "hermite"`, func(c *Config, v any) bool { return setInterpolation(&c.Receiver.Interpolation, v) }},
		{"receiver.playout_delay", `a time such as "85ms"`, func(c *Config, v any) bool { return setDuration(&c.Receiver.Playout, v, 0, time.Hour) }},
	}
}

// Set sets the value of one dotted key, as it stands in the TOML file:
// "down.loss", "encoder.name", "at[0].t". "link.KEY" sets both directions. A
// value is what a TOML file or a flag can hold; text is parsed.
func (c *Config) Set(key string, value any) error {
	if c.lines != nil {
		c.flags = maps.Clone(c.flags)
		if c.flags == nil {
			c.flags = map[string]bool{}
		}
		c.flags[key] = true
	}
	return c.set(key, value)
}

func (c *Config) set(key string, value any) error {
	c.choose(key, value)
	head, rest, _ := strings.Cut(key, ".")
	name, index, isItem := cutIndex(head)
	switch {
	case isItem && name == "at":
		return c.setAt(index, key, rest, value)
	case isItem && name == "shadow":
		return c.setShadow(index, key, rest, value)
	case isItem && name == "sweep":
		return c.setSweep(index, key, rest, value)
	case key == "at":
		return isList(key, "at[0].t")
	case key == "shadow":
		return isList(key, "shadow[0].name")
	case key == "sweep":
		return isList(key, "sweep[0].key")
	case head == "assert":
		return c.setAssert(rest, value)
	case head == "encoder":
		return c.Encoder.set(key, rest, value)
	case head == "profile" && rest == "":
		return c.setProfile(value)
	case head == "down":
		return ErrorAt(key, c.Down.Set(rest, value))
	case head == "up":
		return ErrorAt(key, c.Up.Set(rest, value))
	case head == "link":
		if err := c.Down.Set(rest, value); err != nil {
			return ErrorAt(key, err)
		}
		return ErrorAt(key, c.Up.Set(rest, value))
	}
	return c.setScalar(key, value)
}

// isList refuses a list as a whole: of a flag, each key of each entry is set by
// itself.
func isList(key, such string) error {
	return &Error{Key: key, Problem: "it is a list", Expected: "a key of one of its entries, such as " + such}
}

func (c *Config) setScalar(key string, value any) error {
	for _, s := range settings() {
		if s.key != key {
			continue
		}
		if !s.set(c, value) {
			return &Error{Key: key, Problem: fmt.Sprintf("%v makes no sense here", show(value)), Expected: s.expected}
		}
		return nil
	}
	return Unknown(key, "key", key, knownKeys())
}

// knownKeys lists what may stand in a file, for near names.
func knownKeys() []string {
	var keys []string
	for _, s := range settings() {
		keys = append(keys, s.key)
	}
	keys = append(keys, "profile", "encoder.name", "encoder.params", "at", "shadow", "sweep", "assert")
	for _, k := range lossmodel.Keys() {
		keys = append(keys, "down."+k.Key, "up."+k.Key)
	}
	return keys
}

func (e *Encoder) set(key, rest string, value any) error {
	switch {
	case rest == "" || rest == "name":
		if !setText(&e.Name, value) {
			return &Error{Key: key, Problem: show(value) + " is no name", Expected: "the name of an encoder"}
		}
		return nil
	case strings.HasPrefix(rest, "params."):
		if e.Params == nil {
			e.Params = map[string]any{}
		}
		e.Params[strings.TrimPrefix(rest, "params.")] = value
		return nil
	}
	return Unknown(key, "key", key, []string{"encoder.name", "encoder.params"})
}

func (c *Config) setProfile(value any) error {
	var name string
	if !setText(&name, value) {
		return &Error{Key: "profile", Problem: show(value) + " is no name", Expected: "the name of a link profile"}
	}
	p, err := lossmodel.ProfileByName(name)
	if err != nil {
		return ErrorAt("profile", err)
	}
	c.Profile, c.Down, c.Up = name, p.Down, p.Up
	return nil
}

func (c *Config) setAt(i int, key, rest string, value any) error {
	for len(c.At) <= i {
		c.At = append(c.At, StampedChange{T: -1})
	}
	at := &c.At[i]
	if rest == "t" {
		if !setDuration(&at.T, value, 0, 1000*time.Hour) {
			return &Error{Key: key, Problem: show(value) + " is no time", Expected: `a time such as "10s"`}
		}
		at.TS = at.T.Seconds()
		return nil
	}
	return Within(Indexed("at", i), at.Change.Set(rest, value))
}

func (c *Config) setShadow(i int, key, rest string, value any) error {
	for len(c.Shadows) <= i {
		c.Shadows = append(c.Shadows, Encoder{})
	}
	return c.Shadows[i].set(key, rest, value)
}

func (c *Config) setSweep(i int, key, rest string, value any) error {
	for len(c.Sweep) <= i {
		c.Sweep = append(c.Sweep, Axis{})
	}
	switch rest {
	case "key":
		if !setText(&c.Sweep[i].Key, value) {
			return &Error{Key: key, Problem: show(value) + " is no key", Expected: `a key such as "down.loss"`}
		}
		return nil
	case "values":
		list, ok := value.([]any)
		if !ok || len(list) == 0 {
			return &Error{Key: key, Problem: show(value) + " is no list", Expected: `a list such as ["0%", "5%"]`}
		}
		c.Sweep[i].Values = list
		return nil
	}
	return Unknown(key, "key", rest, []string{"key", "values"})
}

func (c *Config) setAssert(name string, value any) error {
	a, err := parseAssertion(name, value)
	if err != nil {
		return ErrorAt("assert."+name, err)
	}
	for i := range c.Assert {
		if c.Assert[i].Name == a.Name {
			c.Assert[i] = a
			return nil
		}
	}
	c.Assert = append(c.Assert, a)
	return nil
}

// cutIndex splits "at[3]" into "at" and 3.
func cutIndex(s string) (name string, index int, ok bool) {
	name, rest, found := strings.Cut(s, "[")
	if !found || !strings.HasSuffix(rest, "]") {
		return s, 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(rest, "]"))
	if err != nil || n < 0 || n > 10_000 {
		return s, 0, false
	}
	return name, n, true
}

func Indexed(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }

func show(v any) string {
	if s, ok := v.(string); ok {
		return quoted(s)
	}
	return fmt.Sprint(v)
}

func setText(dst *string, v any) bool {
	s, ok := v.(string)
	if !ok || strings.TrimSpace(s) == "" {
		return false
	}
	*dst = strings.TrimSpace(s)
	return true
}

func setInt(dst *int, v any, lo, hi int) bool {
	n, ok := toUint(v)
	if !ok || n > math.MaxInt32 || int(n) < lo || int(n) > hi {
		return false
	}
	*dst = int(n)
	return true
}

func setBool(dst *bool, v any) bool {
	if s, isText := v.(string); isText {
		b, err := strconv.ParseBool(s)
		if err == nil {
			*dst = b
		}
		return err == nil
	}
	b, ok := v.(bool)
	if ok {
		*dst = b
	}
	return ok
}

// setMilliHz takes 0, or a rate in hertz to the third decimal.
func setMilliHz(dst *int, v any) bool {
	hz, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	if err != nil || hz != 0 && !(hz >= 1 && hz <= 1000) {
		return false
	}
	*dst = int(math.Round(hz * 1000))
	return true
}

func setInterpolation(dst *Interpolation, v any) bool {
	var name string
	if !setText(&name, v) {
		return false
	}
	i := slices.Index(Interpolations(), strings.ToLower(name))
	if i >= 0 {
		*dst = Interpolation(i)
	}
	return i >= 0
}

func setDuration(dst *time.Duration, v any, lo, hi time.Duration) bool {
	s, ok := v.(string)
	if !ok {
		return false
	}
	d, err := time.ParseDuration(strings.ReplaceAll(strings.TrimSpace(s), " ", ""))
	if err != nil || d < lo || d > hi {
		return false
	}
	*dst = d
	return true
}

// toUint reads a whole number from what TOML, JSON or a flag may hold.
func toUint(v any) (uint64, bool) {
	switch n := v.(type) {
	case int64:
		return uint64(n), n >= 0
	case int:
		return uint64(n), n >= 0
	case uint64:
		return n, true
	case float64:
		return uint64(n), n >= 0 && n < 1<<53 && n == math.Trunc(n)
	case string:
		u, err := strconv.ParseUint(strings.TrimSpace(n), 10, 64)
		return u, err == nil
	}
	return 0, false
}

// bounds of SenderConfig.Block and Window.
const (
	minBlock  = transfer.MinBlock
	maxBlock  = 1400
	maxWindow = transfer.Reach
)

package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"wirelab/experiment/endpoint"
)

// A shadow is a further encoder on the same frames and the same fates as the one
// under the keys. It may join and leave while the session runs: whoever joins
// takes over links in the state of the first lane's, so that from then on every
// packet meets what the first lane's packet meets.

// Equal reports whether two configurations of an encoder are the same. Both must
// have been checked, which gives their params one form.
func (e EncoderConfig) Equal(o EncoderConfig) bool {
	return e.Name == o.Name && maps.Equal(e.Params, o.Params)
}

func (e EncoderConfig) in(list []EncoderConfig) bool { return slices.ContainsFunc(list, e.Equal) }

// setShadow notes one key about shadows: "shadow" and "shadow_off" take a name or
// a list of names, "shadow[0].name" and "shadow[0].params.small" spell one out.
func (ch *Change) setShadow(key, rest string, value any) error {
	name, index, isItem := cutIndex(key[:len(key)-len(rest)])
	if isItem && name == "shadow" {
		for len(ch.Shadow) <= index {
			ch.Shadow = append(ch.Shadow, EncoderConfig{})
		}
		return ch.Shadow[index].set(key, strings.TrimPrefix(rest, "."), value)
	}
	names, ok := namesOf(value)
	if !ok {
		return &ConfigError{Key: key, Problem: show(value) + " is no name", Expected: "the name of an encoder, or a list of names"}
	}
	if key == "shadow_off" {
		ch.ShadowOff = append(ch.ShadowOff, names...)
		return nil
	}
	for _, n := range names {
		ch.Shadow = append(ch.Shadow, EncoderConfig{Name: n})
	}
	return nil
}

// namesOf reads a name or a list of names.
func namesOf(value any) ([]string, bool) {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	names := make([]string, len(list))
	for i, v := range list {
		if !setText(&names[i], v) {
			return nil, false
		}
	}
	return names, len(names) > 0
}

// shadowValues adds what setShadow takes apart again.
func (ch *Change) shadowValues(m map[string]any) {
	var plain []any
	var full []any
	for _, s := range ch.Shadow {
		full = append(full, s.values())
		if len(s.Params) == 0 {
			plain = append(plain, s.Name)
		}
	}
	switch {
	case len(full) == 0:
	case len(plain) < len(full):
		m["shadow"] = full
	default:
		m["shadow"] = plain
	}
	if len(ch.ShadowOff) > 0 {
		var off []any
		for _, name := range ch.ShadowOff {
			off = append(off, name)
		}
		m["shadow_off"] = off
	}
}

// shadowLabel says in words which shadows leave and join.
func (ch *Change) shadowLabel() (parts []string) {
	for _, name := range ch.ShadowOff {
		parts = append(parts, "shadow "+name+" off")
	}
	for _, s := range ch.Shadow {
		text := "shadow " + s.Name
		for _, k := range sortedKeys(s.Params) {
			text += fmt.Sprintf(" %s=%v", k, s.Params[k])
		}
		parts = append(parts, text+" on")
	}
	return parts
}

// changeShadows lets shadows leave, then others join.
func (c *Config) changeShadows(ch *Change) error {
	for _, name := range ch.ShadowOff {
		n := len(c.Shadows)
		c.Shadows = slices.DeleteFunc(c.Shadows, func(s EncoderConfig) bool { return s.Name == name })
		if len(c.Shadows) == n {
			var running []string
			for _, s := range c.Shadows {
				running = append(running, s.Name)
			}
			if n == 0 {
				return &ConfigError{Key: "shadow_off", Problem: "no shadow runs", Expected: "one that was added before"}
			}
			return unknown("shadow_off", "shadow", name, running)
		}
	}
	for i, s := range ch.Shadow {
		s = s.clone()
		if _, _, err := s.resolve(indexed("shadow", i), c.codecs); err != nil {
			return err
		}
		if s.in(c.Shadows) {
			return &ConfigError{Key: "shadow", Problem: s.Name + " runs as a shadow already", Expected: "another encoder, or other params"}
		}
		c.Shadows = append(c.Shadows, s)
	}
	return nil
}

// undoShadows adds to ch what turns the shadows of after into those of c. Those
// that share a name leave together, so all of them join again.
func (c *Config) undoShadows(after *Config, ch *Change) {
	for _, s := range after.Shadows {
		if !s.in(c.Shadows) && !slices.Contains(ch.ShadowOff, s.Name) {
			ch.ShadowOff = append(ch.ShadowOff, s.Name)
		}
	}
	for _, s := range c.Shadows {
		if !s.in(after.Shadows) || slices.Contains(ch.ShadowOff, s.Name) {
			ch.Shadow = append(ch.Shadow, s.clone())
		}
	}
}

// checkShadows says whether the data suit every shadow of c.
func (s *Session) checkShadows(c *Config) error {
	for i, e := range c.Shadows {
		if e.in(s.config.Shadows) {
			continue // it runs
		}
		codec, params, err := e.resolve(indexed("shadow", i), c.codecs)
		if err != nil {
			return err
		}
		if err := c.suits(indexed("shadow", i), codec, s.schema); err != nil {
			return err
		}
		if _, err := endpoint.NewEncoding(s.schema, codec, params); err != nil {
			return configError(indexed("shadow", i), err)
		}
	}
	return nil
}

// arrangeShadows brings the lanes to what the configuration says: those that stay
// go on undisturbed.
func (s *Session) arrangeShadows() error {
	lanes := s.lanes[:1:1]
	for _, e := range s.config.Shadows {
		i := slices.IndexFunc(s.lanes[1:], func(l *lane) bool { return l.config.Equal(e) })
		if i >= 0 {
			lanes = append(lanes, s.lanes[1+i])
			continue
		}
		l, err := s.join(e)
		if err != nil {
			return err
		}
		lanes = append(lanes, l)
	}
	s.lanes = lanes
	return nil
}

// join makes a lane that begins now, beside those that run.
func (s *Session) join(e EncoderConfig) (*lane, error) {
	opt := s.opt.shadow()
	l, err := newLane(s.config, e, s.schema, s.initial, &opt)
	if err != nil {
		return nil, err
	}
	s.deliverFile(l)
	first := s.lanes[0]
	l.began = s.now
	l.connect(first.downLink.Fork(foreignTag), first.upLink.Fork(foreignTag))
	l.snd.StartAt(s.sent, s.now)
	l.rcv.StartAt(s.sent)
	l.play.moment = s.now // nothing older will be on display
	return l, nil
}

// foreignTag tags what was under way in a link when a lane took it over: it was sent
// by somebody else.
const foreignTag = 1<<64 - 1

// arriveForeign lets a packet arrive that the lane did not send. It means nothing
// here, but the first lane acknowledges it, which moves the chances of the uplink
// on by one: so it must here.
func (l *lane) arriveForeign(now time.Duration, damaged bool) {
	if !damaged {
		l.up.Send(now, make([]byte, endpoint.AckSize(l.delivery != nil)), foreignTag)
	}
}

// shadow returns the options of a lane at which nobody looks closely.
func (o SessionOptions) shadow() SessionOptions {
	o.Observer, o.Looked, o.Inspect = nil, false, false
	if o.KeepPackets > shownPackets {
		o.KeepPackets = shownPackets
	}
	return o
}

package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"wirelab/lossmodel"
)

// part is a group of keys that a change sets together.
type part struct {
	owns  func(key string) bool
	apply func(c *Config, values Change) error      // makes c what it is after values, all of this part
	label func(values Change) []string              // says in a few words what they do
	undo  func(was, is *Config, set func(Value))    // sets what turns is back into was
	write func(values Change, table map[string]any) // as a script holds them
}

// parts lists the groups, in the order in which they are applied and labelled.
func parts() []part {
	return []part{encoderPart(), shadowPart(), linkPart(), settingPart(), inputPart(), markPart()}
}

// of returns the values of one part.
func (ch Change) of(p *part) (values Change) {
	for _, x := range ch {
		if p.owns(x.Key) {
			values = append(values, x)
		}
	}
	return values
}

// encoderPart is the encoder under the keys, with its params.
func encoderPart() part {
	const params = "encoder.params."
	return part{
		owns: func(key string) bool { return strings.HasPrefix(key, "encoder.") },
		apply: func(c *Config, values Change) (err error) {
			if name := values.Text("encoder.name"); name != "" {
				c.Encoder = Encoder{Name: name}
			}
			for _, x := range values {
				if name, ok := strings.CutPrefix(x.Key, params); ok {
					if c.Encoder.Params == nil {
						c.Encoder.Params = map[string]any{}
					}
					c.Encoder.Params[name] = x.Value
				}
			}
			c.Encoder, err = c.Encoder.normal("encoder", c.Codecs)
			return err
		},
		label: func(values Change) (words []string) {
			for _, x := range values {
				if name, ok := strings.CutPrefix(x.Key, params); ok {
					words = append(words, fmt.Sprintf("%s %v", name, x.Value))
				} else {
					words = append(words, fmt.Sprintf("encoder %s", x.Value))
				}
			}
			return words
		},
		undo: func(was, is *Config, set func(Value)) {
			if was.Encoder.Equal(is.Encoder) {
				return
			}
			set(Value{"encoder.name", was.Encoder.Name})
			for name, v := range was.Encoder.Params {
				set(Value{params + name, v})
			}
		},
		write: func(values Change, m map[string]any) {
			table := map[string]any{}
			for _, x := range values {
				if name, ok := strings.CutPrefix(x.Key, params); ok {
					table[name] = x.Value
				} else {
					m["encoder"] = x.Value
				}
			}
			if len(table) > 0 {
				m["params"] = table
			}
		},
	}
}

// linkPart is the links of both directions, and the profile that sets them.
func linkPart() part {
	return part{
		owns: func(key string) bool {
			return key == "profile" || strings.HasPrefix(key, "down.") || strings.HasPrefix(key, "up.")
		},
		apply: func(c *Config, values Change) error {
			if name := values.Text("profile"); name != "" {
				if err := c.setProfile(name); err != nil {
					return err
				}
			}
			return errors.Join(patch(&c.Down, "down", values), patch(&c.Up, "up", values))
		},
		label: linkLabel,
		undo: func(was, is *Config, set func(Value)) {
			specDiff("down", &was.Down, &is.Down, set)
			specDiff("up", &was.Up, &is.Up, set)
		},
		write: func(values Change, m map[string]any) {
			if name := values.Text("profile"); name != "" {
				m["profile"] = name
			}
			for _, way := range []string{"down", "up"} {
				if link := values.below(way); len(link) > 0 {
					m[way] = link
				}
			}
		},
	}
}

// below returns the values of the keys below one, as text.
func (ch Change) below(key string) map[string]string {
	m := map[string]string{}
	for _, x := range ch {
		if name, ok := strings.CutPrefix(x.Key, key+"."); ok {
			m[name] = fmt.Sprint(x.Value)
		}
	}
	return m
}

// linkLabel tells of what is the same in both directions once.
func linkLabel(values Change) (words []string) {
	if name := values.Text("profile"); name != "" {
		words = append(words, "profile "+name)
	}
	down, up := values.below("down"), values.below("up")
	for _, k := range sortedKeys(down) {
		if up[k] == down[k] {
			words = append(words, k+" "+down[k])
		} else {
			words = append(words, "down "+k+" "+down[k])
		}
	}
	for _, k := range sortedKeys(up) {
		if up[k] != down[k] {
			words = append(words, "up "+k+" "+up[k])
		}
	}
	return words
}

// patch sets the keys of one link, then looks at the whole.
func patch(spec *lossmodel.Spec, way string, values Change) error {
	table := map[string]any{}
	for k, v := range values.below(way) {
		table[k] = v
	}
	if err := spec.SetAll(table); err != nil {
		key := way
		var ke *lossmodel.KeyError
		if errors.As(err, &ke) {
			key += "." + ke.Key
		}
		return ErrorAt(key, err)
	}
	return ErrorAt(way, spec.Validate())
}

// specDiff sets the keys that was has otherwise than is.
func specDiff(way string, was, is *lossmodel.Spec, set func(Value)) {
	for _, k := range lossmodel.Keys() {
		a, errA := was.Get(k.Key)
		b, errB := is.Get(k.Key)
		if errA == nil && errB == nil && a != b {
			set(Value{way + "." + k.Key, a})
		}
	}
}

// matchProfile returns the name of the profile that both links are, "" if none:
// the present one as long as nothing was altered since.
func (c *Config) matchProfile() string {
	name := ""
	for _, p := range profiles() {
		if p.Down == c.Down && p.Up == c.Up && (name == "" || p.Name == c.Profile) {
			name = p.Name
		}
	}
	return name
}

// profiles lists the link profiles. It is made once: every change is held against it.
var profiles = sync.OnceValue(lossmodel.Profiles)

// settingPart is the live settings of the table.
func settingPart() part {
	return part{
		owns: func(key string) bool { return settingIndex(key) >= 0 },
		apply: func(c *Config, values Change) error {
			for _, x := range values {
				if s := settingNamed(x.Key); !s.set(c, x.Value) {
					return &Error{Key: x.Key, Problem: show(x.Value) + " makes no sense here", Expected: s.Expected}
				}
			}
			return c.checkHistories()
		},
		label: func(values Change) (words []string) {
			for _, x := range values {
				words = append(words, settingNamed(x.Key).Word()+" "+fmt.Sprint(x.Value))
			}
			return words
		},
		undo: func(was, is *Config, set func(Value)) {
			for _, s := range LiveSettings() {
				if v := s.get(was); v != s.get(is) {
					set(Value{s.Key, v})
				}
			}
		},
		write: func(values Change, m map[string]any) {
			for _, x := range values {
				m[settingNamed(x.Key).Short] = x.Value
			}
		},
	}
}

// markPart is the bookmark.
func markPart() part {
	return part{
		owns:  func(key string) bool { return key == "mark" },
		apply: func(*Config, Change) error { return nil },
		label: func(values Change) (words []string) {
			for _, x := range values {
				words = append(words, fmt.Sprint(x.Value))
			}
			return words
		},
		write: func(values Change, m map[string]any) {
			for _, x := range values {
				m["mark"] = x.Value
			}
		},
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

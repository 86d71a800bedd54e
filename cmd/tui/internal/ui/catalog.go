package ui

import (
	"slices"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment"
	"wirelab/lossmodel"
)

// catalog is what there is to choose from and to set. It is the same all the
// time, so it is asked for once.
type catalog struct {
	codecs   []encoders.Codec
	profiles []lossmodel.Profile
	keys     []lossmodel.KeyInfo                                 // settings of a link
	picture  func(spec lossmodel.Spec, w int, ascii bool) string // see Options
}

// newCatalog makes a catalog of encoders, of link profiles and of the settings of a
// link.
func newCatalog(codecs []encoders.Codec, profiles []lossmodel.Profile, keys []lossmodel.KeyInfo) *catalog {
	return &catalog{codecs: codecs, profiles: profiles, keys: keys}
}

// choice is a name to pick, with a line that says what it is.
type choice struct{ name, summary string }

// codec returns the encoder of that name, nil if there is none.
func (c *catalog) codec(name string) *encoders.Codec {
	i := slices.IndexFunc(c.codecs, func(x encoders.Codec) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return &c.codecs[i]
}

// key returns the description of a setting of a link.
func (c *catalog) key(name string) (lossmodel.KeyInfo, bool) {
	i := slices.IndexFunc(c.keys, func(k lossmodel.KeyInfo) bool { return k.Key == name })
	if i < 0 {
		return lossmodel.KeyInfo{}, false
	}
	return c.keys[i], true
}

// keyNames lists the settings of a link.
func (c *catalog) keyNames() []string {
	names := make([]string, len(c.keys))
	for i, k := range c.keys {
		names[i] = k.Key
	}
	return names
}

// encoders lists the encoders that suit the frames at hand.
func (c *catalog) encoders(schema *frame.Schema) []choice {
	var list []choice
	for _, x := range c.codecs {
		if schema == nil || x.Suits(schema) {
			list = append(list, choice{x.Name, x.Summary})
		}
	}
	return list
}

// links lists the link profiles.
func (c *catalog) links() []choice {
	var list []choice
	for _, p := range c.profiles {
		list = append(list, choice{p.Name, p.Summary})
	}
	return list
}

func plainChoices(names []string) []choice {
	list := make([]choice, len(names))
	for i, n := range names {
		list[i].name = n
	}
	return list
}

// choiceNames lists the names only.
func choiceNames(list []choice) []string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.name
	}
	return names
}

// shadowNames lists the encoders that run beside, each once.
func shadowNames(cfg *experiment.Config) []string {
	var names []string
	for _, s := range cfg.Shadows {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// themeChoices are the themes to choose from.
func themeChoices() []choice {
	list, says := plainChoices(Themes()), themeSummaries()
	for i := range list {
		list[i].summary = says[i]
	}
	return list
}

package controls

import (
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/internal/setting"
	"wirelab/lossmodel"
)

// Catalog is what there is to choose from and to set. It never changes.
// One without encoders is for links alone, as a proxy has.
type Catalog struct {
	codecs   []encoders.Codec
	profiles []lossmodel.Profile
	Keys     []lossmodel.KeyInfo                                 // settings of a link
	Picture  func(spec lossmodel.Spec, w int, ascii bool) string // see Options
}

// NewCatalog makes a catalog of encoders, of link profiles and of the settings of a
// link.
func NewCatalog(codecs []encoders.Codec, profiles []lossmodel.Profile, keys []lossmodel.KeyInfo) *Catalog {
	return &Catalog{codecs: codecs, profiles: profiles, Keys: keys}
}

// linkTarget names the far end of a link.
func (c *Catalog) linkTarget(direction config.Way) string {
	targets := [...]string{"to the receiver", "back to the sender"}
	if len(c.codecs) == 0 { // of a proxy
		targets = [...]string{"to the clients", "to the server"}
	}
	if direction == config.UpOnly {
		return targets[1]
	}
	return targets[0]
}

// Codec returns the encoder of that name, nil if there is none.
func (c *Catalog) Codec(name string) *encoders.Codec {
	i := slices.IndexFunc(c.codecs, func(x encoders.Codec) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return &c.codecs[i]
}

// Key returns the description of a setting of a link.
func (c *Catalog) Key(name string) (lossmodel.KeyInfo, bool) {
	i := slices.IndexFunc(c.Keys, func(k lossmodel.KeyInfo) bool { return k.Key == name })
	if i < 0 {
		return lossmodel.KeyInfo{}, false
	}
	return c.Keys[i], true
}

// KeyNames lists the settings of a link.
func (c *Catalog) KeyNames() []string {
	names := make([]string, len(c.Keys))
	for i, k := range c.Keys {
		names[i] = k.Key
	}
	return names
}

// Encoders lists the encoders that suit a schema; nil stands for any.
func (c *Catalog) Encoders(schema *frame.Schema) (list []setting.Option) {
	for _, x := range c.codecs {
		if schema == nil || x.Suits(schema) {
			list = append(list, setting.Option{Name: x.Name, Summary: x.Summary})
		}
	}
	return list
}

// Links lists the link profiles.
func (c *Catalog) Links() (list []setting.Option) {
	for _, p := range c.profiles {
		list = append(list, setting.Option{Name: p.Name, Summary: p.Summary})
	}
	return list
}

// ShadowNames lists the encoders that run beside, each once.
func ShadowNames(cfg *config.Config) []string {
	var names []string
	for _, s := range cfg.Shadows {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// ThemeChoices are the themes to choose from.
func ThemeChoices() []setting.Option {
	list, summaries := setting.Options(look.Themes()), look.ThemeSummaries()
	for i := range list {
		list[i].Summary = summaries[i]
	}
	return list
}

// describeProfile describes a profile: its summary, its source, and a picture of its effect on packets.
func (c *Catalog) describeProfile(name string, w int, ascii bool) []string {
	i := slices.IndexFunc(c.profiles, func(p lossmodel.Profile) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	p := c.profiles[i]
	lines := append(look.Wrap(p.Summary, w), look.Wrap("source: "+p.Source, w)...)
	if c.Picture == nil {
		return lines
	}
	side := "each way:"
	if p.Down != p.Up {
		side = "down, " + c.linkTarget(config.DownOnly) + ":"
	}
	return append(append(lines, "", side), strings.Split(c.Picture(p.Down, w, ascii), "\n")...)
}

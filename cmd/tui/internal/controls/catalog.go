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

// Catalog lists the encoders, the link profiles and the settings of a link, which are named by
// keys. Apart from encoderSort it is immutable after its fields are set. The catalog of a proxy has no encoders, because
// a proxy has only links.
type Catalog struct {
	codecs   []encoders.Codec
	profiles []lossmodel.Profile
	Keys     []lossmodel.KeyInfo // settings of a link
	// Picture returns a drawing of the effect of a link on packets, as lines of at most w columns;
	// nil means no pictures. See ui.Options.
	Picture func(spec lossmodel.Spec, w int) string

	encoderSort int // the column by which the last list of encoders was sorted; 0 if none was opened
}

// NewCatalog returns a catalog of encoders, link profiles and settings of a link. It has no
// pictures.
func NewCatalog(codecs []encoders.Codec, profiles []lossmodel.Profile, keys []lossmodel.KeyInfo) *Catalog {
	return &Catalog{codecs: codecs, profiles: profiles, Keys: keys}
}

// linkTarget describes where the link of a direction leads.
func (c *Catalog) linkTarget(direction config.Direction) string {
	targets := [...]string{"to the receiver", "to the sender"}
	if len(c.codecs) == 0 { // a proxy
		targets = [...]string{"to the clients", "to the server"}
	}
	if direction == config.UpOnly {
		return targets[1]
	}
	return targets[0]
}

// Codec returns the encoder with this name, or nil if it is unknown.
func (c *Catalog) Codec(name string) *encoders.Codec {
	i := slices.IndexFunc(c.codecs, func(x encoders.Codec) bool { return x.Name == name })
	if i < 0 {
		return nil
	}
	return &c.codecs[i]
}

// Key returns the description of the link setting with this key; false if the key is unknown.
func (c *Catalog) Key(name string) (lossmodel.KeyInfo, bool) {
	i := slices.IndexFunc(c.Keys, func(k lossmodel.KeyInfo) bool { return k.Key == name })
	if i < 0 {
		return lossmodel.KeyInfo{}, false
	}
	return c.Keys[i], true
}

// KeyNames returns the keys of all link settings.
func (c *Catalog) KeyNames() []string {
	names := make([]string, len(c.Keys))
	for i, k := range c.Keys {
		names[i] = k.Key
	}
	return names
}

// Encoders returns the encoders that support a schema; nil stands for any schema.
func (c *Catalog) Encoders(schema *frame.Schema) (list []setting.Option) {
	for _, x := range c.codecs {
		if schema == nil || x.Suits(schema) {
			list = append(list, setting.Option{Name: x.Name, Summary: x.Summary})
		}
	}
	return list
}

// Links returns the link profiles.
func (c *Catalog) Links() (list []setting.Option) {
	for _, p := range c.profiles {
		list = append(list, setting.Option{Name: p.Name, Summary: p.Summary})
	}
	return list
}

// ShadowNames returns the names of the encoders that run as shadows, each once even if it runs
// several times with different parameters.
func ShadowNames(cfg *config.Config) []string {
	var names []string
	for _, s := range cfg.Shadows {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// ThemeChoices returns the themes with their descriptions.
func ThemeChoices() []setting.Option {
	list, summaries := setting.Options(look.SchemeNames()), look.SchemeSummaries()
	for i := range list {
		list[i].Summary = summaries[i]
	}
	return list
}

// describeProfile returns the lines that describe a profile, of at most w columns: its summary, its
// source and, if the catalog has pictures, a picture of the effect of its downlink on packets. It
// returns nil if the profile is unknown.
func (c *Catalog) describeProfile(name string, w int) []string {
	i := slices.IndexFunc(c.profiles, func(p lossmodel.Profile) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	p := c.profiles[i]
	lines := append(look.Wrap(p.Summary, w), look.Wrap("source: "+p.Source, w)...)
	if c.Picture == nil {
		return lines
	}
	heading := "a sample of both directions:"
	if p.Down != p.Up {
		heading = "a sample of down, " + c.linkTarget(config.DownOnly) + ":"
	}
	return append(append(lines, "", heading), strings.Split(c.Picture(p.Down, w), "\n")...)
}

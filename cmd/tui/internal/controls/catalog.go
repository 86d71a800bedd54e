package controls

import (
	"slices"
	"strings"

	"wirelab/cmd/tui/internal/look"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/lossmodel"
)

// Catalog is what there is to choose from and to set. It is the same all the
// time, so it is asked for once. One without encoders is for links alone, as a proxy has.
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

// LinksOnly says that there are links to set, and nothing else.
func (c *Catalog) LinksOnly() bool { return len(c.codecs) == 0 }

// end says where a direction leads.
func (c *Catalog) end(d Direction) string {
	switch {
	case c.LinksOnly() && d == UpOnly:
		return "to the server"
	case c.LinksOnly():
		return "to the clients"
	case d == UpOnly:
		return "back to the sender"
	}
	return "to the receiver"
}

// Choice is a name to pick, with a line that says what it is.
type Choice struct{ name, summary string }

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

// Encoders lists the encoders that suit the frames at hand.
func (c *Catalog) Encoders(schema *frame.Schema) []Choice {
	var list []Choice
	for _, x := range c.codecs {
		if schema == nil || x.Suits(schema) {
			list = append(list, Choice{x.Name, x.Summary})
		}
	}
	return list
}

// Links lists the link profiles.
func (c *Catalog) Links() []Choice {
	var list []Choice
	for _, p := range c.profiles {
		list = append(list, Choice{p.Name, p.Summary})
	}
	return list
}

func plainChoices(names []string) []Choice {
	list := make([]Choice, len(names))
	for i, n := range names {
		list[i].name = n
	}
	return list
}

// ChoiceNames lists the names only.
func ChoiceNames(list []Choice) []string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = c.name
	}
	return names
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
func ThemeChoices() []Choice {
	list, says := plainChoices(look.Themes()), look.ThemeSummaries()
	for i := range list {
		list[i].summary = says[i]
	}
	return list
}

// previewLink is what there is to say about a profile: what it is, whose it is,
// and what it does to packets.
func (cat *Catalog) previewLink(name string, w int, ascii bool) []string {
	for _, p := range cat.profiles {
		if p.Name != name {
			continue
		}
		lines := append(look.Wrap(p.Summary, w), look.Wrap("source: "+p.Source, w)...)
		if cat.Picture == nil {
			return lines
		}
		lines = append(lines, "", cat.sideShown(p))
		return append(lines, strings.Split(cat.Picture(p.Down, w, ascii), "\n")...)
	}
	return nil
}

// sideShown says which of the two links the picture is of.
func (cat *Catalog) sideShown(p lossmodel.Profile) string {
	if p.Down == p.Up {
		return "each way:"
	}
	return "down, " + cat.end(DownOnly) + ":"
}

package page

import (
	"slices"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
)

// Search is the result of a search, as its report shows it.
type Search struct {
	Minimise   string   // key of the figure
	Bounded    []string // keys of the figures with bounds
	Bounds     string   // the bounds as a text, and what they apply to; "" without bounds
	Config     *config.Config
	Points     []*SearchPoint // all settings that were compared, the best or, if none keeps the bounds, the closest first
	Facts      []string       // about the search, a few words each
	Sentences  []string       // how certain the result is
	Incomplete string         // why the search is incomplete; "" if it is complete
	TOML       string         // the configuration with the best setting; "" if it breaks the bounds
}

// RatioKey is the key of the ratio of a setting's figure to that of the best setting.
const RatioKey = "ratio to best"

// SearchPoint is a setting of a search, with the minimised and the bounded figures, and RatioKey.
type SearchPoint struct {
	Point
	Bounds string // "ok" or "breaks" with the figures; "" without bounds
	Keeps  bool   // it keeps the bounds
}

// SearchTiles returns the keys of figures that the report of a search shows at the top even if they are
// neither minimised nor bounded.
func SearchTiles() []string { return []string{wireKey, starvedKey, ageKey} }

// Document returns the report of the search.
func (s *Search) Document() *Document {
	d := &Document{Title: "Search", Verdict: failedVerdict, Alarms: nonEmpty(s.Incomplete)}
	d.Meta = append([]string{linkText(s.Config), "data " + s.Config.Data.Source}, s.Facts...)
	certainty := strings.Join(s.Sentences, " ")
	if len(s.Points) == 0 {
		d.Headline = certainty // why there is none
		return d
	}
	best := s.Points[0]
	title := "Closest setting"
	name := shortSet(best.Set)
	d.Headline = "No setting that was tried keeps the bounds. The closest, " + name + ", " + best.Bounds + "."
	if best.Keeps {
		title = "Recommended setting"
		scope := ""
		d.Verdict = ""
		if s.Bounds != "" {
			scope = " of the settings that keep the bounds"
			d.Verdict = passedVerdict
		}
		m := figures.Find(s.Minimise)
		d.Headline = name + " has the lowest " + m.Key + scope + ": " +
			strings.TrimSpace(formatNumber(best.value(&m))+" "+m.Unit) + "."
	}
	s.addTiles(d)
	values := newTable("Values of the keys that the search varied", "key", "value", "in the configuration")
	own := s.Config.Settings()
	for _, key := range (&grid{points: []*Point{&best.Point}}).keys() {
		values.add(key, best.Set[key], own[key])
	}
	d.answer("recommended", title, values, paragraph(certainty))
	bounds := ""
	if s.Bounds != "" {
		bounds = "Bounds: " + s.Bounds + "."
	}
	d.answer("settings", "Settings compared", paragraph(bounds), s.chart(), s.table())
	if s.TOML != "" {
		d.add("configuration", "Configuration", code{"",
			"tui run best.toml --out best    # run the recommended setting, with a report"},
			code{"best.toml", s.TOML})
	}
	return d
}

// addTiles adds the known figures of the best setting, each once: the minimised one, SearchTiles and the
// bounded ones.
func (s *Search) addTiles(d *Document) {
	best := s.Points[0]
	for _, key := range slices.Concat([]string{s.Minimise}, SearchTiles(), s.Bounded) {
		m := figures.Find(key)
		v, ok := best.Figures[key]
		if !ok || slices.ContainsFunc(d.Tiles, func(t tile) bool { return t.Name == m.Title }) {
			continue
		}
		d.tile(m.Title, formatMean(&m, v), m.Unit)
	}
}

// chart returns a chart of the settings by the minimised figure and the first bounded figure that
// differs. It is empty if there is none.
func (s *Search) chart() charts {
	var points []*Point
	for _, p := range s.Points {
		points = append(points, &p.Point)
	}
	x := figures.Find(s.Minimise)
	for _, key := range s.Bounded {
		y := figures.Find(key)
		if lo, hi := span(points, &y); lo < hi && key != s.Minimise {
			group := dots{"settings", "", scatterPoints(points, points[:1], &x, &y)}
			return charts{newScatter("Settings by two figures", &x, &y, []dots{group})}
		}
	}
	return nil
}

// table returns the table of all settings that were compared.
func (s *Search) table() *table {
	first := "best"
	if !s.Points[0].Keeps {
		first = "closest"
	}
	t := newTable("The "+first+" first: means over the seeds ± half of the 95 % CI. "+intervalNotes, "setting",
		"bounds", ">seeds")
	columns := []figures.Row{figures.Find(s.Minimise), figures.Find(RatioKey)}
	columns[1].Title = "ratio to " + first
	for _, m := range columns {
		t.Heads = append(t.Heads, texttable.Head{Text: m.Label(), Number: true})
	}
	for _, p := range s.Points {
		class := "bad"
		if p.Keeps {
			class = "good"
		}
		row := []any{shortSet(p.Set), texttable.Cell{Text: p.Bounds, Class: class}, p.Seeds}
		for _, m := range columns {
			row = append(row, p.cell(&m))
		}
		t.add(row...)
	}
	return t
}

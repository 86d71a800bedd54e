package page

import (
	"io"
	"maps"
	"slices"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
)

// Search is the result of a search, as its page shows it.
type Search struct {
	Minimise   []string // keys of the figures
	Bounded    []string // keys of the figures with bounds
	Bounds     string   // the bounds as a text, and what they apply to; "" without bounds
	Config     *config.Config
	Best       *SearchPoint  // the best setting that keeps the bounds or, if none does, the closest; nil without a result
	Points     []SearchPoint // all settings that were compared, the best first, with Best
	Facts      []string      // about the search, a few words each
	Sentences  []string      // how certain the result is
	Incomplete string        // why the search is incomplete; "" if it is complete
	TOML       string        // the configuration with the best setting; "" if it breaks the bounds
}

// ratioKey is the key of the ratio of a setting's first figure to the best's.
const ratioKey = "ratio"

// SearchPoint is a setting of a search.
type SearchPoint struct {
	Set     map[string]string
	Seeds   int                     // number of seeds with which it was run
	Figures map[string]figures.Mean // the minimised and the bounded figures, over the seeds
	Ratio   figures.Mean            // of the first figure to the best's; without data on the Pareto front
	Bounds  string                  // "ok" or "breaks" with the figures; "" without bounds
	Keeps   bool                    // it keeps the bounds
	Front   bool                    // it is on the Pareto front of two figures
}

// Write writes the page of the search.
func (s *Search) Write(w io.Writer) error { return writeDocument(w, s.document()) }

// document returns the content of the page.
func (s *Search) document() *document {
	d := &document{Title: "Search", Verdict: failedVerdict, Meta: slices.Concat([]string{linkName(s.Config), "data " + s.Config.Data.Source}, s.Facts), Alarms: nonEmpty(s.Incomplete)}
	if s.Best == nil {
		d.Headline = strings.Join(s.Sentences, " ") // why there is none
		return d
	}
	d.Headline, d.Tiles = s.headline(), s.tiles()
	if s.Best.Keeps && s.Bounds != "" {
		d.Verdict = passedVerdict
	} else if s.Best.Keeps {
		d.Verdict = ""
	}
	d.Answers = []section{s.settingSection(), s.pointsSection()}
	if s.TOML != "" {
		d.Sections = append(d.Sections, section{ID: "configuration", Title: "Configuration", Code: []code{
			{"", "tui run best.toml --out best    # run the recommended setting, with a report"}, {"best.toml", s.TOML}}})
	}
	return d
}

// headline names the best setting, or the closest one if no setting keeps the bounds.
func (s *Search) headline() string {
	name := shortSet(s.Best.Set)
	if !s.Best.Keeps {
		return "No setting that was tried keeps the bounds. The closest, " + name + ", " + s.Best.Bounds + "."
	}
	if len(s.Minimise) > 1 {
		front := 0
		for i := range s.Points {
			if s.Points[i].Front {
				front++
			}
		}
		return formatCount(int64(front), "setting") + " on the Pareto front; " + name + " has the lowest " + s.Minimise[0] + "."
	}
	m := searchMetric(s.Minimise[0])
	scope := ""
	if s.Bounds != "" {
		scope = " of the settings that keep the bounds"
	}
	value := strings.TrimSpace(formatRounded(s.Best.Figures[m.key].Mean*m.scale) + " " + m.unit)
	return name + " has the lowest " + m.key + scope + ": " + value + "."
}

// tiles returns the known figures of the best setting, each once: the minimised ones, SearchTiles and the bounded ones.
func (s *Search) tiles() (list []tile) {
	known := s.Best.point().Figures
	for _, key := range slices.Concat(s.Minimise, SearchTiles(), s.Bounded) {
		m := searchMetric(key)
		v, ok := known[key]
		if !ok || slices.ContainsFunc(list, func(t tile) bool { return t.Name == m.title }) {
			continue
		}
		note := ""
		if lo, hi, known := v.Bounds(); known && hi > lo {
			note = formatNumber(lo*m.scale) + " to " + formatNumber(hi*m.scale) + ", "
			if v.Range != nil {
				note += "all seeds"
			} else {
				note += "95 % CI"
			}
		}
		list = append(list, tile{m.title, formatRounded(v.Mean * m.scale), m.unit, note})
	}
	return list
}

// point returns the setting as a point of a grid.
func (p *SearchPoint) point() *gridPoint {
	g := &gridPoint{Set: p.Set, Seeds: p.Seeds, Figures: maps.Clone(p.Figures)}
	if p.Ratio.N > 0 {
		g.Figures[ratioKey] = p.Ratio
	}
	return g
}

// SearchTiles returns the keys of figures that the page of a search shows as tiles even if they are neither minimised
// nor bounded.
func SearchTiles() []string { return []string{"wire_kbps", "playout.starved_ratio", "age_ms.p50"} }

// searchMetric returns the metric of a figure: shares are shown in percent.
func searchMetric(key string) metric {
	if i := slices.IndexFunc(choiceMetrics(nil), func(m metric) bool { return m.key == key }); i >= 0 {
		return choiceMetrics(nil)[i]
	}
	row := figures.Find(key)
	return metric{key, row.Title, row.Unit, row.Scale()}
}

// settingSection returns the best setting, key by key, and how certain it is.
func (s *Search) settingSection() section {
	title := "Recommended setting"
	if !s.Best.Keeps {
		title = "Closest setting"
	}
	t, own := newTable("Values of the keys that the search varied", "key", "value", "in the configuration"), s.Config.Settings()
	for _, key := range slices.Sorted(maps.Keys(s.Best.Set)) {
		t.Add(key, s.Best.Set[key], own[key])
	}
	return section{ID: "recommended", Title: title, Tables: []table{t}, Remarks: []string{strings.Join(s.Sentences, " ")}}
}

// pointsSection returns the settings that were compared: a chart of the first two figures, if there are two, and a table.
func (s *Search) pointsSection() section {
	sec := section{ID: "settings", Title: "Settings compared"}
	if s.Bounds != "" {
		sec.Lead = []string{"Bounds: " + s.Bounds + "."}
	}
	// The chart has the second figure or, if only one is minimised, the first bounded figure that differs.
	other := slices.IndexFunc(slices.Concat(s.Minimise[1:], s.Bounded), func(key string) bool {
		return key != s.Minimise[0] && slices.ContainsFunc(s.Points, func(p SearchPoint) bool { return p.Figures[key].Mean != s.Best.Figures[key].Mean })
	})
	if other >= 0 {
		key := slices.Concat(s.Minimise[1:], s.Bounded)[other]
		var points []*gridPoint
		best := map[*gridPoint]bool{} // drawn large
		for i := range s.Points {
			p := s.Points[i].point()
			points = append(points, p)
			best[p] = s.Points[i].Front || len(s.Minimise) == 1 && i == 0
		}
		sec.Graphics = []graphic{scatter(points, best, searchMetric(s.Minimise[0]), searchMetric(key))}
	}
	titles := []string{"setting"}
	for _, key := range s.Minimise {
		titles = append(titles, ">"+searchMetric(key).label())
	}
	if s.Bounds != "" {
		titles = append(titles, "bounds")
	}
	t := newTable("The best first: means over the seeds ± half of the 95 % CI. "+intervalNotes, append(titles, ">ratio to best", ">seeds")...)
	for i := range s.Points {
		p := &s.Points[i]
		row := []any{shortSet(p.Set)}
		for _, key := range s.Minimise {
			row = append(row, p.point().cell(searchMetric(key)))
		}
		if s.Bounds != "" {
			class := "bad"
			if p.Keeps {
				class = "good"
			}
			row = append(row, texttable.Cell{Text: p.Bounds, Class: class})
		}
		t.Add(append(row, p.point().cell(metric{key: ratioKey, scale: 1}), p.Seeds)...)
	}
	sec.Tables = []table{t}
	return sec
}

package search

import (
	"fmt"
	"io"
	"maps"
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/experiment/page"
)

// BestTOML returns the configuration of the search, c, with the best setting; nil if none keeps the bounds.
func (r *Result) BestTOML(c *config.Config) ([]byte, error) {
	if !r.Best.Keeps() {
		return nil, nil
	}
	best, err := apply(c, c.Search.Over, r.Best.at)
	if err != nil {
		return nil, err
	}
	return best.ExplicitTOML() // the default encoder depends on the data
}

// WritePage writes the result as an HTML page. c is the configuration of the search, and best what BestTOML
// returns.
func (r *Result) WritePage(w io.Writer, c *config.Config, best []byte) error {
	p := page.Search{Minimise: r.Minimise, Config: c, Sentences: r.Confidence, TOML: string(best)}
	var bounds []string
	for _, a := range c.Search.Subject {
		p.Bounded = append(p.Bounded, a.Name)
		bounds = append(bounds, a.Name+" "+a.Text())
	}
	scopes := map[string]string{config.MeanOfSeeds: ", on the mean of the seeds",
		config.EachSeed: ", with each seed"}
	p.Bounds = strings.Join(bounds, ", ") + scopes[r.Bounds]
	p.Facts = []string{c.Duration.String() + " of virtual time each",
		fmt.Sprintf("%d of %.0f settings run", r.Tried, r.Settings),
		fmt.Sprintf("%d runs", r.Runs)}
	if r.Interrupted {
		p.Incomplete = interruptedText
	}
	if r.Best != nil {
		p.Points = append(p.Points, r.Best.point(figures.Mean{N: 1, Mean: 1}))
		for i := range r.Rivals {
			p.Points = append(p.Points, r.Rivals[i].point(r.Rivals[i].Ratio))
		}
	}
	return p.Document().WriteHTML(w)
}

// point returns the candidate as a setting on a page, with the ratio of its figure to that of the best.
func (c *Candidate) point(ratio figures.Mean) *page.SearchPoint {
	p := &page.SearchPoint{Bounds: c.BoundsText(), Keeps: c.Keeps()}
	p.Set = map[string]string{}
	p.Seeds = c.Seeds
	p.Figures = map[string]figures.Mean{page.RatioKey: ratio}
	maps.Copy(p.Figures, c.Figures)
	for key, v := range c.Set {
		p.Set[key] = fmt.Sprint(v)
	}
	return p
}

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

// WritePage writes the result as an HTML page. c is the configuration of the search.
func (r *Result) WritePage(w io.Writer, c *config.Config) error {
	p := page.Search{Minimise: r.Minimise, Config: c, Sentences: r.Confidence}
	var bounds []string
	for _, a := range c.Search.Subject {
		p.Bounded = append(p.Bounded, a.Name)
		bounds = append(bounds, a.Name+" "+a.Text())
	}
	switch r.Bounds {
	case config.MeanOfSeeds:
		p.Bounds = strings.Join(bounds, ", ") + ", on the mean of the seeds"
	case config.EachSeed:
		p.Bounds = strings.Join(bounds, ", ") + ", with each seed"
	}
	p.Facts = []string{c.Duration.String() + " of virtual time each",
		fmt.Sprintf("%d of %.0f settings run", r.Tried, r.Settings),
		fmt.Sprintf("%d runs", r.Runs)}
	if r.Interrupted && r.Best != nil { // otherwise r.Confidence says so
		p.Incomplete = "The search was interrupted: this is the best so far."
	}
	if r.Best != nil {
		p.Points = append(p.Points, r.Best.point(figures.Mean{N: 1, Mean: 1}))
		for i := range r.Rivals {
			p.Points = append(p.Points, r.Rivals[i].point(r.Rivals[i].Ratio))
		}
	}
	if r.Best.Keeps() {
		chosen, err := Apply(c, r.Best)
		if err != nil {
			return err
		}
		text, err := chosen.ExplicitTOML()
		if err != nil {
			return err
		}
		p.TOML = string(text)
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
	for _, b := range c.Bounds {
		if b.Measured.N > 0 {
			p.Figures[b.Figure] = b.Measured
		}
	}
	return p
}

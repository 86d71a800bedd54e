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
	p := page.Search{Minimise: []string{r.Minimise}, Config: c, Sentences: r.Confidence}
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
	p.Facts = []string{c.Duration.String() + " of virtual time each", fmt.Sprintf("%d of %.0f settings run", r.Tried, r.Settings),
		fmt.Sprintf("%d runs", r.Runs)}
	if r.Interrupted && r.Best != nil { // otherwise r.Confidence says so
		p.Incomplete = "The search was interrupted: this is the best so far."
	}
	if r.Best == nil {
		return p.Write(w)
	}
	best := r.Best.point()
	best.Ratio = figures.Mean{N: 1, Mean: 1}
	p.Best = &best
	p.Points = append(p.Points, best)
	for i := range r.Rivals {
		x := r.Rivals[i].point()
		x.Ratio = r.Rivals[i].Ratio
		p.Points = append(p.Points, x)
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
	return p.Write(w)
}

// point returns the candidate as a setting on a page.
func (c *Candidate) point() page.SearchPoint {
	p := page.SearchPoint{Set: map[string]string{}, Seeds: c.Seeds, Figures: maps.Clone(c.Figures), Bounds: c.BoundsText(), Keeps: c.Keeps()}
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

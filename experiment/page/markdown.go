package page

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"wirelab/internal/escape"

	"github.com/guptarohit/asciigraph"
)

// WriteMarkdown writes the document as Markdown: without details, and with charts over time as text.
func (d *Document) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", escape.Markdown(d.Title))
	headline := d.Headline
	if d.Verdict != "" {
		headline = d.Verdict + ": " + headline
	}
	paragraph(headline).markdown(&b)
	writeList(&b, d.Alarms)
	writeSections(&b, d.Answers)
	paragraph(strings.Join(d.Meta, " · ")).markdown(&b)
	writeList(&b, d.Notes)
	writeSections(&b, d.Sections)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeList writes a list of texts, nothing if there are none.
func writeList(b *strings.Builder, texts []string) {
	if len(texts) > 0 {
		b.WriteString("\n")
	}
	for _, text := range texts {
		fmt.Fprintf(b, "- %s\n", escape.Markdown(text))
	}
}

// writeSections writes the sections that are not empty as Markdown, such as one that has only scatter
// charts.
func writeSections(b *strings.Builder, list []section) {
	for _, s := range list {
		var content strings.Builder
		for _, x := range s.Blocks {
			x.markdown(&content)
		}
		if content.Len() > 0 {
			fmt.Fprintf(b, "\n## %s\n%s", escape.Markdown(s.Title), content.String())
		}
	}
}

func (p paragraph) markdown(b *strings.Builder) {
	if p != "" {
		fmt.Fprintf(b, "\n%s\n", escape.Markdown(string(p)))
	}
}

func (t *table) markdown(b *strings.Builder) {
	if t.Folded {
		return
	}
	paragraph(t.Caption).markdown(b)
	b.WriteString("\n")
	t.WriteMarkdown(b)
}

// markdown writes code without a caption. Code with one is the content of a file of the report.
func (c code) markdown(b *strings.Builder) {
	if c.Caption == "" {
		writeCode(b, c.Text)
	}
}

// writeCode writes a text that Markdown does not interpret.
func writeCode(b *strings.Builder, text string) {
	fmt.Fprintf(b, "\n```\n%s\n```\n", strings.ReplaceAll(escape.Terminal(text), "```", "'''"))
}

// markdown writes nothing: the table that follows has the shares.
func (s strip) markdown(*strings.Builder) {}

// markdown writes the first line of each chart over time. The tables have the data of the other charts.
func (c charts) markdown(b *strings.Builder) {
	for _, x := range c {
		if x.Axis != timeAxis || x.Rows != nil {
			continue
		}
		fmt.Fprintf(b, "\n### %s: %s\n", escape.Markdown(x.titleWithUnit()), escape.Markdown(x.Lines[0].Name))
		writeCode(b, x.plot())
	}
}

// plot returns the first line of a chart over time as text, with a scale that starts at 0. Each column
// is the largest value of its period. Values at loop points of the recording do not set the scale.
func (c *chart) plot() string {
	const width, height = 72, 10
	y := c.Lines[0].Y
	columns := make([]float64, min(width, len(y)))
	top := 0.0
	for i := range columns {
		columns[i] = math.NaN() // a gap
		for k := i * len(y) / len(columns); k < (i+1)*len(y)/len(columns); k++ {
			v := float64(y[k])
			if v-v != 0 { // NaN or infinite
				continue
			}
			if !(v <= columns[i]) { // also if the column is NaN
				columns[i] = v
			}
			if _, isLoop := slices.BinarySearch(c.Loops, k); !isLoop {
				top = max(top, v)
			}
		}
	}
	caption := fmt.Sprintf("%.1f to %.1f s", c.X[0], c.X[len(c.X)-1])
	if len(c.Loops) > 0 {
		caption += "; higher values at loop points of the recording are cut off"
	}
	if !(top > 0) {
		top = 1 // asciigraph needs a finite range above 0
	}
	for i := range columns {
		columns[i] = min(columns[i], top)
	}
	return asciigraph.Plot(columns, asciigraph.Height(height), asciigraph.Precision(1),
		asciigraph.LowerBound(0),
		asciigraph.UpperBound(top), asciigraph.Caption(caption))
}

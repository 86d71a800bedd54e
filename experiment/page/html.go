package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"io"
	"strings"

	"wirelab/internal/escape"
)

// The parts of a page. Charts are drawn by uPlot, whose MIT licence is included in the page.
var (
	//go:embed assets/uPlot.iife.min.js
	uplotScript string
	//go:embed assets/uPlot.LICENSE
	uplotLicence string
	//go:embed assets/uPlot.min.css
	uplotStyle string
	//go:embed assets/page.js
	pageScript string
	//go:embed assets/page.css
	pageStyle string
	//go:embed assets/page.tmpl
	pageTemplate string
)

// bodyTemplate is the body of the page; html/template escapes the markup in every text for its context.
// WriteHTML then escapes the control characters, which html/template leaves.
var bodyTemplate = template.Must(template.New("page").Parse(pageTemplate))

// WriteHTML writes the document as one self-contained file. Its Content-Security-Policy allows, by
// their hashes, only the style and the two scripts of the page, so that no text from a report can run
// or load anything.
func (d *Document) WriteHTML(w io.Writer) error {
	script, err := d.chartData().marshalJSON()
	if err != nil {
		return err
	}
	style := uplotStyle + "\n" + pageStyle
	library := "/*\n" + uplotLicence + "*/\n" + uplotScript
	var b bytes.Buffer
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="wirelab">
<link rel="icon" href="data:,">
<title>%s</title>
<style>%s</style>
</head>
`, contentSecurityPolicy(style, library, pageScript), html.EscapeString(escape.Line(d.Title)), style)
	var body strings.Builder
	if err := bodyTemplate.Execute(&body, d); err != nil {
		return err
	}
	b.WriteString(escape.Terminal(body.String()))
	fmt.Fprintf(&b,
		"<script type=\"application/json\" id=\"data\">%s</script>\n<script>%s</script>\n<script>%s</script>\n</body>\n</html>\n",
		script, library, pageScript)
	_, err = w.Write(b.Bytes())
	return err
}

// contentSecurityPolicy returns a policy that allows one style and some scripts.
func contentSecurityPolicy(style string, scripts ...string) string {
	list := ""
	for _, s := range scripts {
		list += " " + cspHash(s)
	}
	return "default-src 'none'; img-src data:; style-src " + cspHash(style) + "; script-src" + list +
		"; base-uri 'none'; form-action 'none'"
}

// cspHash returns the hash of an inline style or script in the form of a policy.
func cspHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

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
)

// What a page is made of: uPlot draws its charts (MIT, its licence is beside it and in
// the page), the rest is ours.
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

// body is what html/template fills in: it escapes every text for where it stands.
var body = template.Must(template.New("page").Parse(pageTemplate))

// write writes a document as one file that asks nobody for anything. Its policy allows the
// one style and the two scripts in it, by their hashes, and nothing else whatever a text
// in it says.
func write(w io.Writer, d *document) error {
	script, err := d.data.script()
	if err != nil {
		return err
	}
	style := uplotStyle + "\n" + pageStyle
	charts := "/*\n" + uplotLicence + "*/\n" + uplotScript
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
`, policy(style, charts, pageScript), html.EscapeString(d.Title), style)
	if err := body.Execute(&b, d); err != nil {
		return err
	}
	fmt.Fprintf(&b, "<script type=\"application/json\" id=\"data\">%s</script>\n<script>%s</script>\n<script>%s</script>\n</body>\n</html>\n",
		script, charts, pageScript)
	_, err = w.Write(b.Bytes())
	return err
}

// policy is a Content-Security-Policy that allows one style and some scripts.
func policy(style string, scripts ...string) string {
	list := ""
	for _, s := range scripts {
		list += " " + hash(s)
	}
	return "default-src 'none'; img-src data:; style-src " + hash(style) + "; script-src" + list + "; base-uri 'none'; form-action 'none'"
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

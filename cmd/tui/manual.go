//go:build manual

package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

func init() { addManualCommand = addManual }

// addManual adds the command "manual DIR DATE", which writes a man page for every command into the folder DIR. DATE, such
// as 2026-11-26, is printed in their footers.
func addManual(root *cobra.Command) {
	root.AddCommand(&cobra.Command{Use: "manual DIR DATE", Hidden: true, Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			date, err := time.Parse(time.DateOnly, args[1])
			if err != nil {
				return err
			}
			escapeHelp(root)
			header := &doc.GenManHeader{Section: "1", Date: &date, Source: "wirelab", Manual: "Wirelab"}
			return doc.GenManTree(root, header, args[0])
		}})
}

// escapeHelp turns the help of a command and of all below it into Markdown, from which cobra/doc makes man pages.
func escapeHelp(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	cmd.Long = markdown(cmd.Long)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, usage := pflag.UnquoteUsage(f) // with the name of the value, which is in the text too
		f.Usage = markdownEscaper.Replace(usage)
	})
	for _, c := range cmd.Commands() {
		escapeHelp(c)
	}
}

var markdownEscaper = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "<", "&lt;", "#", `\#`)

// markdown returns a help text as Markdown: indented lines become code, all others text.
func markdown(text string) string {
	var out strings.Builder
	wasCode := false
	for line := range strings.Lines(text) {
		isCode := strings.HasPrefix(line, "  ") || wasCode && strings.TrimSpace(line) == ""
		if isCode != wasCode {
			out.WriteString("\n")
		}
		wasCode = isCode
		if isCode {
			out.WriteString("    " + strings.TrimPrefix(line, "  "))
		} else {
			out.WriteString(markdownEscaper.Replace(line))
		}
	}
	return out.String()
}

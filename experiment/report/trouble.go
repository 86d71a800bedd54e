package report

import (
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/inspector"
)

// trouble is what was wrong with a packet: a word or two for tables, and sentences.
type trouble struct{ Reason, Why string }

// troubleOf puts what was wrong with a packet into words. c is the configuration that it
// was sent under.
func troubleOf(o *inspector.Opened, c *config.Config) trouble {
	var words, sentences []string
	for _, why := range o.Reasons() {
		words = append(words, why.String())
		sentences = append(sentences, strings.ReplaceAll(Explain(o, why, c), "\n", " "))
	}
	return trouble{strings.Join(words, "; "), strings.Join(sentences, "; ")}
}

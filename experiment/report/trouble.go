package report

import (
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// Trouble is what was wrong with a packet: a word or two for tables, and sentences.
type Trouble struct{ Reason, Why string }

// TroubleOf puts what was wrong with a packet into words. c is the configuration that it
// was sent under.
func TroubleOf(o *engine.Opened, c *config.Config) Trouble {
	var words, sentences []string
	for _, why := range o.Reasons() {
		words = append(words, why.String())
		sentences = append(sentences, strings.ReplaceAll(Explain(o, why, c), "\n", " "))
	}
	return Trouble{strings.Join(words, "; "), strings.Join(sentences, "; ")}
}

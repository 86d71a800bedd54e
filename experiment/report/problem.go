package report

import (
	"strings"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/inspector"
)

// problemText describes the problem of a packet.
type problemText struct {
	Reason string // short names of the reasons, separated by semicolons
	Why    string // a sentence for each reason, separated by semicolons
}

// describeProblem describes the problem of a packet. c is the configuration when its outcome was
// recorded.
func describeProblem(o *inspector.Opened, c *config.Config) problemText {
	var names, sentences []string
	for _, why := range o.Reasons() {
		names = append(names, why.String())
		sentences = append(sentences, strings.ReplaceAll(Explain(o, why, c), "\n", " "))
	}
	return problemText{strings.Join(names, "; "), strings.Join(sentences, "; ")}
}

package engine

import (
	"strings"

	"wirelab/experiment/config"
)

// Name returns the name of the lane: that of the encoder, its parameters that differ from the defaults, and
// the settings that a shadow has for itself. No other lane of the snapshot has the same name.
func (l *Lane) Name() string { return strings.TrimSpace(l.Encoder + " " + l.Params) }

// SetName sets the name of l.
func (l *Lane) SetName(name string) { l.Encoder, l.Params, _ = strings.Cut(name, " ") }

// name returns the name of the lane with the encoder that it has now: see Lane.Name.
func (l *lane) name() string {
	e := l.snd.Encoding()
	return config.Encoder{Name: e.Codec.Name, Params: e.Codec.Changed(e.Params), Own: l.config.Own}.Text()
}

// laneLetter returns the letter of the lane that joined after n others: A to Z, then AA, AB and so on.
func laneLetter(n int) string {
	if n < 26 {
		return string(rune('A' + n))
	}
	return laneLetter(n/26-1) + laneLetter(n%26)
}

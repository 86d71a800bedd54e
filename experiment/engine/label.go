package engine

import (
	"fmt"
	"slices"
	"strings"

	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/view"
	"wirelab/internal/units"
)

// Name returns the shortest text that distinguishes the lane from the others of its snapshot: the
// encoder's name and, if another lane has the same encoder, the parameters that differ.
func (l *Lane) Name() string { return laneName(l.Encoder, l.Differs) }

// ShortName returns the name of l for a text that already contains the name of lane first. If both
// have the same encoder, it returns only the parameters that differ, or the letter and the name if none differ.
func (l *Lane) ShortName(first *Lane) string {
	if l.Encoder == first.Encoder && l.Differs != "" {
		return l.Differs
	}
	if l.Name() == first.Name() {
		return strings.TrimSpace(l.Letter + " " + l.Name())
	}
	return l.Name()
}

// laneName joins an encoder's name and the parameters that distinguish it, which may be empty.
func laneName(encoder, differs string) string {
	if differs == "" {
		return encoder
	}
	return encoder + " " + differs
}

// encodingText returns the name of an encoder and its parameters that differ from the defaults: "rotor bits=8".
func encodingText(e *endpoint.Encoding) string {
	text := e.Codec.Name
	for _, info := range e.Codec.ParamInfo() {
		if v, ok := encoders.ParamValue(e.Params, info.Name); ok && fmt.Sprint(v) != fmt.Sprint(info.Default) {
			text += fmt.Sprintf(" %s=%v", info.Name, v)
		}
	}
	return text
}

// laneLetter returns the letter of the lane that joined after n others: A to Z, then AA, AB and so on.
func laneLetter(n int) string {
	if n < 26 {
		return string(rune('A' + n))
	}
	return laneLetter(n/26-1) + laneLetter(n%26)
}

// differences returns, for each encoding in list, the parameters that distinguish it from the others
// with the same encoder, such as "history=4 lag=2"; empty if none exist. These are the parameters that do
// not have the same value in all encodings of that encoder. An encoding whose value is the default leaves
// the parameter out.
func differences(list []*endpoint.Encoding) []string {
	out := make([]string, len(list))
	for i := range list {
		name := list[i].Codec.Name
		same := func(e *endpoint.Encoding) bool { return e.Codec.Name == name }
		if slices.IndexFunc(list, same) < i {
			continue // all encodings of that name were handled with the first one
		}
		for _, info := range list[i].Codec.ParamInfo() {
			differs := false
			value := func(k int) string {
				v, _ := encoders.ParamValue(list[k].Params, info.Name)
				return fmt.Sprint(v)
			}
			for k := i + 1; k < len(list); k++ {
				differs = differs || same(list[k]) && value(k) != value(i)
			}
			for k := i; k < len(list) && differs; k++ {
				if v := value(k); same(list[k]) && v != fmt.Sprint(info.Default) {
					out[k] = strings.TrimPrefix(out[k]+" "+info.Name+"="+v, " ")
				}
			}
		}
	}
	return out
}

// laneSettings are the settings of the sender that are part of the name of a lane if those of another lane with the same
// encoder differ.
var laneSettings = []struct {
	value func(*config.Config) any
	label func(*config.Config) string
}{
	{func(c *config.Config) any { return c.Sender.Control }, func(c *config.Config) string { return c.Sender.Control.Label() }},
	{func(c *config.Config) any { return c.SendBudget().Priority }, func(c *config.Config) string {
		if c.Sender.Budget == 0 {
			return ""
		}
		return view.OrDefault(c.Sender.Priority).Label()
	}},
	{func(c *config.Config) any { return c.Sender.Budget }, func(c *config.Config) string {
		if c.Sender.Budget == 0 {
			return "no budget"
		}
		return units.FormatRate(c.Sender.Budget)
	}},
}

// differences returns, for each lane, the parameters and the settings of the sender that distinguish it from the other
// lanes with the same encoder.
func (s *Session) differences() []string {
	list := make([]*endpoint.Encoding, len(s.lanes))
	for i, l := range s.lanes {
		list[i] = l.snd.Encoding()
	}
	out := differences(list)
	for i, l := range s.lanes {
		for _, x := range laneSettings {
			value := x.value(l.liveConfig)
			differs := func(o *lane) bool { return o.codec() == l.codec() && x.value(o.liveConfig) != value }
			if slices.ContainsFunc(s.lanes, differs) {
				out[i] = strings.TrimSpace(out[i] + " " + x.label(l.liveConfig))
			}
		}
	}
	return out
}

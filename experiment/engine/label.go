package engine

import (
	"fmt"
	"strings"

	"wirelab/encoders"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/view"
	"wirelab/internal/units"
)

// Name returns the shortest text that distinguishes the lane from the others of its snapshot: the
// encoder's name and, if another lane has the same encoder, the parameters that differ.
func (l *Lane) Name() string { return laneName(l.Encoder, l.Differs) }

// ShortName returns the name of l for a text that already contains the name of lane first. If both have the
// same encoder, it returns only the parameters that differ, or the letter and the name if none differ.
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

// encodingText returns the name of an encoder and its parameters that differ from the defaults: "rotor
// bits=8".
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

// trait is a parameter or a setting of a lane that its name contains if another lane with the same encoder
// has a different value.
type trait struct {
	value string
	label string // empty if the name leaves the value out, because it is the default
}

// traits returns the parameters of the lane's encoder, and the settings of its sender that a shadow may
// have for itself. Lanes with the same encoder have the same traits in the same order.
func (l *lane) traits() (list []trait) {
	e := l.snd.Encoding()
	for _, info := range e.Codec.ParamInfo() {
		value, _ := encoders.ParamValue(e.Params, info.Name)
		x := trait{value: fmt.Sprint(value)}
		if x.value != fmt.Sprint(info.Default) {
			x.label = info.Name + "=" + x.value
		}
		list = append(list, x)
	}
	sender := &l.liveConfig.Sender
	priority, budget := trait{}, trait{label: "no budget"}
	if sender.Budget > 0 {
		priority.label = view.OrDefault(sender.Priority).Label()
		budget.label = units.FormatRate(sender.Budget)
	}
	priority.value = priority.label
	budget.value = budget.label
	return append(list, trait{sender.Control.String(), sender.Control.Label()}, priority, budget)
}

// differences returns, for each lane, the parameters and the settings of the sender that distinguish it
// from the other lanes with the same encoder, such as "history=4 lag=2"; empty if there are none.
func (s *Session) differences() []string {
	traits := make([][]trait, len(s.lanes))
	for i, l := range s.lanes {
		traits[i] = l.traits()
	}
	out := make([]string, len(s.lanes))
	for i, own := range traits {
		for k, x := range own {
			for j, other := range traits {
				if s.lanes[j].codec() == s.lanes[i].codec() && other[k].value != x.value {
					out[i] = strings.TrimSpace(out[i] + " " + x.label)
					break
				}
			}
		}
	}
	return out
}

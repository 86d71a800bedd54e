package room

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// Binding is one or more keys with their action, or two opposite ones. Help and footer are generated from
// bindings.
type Binding struct {
	Label string // the keys in help and footer
	Help  string // describes the action in the help
	Brief string // describes it in the footer; "" means that the footer does not list it

	Pinned   bool        // in the footer on screens of any size
	IdleText string      // the notice if the key has nothing to do: why it has no effect; "" for none
	Idle     func() bool // reports whether the key has nothing to do, so that the footer omits it; nil means it always has

	back, forward []string               // the keys, by their names in Bubble Tea; the first of each are in Label
	action        func(step int) Request // step is -1 for the keys of back, and 1 for those of forward
}

// Bind returns a binding of keys, separated by blanks, to the action do. The help lists only the first key.
func Bind(keys, help string, do func() Request) Binding {
	b := Pair(keys, "", help, func(int) Request { return do() })
	b.Label = KeyLabel(b.back[0])
	return b
}

// Pair returns a binding of opposite keys to do(-1) and do(1). Both back and forward may contain several keys,
// separated by blanks; the help lists the first of each.
func Pair(back, forward, help string, do func(step int) Request) Binding {
	b := Binding{Help: help, back: strings.Fields(back), forward: strings.Fields(forward), action: do}
	if len(b.forward) > 0 {
		b.Label = KeyLabel(b.back[0]) + " " + KeyLabel(b.forward[0])
	}
	return b
}

// OverlayKey returns the description of keys that an overlay or the command line handles itself, for footer and
// help. label names the keys; brief and help describe them in the footer and in the help.
func OverlayKey(label, brief, help string) Binding {
	return Binding{Label: label, Brief: brief, Help: help}
}

// Keys returns the names of all keys of the binding.
func (b *Binding) Keys() []string { return slices.Concat(b.back, b.forward) }

// Press runs the action for msg, one of the keys of the binding.
func (b *Binding) Press(msg tea.KeyMsg) Request {
	if slices.Contains(b.back, KeyName(msg)) {
		return b.action(-1)
	}
	return b.action(1)
}

// FindBinding returns the binding in list of the key msg; nil if none has it.
func FindBinding(list []Binding, msg tea.KeyMsg) *Binding {
	i := slices.IndexFunc(list, func(b Binding) bool { return slices.Contains(b.Keys(), KeyName(msg)) })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// Labelled sets the label.
func (b Binding) Labelled(label string) Binding {
	b.Label = label
	return b
}

// InFooter adds the key to the footer, if there is room, with the name brief.
func (b Binding) InFooter(brief string) Binding {
	b.Brief = brief
	return b
}

// Pin keeps the key in the footer on screens of any size.
func (b Binding) Pin() Binding {
	b.Pinned = true
	return b
}

// Unless omits the key from the footer while idle returns true.
func (b Binding) Unless(idle func() bool) Binding {
	b.Idle = idle
	return b
}

// NotifyIdle makes the key show a notice when it has nothing to do, with the reason.
func (b Binding) NotifyIdle(reason string) Binding {
	b.IdleText = reason
	return b
}

// WithoutRequest returns an action that calls do and requests nothing.
func WithoutRequest(do func()) func() Request {
	return func() Request {
		do()
		return Request{}
	}
}

// Tick is the message that is sent 20 times per second.
type Tick struct{}

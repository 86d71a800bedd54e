package room

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
)

// Binding is a key with its action. Help and footer are generated from bindings.
type Binding struct {
	key.Binding
	Group  string         // heading in the help
	Brief  string         // name in the footer; "" means not shown there
	Action func() Request // the action

	Pinned   bool        // in the footer on screens of any size
	IdleText string      // the notice if the key has nothing to do: why it has no effect; "" for none
	Idle     func() bool // reports whether the key has nothing to do, so that the footer omits it; nil means it always has
}

// Bind returns a binding of keys to the action do. group is the heading under which the help lists it, shown names
// the keys there, and help describes the action; if both are "", the help omits the binding.
func Bind(group string, keys []string, shown, help string, do func() Request) Binding {
	return Binding{Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, help)), Group: group, Action: do}
}

// OverlayKey returns the description of keys that an overlay or the command line handles itself, for footer and
// help. label names the keys, separated by blanks; brief and help describe them in the footer and in the help.
func OverlayKey(label, brief, help string) Binding {
	return Bind("", strings.Fields(label), label, help, nil).InFooter(brief)
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

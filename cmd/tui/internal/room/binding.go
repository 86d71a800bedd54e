package room

import (
	"github.com/charmbracelet/bubbles/key"
)

// Binding is a key and what it does. Help and footer are made from these.
type Binding struct {
	key.Binding
	Group string
	Brief string // what the footer calls it; "" keeps it out
	Do    func() Request

	Pinned   bool        // in the footer however small the screen
	NoteIdle bool        // shows a notice if it has nothing to do
	Page     Page        // the only one it holds on; nil: all of them
	Idle     func() bool // whether it has nothing to do now: then the footer leaves it out; nil: never
}

// Bind makes a binding of some keys: the name of the group and of the keys, and
// what they do, as the help has it.
func Bind(group string, keys []string, shown, help string, do func() Request) Binding {
	return Binding{Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, help)), Group: group, Do: do}
}

// InFooter names a key in the footer, where there is room.
func (b Binding) InFooter(brief string) Binding {
	b.Brief = brief
	return b
}

// Pin keeps a key in the footer of the smallest screen.
func (b Binding) Pin() Binding {
	b.Pinned = true
	return b
}

// Unless keeps a key out of the footer while it has nothing to do.
func (b Binding) Unless(idle func() bool) Binding {
	b.Idle = idle
	return b
}

// SayIdle makes a key that has nothing to do say so, rather than seem broken.
func (b Binding) SayIdle() Binding {
	b.NoteIdle = true
	return b
}

// Quietly makes the action of a key that asks the dashboard for nothing.
func Quietly(do func()) func() Request {
	return func() Request {
		do()
		return Request{}
	}
}

// Tick is the message with which a twentieth of a second passes.
type Tick struct{}

package ui

import "github.com/charmbracelet/bubbles/key"

// binding is a key and what it does. Help and footer are made from these.
type binding struct {
	key.Binding
	group string
	brief string // what the footer calls it; "" keeps it out
	do    func() request

	pinned bool // in the footer however small the screen
	tells  bool // says so where it has nothing to do
	page   page // the only one it holds on; nil: all of them
}

// bind makes a binding of some keys: the name of the group and of the keys, and
// what they do, as the help has it.
func bind(group string, keys []string, shown, help string, do func() request) binding {
	return binding{Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, help)), group: group, do: do}
}

// inFooter names a key in the footer, where there is room.
func (b binding) inFooter(brief string) binding {
	b.brief = brief
	return b
}

// pin keeps a key in the footer of the smallest screen.
func (b binding) pin() binding {
	b.pinned = true
	return b
}

// tell makes a key that has nothing to do say so, rather than seem broken.
func (b binding) tell() binding {
	b.tells = true
	return b
}

// quietly is what a key does that asks for nothing.
func quietly(do func()) func() request {
	return func() request {
		do()
		return request{}
	}
}

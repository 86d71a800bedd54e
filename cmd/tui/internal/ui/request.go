package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"wirelab/experiment"
)

// request is what a page or a box wants done that it cannot do itself. The zero
// value asks for nothing.
type request struct {
	command  *experiment.Command      // for the lab
	accepted func(*experiment.Config) // gets the settings as asked for, once the command is under way; may be nil
	refused  func(error)              // gets the complaint about the command; nil: it becomes a notice

	line   string               // carry out this command line
	edit   string               // open the command line with this text
	over   overlay              // open this box over the page
	closes bool                 // close the box that is open
	packet *experiment.PacketID // show this packet on the page of packets
	say    string               // show this notice
	bad    bool                 // the notice is a complaint
	renew  bool                 // let every pane of the page look again, also those that wait between two looks

	program tea.Cmd // for bubbletea: leave, suspend
}

// change asks the lab for a change of settings.
func change(ch experiment.Change) request {
	return request{command: &experiment.Command{Change: &ch}}
}

package room

import (
	"wirelab/experiment/config"
	"wirelab/experiment/engine/packetlog"

	"wirelab/experiment"

	tea "github.com/charmbracelet/bubbletea"
)

// Request is what a page or a box wants done that it cannot do itself. The zero
// value asks for nothing.
type Request struct {
	Command  *experiment.Command  // for the lab
	Accepted func(*config.Config) // gets the settings as asked for, once the command is under way; may be nil
	Refused  func(error)          // gets the complaint about the command; nil: it becomes a notice

	Line   string        // carry out this command line
	Edit   string        // open the command line with this text
	Over   Overlay       // open this box over the page
	Closes bool          // close the box that is open
	Packet *packetlog.ID // show this packet on the page of packets
	Say    string        // show this notice
	Bad    bool          // the notice is a complaint
	Renew  bool          // let every pane of the page look again, also those that wait between two looks

	Program tea.Cmd // for bubbletea: leave, suspend, work that ends in Said
}

// NoticeMsg is the message that work in the background ends with. It is shown as a notice.
type NoticeMsg struct {
	Text string
	Bad  bool // it is a complaint
}

// Change asks the lab for a change of settings.
func Change(ch config.Change) Request {
	return Request{Command: &experiment.Command{Change: &ch}}
}

package room

import (
	"wirelab/experiment/config"
	"wirelab/experiment/engine/packetlog"

	"wirelab/experiment/live"

	tea "github.com/charmbracelet/bubbletea"
)

// Request is what a page or a box requests from the dashboard. The zero value requests nothing.
type Request struct {
	Command  *live.Command        // for the lab
	Accepted func(*config.Config) // called with the requested settings after the command was sent; may be nil
	Refused  func(error)          // called with the error of the command; if nil the error is shown as a notice

	Line    string        // run this command line
	Edit    string        // open the command line with this text
	Overlay Overlay       // open this box over the page
	Closes  bool          // close the box that is open
	Packet  *packetlog.ID // show this packet on the page of packets
	Notice  string        // show this notice
	IsError bool          // the notice is an error
	Redraw  bool          // redraw all panes now, including those that redraw at intervals

	Program tea.Cmd // for bubbletea: quit, suspend, or work that ends with a NoticeMsg
}

// NoticeMsg is the message at the end of work in the background. It is shown as a notice.
type NoticeMsg struct {
	Text    string
	IsError bool // it is an error
}

// Refusal returns a request for a notice of why a key cannot act.
func Refusal(reason string) Request { return Request{Notice: reason, IsError: true} }

// Change returns a request for a change of settings.
func Change(ch config.Change) Request {
	return Request{Command: &live.Command{Change: &ch}}
}

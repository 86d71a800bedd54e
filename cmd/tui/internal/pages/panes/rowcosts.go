package panes

import (
	"strconv"

	"wirelab/cmd/tui/internal/room"
	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/engine"
	"wirelab/experiment/live"
)

// RowName returns the name of a row, such as "cube 417", or "player 3 (row 803)" in a schema with parts.
func RowName(s *frame.Schema, row int) string {
	if s.Rows == 1 {
		return s.Item
	}
	if len(s.Parts) == 0 {
		return s.Item + " " + strconv.Itoa(row)
	}
	part := s.PartForRow(row)
	name := part.Name
	if part.Rows > 1 {
		name += " " + strconv.Itoa(row-part.Row)
	}
	if part.Row > 0 { // commands take the number of the row in the table
		name += " (row " + strconv.Itoa(row) + ")"
	}
	return name
}

// RowCostBinding returns the key that shows or hides what each row cost. shown reports whether the costs are shown, which is the case while snapshots contain them.
func RowCostBinding(help string, shown func() bool) room.Binding {
	return room.Bind("$", help, func() room.Request {
		on := !shown()
		return room.Request{Command: &live.Command{RowCosts: &on}}
	}).InFooter("row costs").Pin()
}

// BitsPerPacket returns units of a budget, summed over the packets of c, as the mean of bits per packet.
func BitsPerPacket(c *engine.RowCosts, units int64) float64 {
	return float64(units) / encoders.BitUnit / float64(max(c.Packets, 1))
}

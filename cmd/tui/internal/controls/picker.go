package controls

import (
	"fmt"
	"slices"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/engine/packetlog"
	"wirelab/internal/setting"
)

// Picker is a list to choose an argument of a command from.
type Picker struct {
	room.ListBox
	options []setting.Option
}

// The columns of a Picker.
const (
	markColumn = iota
	nameColumn
	summaryColumn
)

// maxName is the largest width of the names of a Picker in columns. Of longer ones, which are paths, the end is shown.
const maxName = 36

// NewPicker returns a list to choose an argument of a command from. current is the argument that is set, which is
// selected at first.
func NewPicker(title, command string, options []setting.Option, current string) *Picker {
	p := &Picker{}
	p.Title = title
	p.Names = func() []string { return setting.Names(p.options) }
	p.Summary = func(i int) string { return p.options[i].Summary }
	p.Enter = func(i int) room.Request { return room.Request{Closes: true, Line: command + " " + p.options[i].Name} }
	p.Keys = []room.Binding{room.OverlayKey("enter", "select", "set the selected name, and close the list").Pin()}
	option := func(cell grid.Cell) setting.Option { return p.options[p.At(cell)] }
	p.Table = grid.Table{Sort: -1, Centered: true, Columns: []grid.Column{
		markColumn: {Width: 1, Text: func(cell grid.Cell) []look.Span {
			if option(cell).Name != current {
				return nil
			}
			return grid.Text(look.Good, string(cell.Theme.Outcome[packetlog.Decoded]))
		}},
		nameColumn: {Text: func(cell grid.Cell) []look.Span {
			return grid.Text(look.Plain, look.ShortenStart(option(cell).Name, maxName))
		}},
		summaryColumn: {Width: grid.Rest, Min: 24, Drop: 1, Text: func(cell grid.Cell) []look.Span {
			return grid.Text(look.Dim, option(cell).Summary)
		}},
	}}
	p.SetOptions(options)
	p.Item = max(slices.Index(p.Names(), current), 0)
	return p
}

// SetOptions replaces the options. The selected name stays selected.
func (p *Picker) SetOptions(list []setting.Option) {
	selected := setting.Option{}
	if p.Item >= 0 && p.Item < len(p.options) {
		selected = p.options[p.Item]
	}
	p.options = list
	p.Item = max(slices.IndexFunc(list, func(o setting.Option) bool { return o.Name == selected.Name }), 0)
	width := 0
	for _, o := range list {
		width = max(width, look.TextWidth(o.Name))
	}
	p.Table.Columns[nameColumn].Width = min(width, maxName)
}

// ProfileList returns the list to choose a link profile from, with a picture of each.
func (cat *Catalog) ProfileList(cfg *config.Config) *Picker {
	c := cat.profileControl()
	p := NewPicker("Link profile", c.Short, c.Options, c.Text(cfg))
	drawn := map[string][]string{} // descriptions by name and size, because pictures are slow
	p.Details = func(canvas *look.Canvas, _ *look.Theme, i int) {
		key := fmt.Sprint(i, " ", canvas.W)
		if drawn[key] == nil {
			drawn[key] = cat.describeProfile(c.Options[i].Name, canvas.W)
		}
		for y, line := range drawn[key] {
			canvas.Clip(0, y, canvas.W, look.Plain, line)
		}
	}
	return p
}

package controls

import (
	"cmp"
	"fmt"
	"slices"

	"wirelab/cmd/tui/internal/grid"
	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
	"wirelab/internal/units"
)

// EncoderList is the list of encoders, with what each costs on the newest frames. Enter makes the selected encoder the
// active one, or adds it as a shadow. Its parameters can be changed below the list.
type EncoderList struct {
	*Picker
	cat       *Catalog
	cfg       *config.Config   // the current settings
	encoders  []config.Encoder // the items, with their parameters
	forShadow bool             // enter adds a shadow
	action    string           // the title without the period of the estimates and its loss
	estimates *engine.Estimates
	params    paramList
}

// kbpsColumn is the column of the costs; that of the times follows it.
const kbpsColumn = nameColumn + 1

// EncoderList returns the list of the encoders that support the data of a session. Enter makes the selected encoder
// active or, if forShadow is set, adds it as a shadow.
func (cat *Catalog) EncoderList(cfg *config.Config, snap *engine.Snapshot, forShadow bool) *EncoderList {
	options := cat.Encoders(snap.Schema)
	l := &EncoderList{cat: cat, forShadow: forShadow, Picker: NewPicker("Encoder", "encoder", options, cfg.Encoder.Name)}
	for _, option := range options {
		l.encoders = append(l.encoders, config.Encoder{Name: option.Name})
	}
	l.setConfig(cfg)
	l.Picker.Enter, l.Details, l.Compare = l.enter, l.drawDetails, l.compare
	const addHelp = "run the encoder as a shadow, on the same frames and losses"
	l.Keys = []room.Binding{
		room.OverlayKey("enter", "swap", "make the encoder active, and close the list").Pin(),
		room.Bind("space", "make the encoder active; the list stays open", l.activate).InFooter("swap, stay").Pin(),
		room.Bind("v", addHelp+", or remove it", l.toggleShadow).InFooter("shadow").Pin(),
		room.Bind("tab", "set the parameters of the encoder", l.focusParams).InFooter("params").Pin(),
	}
	switch {
	case room.NoShadows(snap) != "":
		l.Keys = slices.Delete(l.Keys, 2, 3)
	case forShadow:
		l.Title = "Add a shadow"
		l.Keys[0] = room.OverlayKey("enter", "add", addHelp+", and close the list").Pin()
		l.Keys[1] = room.Bind("space", addHelp+", or remove it; the list stays open", l.toggleShadow).InFooter("add, stay").Pin()
		l.Keys = slices.Delete(l.Keys, 2, 3) // v, which does the same
		l.Item = min(l.Item+1, len(options)-1)
	}
	l.action = l.Title
	columns := l.Table.Columns
	columns[markColumn] = grid.Column{Width: 2, Text: l.marks}
	columns[nameColumn].Title, columns[nameColumn].Sortable = "encoder", true
	l.Table.Columns = slices.Insert(columns, kbpsColumn,
		grid.Column{Title: "kbps", Width: 8, Right: true, Sortable: true, Text: l.kbps},
		grid.Column{Title: "encode µs", Width: 10, Right: true, Sortable: true, Text: l.encodeTime})
	l.Table.Sort, l.Table.Upward = max(cat.encoderSort, nameColumn), true
	for i := range options {
		const otherColumns = 32 // of the other columns, the gaps and the frame
		l.Width = max(l.Width, columns[nameColumn].Width+look.TextWidth(options[i].Summary)+otherColumns)
	}
	return l
}

// Encoders returns the encoders to estimate: the active one first, then the others by their distance from it in the list.
func (l *EncoderList) Encoders() (list []config.Encoder) {
	active := max(slices.IndexFunc(l.encoders, func(x config.Encoder) bool { return x.Name == l.cfg.Encoder.Name }), 0)
	for distance := range len(l.encoders) {
		if i := active + distance; i < len(l.encoders) {
			list = append(list, l.encoders[i])
		}
		if i := active - distance; distance > 0 && i >= 0 {
			list = append(list, l.encoders[i])
		}
	}
	return list
}

// Observe implements room.Observer.
func (l *EncoderList) Observe(v room.View) bool {
	x := v.Newest().Estimates
	changed := l.estimates != x || l.cfg != v.Cfg
	if x != l.estimates && x != nil && x.Until > 0 {
		s := meters.Sum(meters.Between(v.ActiveLane().Samples, x.From, x.Until))
		loss := figures.RatioFigure(100*float64(s.Lost+s.Unknown), float64(s.Sent))
		l.Title = fmt.Sprintf("%s, frames %s-%s, loss %s %%", l.action, look.FormatTime(x.From), look.FormatTime(x.Until), loss.Text(1))
	}
	l.estimates = x
	l.setConfig(v.Cfg)
	l.cat.encoderSort = l.Table.Sort
	return changed
}

// setConfig updates the settings. In the list to swap encoders, the active one has its current parameters, and the
// others have their defaults.
func (l *EncoderList) setConfig(cfg *config.Config) {
	l.cfg = cfg
	for i, x := range l.encoders {
		if l.forShadow {
			break
		}
		l.encoders[i] = config.Encoder{Name: x.Name}
		if x.Name == cfg.Encoder.Name {
			l.encoders[i] = cfg.Encoder.Clone()
		}
	}
}

// request returns the request for a change, after which the list stays open and shows the new settings, or the error.
func (l *EncoderList) request(ch config.Change) room.Request {
	r := room.Change(ch)
	l.params.err = ""
	r.Accepted = func(cfg *config.Config) {
		l.setConfig(cfg)
		l.params.typing = false
	}
	r.Refused = func(err error) { l.params.err = err.Error() }
	return r
}

// activate returns the request to make the selected encoder active.
func (l *EncoderList) activate() room.Request {
	if l.Item < 0 {
		return room.Request{}
	}
	return l.request(config.NewChange("encoder.name", l.encoders[l.Item].Name))
}

// enter returns the request of the enter key.
func (l *EncoderList) enter(i int) room.Request {
	line := "encoder " + l.encoders[i].Name
	if l.forShadow {
		line = "shadow " + l.encoders[i].Text()
	}
	return room.Request{Closes: true, Line: line}
}

// toggleShadow returns the request to add the selected encoder as a shadow, or to remove it if it is one.
func (l *EncoderList) toggleShadow() room.Request {
	if l.Item < 0 {
		return room.Request{}
	}
	line := "shadow " + l.encoders[l.Item].Text()
	if slices.Contains(ShadowNames(l.cfg), l.encoders[l.Item].Name) {
		line = "shadow off " + l.encoders[l.Item].Name
	}
	return room.Request{Line: line, Accepted: l.setConfig}
}

// marks returns the symbols of an encoder in the charts, as a shadow and as the active encoder.
func (l *EncoderList) marks(cell grid.Cell) []look.Span {
	name := l.encoders[l.At(cell)].Name
	shadow, active := look.Plain.Span(" "), look.Plain.Span(" ")
	if i := slices.Index(ShadowNames(l.cfg), name); i >= 0 {
		shadow = look.ShadowStyle(i).Span(string(look.ShadowSymbol(i)))
	}
	if name == l.cfg.Encoder.Name {
		active = look.Good.Span(string(cell.Theme.Outcome[packetlog.Decoded]))
	}
	return []look.Span{shadow, active}
}

// figure returns a figure of an encoder: a dot while it is being estimated, and a dash if it is unknown.
func (l *EncoderList) figure(cell grid.Cell, format func(*engine.Estimate) string) []look.Span {
	x := l.estimates.Of(l.encoders[l.At(cell)])
	switch {
	case l.estimates != nil && l.estimates.Err != nil:
		return grid.Text(look.Faint, "-")
	case x == nil:
		return grid.Text(look.Faint, cell.Theme.Dot)
	case x.Err != nil:
		return grid.Text(look.Bad, "fails")
	}
	return grid.Text(look.Value, format(x))
}

func (l *EncoderList) kbps(cell grid.Cell) []look.Span {
	return l.figure(cell, func(x *engine.Estimate) string { return units.Fixed(x.Kbps, 1) })
}

func (l *EncoderList) encodeTime(cell grid.Cell) []look.Span {
	return l.figure(cell, func(x *engine.Estimate) string { return look.FormatMicroseconds(x.EncodeUS) })
}

// compare orders encoders by the sorted column, the best first; those without a figure are last.
func (l *EncoderList) compare(a, b int) int {
	key := func(i int) (unknown int, value float64) {
		switch x := l.estimates.Of(l.encoders[i]); {
		case l.Table.Sort == nameColumn: // the order of the catalog
			return 0, float64(i)
		case x == nil || x.Err != nil:
			return 1, float64(i)
		case l.Table.Sort == kbpsColumn:
			return 0, x.Kbps
		default:
			return 0, x.EncodeUS
		}
	}
	unknownA, valueA := key(a)
	unknownB, valueB := key(b)
	return cmp.Or(unknownA-unknownB, cmp.Compare(valueA, valueB))
}

// drawDetails draws what an encoder is, what it costs, and its parameters.
func (l *EncoderList) drawDetails(c *look.Canvas, th *look.Theme, i int) {
	codec := l.cat.Codec(l.encoders[i].Name)
	lines := look.Wrap(codec.Summary, c.W)
	if codec.Source != "" {
		lines = append(lines, look.Wrap("source: "+codec.Source, c.W)...)
	}
	if l.DetailsFocused {
		lines = nil
	}
	y := 0
	for _, line := range lines {
		c.Clip(0, y, c.W, look.Plain, line)
		y++
	}
	text, style := l.describeEstimate(i)
	l.params.draw(c, th, c.Wrap(0, y, c.W, style, text), l)
}

// describeEstimate returns a sentence about the estimate of an encoder, and its style.
func (l *EncoderList) describeEstimate(i int) (string, look.Style) {
	x := l.estimates.Of(l.encoders[i])
	switch {
	case l.estimates == nil:
		return "", look.Dim
	case l.estimates.Err != nil:
		return "no estimates: " + l.estimates.Err.Error(), look.Dim
	case x == nil:
		return "being estimated on the newest frames", look.Dim
	case x.Err != nil:
		return x.Err.Error(), look.Bad
	}
	return fmt.Sprintf("payload %s kbps with the baselines of the packets; one encode in the background takes %s µs, more than in a run",
		units.Fixed(x.Kbps, 1), look.FormatMicroseconds(x.EncodeUS)), look.Dim
}

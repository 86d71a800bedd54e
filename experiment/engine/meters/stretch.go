package meters

import (
	"slices"
	"strings"
	"time"

	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/figures"
)

// stretch contains the counts of the packets that a lane sent with the same encoder and parameters over the same link.
type stretch struct {
	encoder string        // the name of the lane: its encoder and parameters
	link    string        // the settings of the links; "" if they were never changed
	began   time.Duration // when its first packet was sent
	epoch   uint64        // of its first packet
	counts  Sample        // sizes and outcomes of its packets; other fields are not set
}

// maxSettingStretches is the maximum number of stretches of a lane. The last one contains all further packets.
const maxSettingStretches = 1000

// furtherSettings is stretch.encoder of the last of maxSettingStretches stretches.
const furtherSettings = "all further settings"

// stretches are the stretches of a lane. The zero value is ready to use.
type stretches struct {
	list        []stretch // oldest first
	newestEpoch uint64    // of the newest packet, if list is not empty
	newest      string    // the name of the lane for the newest packet
	link        string    // the settings of the links; "" if they were never changed
}

// SetLink records a change of the links. before and after describe their settings.
func (x *stretches) SetLink(before, after string) {
	for i := range x.list {
		if x.list[i].link == "" {
			x.list[i].link = before
		}
	}
	x.link = after
}

// Begins reports whether a packet of the given epoch is the first of its epoch, or the first after a change of the
// links. Then the caller must call Begin before the packet is counted.
func (x *stretches) Begins(epoch uint64) bool {
	n := len(x.list)
	isFirst := n == 0 || epoch > x.newestEpoch
	return isFirst || n < maxSettingStretches && x.list[n-1].link != x.link
}

// Begin begins a stretch with a packet that is sent at now, unless encoder and links are those of the stretch before.
// encoder is the name of the lane.
func (x *stretches) Begin(epoch uint64, now time.Duration, encoder string) {
	x.newestEpoch = epoch
	x.newest = encoder
	n := len(x.list)
	if n > 0 {
		last := &x.list[n-1]
		isSame := last.encoder == encoder && last.link == x.link
		if isSame || n == maxSettingStretches {
			return
		}
	}
	if n == maxSettingStretches-1 {
		encoder = furtherSettings
	}
	x.list = append(x.list, stretch{encoder: encoder, link: x.link, began: now, epoch: epoch})
}

// countPacket counts a packet that was sent.
func (x *stretches) countPacket(r *packetlog.Record) { x.list[len(x.list)-1].counts.countPacket(r) }

// countOutcome counts the outcome of one copy of the packet with record r, in the stretch in which the packet
// was sent.
func (x *stretches) countOutcome(r *packetlog.Record) {
	i := len(x.list) - 1
	for i > 0 && (r.Epoch < x.list[i].epoch || r.Sent < x.list[i].began) {
		i--
	}
	*r.Outcome.In(&x.list[i].counts.Counts)++
}

// Encoders returns the encoder of each stretch, oldest first: its name, a space, and its parameters.
func (x *stretches) Encoders() (list []string) {
	for i := range x.list {
		list = append(list, x.list[i].encoder)
	}
	return list
}

// StretchFigures are the figures of a stretch in a report.
type StretchFigures struct {
	Encoder        string         `json:"encoder"`        // name and parameters
	Link           string         `json:"link,omitempty"` // settings of the links; "" if they were never changed
	FromS          float64        `json:"from_s" figure:"from,s,1"`
	ToS            float64        `json:"to_s" figure:"to,s,1"`
	Sent           int64          `json:"sent" figure:"sent,,0"`
	Decoded        int64          `json:"decoded" figure:"decoded,,0"`
	Stale          int64          `json:"stale" figure:"stale,,0"`
	Lost           int64          `json:"lost" figure:"lost,,0"`
	Failed         int64          `json:"failed" figure:"failed,,0"`
	Wrong          int64          `json:"wrong" figure:"wrong packets,,0"`
	PayloadKbps    float64        `json:"payload_kbps" figure:"payload,kbps,1"`
	WireKbps       float64        `json:"wire_kbps" figure:"on the wire,kbps,1"`
	BitsPerItem    figures.Figure `json:"bits_per_item" figure:"per item,bits,2"`
	BitsPerChanged figures.Figure `json:"bits_per_changed" figure:"per changed item,bits,2"`
}

// StretchNames returns the names of the stretches of a run: the encoder and, if the links were changed, their settings.
func StretchNames(list []StretchFigures) []string {
	links := StretchLinks(list)
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Encoder
		if links[i] != "" {
			names[i] += " over " + links[i]
		}
	}
	return names
}

// StretchLinks returns the settings of the links in each stretch: those that are not the same in all stretches, then the
// others if a stretch has none of the former; "" if the links were never changed.
func StretchLinks(list []StretchFigures) []string {
	const separator = ", " // of settings; see config.LinkSettings
	all := make([][]string, len(list))
	for i := range list {
		all[i] = strings.Split(list[i].Link, separator)
	}
	links := make([]string, len(list))
	var same []string // in all stretches
	for i, settings := range all {
		var varying []string
		same = nil
		for _, setting := range settings {
			lacks := func(other []string) bool { return !slices.Contains(other, setting) }
			if slices.ContainsFunc(all, lacks) {
				varying = append(varying, setting)
			} else {
				same = append(same, setting)
			}
		}
		links[i] = strings.Join(varying, separator)
	}
	if slices.Contains(links, "") { // no stretch may be without settings
		for i := range list {
			links[i] = strings.Trim(links[i]+separator+strings.Join(same, separator), separator)
		}
	}
	return links
}

// Figures returns the figures of the stretches between changes of the encoder, its parameters or the links, oldest
// first; nil if there is only one. until is the end of the newest stretch.
func (x *stretches) Figures(until time.Duration) (out []StretchFigures) {
	if len(x.list) < 2 {
		return nil
	}
	for i := range x.list {
		begun, end := x.list[i].began, until
		if i+1 < len(x.list) {
			end = x.list[i+1].began
		}
		s := x.list[i].counts
		s.Width = end - begun
		out = append(out, StretchFigures{Encoder: x.list[i].encoder, Link: x.list[i].link, FromS: begun.Seconds(), ToS: end.Seconds(), Sent: s.Sent,
			Decoded: s.Decoded, Stale: s.Stale, Lost: s.Lost, Failed: s.Failed(), Wrong: s.Wrong,
			PayloadKbps: figures.RatioOrZero(PayloadKbps(&s)), WireKbps: figures.RatioOrZero(WireKbps(&s)),
			BitsPerItem: figures.RatioFigure(BitsPerItem(&s)), BitsPerChanged: figures.RatioFigure(BitsPerChanged(&s))})
	}
	return out
}

package figures

import "strings"

// direction describes which values of a figure are better.
type direction int

// The directions.
const (
	Neither direction = iota // for figures such as the number of packets sent
	LessIsBetter
	MoreIsBetter
)

// DirectionOf returns which values of a figure are better. key is its dotted key, such as
// "playout.starved_ratio". Sizes, delays, errors and failures, which are most figures, are better if less.
func DirectionOf(key string) direction {
	switch key {
	case "decoded", "transfer.delivered", "view.rows_per_packet", "view.fill_ratio":
		return MoreIsBetter
	case "sent", "duplicated", "duplicate", "in_flight", "unknown", "playout.displayed", "transfer.old_bytes", "transfer.new_bytes",
		"transfer.blocks", "redundancy.datagrams", "redundancy.extra", "redundancy.repaired",
		"view.used_kbps", "view.limit_kbps", "view.held", "view.encodings_per_packet",
		"messages.sent", "messages.delivered", "messages.parts", "messages.datagrams", "messages.goodput_kbps":
		return Neither
	}
	if strings.HasPrefix(key, "sender.") || strings.HasPrefix(key, "receiver.") || strings.HasPrefix(key, "control.") {
		return Neither // values that encoder, decoder and control publish about their state, with any meaning
	}
	return LessIsBetter
}

// unitSuffixes are the ends of parts of keys that name the unit of a figure.
var unitSuffixes = []struct{ suffix, unit string }{{"_kbps", "kbps"}, {"_ms", "ms"}, {"_mm", "mm"}, {"_deg", "°"}, {"_bytes", "bytes"},
	{"_ticks", "ticks"}, {"_s", "s"}, {"_bits", "bits"}}

// InWords returns how people read the figure with the given dotted key: its name, its unit, "" for counts, and the
// factor from its value to that unit, 1 except for shares, which are in percent. "playout.starved_ratio" is
// "playout starved" in % with the factor 100.
func InWords(key string) (name, unit string, factor float64) {
	unit, factor = UnitOf(key), 1
	parts := strings.Split(key, ".")
	for i, part := range parts {
		if part == "packet_bytes" {
			part = "packet size"
		}
		for _, share := range []string{"_ratio", "_rate"} {
			if short, ok := strings.CutSuffix(part, share); ok {
				part, unit, factor = short, "%", 100
			}
		}
		for _, u := range unitSuffixes {
			if short, ok := strings.CutSuffix(part, u.suffix); ok {
				part = short
				break
			}
		}
		parts[i] = strings.ReplaceAll(part, "_", " ")
	}
	return strings.Join(parts, " "), unit, factor
}

// UnitOf returns the unit of the figure with the given dotted key; empty for counts and ratios. A part of
// the key ends with the unit: "age_ms.p95" is in ms.
func UnitOf(key string) string {
	for _, part := range strings.Split(key, ".") {
		for _, u := range unitSuffixes {
			if strings.HasSuffix(part, u.suffix) {
				return u.unit
			}
		}
		if part == "packet_bytes" {
			return "bytes"
		}
		if strings.HasPrefix(part, "bits_per_") {
			return "bits"
		}
	}
	return ""
}

package figures

import "strings"

// direction is which values of a figure are better.
type direction int

// The directions. Of a figure without one, such as how many packets were sent, neither
// more nor less is better.
const (
	Neither direction = iota
	LessIsBetter
	MoreIsBetter
)

// DirectionOf returns the direction of a figure by its dotted key.
func DirectionOf(key string) direction {
	switch key {
	case "decoded", "transfer.delivered":
		return MoreIsBetter
	case "sent", "duplicated", "duplicate", "in_flight", "unknown", "playout.displayed", "transfer.old_bytes", "transfer.new_bytes",
		"transfer.blocks":
		return Neither
	}
	if strings.HasPrefix(key, "sender.") || strings.HasPrefix(key, "receiver.") { // what a codec says of itself
		return Neither
	}
	return LessIsBetter
}

// UnitOf returns the unit of a figure by its dotted key, "" if it is a count or a ratio.
func UnitOf(key string) string {
	for _, part := range strings.Split(key, ".") {
		for _, u := range []struct{ end, unit string }{{"_kbps", "kbps"}, {"_ms", "ms"}, {"_mm", "mm"}, {"_deg", "°"}, {"_bytes", "bytes"},
			{"_ticks", "ticks"}, {"_s", "s"}, {"_bits", "bits"}} {
			if strings.HasSuffix(part, u.end) {
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

package lossmodel

import (
	"strconv"
	"strings"

	"wirelab/internal/setting"
)

// Header sizes in bytes: IPv4 without options, UDP.
const (
	ipHeader  = 20
	udpHeader = 8
)

// Range of Spec.MTU in bytes. RFC 791 requires every link to carry minMTU. With maxMTU no
// datagram is fragmented.
const (
	minMTU = 68
	maxMTU = 65535
)

// WireBytes returns the size on the wire of a datagram with a UDP payload of udpPayload bytes,
// and the number of IP fragments at the given MTU. Every fragment but the last carries a multiple
// of 8 bytes (RFC 791). At an MTU of 1500 the number is ceil((udpPayload+8)/1480).
func WireBytes(udpPayload, mtu int) (bytes, fragments int) {
	body := udpPayload + udpHeader
	fragments = 1
	if room := mtu - ipHeader; body > room {
		perFragment := room &^ 7 // rounded down to a multiple of 8
		fragments += (body - room + perFragment - 1) / perFragment
	}
	return body + ipHeader*fragments, fragments
}

// mtuUnit is the unit of the key mtu.
var mtuUnit = setting.Unit[int]{
	Name: "bytes", Expected: `the size of the largest IP packet in bytes, from 68 to 65535, or "off" for no fragmentation`,
	Min: strconv.Itoa(minMTU), Max: strconv.Itoa(maxMTU),
	Parse: func(v any) (int, bool) {
		if setting.IsOff(v) {
			return maxMTU, true
		}
		if s, ok := v.(string); ok {
			v = strings.TrimSuffix(strings.TrimSpace(s), "B")
		}
		return setting.ParseCount(v)
	},
	Format: func(n int) string {
		if n == maxMTU {
			return "off"
		}
		return strconv.Itoa(n)
	},
	Number:  func(n int) float64 { return float64(n) },
	InRange: func(n int) bool { return n >= minMTU && n <= maxMTU },
}

// mtuRow describes the key mtu, which belongs to no stage.
func mtuRow() stageRow {
	return stageRow{
		name:        "mtu",
		setDefaults: func(s *Spec) { s.MTU = 1500 },
		keys: []keyRow{newKey(mtuUnit, func(s *Spec) *int { return &s.MTU }, KeyInfo{
			Key: "mtu", Stage: "mtu", Ladder: []string{"576", "1200", "1280", "1400", "1500", "9000", "off"},
			Help:   "size of the largest IP packet in bytes; larger datagrams are fragmented and lost if any fragment is",
			Source: "RFC 791",
		})},
	}
}

package lossmodel

import (
	"strconv"
	"strings"

	"wirelab/internal/setting"
)

// Bytes of headers on the wire: IPv4 without options, UDP.
const (
	ipHeader  = 20
	udpHeader = 8
)

// The MTUs that a Spec takes, in bytes. The least is what RFC 791 demands of
// every link; at the greatest no datagram is ever cut.
const (
	minMTU = 68
	maxMTU = 65535
)

// WireBytes returns what a datagram of udpPayload bytes costs on a link of the
// given MTU, and into how many IP fragments it is cut (RFC 791: every fragment
// but the last carries a multiple of 8 bytes). For an MTU of 1500 the count is
// ceil((udpPayload+8)/1480).
func WireBytes(udpPayload, mtu int) (bytes, fragments int) {
	body := udpPayload + udpHeader
	fragments = 1
	if room := mtu - ipHeader; body > room {
		whole := room &^ 7
		fragments += (body - room + whole - 1) / whole
	}
	return body + ipHeader*fragments, fragments
}

var mtuUnit = setting.Unit[int]{
	Name: "bytes", Expected: `bytes of the largest IP packet, from 68 to 65535, or "off" for no fragments`,
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
	Number: func(n int) float64 { return float64(n) },
	In:     func(n int) bool { return n >= minMTU && n <= maxMTU },
}

func mtuRow() stageRow {
	return stageRow{
		name:    "mtu",
		initial: func(s *Spec) { s.MTU = 1500 },
		keys: []keyRow{newKey(mtuUnit, func(s *Spec) *int { return &s.MTU }, KeyInfo{
			Key: "mtu", Stage: "mtu", Ladder: []string{"576", "1200", "1280", "1400", "1500", "9000", "off"},
			Help:   "bytes of the largest IP packet; a larger datagram travels in fragments, of which none may be lost",
			Source: "RFC 791",
		})},
	}
}

package lossmodel

// Bytes of headers on the wire: IPv4 without options, UDP.
const (
	ipHeader  = 20
	udpHeader = 8
)

// The MTUs that a Spec takes, in bytes. The least is what RFC 791 demands of
// every link; at the greatest no datagram is ever cut.
const (
	MinMTU = 68
	MaxMTU = 65535
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

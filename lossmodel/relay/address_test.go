package relay_test

import (
	"context"
	"net/netip"
	"testing"
	"wirelab/lossmodel/relay"
)

// ParseAddress accepts ports, IPv4, IPv6 and spaces around the text.
func TestParseAddress(t *testing.T) {
	for text, want := range map[string]string{
		"27961": "127.0.0.1:27961", ":27961": "127.0.0.1:27961", "0.0.0.0:1": "0.0.0.0:1", "[::1]:80": "[::1]:80",
		"[::ffff:10.0.0.1]:5": "10.0.0.1:5", " 10.1.2.3:4 ": "10.1.2.3:4",
	} {
		if got, err := relay.ParseAddress(context.Background(), text); err != nil || got.String() != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

// The result of ParseAddress, formatted, parses as the same address.
func FuzzParseAddress(f *testing.F) {
	for _, text := range []string{"1", ":1", "127.0.0.1:1", "[::1]:1", "[fe80::1%eth0]:1", "::1:1", "x y:1", "1.2.3.4:65536"} {
		f.Add(text)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel() // no DNS requests
	f.Fuzz(func(t *testing.T, text string) {
		got, err := relay.ParseAddress(canceled, text)
		if err != nil {
			return
		}
		again, err := netip.ParseAddrPort(got.String())
		if err != nil || again != got {
			t.Errorf("%q is %v, then %v, %v", text, got, again, err)
		}
	})
}

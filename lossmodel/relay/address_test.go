package relay_test

import (
	"context"
	"net/netip"
	"testing"
	"wirelab/lossmodel/relay"
)

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

// FuzzParseAddress: no text is taken for more than it says, and what is read is written
// so that it is read again.
func FuzzParseAddress(f *testing.F) {
	for _, text := range []string{"1", ":1", "127.0.0.1:1", "[::1]:1", "[fe80::1%eth0]:1", "::1:1", "x y:1", "1.2.3.4:65536"} {
		f.Add(text)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel() // no name is asked for
	f.Fuzz(func(t *testing.T, text string) {
		got, err := relay.ParseAddress(gone, text)
		if err != nil {
			return
		}
		again, err := netip.ParseAddrPort(got.String())
		if err != nil || again != got {
			t.Errorf("%q is %v, then %v, %v", text, got, again, err)
		}
	})
}

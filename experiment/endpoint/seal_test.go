package endpoint

import (
	"bytes"
	"errors"
	"testing"
)

// A seal detects every flip of a single bit, and every truncation by a byte.
func TestSeal(t *testing.T) {
	want := []byte("123456789")
	sealed := seal(bytes.Clone(want), 0)
	if got := sealed[len(want):]; !bytes.Equal(got, []byte{0x26, 0x39, 0xf4, 0xcb}) { // the check value of CRC-32, reversed
		t.Errorf("the seal is %x", got)
	}
	if got, err := unseal(sealed); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for bit := range 8 * len(sealed) {
		bad := bytes.Clone(sealed)
		bad[bit/8] ^= 1 << (bit % 8)
		if _, err := unseal(bad); !errors.Is(err, ErrMalformed) {
			t.Errorf("bit %d: %v", bit, err)
		}
	}
	for n := range sealed {
		if _, err := unseal(sealed[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

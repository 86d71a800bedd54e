package lossmodel

import (
	"testing"
)

// fragmentStepByStep fragments a datagram as RFC 791 describes.
func fragmentStepByStep(udpPayload, mtu int) (bytes, fragments int) {
	for left := udpPayload + 8; ; {
		room := mtu - 20
		if left <= room {
			return bytes + 20 + left, fragments + 1
		}
		room -= room % 8
		left, bytes, fragments = left-room, bytes+20+room, fragments+1
	}
}

// WireBytes agrees with fragmentation step by step.
func TestWireBytes(t *testing.T) {
	for _, mtu := range []int{minMTU, 69, 75, 76, 576, 1006, 1280, 1499, 1500, 1501, 9000, maxMTU} {
		for _, step := range []int{1, 7, 1009} {
			for size := 0; size <= min(MaxDatagram, 5000*step); size += step {
				bytes, fragments := WireBytes(size, mtu)
				if b, f := fragmentStepByStep(size, mtu); bytes != b || fragments != f {
					t.Fatalf("%d bytes at MTU %d: %d in %d, want %d in %d", size, mtu, bytes, fragments, b, f)
				}
			}
		}
	}
	for size := range MaxDatagram + 1 { // formula for Ethernet
		if _, f := WireBytes(size, 1500); f != (size+8+1479)/1480 {
			t.Fatalf("%d bytes: %d fragments", size, f)
		}
	}
	if _, f := WireBytes(MaxDatagram, maxMTU); f != 1 {
		t.Errorf("MTU off: the largest datagram has %d fragments", f)
	}
}

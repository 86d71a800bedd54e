package rpc

import (
	"fmt"

	"wirelab/encoders"
)

// The source's run-length code: a byte L up to mostRun means that the next byte
// comes L times; one above it, that L-128 bytes follow as they are.
const (
	mostRun     = 128
	mostLiteral = 127
	leastRun    = 3 // shorter ones gain nothing among literals
)

// appendRuns appends src, run-length coded, to dst.
func appendRuns(dst, src []byte) []byte {
	for len(src) > 0 {
		if n := runAt(src); n >= leastRun || n == len(src) {
			n = min(n, mostRun)
			dst, src = append(dst, byte(n), src[0]), src[n:]
			continue
		}
		n := literalAt(src)
		dst, src = append(append(dst, byte(mostRun+n)), src[:n]...), src[n:]
	}
	return dst
}

// runAt returns how often the first byte of src is repeated there.
func runAt(src []byte) int {
	n := 1
	for n < len(src) && src[n] == src[0] {
		n++
	}
	return n
}

// literalAt returns how many bytes come before the next run that is worth it.
func literalAt(src []byte) int {
	n := 0
	for n < len(src) && n < mostLiteral && runAt(src[n:]) < leastRun {
		n++
	}
	return n
}

// fillRuns fills dst from what next yields of run-length code, which must give
// exactly that many bytes.
func fillRuns(dst []byte, next func() byte) error {
	for at := 0; at < len(dst); {
		l := int(next())
		literal := l > mostRun
		if literal {
			l -= mostRun
		}
		if l == 0 || l > len(dst)-at {
			return fmt.Errorf("rpc: run of %d bytes where %d are left: %w", l, len(dst)-at, encoders.ErrCorrupt)
		}
		if literal {
			for range l {
				dst[at] = next()
				at++
			}
			continue
		}
		for v := next(); l > 0; l-- {
			dst[at] = v
			at++
		}
	}
	return nil
}

package remote

import "encoding/binary"

// A setup may be larger than a datagram. It travels in pieces of a fixed size, and for each
// that comes the far end says which is the first that is missing. The near end sends from
// there on.

const (
	pieceBytes = 1000
	pieceAhead = 32 // pieces that are sent before any is confirmed
)

// The states of a session at the far end.
const (
	stateMissing = iota // pieces of the setup are
	stateReady
	stateRefused // a text says why
)

// appendPiece appends piece i of a setup to dst.
func appendPiece(dst []byte, session uint8, setup []byte, i int) []byte {
	dst = append(dst, session)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(pieces(len(setup))))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(i))
	return append(dst, setup[i*pieceBytes:min(len(setup), (i+1)*pieceBytes)]...)
}

func pieces(bytes int) int { return (bytes + pieceBytes - 1) / pieceBytes }

// assembly puts the pieces of a setup together, in order: one that comes too early is sent
// again.
type assembly struct {
	session uint8
	count   int
	next    int
	data    []byte
}

// add takes a piece without its session; whole says that it was the last.
func (a *assembly) add(piece []byte) (whole bool, err error) {
	if len(piece) < 4 {
		return false, malformed("a piece of a setup", piece)
	}
	count, i := int(binary.LittleEndian.Uint16(piece)), int(binary.LittleEndian.Uint16(piece[2:]))
	body := piece[4:]
	if a.count == 0 {
		a.count = count
	}
	last := i == count-1
	if count != a.count || count > pieces(maxSetup) || i >= count || len(body) == 0 || len(body) > pieceBytes ||
		!last && len(body) != pieceBytes {
		return false, malformed("a piece of a setup", piece)
	}
	if i != a.next {
		return false, nil
	}
	a.data = append(a.data, body...)
	a.next++
	return a.next == a.count, nil
}

// status is what the far end says of a setup.
type status struct {
	session uint8
	state   uint8
	next    int // the first piece that is missing
	text    string
}

func (s *status) append(dst []byte) []byte {
	dst = append(dst, s.session, s.state)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(s.next))
	return append(dst, s.text...)
}

func parseStatus(src []byte) (status, error) {
	if len(src) < 4 || src[1] > stateRefused || len(src) > 1000 {
		return status{}, malformed("a status", src)
	}
	return status{src[0], src[1], int(binary.LittleEndian.Uint16(src[2:])), string(src[4:])}, nil
}

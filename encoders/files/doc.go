// Package files holds the encoders of whole files: the frame is the new file, its
// reference the old one, and the packet whatever makes the one of the other. It is
// too large for a datagram: whoever sends it cuts it, and sees that every piece
// arrives.
//
// patch and patch-fast tell the difference between the files (package
// encoders/patch); whole-zstd and whole-raw do not look at the old one, and say what
// that is worth.
package files

import (
	"fmt"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/patch"
)

// maxFile bounds a file, and what a decoder makes of a packet whatever that claims.
const maxFile = 64 << 20

// Gradual is implemented by encoders that may take seconds for a file.
type Gradual interface {
	// Follow reports the work on the files that are encoded from now
	// on. An error of his Progress ends the work, and Encode returns it.
	Follow(progress patch.Progress, watch patch.Watch)
}

// suits is about frames that must arrive, all of them bytes.
func suits(s *frame.Schema) bool { return s.Rows == 0 && s.Delivery == frame.Every }

// old returns the old file.
func old(refs []encoders.Ref) []byte {
	if len(refs) == 0 {
		panic("files: the endpoints must hand over the old file")
	}
	return refs[0].Frame.Body
}

// checkSize refuses what decoders would.
func checkSize(file []byte) error {
	if len(file) > maxFile {
		return fmt.Errorf("files: %d bytes, expected at most %d", len(file), maxFile)
	}
	return nil
}

//go:build !unix

package atomicfile

import "io/fs"

// isMine returns true: the name has to do, as files have no owner.
func isMine(fs.FileInfo) bool { return true }

// isMount returns false, for it is unknown; the attempt to replace a mount fails.
func isMount(string) bool { return false }

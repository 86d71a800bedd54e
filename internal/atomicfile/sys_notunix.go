//go:build !unix

package atomicfile

import "io/fs"

// isMine returns true: files have no owner here, so the name must suffice.
func isMine(fs.FileInfo) bool { return true }

// isMount returns false, because it is unknown here. Replacing a mount fails.
func isMount(string) bool { return false }

//go:build !unix

package whole

import "io/fs"

// mine: files here tell nothing of their owner, and the name has to do.
func mine(fs.FileInfo) bool { return true }

//go:build !unix

package atomicfile

import "io/fs"

// mine: files here tell nothing of their owner, and the name has to do.
func mine(fs.FileInfo) bool { return true }

// isMount: there is no telling here; a swap will say so.
func isMount(string) bool { return false }

// linksOpen: here a folder cannot be renamed while a file in it is open.
const linksOpen = false

// Package file is page 4, "File", of sessions that send files: how a patch is computed, and its
// transfer to the receiver.
package file

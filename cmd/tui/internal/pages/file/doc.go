// Package file is the page "File" of sessions that send files: the progress of computing a patch, and
// its transfer to the receiver.
package file

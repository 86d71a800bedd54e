// Package file is page 4 where whole files are sent: how a patch is made, and how
// it gets to the receiver.
package file

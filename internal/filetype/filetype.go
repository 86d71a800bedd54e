// Package filetype recognises kinds of files that cannot be played or that are compressed already, by their
// first bytes.
package filetype

import (
	"bytes"
	"fmt"
)

// HeadBytes is the number of bytes at the start of a file from which it can be recognised.
const HeadBytes = 1 << 15

// Type is a kind of file.
type Type struct {
	Name       string // with an article, such as "a zip archive"
	Advice     string // how to make a file that can be played; "" if unknown
	Compressed bool   // small changes of the content change most of the following bytes
	magic      string
	offset     int // of magic
}

var types = []Type{
	{"compressed with gzip", "the unpacked file", true, "\x1f\x8b", 0},
	{"compressed with zstd", "the unpacked file", true, "\x28\xb5\x2f\xfd", 0},
	{"compressed with xz", "the unpacked file", true, "\xfd7zXZ\x00", 0},
	{"compressed with bzip2", "the unpacked file", true, "BZh", 0},
	{"a 7z archive", "the files in it", true, "7z\xbc\xaf\x27\x1c", 0},
	{"a zip archive or a workbook", "the files in it, or a sheet saved as CSV", true, "PK\x03\x04", 0},
	{"a tar archive", "the files in it", false, "ustar", 257},
	{"a PNG image", "", true, "\x89PNG", 0},
	{"a JPEG image", "", true, "\xff\xd8\xff", 0},
	{"a snoop capture", "pcap or pcapng; editcap -F pcap OLD NEW.pcap converts it", false, "snoop\x00", 0},
	{"a capture of Network Monitor", "pcap or pcapng; editcap -F pcap OLD NEW.pcap converts it", false, "GMBU", 0},
	{"a demo of Teeworlds or DDNet", "a table of its items, as CSV or JSON Lines", false, "TWDEMO\x00", 0},
	{"a demo of the Source engine", "", false, "HL2DEMO\x00", 0},
	{"a demo of the Source 2 engine", "", false, "PBDEMS2\x00", 0},
	{"a demo of Half-Life", "", false, "HLDEMO\x00", 0},
	{"an SQLite database", "its table saved as CSV or JSON Lines", false, "SQLite format 3\x00", 0},
	{"an Apache Parquet file", "its table saved as CSV or JSON Lines", true, "PAR1", 0},
	{"a text in UTF-16", "UTF-8; iconv -f UTF-16 -t UTF-8 converts it", false, "\xff\xfe", 0},
	{"a text in UTF-16", "UTF-8; iconv -f UTF-16 -t UTF-8 converts it", false, "\xfe\xff", 0},
}

// Detect returns the kind of the file that begins with head; nil if it is unknown.
func Detect(head []byte) *Type {
	for i := range types {
		t := &types[i]
		if len(head) >= t.offset && bytes.HasPrefix(head[t.offset:], []byte(t.magic)) {
			return t
		}
	}
	return nil
}

// Describe describes a file for an error, as the predicate of a sentence: by its kind, or if that is unknown by its first
// bytes.
func Describe(head []byte) string {
	if t := Detect(head); t != nil {
		return "is " + t.Name
	}
	return fmt.Sprintf("begins with the bytes % x", head[:min(len(head), 8)])
}

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"io"
	"io/fs"
	"slices"
	"time"
)

// A file is a file of an archive.
type file struct {
	name       string // with slashes
	data       []byte
	executable bool
}

// mode returns the permissions of the file.
func (f *file) mode() fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// sortedFiles returns the files sorted by name.
func sortedFiles(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
}

// writeTarGz returns the files in a folder as a compressed tar archive. All files have the given time and belong to root.
func writeTarGz(folder string, files []file, modified time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range sortedFiles(files) {
		header := &tar.Header{Name: folder + "/" + f.name, Mode: int64(f.mode()), Size: int64(len(f.data)), ModTime: modified,
			Uname: "root", Gname: "root", Format: tar.FormatUSTAR}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return gzipped(out.Bytes())
}

// writeZip returns the files in a folder as a zip archive for Windows.
func writeZip(folder string, files []file, modified time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(dst io.Writer) (io.WriteCloser, error) { return flate.NewWriter(dst, flate.BestCompression) })
	for _, f := range sortedFiles(files) {
		header := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: modified}
		header.SetMode(f.mode())
		entry, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// gzipped returns data compressed, without a name and a time.
func gzipped(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/internal/boundedio"
)

// FileFinder returns the path of a file that an encoder's parameter names, or "" if the file must not
// be opened. Names may come from packets and are not trusted.
type FileFinder func(name string) (path string)

// FindOnly returns a FileFinder that finds only the given paths. Names are compared by base name,
// because the sender may keep the same file in another folder. It is an error if two paths have the
// same base name.
func FindOnly(paths []string) (FileFinder, error) {
	known := map[string]string{}
	for _, path := range paths {
		name := baseName(path)
		if known[name] != "" {
			return nil, fmt.Errorf("%s and %s have the same base name; expected different base names",
				known[name], path)
		}
		known[name] = path
	}
	return func(name string) string { return known[baseName(name)] }, nil
}

// baseName returns the part of a Unix or Windows path after the last separator.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// maxFileBytes is the largest file that an encoder parameter may name.
const maxFileBytes = 16 << 20

// setupFile identifies a file that the first encoder of a session needs on both sides.
type setupFile struct {
	Name   string `json:"name"` // base name, without folder
	SHA256 string `json:"sha256"`
}

// requiredFiles returns the files that the encoder of c needs, with their hashes. It fails if a file
// cannot be read.
func requiredFiles(c *config.Config) (files []setupFile, err error) {
	codec, params, err := c.Encoder.Resolve("encoder", c.Codecs)
	if err != nil {
		return nil, err
	}
	for _, name := range codec.Files(params) {
		path := name
		if c.ResolvePath != nil { // otherwise the name is the path
			path = c.ResolvePath(name)
		}
		sum, err := sha256OfFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, setupFile{baseName(name), sum})
	}
	return files, nil
}

// sha256OfFile returns the SHA-256 of a file in hexadecimal.
func sha256OfFile(path string) (string, error) {
	data, err := boundedio.ReadFile(path, maxFileBytes)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

// check compares the files that the sender requires with those of this receiver. It returns
// errRefused if a file is not available here or has different contents.
func (find FileFinder) check(files []setupFile) error {
	for _, file := range files {
		path := find(file.Name)
		if path == "" {
			return refusef("the encoder needs the file %.100q, which the receiver was not given; expected it in tui listen --file",
				file.Name)
		}
		switch sum, err := sha256OfFile(path); {
		case err != nil:
			return refusef("the encoder needs the file %.100q, which the receiver cannot read", file.Name)
		case sum != file.SHA256:
			return refusef("the encoder needs the file %.100q, which differs at the receiver; expected the same contents",
				file.Name)
		}
	}
	return nil
}

// restrictedCodecs returns all codecs of this program, changed so that they open only files that
// find returns. Other files are refused with errRefused.
func (find FileFinder) restrictedCodecs() []encoders.Codec {
	list := table.All()
	for i := range list {
		codec := list[i]
		newCodec := encoders.LocateFiles(&codec, find).New // opens the path that find returns for a name
		list[i].New = func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			for _, name := range codec.Files(params) {
				if find(name) == "" {
					return nil, nil, refusef("the encoder requests the file %.100q, which is not available here", name)
				}
			}
			return newCodec(s, params)
		}
	}
	return list
}

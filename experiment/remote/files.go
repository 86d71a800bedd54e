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

// Files says where a file lies that an encoder's parameters name, "" if it is not to be
// opened. The names come out of packets.
type Files func(name string) (path string)

// OnlyFiles is for a far end that opens these and no others, whatever folder the near end
// has them in.
func OnlyFiles(paths []string) (Files, error) {
	known := map[string]string{}
	for _, path := range paths {
		name := baseName(path)
		if known[name] != "" {
			return nil, fmt.Errorf("%s and %s have the same name; sessions tell files by it", known[name], path)
		}
		known[name] = path
	}
	return func(name string) string { return known[baseName(name)] }, nil
}

// baseName returns a name without its folder, as Unix or as Windows write it.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// maxFile bounds a file that an encoder's parameters name.
const maxFile = 16 << 20

// setupFile is a file that the first encoder needs at both ends.
type setupFile struct {
	Name   string `json:"name"` // without its folder
	SHA256 string `json:"sha256"`
}

// filesOf lists those of the encoder of c.
func filesOf(c *config.Config) (list []setupFile, err error) {
	codec, params, err := c.Encoder.Resolve("encoder", c.Codecs)
	if err != nil {
		return nil, err
	}
	for _, name := range codec.Files(params) {
		path := name
		if c.Find != nil {
			path = c.Find(name)
		}
		sum, err := sumOf(path)
		if err != nil {
			return nil, err
		}
		list = append(list, setupFile{baseName(name), sum})
	}
	return list, nil
}

func sumOf(path string) (string, error) {
	data, err := boundedio.ReadFile(path, maxFile)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

// missing says which of the files this end has not; nil if none.
func (find Files) missing(list []setupFile) error {
	for _, x := range list {
		path := find(x.Name)
		if path == "" {
			return refuse("its encoder needs the file %.100q, which this end was not given; expected tui listen --file", x.Name)
		}
		switch sum, err := sumOf(path); {
		case err != nil:
			return refuse("its encoder needs the file %.100q, which cannot be read", x.Name)
		case sum != x.SHA256:
			return refuse("its encoder needs the file %.100q, which is another one here; expected the same at both ends", x.Name)
		}
	}
	return nil
}

// codecs are those of this program, which open what find lets them.
func (find Files) codecs() []encoders.Codec {
	list := table.All()
	for i := range list {
		plain := list[i]
		open := encoders.Located(&plain, find).New
		list[i].New = func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			for _, name := range plain.Files(params) {
				if find(name) == "" {
					return nil, nil, refuse("the file %.100q", name)
				}
			}
			return open(s, params)
		}
	}
	return list
}

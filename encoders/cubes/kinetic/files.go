package kinetic

import (
	"embed"
	"sync"

	"wirelab/encoders/train"
)

// Trained models, see README.md; package train packed them.
//
//go:embed *.zst
var files embed.FS

// The models are read on first use, and shared by all ends.
var (
	liteModel    = sync.OnceValues(func() (*model, error) { return openModel("lite") })
	kineticModel = sync.OnceValues(func() (*model, error) { return openModel("kinetic") })
)

// openModel reads a model from its three packed files.
func openModel(name string) (*model, error) {
	var data [3][]byte
	for k, part := range [...]string{".place.net.zst", ".pose.net.zst", ".tables.zst"} {
		packed, err := files.ReadFile(name + part)
		if err == nil {
			data[k], err = train.Open(packed, train.MaxEmbedded)
		}
		if err != nil {
			return nil, err
		}
	}
	return readModel(data[0], data[1], data[2])
}

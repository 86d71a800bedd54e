package kinetic

import (
	_ "embed"
	"sync"

	"wirelab/encoders/train"
)

// Trained models, see README.md; package train packed them.
var (
	//go:embed lite.place.net.zst
	litePlace []byte
	//go:embed lite.pose.net.zst
	litePose []byte
	//go:embed lite.tables.zst
	liteTables []byte
	//go:embed kinetic.place.net.zst
	kineticPlace []byte
	//go:embed kinetic.pose.net.zst
	kineticPose []byte
	//go:embed kinetic.tables.zst
	kineticTables []byte
)

// The models are read when they are first asked for, and shared by all ends.
var (
	liteModel    = sync.OnceValues(func() (*model, error) { return openModel(litePlace, litePose, liteTables) })
	kineticModel = sync.OnceValues(func() (*model, error) { return openModel(kineticPlace, kineticPose, kineticTables) })
)

// openModel reads a model from its three packed files.
func openModel(files ...[]byte) (*model, error) {
	var data [3][]byte
	for k := range data {
		var err error
		if data[k], err = train.Open(files[k], train.MaxEmbedded); err != nil {
			return nil, err
		}
	}
	return readModel(data[0], data[1], data[2])
}

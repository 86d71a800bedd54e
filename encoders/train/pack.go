package train

import (
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// packed is the end of the names of files that PackAll made.
const packed = ".zst"

// PackAll packs files to be embedded: they are compressed, under names that say so. Nets and tables lose a tenth to a
// half of their size.
func PackAll(files []File) ([]File, error) {
	for k, f := range files {
		data, err := Pack(f.Data)
		if err != nil {
			return nil, err
		}
		files[k] = File{Name: f.Name + packed, Data: data}
	}
	return files, nil
}

// Pack compresses trained data with zstd.
func Pack(data []byte) ([]byte, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return z.EncodeAll(data, nil), nil
}

// MaxEmbedded is the most memory that opening an embedded file takes, in bytes.
const MaxEmbedded = 1 << 20

// Open returns the data that Pack compressed. It fails if they are larger than maxSize bytes.
func Open(file []byte, maxSize int) ([]byte, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(uint64(maxSize)), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	data, err := z.DecodeAll(file, nil)
	if err != nil {
		return nil, fmt.Errorf("a trained file: %w", err)
	}
	return data, nil
}

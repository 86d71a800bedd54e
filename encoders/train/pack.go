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
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	for k := range files {
		files[k] = File{Name: files[k].Name + packed, Data: z.EncodeAll(files[k].Data, nil)}
	}
	return files, nil
}

// mostOpened bounds the memory that Open takes, in bytes.
const mostOpened = 1 << 20

// Open returns the data of a file that PackAll made, of at most a megabyte.
func Open(file []byte) ([]byte, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(mostOpened), zstd.WithDecoderConcurrency(1))
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

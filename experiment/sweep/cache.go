package sweep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/nats-io/nats.go/jetstream"

	"wirelab/experiment/engine"
	"wirelab/internal/atomicfile"
)

// cache is a worker's folder of data files of sweeps. The name of a file is its SHA-256.
type cache struct {
	disk *atomicfile.Disk
	dir  string
}

// maxCacheBytes is the maximum size of a cache in bytes.
const maxCacheBytes = 8 << 30

// hashName matches the names of files in a cache.
var hashName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// openCache returns the cache in dir, which it creates. If dir is empty, the cache is in the user's
// cache directory.
func openCache(disk *atomicfile.Disk, dir string) (*cache, error) {
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(user, "wirelab", "sweep")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	_, err = disk.MkdirAll(dir)
	return &cache{disk, dir}, err
}

// download returns the path of a file in the cache. If the file is missing it is downloaded from store;
// size and hash must match f.
func (c *cache) download(ctx context.Context, store jetstream.ObjectStore, f engine.DataFile) (path string,
	err error) {
	if !hashName.MatchString(f.SHA256) || f.Bytes < 0 || f.Bytes > maxSingleFileBytes {
		return "", fmt.Errorf("bad file description: %d bytes, hash %.80q", f.Bytes, f.SHA256)
	}
	path = filepath.Join(c.dir, f.SHA256)
	if info, err := os.Stat(path); err == nil && info.Size() == f.Bytes {
		return path, nil
	}
	if err := c.makeRoom(f.Bytes); err != nil {
		return "", err
	}
	ctx, cancel := withTransferTimeout(ctx, f.Bytes)
	defer cancel()
	in, err := store.Get(ctx, f.SHA256)
	if err != nil {
		return "", err
	}
	defer in.Close()
	return path, c.disk.WriteFile(path, 0o600, func(out *atomicfile.File) error {
		h := sha256.New()
		n, err := io.Copy(io.MultiWriter(out, h), io.LimitReader(in, f.Bytes+1))
		if err != nil {
			return err
		}
		if n != f.Bytes || hex.EncodeToString(h.Sum(nil)) != f.SHA256 {
			return fmt.Errorf("the downloaded file does not have the expected size and hash")
		}
		return nil
	})
}

// makeRoom deletes the oldest files until needed more bytes fit into maxCacheBytes.
func (c *cache) makeRoom(needed int64) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var files []os.FileInfo
	total := needed
	for _, e := range entries {
		if info, err := e.Info(); err == nil && hashName.MatchString(e.Name()) {
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int {
		return cmp.Compare(a.ModTime().UnixNano(),
			b.ModTime().UnixNano())
	})
	for _, info := range files {
		if total <= maxCacheBytes {
			break
		}
		if err := os.Remove(filepath.Join(c.dir, info.Name())); err != nil {
			return err
		}
		total -= info.Size()
	}
	return nil
}

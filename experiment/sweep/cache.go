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

// cache is a folder of files that came with sweeps, by their hashes.
type cache struct {
	disk *atomicfile.Disk
	dir  string
}

// maxCache bounds the bytes of a cache.
const maxCache = 8 << 30

var hashName = regexp.MustCompile(`^[0-9a-f]{64}$`)

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

// bring returns where a file is here, and brings it if it is not. What arrives must have
// the size and the hash that were announced.
func (c *cache) bring(ctx context.Context, store jetstream.ObjectStore, f engine.DataFile) (path string, err error) {
	if !hashName.MatchString(f.SHA256) || f.Bytes < 0 || f.Bytes > maxOneFile {
		return "", fmt.Errorf("a file of %d bytes with the hash %.80q", f.Bytes, f.SHA256)
	}
	path = filepath.Join(c.dir, f.SHA256)
	if info, err := os.Stat(path); err == nil && info.Size() == f.Bytes {
		return path, nil
	}
	if err := c.room(f.Bytes); err != nil {
		return "", err
	}
	ctx, cancel := forTransfer(ctx, f.Bytes)
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
			return fmt.Errorf("what arrived is another file")
		}
		return nil
	})
}

// room makes room for so many bytes: the files that were brought first go first.
func (c *cache) room(bytes int64) error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	var files []os.FileInfo
	total := bytes
	for _, e := range entries {
		if info, err := e.Info(); err == nil && hashName.MatchString(e.Name()) {
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, info := range files {
		if total <= maxCache {
			break
		}
		if err := os.Remove(filepath.Join(c.dir, info.Name())); err != nil {
			return err
		}
		total -= info.Size()
	}
	return nil
}

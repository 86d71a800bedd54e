package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"wirelab/encoders/patch"
	"wirelab/internal/filetype"
	"wirelab/internal/texttable"
)

// patchCommand returns tui patch, which only has subcommands.
func (a *app) patchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "patch",
		GroupID: groupData,
		Short:   "Make and apply binary deltas of files",
		Long: `Make and apply binary deltas of files: a patch turns the old version of a file into the new
one. The memory needed does not grow with the files: applying a patch takes less than 10 MB
of heap, and 21 MB of resident memory with the program.`,
		Example: `  tui patch make game-1.0 game-1.1 game.patch
  tui patch apply game-1.0 game.patch game-1.1`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("%s expects make, apply or bench", cmd.CommandPath())
		},
	}
	cmd.AddCommand(a.patchMakeCommand(), a.patchApplyCommand(), a.patchBenchCommand())
	return cmd
}

// exactArgs returns an argument check for commands with n arguments, which description names in
// errors.
func exactArgs(n int, description string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s expects %s, got %d arguments", cmd.CommandPath(), description, len(args))
		}
		return nil
	}
}

// patchMakeCommand returns tui patch make.
func (a *app) patchMakeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "make OLD NEW PATCH",
		Short:   "Make a patch from an old file and a new one",
		Long:    `Make a patch from an old file and a new one. PATCH is created when it is complete.`,
		Example: `  tui patch make game-1.0 game-1.1 game.patch`,
		Args:    exactArgs(3, "OLD, NEW and PATCH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.patchMake(cmd.Context(), args[0], args[1], args[2])
		},
	}
	a.addOutputFlags(cmd)
	return cmd
}

// patchInfo is the JSON output of tui patch make, and of each pair of tui patch bench.
type patchInfo struct {
	Name     string  `json:"name,omitempty"` // name of the pair; "" except in tui patch bench
	Old      int64   `json:"old_bytes"`
	New      int64   `json:"new_bytes"`
	Patch    int64   `json:"patch_bytes"`
	Raw      int64   `json:"raw_bytes"`     // bytes of the new file in blocks without use of the old file
	Cloned   int64   `json:"cloned_bytes"`  // bytes of the new file in blocks that are copies of the old file
	Patched  int64   `json:"patched_bytes"` // bytes of the new file in blocks encoded relative to the old file
	Make     float64 `json:"make_mb_per_s,omitempty"`
	Apply    float64 `json:"apply_mb_per_s,omitempty"`
	Lossless *bool   `json:"lossless,omitempty"` // nil if the patch was not applied
}

// patchMake makes the patch out, which turns the file oldPath into newPath, and writes its sizes.
func (a *app) patchMake(ctx context.Context, oldPath, newPath, out string) error {
	info, err := a.makePatch(ctx, "patch", oldPath, newPath, out)
	if err != nil {
		return err
	}
	return a.writeResult(info, func(io.Writer) {
		share := "for"
		if info.New > 0 {
			share = percent(info.Patch, info.New) + " % of"
		}
		a.remark("wrote %s: %d bytes, %s %s (%d bytes)", out, info.Patch, share, newPath, info.New)
		if t := compression(newPath); t != nil && info.Patch > info.New/50 {
			a.remark("%s is %s: a small change of its content changes most of its bytes; a patch of the unpacked files is smaller", newPath, t.Name)
		}
	})
}

// compression returns the kind of the file at path if it is a compressed one, otherwise nil.
func compression(path string) *filetype.Type {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	head := make([]byte, filetype.HeadBytes)
	n, _ := io.ReadFull(file, head) // a short or unreadable file has no known kind
	if t := filetype.Detect(head[:n]); t != nil && t.Compressed {
		return t
	}
	return nil
}

// percent formats part as a percentage of total; "-" if total is 0.
func percent(part, total int64) string {
	if total == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", 100*float64(part)/float64(total))
}

// makePatch makes the patch out, which turns the file oldPath into newPath, and shows progress under
// the name job. It stops when ctx ends.
func (a *app) makePatch(ctx context.Context, job, oldPath, newPath, out string) (info patchInfo, err error) {
	line := a.progress(job)
	defer line.done()
	for _, f := range []struct {
		name string
		size *int64
	}{{oldPath, &info.Old}, {newPath, &info.New}} {
		stat, err := os.Stat(f.name)
		if err != nil {
			return info, asUsageError(withoutSyscall(err))
		}
		*f.size = stat.Size()
	}
	stats, err := patch.MakeFile(oldPath, newPath, out, patch.Options{Disk: a.disk, Progress: func(done, total int64) error {
		line.report(float64(done), float64(total))
		return ctx.Err() // an error ends the job
	}})
	if err != nil {
		return info, patchError(err)
	}
	info.Patch, info.Raw, info.Cloned, info.Patched = stats.Size, stats.Raw, stats.Clone, stats.Patch
	return info, nil
}

// patchApplyCommand returns tui patch apply.
func (a *app) patchApplyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apply OLD PATCH NEW",
		Short: "Make the new file from the old one and a patch",
		Long: `Make the new file from the old one and a patch. The old file is checked before anything is
written. The new file is written under a temporary name and renamed when its SHA-256 is
correct. NEW may be the same file as OLD. If NEW is a symbolic link, its target is replaced.`,
		Example: `  tui patch apply game-1.0 game.patch game-1.1`,
		Args:    exactArgs(3, "OLD, PATCH and NEW"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.patchApply(cmd.Context(), args[0], args[1], args[2])
		},
	}
	a.addOutputFlags(cmd)
	return cmd
}

// applyInfo is the JSON output of tui patch apply.
type applyInfo struct {
	Old    int64   `json:"old_bytes"`
	New    int64   `json:"new_bytes"`
	SHA256 string  `json:"sha256"` // hash of the new file, in hexadecimal
	Apply  float64 `json:"apply_mb_per_s"`
}

// patchApply applies the patch at patchPath to the file oldPath, and writes the file newPath.
func (a *app) patchApply(ctx context.Context, oldPath, patchPath, newPath string) error {
	line := a.progress("apply")
	defer line.done()
	start := a.clock()
	header, err := patch.ApplyFile(a.disk, oldPath, patchPath, newPath, func(done, total int64) error {
		line.report(float64(done), float64(total))
		return ctx.Err() // an error ends the job
	})
	if err != nil {
		return patchError(err)
	}
	info := applyInfo{Old: header.OldSize, New: header.NewSize, SHA256: fmt.Sprintf("%x", header.NewHash),
		Apply: megabytesPerSecond(header.NewSize, a.clock()-start)}
	return a.writeResult(info, func(io.Writer) { a.remark("wrote %s: %d bytes, SHA-256 %s", newPath, info.New, info.SHA256) })
}

// patchError marks errors in the files that the user named as usage errors. Other errors, such as
// a full disk, are not usage errors.
func patchError(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission), errors.Is(err, patch.ErrNoFile), errors.Is(err, patch.ErrSource),
		errors.Is(err, patch.ErrFormat), errors.Is(err, patch.ErrWrongOld), errors.Is(err, patch.ErrCorrupt),
		errors.Is(err, patch.ErrWrongNew), errors.Is(err, syscall.ENOTDIR):
		return asUsageError(withoutSyscall(err))
	}
	return withoutSyscall(err)
}

// megabytesPerSecond returns the rate at which n bytes were processed within d. A d of 0, on a
// coarse clock, counts as 1 ns.
func megabytesPerSecond(n int64, d time.Duration) float64 {
	return float64(n) / 1e6 / max(d.Seconds(), 1e-9)
}

// patchBenchCommand returns tui patch bench.
func (a *app) patchBenchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench DIR...",
		Short: "Measure the size and speed of patches on pairs of files",
		Long: `Make and apply patches of pairs of files, and print their size and the speed. Each folder
contains a file "old" and a file "new". The exit code is 1 if applying a patch does not
give the file "new".`,
		Example: `  tui patch bench pairs/*`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("%s expects folders, each with a file \"old\" and a file \"new\"", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.patchBench(cmd.Context(), args) },
	}
	a.addOutputFlags(cmd)
	return cmd
}

// patchBench makes and applies a patch for each folder and writes the results. It returns a failure
// if a patch does not give the new file.
func (a *app) patchBench(ctx context.Context, dirs []string) error {
	work, err := a.disk.TempDir()
	if err != nil {
		return err
	}
	defer func() { _ = a.disk.RemoveAll(work) }()
	g := texttable.New("pair", ">new", ">patch", ">% of new", ">make MB/s", ">apply MB/s", "lossless")
	var all []patchInfo
	var total patchInfo
	var wrong []string
	for _, dir := range dirs {
		info, err := a.benchPair(ctx, dir, work)
		if err != nil {
			return err
		}
		if !*info.Lossless {
			wrong = append(wrong, fmt.Sprintf("%s: applying the patch does not give the new file", info.Name))
		}
		all = append(all, info)
		total.New, total.Patch = total.New+info.New, total.Patch+info.Patch
		g.Add(info.Name, info.New, info.Patch, percent(info.Patch, info.New), info.Make, info.Apply, *info.Lossless)
	}
	doc := struct {
		Pairs []patchInfo `json:"pairs"`
		New   int64       `json:"new_bytes"`
		Patch int64       `json:"patch_bytes"`
	}{all, total.New, total.Patch}
	err = a.writeResult(doc, func(w io.Writer) {
		g.Add("all", total.New, total.Patch, percent(total.Patch, total.New), "", "", len(wrong) == 0)
		g.WriteText(w, anyWidth)
	})
	return errors.Join(err, newFailure(wrong))
}

// benchPair makes and applies the patch of the files "old" and "new" in dir, and returns sizes,
// speeds, and whether the result equals "new". work is a folder for temporary files.
func (a *app) benchPair(ctx context.Context, dir, work string) (info patchInfo, err error) {
	oldPath, newPath := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	patchPath, resultPath := filepath.Join(work, "patch"), filepath.Join(work, "new")
	start := a.clock()
	if info, err = a.makePatch(ctx, filepath.Base(dir), oldPath, newPath, patchPath); err != nil {
		return info, err
	}
	made := a.clock()
	if _, err := patch.ApplyFile(nil, oldPath, patchPath, resultPath, func(int64, int64) error { return ctx.Err() }); err != nil {
		return info, withoutSyscall(err)
	}
	applied := a.clock()
	info.Name = filepath.Base(dir)
	info.Make, info.Apply = megabytesPerSecond(info.New, made-start), megabytesPerSecond(info.New, applied-made)
	same, err := sameFile(newPath, resultPath)
	info.Lossless = &same
	return info, err
}

// sameFile reports whether two files have the same content.
func sameFile(a, b string) (bool, error) {
	x, err := fileHash(a)
	if err != nil {
		return false, err
	}
	y, err := fileHash(b)
	return x == y, err
}

// fileHash returns the SHA-256 of a file.
func fileHash(name string) (sum patch.Hash, err error) {
	f, err := os.Open(name)
	if err != nil {
		return sum, withoutSyscall(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, withoutSyscall(err)
	}
	return patch.Hash(h.Sum(nil)), nil
}

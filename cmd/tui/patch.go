package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"wirelab/encoders/patch"
	"wirelab/internal/filetype"
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
			return usagef("%s expects make or apply", cmd.CommandPath())
		},
	}
	cmd.AddCommand(a.patchMakeCommand(), a.patchApplyCommand())
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

// patchInfo is the JSON output of tui patch make.
type patchInfo struct {
	Old     int64 `json:"old_bytes"`
	New     int64 `json:"new_bytes"`
	Patch   int64 `json:"patch_bytes"`
	Raw     int64 `json:"raw_bytes"`     // bytes of the new file in blocks without use of the old file
	Cloned  int64 `json:"cloned_bytes"`  // bytes of the new file in blocks that are copies of the old file
	Patched int64 `json:"patched_bytes"` // bytes of the new file in blocks encoded relative to the old file
}

// patchMake makes the patch out, which turns the file oldPath into newPath, and writes its sizes.
func (a *app) patchMake(ctx context.Context, oldPath, newPath, out string) error {
	info, err := a.makePatch(ctx, oldPath, newPath, out)
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

// makePatch makes the patch out, which turns the file oldPath into newPath, and shows progress. It
// stops when ctx ends.
func (a *app) makePatch(ctx context.Context, oldPath, newPath, out string) (info patchInfo, err error) {
	line := a.progress("patch")
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

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"wirelab/experiment/config"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
)

// TestExitCodes checks the exit code of each kind of error.
func TestExitCodes(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, inUse := net.Listen("tcp", taken.Addr().String())
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, exitDone},
		{errors.New("it did not hold"), exitFailed},
		{usagef("no such flag"), exitUsage},
		{&config.Error{Problem: "makes no sense"}, exitUsage},
		{&config.Error{Problem: "cannot be read", Cause: fs.ErrNotExist}, exitUsage},
		{&config.Error{Problem: "cannot be read", Cause: fs.ErrPermission}, exitMachine},
		{asUsageError(fmt.Errorf("x: %w", &fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES})), exitMachine},
		{inUse, exitMachine},
		{report.WriteError(fmt.Errorf("out: %w", atomicfile.ErrHasResults)), exitMachine},
		{report.WriteError(fmt.Errorf("out: %w", atomicfile.ErrHasOtherFiles)), exitMachine},
		{context.Canceled, exitInterrupted},
		{errors.Join(syscall.ENOTDIR, context.Canceled), exitInterrupted},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v: exit %d, want %d", c.err, got, c.want)
		}
	}
}

// TestMachineErrors checks commands with a full disk and a folder without write permission, as
// real as tests allow.
func TestMachineErrors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /dev/full and /sys")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{{"encoders", "--json"}, {"check", "--preset", "lossy"}, {"run", "--set", "duration=1s", "--json"}} {
		var stderr bytes.Buffer
		code := run(context.Background(), strings.NewReader(""), full, &stderr, args)
		if code != exitMachine || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%v on a full disk: exit %d, %q", args, code, stderr.String())
		}
	}
	checkErr(t, tui("record --seconds 0.1 --out /sys/a.bin"), exitMachine)
	notFolder := filepath.Join(t.TempDir(), "file")
	write(t, notFolder, "")
	checkErr(t, tui("record --seconds 0.1 --out", filepath.Join(notFolder, "a.bin")), exitUsage)
}

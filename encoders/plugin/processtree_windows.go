package plugin

import (
	"errors"
	"os/exec"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A processTree is a process of a plugin with its descendants, which all are in one job object.
type processTree struct {
	mu  sync.Mutex
	job windows.Handle // 0 after end
}

// startTree starts cmd and puts it into a new job object, which also contains its later descendants. A child
// that the process starts before startTree has put it into the job is not in the job. The system kills the
// processes of the job when its handle is closed, also at the end of the lab.
func startTree(cmd *exec.Cmd) (*processTree, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
		LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE}}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	var assignErr error
	err = cmd.Process.WithHandle(func(process uintptr) {
		assignErr = windows.AssignProcessToJobObject(job, windows.Handle(process))
	})
	if err = errors.Join(err, assignErr); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = windows.CloseHandle(job)
		return nil, err
	}
	return &processTree{job: job}, nil
}

// kill kills all processes of the job. It does nothing after end.
func (t *processTree) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.job != 0 {
		_ = windows.TerminateJobObject(t.job, 1)
	}
}

// end kills all descendants that are still running. Call it once, after the Wait of the process.
func (t *processTree) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = windows.CloseHandle(t.job)
	t.job = 0
}

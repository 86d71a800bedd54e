package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unicode"

	"wirelab/experiment/config"
	"wirelab/experiment/remote"
	"wirelab/internal/boundedio"
	"wirelab/internal/panics"
)

// maxTokenBytes is the largest size of a token file.
const maxTokenBytes = 4096

// readToken reads the token of --token-file without surrounding white space. It returns "" if path is "".
// Of a pipe or a device, such as /dev/stdin or the <(...) of a shell, it reads the first line; a wait ends
// when ctx ends. It prints a warning if every user of the machine can read the file.
func (a *app) readToken(ctx context.Context, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	var text string
	info, err := os.Stat(path) // an error is reported by config.ReadFile, with what was expected
	if err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0 {
		if text, err = readLine(ctx, path); err != nil {
			return "", asUsageError(withFlag("--token-file "+path, err))
		}
	} else {
		data, err := config.ReadFile(path, maxTokenBytes, "a file with a token")
		if err != nil {
			return "", err
		}
		text = string(data)
		a.warnReadable(path)
	}
	const byteOrderMark = "\ufeff"                    // which some editors on Windows add
	text, _, _ = strings.Cut(text, "\n"+identityMark) // of a file of tui listen, only the token
	token := strings.TrimSpace(strings.TrimPrefix(text, byteOrderMark))
	if token == "" {
		return "", usagef("--token-file %s: contains no token; expected one, such as that of openssl rand -hex 16", path)
	}
	if strings.ContainsFunc(token, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return "", usagef("--token-file %s: contains white space or control characters inside the token; expected one line of text", path)
	}
	return token, nil
}

// identityMark follows the token in a file of tui listen; see remote.Identity.
const identityMark = "-----BEGIN "

// listenerIdentity returns the identity of tui listen: that in the file path, or a new one. If the file does not
// exist, listenerIdentity creates it, readable only by this user. mustPrint is true for a new identity without a
// file, whose token the user can learn only from the output.
func (a *app) listenerIdentity(path string) (id *remote.Identity, mustPrint bool, err error) {
	if _, err := os.Stat(path); path != "" && err == nil {
		text, err := config.ReadFile(path, maxTokenBytes, "a file that tui listen wrote")
		if err != nil {
			return nil, false, err
		}
		a.warnReadable(path)
		if id, err = remote.ParseIdentity(text); err != nil {
			return nil, false, asUsageError(withFlag("--token-file "+path, err))
		}
		return id, false, nil
	}
	id, err = remote.NewIdentity()
	if err != nil || path == "" {
		return id, true, err
	}
	text, err := id.Encode()
	if err != nil {
		return nil, false, err
	}
	if err := writeSecret(path, text); err != nil {
		return nil, false, err
	}
	a.remark("wrote a new token, certificate and key to %s; the other machine needs only the first line, the token", path)
	return id, false, nil
}

// writeSecret creates a file that only this user can read.
func writeSecret(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return asUsageError(withFlag("--token-file", withoutSyscall(err)))
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // an incomplete file would be read by the next start
		return writeError(path, err)
	}
	return nil
}

// warnReadable prints a warning if every user of the machine can read a file with a secret.
func (a *app) warnReadable(path string) {
	const othersRead = 0o004
	info, err := os.Stat(path)
	if err == nil && info.Mode()&othersRead != 0 && runtime.GOOS != "windows" { // Windows reports no such permissions
		a.warn([]string{fmt.Sprintf("every user of this machine can read %s; to prevent it: chmod 600 %s", path, path)})
	}
}

// readLine reads the first line of a pipe or device, at most maxTokenBytes. It returns the cause of ctx
// if that ends first; the goroutine that reads is then left behind, because opening or reading a pipe
// cannot be interrupted.
func readLine(ctx context.Context, path string) (string, error) {
	var line string
	done := make(chan error, 1)
	go func() {
		done <- panics.Call(func() error {
			f, err := os.Open(path)
			if err != nil {
				return withoutSyscall(err)
			}
			defer f.Close()
			lines := bufio.NewScanner(boundedio.NewReader(f, path, maxTokenBytes))
			lines.Scan() // false without a line, or after an error, which Err returns
			line = lines.Text()
			return lines.Err()
		})
	}()
	select {
	case err := <-done:
		return line, err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// serverToken returns the token of a server: that in the file path, or a new one. If the file does not
// exist, serverToken creates it with the new token, readable only by this user. mustPrint is true for a new
// token without a file, which the user can learn only from the output of the server.
func (a *app) serverToken(ctx context.Context, path string) (token string, mustPrint bool, err error) {
	if path == "" {
		return rand.Text(), true, nil
	}
	if _, err := os.Stat(path); err == nil {
		token, err = a.readToken(ctx, path)
		return token, false, err
	}
	token = rand.Text()
	if err := writeSecret(path, []byte(token+"\n")); err != nil {
		return "", false, err
	}
	a.remark("wrote a new token to %s; copy the file to the other machine", path)
	return token, false, nil
}

// hideAll returns err, which must not be nil, with each of the secrets replaced by "...", for errors of
// libraries that repeat what the user typed. Empty secrets are ignored. The result wraps err.
func hideAll(err error, secrets ...string) error {
	text := err.Error()
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "...")
		}
	}
	return hiddenError{text, err}
}

// hiddenError is an error whose text was changed to hide secrets.
type hiddenError struct {
	text string
	err  error
}

func (e hiddenError) Error() string { return e.text }

// Unwrap returns the error with its original text.
func (e hiddenError) Unwrap() error { return e.err }

// checkQueueURL returns a usage error if a list of URLs of NATS servers, separated by commas, is malformed.
// The error does not repeat the URL, which may contain a token. hosts are the hosts of the URLs, each with and
// without its port. They may be tokens too, because a token without the "@" after it is parsed as a host; so
// hideAll must hide them in later errors.
func checkQueueURL(list string) (hosts []string, err error) {
	const expected = "expected nats://HOST:PORT, tls://HOST:PORT or TOKEN@ before the host"
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimSpace(text)
		if !strings.Contains(text, "://") {
			text = "nats://" + text // as the NATS library does
		}
		u, err := url.Parse(text)
		switch {
		case err != nil:
			return nil, usagef("--queue is not a URL; %s", expected)
		case u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss":
			return nil, usagef("--queue has another scheme than nats, tls, ws and wss; %s", expected)
		case u.Hostname() == "":
			return nil, usagef("--queue has no host; %s", expected)
		}
		if _, err := strconv.ParseUint(u.Port(), 10, 16); err != nil && u.Port() != "" {
			return nil, usagef("--queue has no valid port; %s", expected)
		}
		hosts = append(hosts, u.Host, u.Hostname())
	}
	return hosts, nil
}

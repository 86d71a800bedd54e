package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"strings"
	"sync/atomic"

	"wirelab/experiment/config"
	"wirelab/experiment/sweep"

	"github.com/spf13/cobra"
)

type workerFlags struct {
	queue, tokenFile, ca, name, cache string
	jobs                              int
}

func (a *app) workerCommand() *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:     "worker --queue URL",
		GroupID: groupMeasure,
		Short:   "Run chunks of other machines' sweeps",
		Long: `Take chunks of runs from a queue and run them, until it is stopped: for sweeps that
tui sweep shares with --serve or --queue. It must be of the same version as the sweep; one
that is not is refused, and says so.

A token in the URL stands in the list of processes, where other people of the machine can
read it: among others, keep it in a file, for --token-file.

A configuration is all that it is given: files come with the sweep by their hashes, into a
cache of at most 8 GB, and no file of this machine is read. What it has not finished when
it is stopped another worker takes.`,
		Example: `  tui worker --queue nats://TOKEN@host:4222
  tui worker --queue tls://host:4222 --token-file token --jobs 8`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.worker(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.queue, "queue", "", "the NATS server of the sweep (`URL`)")
	flags.StringVar(&f.tokenFile, "token-file", "", "its token is in this `FILE` (default: in the URL)")
	flags.StringVar(&f.ca, "tls-ca", "", "trust a server with a certificate of this authority (`FILE`, PEM)")
	flags.IntVar(&f.jobs, "jobs", 0, "runs side by side (default: one a core)")
	flags.StringVar(&f.name, "name", "", "under which its results are listed (default: host and process)")
	flags.StringVar(&f.cache, "cache", "", "folder for the files of sweeps (default: the user's cache)")
	a.addQuiet(cmd)
	return cmd
}

// worker runs the command.
func (a *app) worker(ctx context.Context, f workerFlags) error {
	if f.queue == "" {
		return usagef("--queue is missing; expected the URL that tui sweep --serve prints")
	}
	jobs, err := jobsFlag(f.jobs)
	if err != nil {
		return err
	}
	o, err := queueOptions(f.queue, f.tokenFile, f.ca)
	if err != nil {
		return err
	}
	q, err := sweep.OpenQueue(ctx, o)
	if err != nil {
		return err
	}
	defer q.Close()
	var done atomic.Int64
	a.remark("waiting for jobs, %d at a time; version %s", jobs, identity())
	err = sweep.Work(ctx, q, sweep.WorkerOptions{Clock: a.clock, Jobs: jobs, Name: f.name, Version: identity(), Cache: f.cache, Disk: a.disk,
		Say: func(text string) { a.remark("%s", text) }, Ran: func(runs int) { done.Add(int64(runs)) }})
	a.remark("%d runs done", done.Load())
	var refused *sweep.RefusedError
	if errors.As(err, &refused) {
		return usage(err)
	}
	return errors.Join(err, ctx.Err())
}

// queueOptions describe the queue at url, with the token and the trusted certificates of two files.
func queueOptions(url, tokenFile, ca string) (o sweep.QueueOptions, err error) {
	o.URL = url
	if o.Token, err = readToken(tokenFile); err == nil {
		o.TLS, err = authority(ca)
	}
	return o, err
}

// authority reads the certificates of those who vouch for a server; nil without a file:
// then they are the system's.
func authority(file string) (*tls.Config, error) {
	if file == "" {
		return nil, nil
	}
	data, err := config.ReadFile(file, 1<<20, "certificates in PEM")
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, usagef("--tls-ca %s: holds no certificate; expected PEM", file)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// newToken makes a token that nobody can guess.
func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// maxToken bounds a token file.
const maxToken = 4096

// readToken reads a token from a file, without the white space around it; "" without one.
func readToken(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	data, err := config.ReadFile(path, maxToken, "a file with a token")
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return "", usagef("--token-file %s: is empty; expected a token", path)
	}
	return token, nil
}

// certificate reads what a server proves itself with; nil without one.
func certificate(cert, key string) (*tls.Config, error) {
	if cert == "" && key == "" {
		return nil, nil
	}
	if cert == "" || key == "" {
		return nil, usagef("--tls-cert and --tls-key go together")
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, usage(prefixed("--tls-cert "+cert, err))
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

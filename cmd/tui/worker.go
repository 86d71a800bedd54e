package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"sync/atomic"

	"wirelab/experiment/config"
	"wirelab/experiment/sweep"

	"github.com/spf13/cobra"
)

// workerFlags are the flags of tui worker.
type workerFlags struct {
	queue         string // URL of the NATS server
	tokenFile, ca string // paths of the token and of trusted certificates; "" for none
	name          string // name of the worker in the results; "" means the default
	cache         string // folder for the files of sweeps; "" means the default
	jobs          int    // number of parallel runs; 0 means one per core
}

// workerCommand returns tui worker.
func (a *app) workerCommand() *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:     "worker --queue URL",
		GroupID: groupMeasure,
		Short:   "Run chunks of sweeps that other machines share",
		Long: `Take chunks of runs from a queue and run them until stopped, for sweeps that tui sweep
shares with --serve or --queue. Worker and sweep must have the same version; otherwise the
worker is refused.

Other users of the machine can read a token in the URL in the list of processes. On a
shared machine, use --token-file instead.

The worker reads no files of this machine. It gets the files of a sweep through the queue,
checks their hashes and stores them in a cache of at most 8 GB. When it is stopped, other
workers take over its unfinished chunks.`,
		Example: `  tui worker --queue nats://TOKEN@host:4222
  tui worker --queue tls://host:4222 --token-file token --jobs 8`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.worker(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.queue, "queue", "", "`URL` of the NATS server of the sweep")
	flags.StringVar(&f.tokenFile, "token-file", "", "read the token of the server from this `FILE` (default: the token in the URL)")
	flags.StringVar(&f.ca, "tls-ca", "", "trust the certificate authorities in PEM `FILE`")
	flags.IntVar(&f.jobs, "jobs", 0, "number of parallel runs (default: one per core)")
	flags.StringVar(&f.name, "name", "", "name of this worker in the results (default: host and process ID)")
	flags.StringVar(&f.cache, "cache", "", "folder for the files of sweeps (default: the user's cache folder)")
	a.addQuiet(cmd)
	return cmd
}

// worker runs chunks of sweeps, which are groups of runs, until ctx ends. If the queue refuses the
// worker, for example because of its version, the error is a usage error.
func (a *app) worker(ctx context.Context, f workerFlags) error {
	if f.queue == "" {
		return usagef("--queue is missing; expected the URL that tui sweep --serve prints")
	}
	jobs, err := parallelRuns(f.jobs)
	if err != nil {
		return err
	}
	o, hide, err := a.queueOptions(ctx, f.queue, f.tokenFile, f.ca)
	if err != nil {
		return err
	}
	q, err := sweep.OpenQueue(ctx, o)
	if err != nil {
		return hide(err)
	}
	defer q.Close()
	var runsDone atomic.Int64
	a.remark("waiting for work: %d parallel runs, version %s", jobs, programVersion())
	err = sweep.Work(ctx, q, sweep.WorkerOptions{Clock: a.clock, Jobs: jobs, Name: f.name, Version: programVersion(), Cache: f.cache, Disk: a.disk,
		OnNotice: func(text string) { a.remark("%s", text) }, OnRuns: func(n int) { runsDone.Add(int64(n)) }})
	a.remark("%d runs done", runsDone.Load())
	var refused *sweep.RefusedError
	if errors.As(err, &refused) {
		return asUsageError(err)
	}
	return errors.Join(err, ctx.Err())
}

// queueOptions returns the options for the queue at url. It reads the token and the certificates of
// trusted authorities from two files; "" means no file. hide removes what may be a token from an error of
// sweep.OpenQueue.
func (a *app) queueOptions(ctx context.Context, url, tokenFile, ca string) (o sweep.QueueOptions, hide func(error) error, err error) {
	hosts, err := checkQueueURL(url)
	if err != nil {
		return o, nil, err
	}
	o.URL = url
	if o.Token, err = a.readToken(ctx, tokenFile); err == nil {
		o.TLS, err = rootCertificates(ca)
	}
	return o, func(err error) error { return hideAll(err, append(hosts, url)...) }, err
}

// rootCertificates reads the certificates of the authorities to trust. It returns nil without a
// file, for the authorities of the system.
func rootCertificates(file string) (*tls.Config, error) {
	if file == "" {
		return nil, nil
	}
	const maxBytes = 1 << 20 // 1 MB is enough for all authorities of a system
	data, err := config.ReadFile(file, maxBytes, "certificates in PEM")
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(data) {
		return nil, usagef("--tls-ca %s contains no certificate; expected certificates in PEM", file)
	}
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, nil
}

// serverCertificate reads the certificate and the private key of a server; nil without files.
func serverCertificate(cert, key string) (*tls.Config, error) {
	if cert == "" && key == "" {
		return nil, nil
	}
	if cert == "" || key == "" {
		return nil, usagef("--tls-cert and --tls-key must be given together")
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, asUsageError(withFlag("--tls-cert "+cert, err))
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

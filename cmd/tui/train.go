package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"wirelab/encoders/table"
	"wirelab/encoders/train"
	"wirelab/experiment/config"
	"wirelab/internal/atomicfile"
	"wirelab/internal/setting"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// trainFlags are the flags of tui train.
type trainFlags struct {
	data    []string // values of --data, which the flag library splits at all commas; joinSpecs repairs them
	held    string   // recording that is only measured; "" for none
	out     string   // folder, or the path of the file of a single model
	encoder string   // name; "" means all encoders with models of such data
	size    string   // limit for a model file; "" means the default
	seed    uint64   // of the training and of generated data

	dir, file string // folder and name of the file that out describes; file is "" if out is a folder
}

// trainCommand returns tui train.
func (a *app) trainCommand() *cobra.Command {
	var f trainFlags
	cmd := &cobra.Command{
		Use:     "train --data SPEC --out DIR|FILE",
		GroupID: groupData,
		Short:   "Train models of your own data for encoders",
		Long: `Train models of your own data for encoders. --data names the training recordings, separated
by commas or in repeated flags. --held names a held-out recording that is only measured, to
detect overfitting.

  datagram, datagram-acked  models of the datagrams of a game, from captures; sender and receiver
                            both load the file: --set encoder.params.model=FILE
  zstd-dict                 a dictionary of datagrams: --set encoder.params.dictionary=FILE
  adaptive                  the probabilities that the encoder starts with, from recordings of
                            901 cubes; they are embedded: replace
                            encoders/cubes/entropy/static.tab.zst and build the program again

Without --encoder all encoders are trained that have models of such data. --out is a folder,
or with an extension, as in game.model, the file of a single model. --size limits the size of
a file. The losses are printed in bits per changed cube or byte. The same recordings and
seed give the same files on every machine. If training is interrupted, the files of that
encoder stay unchanged.`,
		Example: `  tui train --data demo --out trained
  tui train --encoder datagram --data packets:match.pcap --out game.model --size 1MB
  tui train --encoder zstd-dict --data packets:match.pcap --held packets:b.pcap --out game.zdict`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.train(cmd.Context(), f) },
	}
	cmd.Flags().StringSliceVar(&f.data, "data", nil, "train on the recordings `SPEC[,SPEC...]`; may be repeated")
	cmd.Flags().StringVar(&f.held, "held", "", "measure on the held-out recording `SPEC`")
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write to folder `DIR`, or to a file such as game.model")
	cmd.Flags().StringVar(&f.encoder, "encoder", "", "train only this `encoder` (default: all with models of such data)")
	cmd.Flags().StringVar(&f.size, "size", "", "largest `SIZE` of a model file, such as 64KB (default 256KB; 32KB for a dictionary)")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the training and of generated data")
	a.addOutputFlags(cmd)
	complete(cmd, "data", dataSpecs)
	complete(cmd, "held", dataSpecs)
	complete(cmd, "encoder", a.trainerNames)
	return cmd
}

// allTrainers returns the trainers of the encoder table, or those that a test has set.
func (a *app) allTrainers() []train.Trainer {
	if a.trainers != nil {
		return a.trainers
	}
	return table.Trainers()
}

// trainerNames completes --encoder with the encoders that can be trained.
func (a *app) trainerNames() (list []cobra.Completion) {
	for _, t := range a.allTrainers() {
		list = append(list, t.Encoder)
	}
	return list
}

// trainResult is the JSON output of tui train.
type trainResult struct {
	Data     []trainingSet   `json:"data"`
	Held     *trainingSet    `json:"held"` // nil without --held
	Seed     uint64          `json:"seed"`
	Encoders []encoderResult `json:"encoders"`
}

// encoderResult is the result of training one encoder.
type encoderResult struct {
	Encoder string       `json:"encoder"`
	Seconds float64      `json:"seconds"` // duration of the training; the only field that differs between runs
	Files   []fileResult `json:"files"`
}

// fileResult describes a written file.
type fileResult struct {
	Path   string `json:"path"` // relative to the folder of --out
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// train trains the chosen encoders and writes their files and results. After an error it still
// writes the results of the encoders that are complete.
func (a *app) train(ctx context.Context, f trainFlags) error {
	if len(f.data) == 0 {
		return usagef("tui train expects --data SPEC, the recordings to train on")
	}
	if f.out == "" {
		return usagef("tui train expects --out DIR, the folder to write to")
	}
	trainers, err := a.chosenTrainers(f.encoder)
	if err != nil {
		return err
	}
	if err := f.splitOut(); err != nil {
		return err
	}
	createdDirs, err := a.disk.Prepare(f.dir) // check this before the training, which may take hours
	if err != nil {
		return asUsageError(writeError(f.dir, err))
	}
	out, err := a.trainAll(ctx, f, trainers)
	if err != nil {
		a.disk.RemoveEmpty(createdDirs) // removes the folders unless files were written
	}
	if len(out.Encoders) > 0 {
		err = cmp.Or(a.writeResult(out, func(w io.Writer) { writeTrainResult(w, &out) }), err)
		if f.file == "" {
			a.remark("files in %s", f.dir)
		}
	}
	return err
}

// splitOut sets f.dir and f.file. --out is a folder if it exists as one or has no extension.
func (f *trainFlags) splitOut() error {
	info, err := os.Stat(f.out)
	exists := err == nil
	if filepath.Ext(f.out) == "" || exists && info.IsDir() {
		f.dir = f.out
		return nil
	}
	if exists && !info.Mode().IsRegular() {
		return usagef("--out %s is not a regular file; expected a folder, or the name of a file, such as game.model", f.out)
	}
	f.dir, f.file = filepath.Dir(f.out), filepath.Base(f.out)
	return nil
}

// chosenTrainers returns the trainers of the named encoder, or if name is empty all trainers.
func (a *app) chosenTrainers(name string) ([]train.Trainer, error) {
	all := a.allTrainers()
	if name == "" {
		return all, nil
	}
	var known []string
	for _, t := range all {
		if t.Encoder == name {
			return []train.Trainer{t}, nil
		}
		known = append(known, t.Encoder)
	}
	if _, err := table.ByName(name); err == nil {
		return nil, usagef("encoder %s has no model of your data to train; expected one of %s", name, strings.Join(known, ", "))
	}
	return nil, asUsageError(config.Unknown("", "encoder", name, known))
}

// trainAll trains one encoder after the other and writes the file of each when its training is
// complete. After an error the result contains the encoders that are complete.
func (a *app) trainAll(ctx context.Context, f trainFlags, trainers []train.Trainer) (trainResult, error) {
	out := trainResult{Seed: f.seed, Encoders: []encoderResult{}}
	job := train.Job{Seed: f.seed}
	if f.size != "" {
		size, err := setting.Size.Read("--size", f.size)
		if err != nil {
			return out, asUsageError(err)
		}
		job.Size = int(size)
	}
	var err error
	if out.Data, out.Held, err = a.readTrainingSets(ctx, f, trainers); err != nil {
		return out, err
	}
	if trainers, err = trainersFor(trainers, out); err != nil {
		return out, err
	}
	if f.file != "" && len(trainers) > 1 {
		return out, usagef("--out %s is one file, but %d encoders have models of such data; expected a folder, or --encoder %s",
			f.out, len(trainers), trainers[0].Encoder)
	}
	for i := range out.Data {
		job.Clips = append(job.Clips, out.Data[i].clip(ctx, f.seed))
	}
	if out.Held != nil {
		held := out.Held.clip(ctx, f.seed)
		job.Held = &held
	}
	for _, t := range trainers {
		result, err := a.trainOne(ctx, f, t, job)
		if err != nil {
			return out, err
		}
		out.Encoders = append(out.Encoders, result)
	}
	return out, nil
}

// trainersFor returns the trainers that support all recordings in out, also the held-out one. It is
// a usage error if none does.
func trainersFor(trainers []train.Trainer, out trainResult) (list []train.Trainer, err error) {
	recordings := slices.Clone(out.Data)
	if out.Held != nil {
		recordings = append(recordings, *out.Held)
	}
	for _, t := range trainers {
		unsupported := func(set trainingSet) bool { return !t.Suits(set.schema) }
		if !slices.ContainsFunc(recordings, unsupported) {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return nil, usagef("no encoder can be trained on both %s and %s; expected data of one kind", recordings[0].Spec, recordings[len(recordings)-1].Spec)
	}
	return list, nil
}

// trainOne trains one encoder and writes its file.
func (a *app) trainOne(ctx context.Context, f trainFlags, t train.Trainer, job train.Job) (encoderResult, error) {
	result := encoderResult{Encoder: t.Encoder}
	line := a.progress(t.Encoder)
	start := a.clock()
	files, err := t.Train(ctx, job, a.trainLog(&t, line))
	line.done()
	if errors.Is(err, train.ErrSize) {
		return result, asUsageError(fmt.Errorf("--size: %w", err))
	}
	if err != nil {
		return result, markDataError(err)
	}
	if err := ctx.Err(); err != nil {
		return result, err // the training was interrupted, so the file may be incomplete
	}
	result.Seconds = math.Round((a.clock()-start).Seconds()*10) / 10
	file := files[0] // trainers of models of a user's data make one file
	name := cmp.Or(f.file, file.Name)
	sum := sha256.Sum256(file.Data)
	result.Files = []fileResult{{name, len(file.Data), hex.EncodeToString(sum[:])}}
	return result, a.writeModel(filepath.Join(f.dir, name), file.Data)
}

// writeModel writes the file of a model, and creates its folder if needed.
func (a *app) writeModel(path string, data []byte) error {
	dir := filepath.Dir(path)
	createdDirs, err := a.disk.MkdirAll(dir)
	if err != nil {
		return writeError(dir, err)
	}
	err = a.disk.WriteFile(path, 0o644, func(f *atomicfile.File) error {
		_, err := f.Write(data)
		return err
	})
	if err != nil {
		a.disk.RemoveEmpty(createdDirs)
		return withoutSyscall(err)
	}
	return nil
}

// trainLog returns the functions by which a trainer reports its progress and its losses, which are printed. line shows
// the progress. They may be called from any goroutine.
func (a *app) trainLog(t *train.Trainer, line *progress) train.Log {
	return train.Log{
		Step: func(part string, done, total int64) {
			line.startJob(t.Encoder + ", " + part)
			line.report(float64(done), float64(total))
		},
		Point: func(p train.Point) {
			line.pause()
			a.remark("%s, %s, pass %d, bits per %s: training %s, held out %s", t.Encoder, p.Part, p.Epoch, t.Per,
				formatLoss(p.Train), formatLoss(p.Held))
		},
	}
}

// formatLoss formats a loss in bits; "-" for NaN, which means not measured.
func formatLoss(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return units.Fixed(v, 3)
}

// writeTrainResult writes the names and sizes of the written files.
func writeTrainResult(w io.Writer, out *trainResult) {
	g := texttable.New(">bytes", "file", "sha256")
	for _, c := range out.Encoders {
		for _, f := range c.Files {
			g.Add(f.Bytes, f.Path, f.SHA256[:12])
		}
	}
	g.WriteText(w, anyWidth)
}

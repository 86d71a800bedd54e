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
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"wirelab/encoders/table"
	"wirelab/encoders/train"
	"wirelab/internal/atomicfile"
	"wirelab/internal/setting"
)

// trainFlags are the flags of tui train.
type trainFlags struct {
	data    []string // values of --data, which the flag library splits at all commas; joinSpecs repairs them
	held    string   // recording that is only measured; "" for none
	out     string   // folder, or the path of a model file
	encoder string   // name; "" means all encoders with embedded models
	size    string   // limit for a model file; "" means the default
	seed    uint64   // of the training and of generated data
	quick   bool     // make one short pass over little data, as a test
}

// trainCommand returns tui train.
func (a *app) trainCommand() *cobra.Command {
	var f trainFlags
	cmd := &cobra.Command{
		Use:     "train --data SPEC --out DIR|FILE",
		GroupID: groupData,
		Short:   "Train the models of encoders from recordings",
		Long: `Train the models that are embedded in encoders: probability tables and small neural
networks. --data names the training recordings, separated by commas or in repeated flags.
--held names a held-out recording that is only measured, to detect overfitting.

Files are written below --out in the folder structure of the project: --out . in the root
of the project replaces the embedded files; build the program again to use them. The loss
curve, ENCODER.curve.csv, is written next to them, in bits per changed cube, or for texts
per byte. The same recordings and seed give the same files on every machine. If training is
interrupted, the files of that encoder stay unchanged.

Some encoders read a model file instead, which sender and receiver both load. --encoder
names one of them, --out the model file, and --size limits its size:
  datagram, datagram-acked  --set encoder.params.model=FILE
  zstd-dict                 --set encoder.params.dictionary=FILE`,
		Example: `  tui train --data demo --out trained --quick
  tui train --data a.bin.zst,b.bin.zst --held c.bin.zst --out .
  tui train --data text:book.txt --held text --out trained
  tui train --encoder datagram --data packets:match.pcap --out game.model --size 1MB
  tui train --encoder zstd-dict --data packets:match.pcap --out game.zdict --size 64KB`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.train(cmd.Context(), f) },
	}
	cmd.Flags().StringSliceVar(&f.data, "data", nil, "train on the recordings `SPEC[,SPEC...]`; may be repeated")
	cmd.Flags().StringVar(&f.held, "held", "", "measure on the held-out recording `SPEC`")
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write below folder `DIR`; for a model file, the name of the file")
	cmd.Flags().StringVar(&f.encoder, "encoder", "", "train only this `encoder` (default: all with embedded models)")
	cmd.Flags().StringVar(&f.size, "size", "", "largest `SIZE` of a model file, such as 64KB (default 256KB; 32KB for a dictionary)")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the training and of generated data")
	cmd.Flags().BoolVar(&f.quick, "quick", false, "make one short pass over little data, as a test")
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
	Quick    bool            `json:"quick"`
	Encoders []encoderResult `json:"encoders"`
}

// encoderResult is the result of training one encoder.
type encoderResult struct {
	Encoder string       `json:"encoder"`
	Seconds float64      `json:"seconds"` // duration of the training; the only field that differs between runs
	Files   []fileResult `json:"files"`
	Curve   []curvePoint `json:"curve"`
	unit    string       // unit of the curve: bits per changed cube, byte, ...
}

// fileResult describes a written file.
type fileResult struct {
	Path   string `json:"path"` // relative to --out, with slashes
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// curvePoint is a point of the loss curve, in bits per unit of the encoder; see
// train.Trainer.Per.
type curvePoint struct {
	Part  string   `json:"part"`  // part of the training, such as one of several models of the encoder
	Epoch int      `json:"epoch"` // number of the pass over the data
	Train *float64 `json:"train"` // loss on the training data; null if not measured
	Held  *float64 `json:"held"`  // loss on the held-out recording; null if not measured
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
	if trainers, err = a.matchTrainer(ctx, f, trainers); err != nil {
		return err
	}
	writesModelFile := trainers[0].MakesUserFile // such a trainer is always the only one
	dir := f.out
	if writesModelFile {
		if err := a.checkModelFile(f.out); err != nil {
			return err
		}
		dir = filepath.Dir(f.out)
	}
	createdDirs, err := a.disk.Prepare(dir) // check this before the training, which may take hours
	if err != nil {
		return asUsageError(writeError(dir, err))
	}
	out, err := a.trainAll(ctx, f, trainers)
	if err != nil {
		a.disk.RemoveEmpty(createdDirs) // removes the folders unless files were written
	}
	if len(out.Encoders) > 0 {
		err = cmp.Or(a.writeResult(out, func(w io.Writer) { writeTrainResult(w, &out) }), err)
		if !writesModelFile {
			a.remark("files in %s", f.out)
		}
	}
	return err
}

// checkModelFile returns a usage error if name cannot be the name of a model file: because it
// exists and is not a regular file, or is the root folder.
func (a *app) checkModelFile(name string) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() || filepath.Base(name) == string(filepath.Separator) {
		return usagef("--out %s is not a regular file; expected the name of a file, such as game.model", name)
	}
	return nil
}

// chosenTrainers returns the trainers of the named encoder, or if name is empty all trainers whose
// models are embedded in the program.
func (a *app) chosenTrainers(name string) ([]train.Trainer, error) {
	var known []string
	var chosen []train.Trainer
	for _, t := range a.allTrainers() {
		if t.Encoder == name || name == "" && !t.MakesUserFile {
			chosen = append(chosen, t)
		}
		if !slices.Contains(known, t.Encoder) {
			known = append(known, t.Encoder)
		}
	}
	if len(chosen) > 0 || name == "" {
		return chosen, nil
	}
	if _, err := table.ByName(name); err == nil {
		return nil, usagef("encoder %s has no model to train; expected one of %s", name, strings.Join(known, ", "))
	}
	return nil, asUsageError(unknownName("encoder", name, known))
}

// matchTrainer selects, among several trainers of one encoder, the one that supports the data. It
// returns all trainers if the choice is not needed or no trainer fits; reading the data then
// reports the error.
func (a *app) matchTrainer(ctx context.Context, f trainFlags, trainers []train.Trainer) ([]train.Trainer, error) {
	if f.encoder == "" || len(trainers) < 2 {
		return trainers, nil
	}
	data := dataFlags{spec: joinSpecs(f.data)[0], seed: f.seed}
	if err := data.checkRereadable(); err != nil {
		return nil, err
	}
	src, err := data.open(ctx)
	if err != nil {
		return nil, err
	}
	defer closeSource(src)
	for _, t := range trainers {
		if learnsFrom(t, src.Schema()) {
			return []train.Trainer{t}, nil
		}
	}
	return trainers, nil // reading the data then fails and lists what the trainers support
}

// trainAll trains one encoder after the other and writes the files of each when its training is
// complete. After an error the result contains the encoders that are complete.
func (a *app) trainAll(ctx context.Context, f trainFlags, trainers []train.Trainer) (trainResult, error) {
	out := trainResult{Seed: f.seed, Quick: f.quick, Encoders: []encoderResult{}}
	job := train.Job{Seed: f.seed, Quick: f.quick}
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
	for i := range out.Data {
		job.Clips = append(job.Clips, out.Data[i].clip(ctx, f.seed))
	}
	if out.Held != nil {
		held := out.Held.clip(ctx, f.seed)
		job.Held = &held
	}
	for _, t := range trainers {
		result, err := a.trainOne(ctx, f.out, t, job)
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
		unsupported := func(set trainingSet) bool { return !learnsFrom(t, set.schema) }
		if !slices.ContainsFunc(recordings, unsupported) {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return nil, usagef("no encoder can be trained on both %s and %s; expected data of one kind", recordings[0].Spec, recordings[len(recordings)-1].Spec)
	}
	return list, nil
}

// trainOne trains one encoder and writes its files: below the folder out, with the loss curve, or
// for a trainer of model files a single file to the path out.
func (a *app) trainOne(ctx context.Context, out string, t train.Trainer, job train.Job) (encoderResult, error) {
	result := encoderResult{Encoder: t.Encoder, Curve: []curvePoint{}, unit: cmp.Or(t.Per, "changed cube")}
	hasHeld := job.Held != nil
	log := a.newTrainLog(t.Encoder, hasHeld)
	start := a.clock()
	files, err := t.Train(ctx, job, log.callbacks())
	log.line.done()
	if errors.Is(err, train.ErrSize) {
		return result, asUsageError(fmt.Errorf("--size: %w", err))
	}
	if err != nil {
		return result, markDataError(err)
	}
	if err := ctx.Err(); err != nil {
		return result, err // the training was interrupted, so the files may be incomplete
	}
	result.Seconds = math.Round((a.clock()-start).Seconds()*10) / 10
	for _, p := range log.curve {
		result.Curve = append(result.Curve, curvePoint{p.Part, p.Epoch, finiteOrNil(p.Train), finiteOrNil(p.Held)})
	}
	dir, folder := out, t.Folder
	if t.MakesUserFile { // the only file gets the path out, without a folder of the encoder
		dir, files[0].Name = filepath.Split(out)
		dir, folder = cmp.Or(dir, "."), "."
	} else {
		files = append(files, curveFile(t.Encoder, result.Curve))
	}
	for _, file := range files {
		sum := sha256.Sum256(file.Data)
		result.Files = append(result.Files, fileResult{path.Join(folder, file.Name), len(file.Data), hex.EncodeToString(sum[:])})
	}
	return result, a.writeFiles(dir, folder, files)
}

// finiteOrNil returns a pointer to v, or nil for NaN and infinities, which JSON cannot represent.
func finiteOrNil(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// writeFiles writes files to dir/folder: all of them or, after an error, none.
func (a *app) writeFiles(dir, folder string, files []train.File) error {
	target := filepath.Join(dir, filepath.FromSlash(folder))
	createdDirs, err := a.disk.MkdirAll(target)
	if err != nil {
		return writeError(target, err)
	}
	var entries []atomicfile.Entry
	for _, f := range files {
		entries = append(entries, atomicfile.Bytes(f.Name, f.Data))
	}
	if err := a.disk.Group(target, entries); err != nil {
		a.disk.RemoveEmpty(createdDirs)
		return withoutSyscall(err)
	}
	return nil
}

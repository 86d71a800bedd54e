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
	lossset "wirelab/internal/setting"
)

type trainFlags struct {
	data    []string
	held    string
	out     string
	encoder string
	size    string
	seed    uint64
	quick   bool
}

func (a *app) trainCommand() *cobra.Command {
	var f trainFlags
	cmd := &cobra.Command{
		Use:     "train --data SPEC --out DIR|FILE",
		GroupID: groupData,
		Short:   "Train the tables and nets of encoders from recordings",
		Long: `Train anew what is embedded in the encoders that have learnt: tables of
probabilities, and small nets. --data names recordings to learn from, several with
commas or by repeating it; --held names one that is only measured, which shows
whether what was learnt holds for what was not seen.

Files lie in --out as they do in the project, so that --out . from the project's
root trains in place; build again to use them. Beside them stands the loss curve,
ENCODER.curve.csv, in bits per changed cube, of texts per byte. The same recordings
and seed give the same files on every machine. Interrupted, an encoder keeps the files it had.

datagram and datagram-acked have nothing embedded: --encoder names one of them, and
--out the file of a model of one's own game, which both ends load
(--set encoder.params.model=FILE); --size bounds it. So it is with zstd-dict and a
dictionary of datagrams (--set encoder.params.dictionary=FILE), and with delta-trained
and a book of matches or tables (--set encoder.params.book=FILE).`,
		Example: `  tui train --data demo --out trained --quick
  tui train --data a.bin.zst,b.bin.zst --held c.bin.zst --out .
  tui train --data text:book.txt --held text --out trained
  tui train --encoder datagram --data packets:match.pcap --out game.model --size 1MB
  tui train --encoder delta-trained --data quake3:match.dm_71 --out quake.book
  tui train --encoder zstd-dict --data packets:match.pcap --out game.zdict --size 64KB`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.train(cmd.Context(), f) },
	}
	cmd.Flags().StringSliceVar(&f.data, "data", nil, "learn from these recordings: `SPEC[,SPEC...]`; may be repeated")
	cmd.Flags().StringVar(&f.held, "held", "", "measure on this recording (`SPEC`), which nothing is learnt from")
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "write below this folder (`DIR`), or of a model of one's own its file")
	cmd.Flags().StringVar(&f.encoder, "encoder", "", "train this `encoder` only (default all that learn)")
	cmd.Flags().StringVar(&f.size, "size", "", "bytes (`SIZE`) that the file of a model may have, such as 64KB (default 256KB, of a dictionary 32KB)")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "seed of the learning, and of data that is generated")
	cmd.Flags().BoolVar(&f.quick, "quick", false, "one short pass over little data: to see that it works")
	a.addOutputFlags(cmd)
	complete(cmd, "data", dataSpecs)
	complete(cmd, "held", dataSpecs)
	complete(cmd, "encoder", a.trainerNames)
	return cmd
}

// allTrainers are those of the table, or what a test put in their place.
func (a *app) allTrainers() []train.Trainer {
	if a.trainers != nil {
		return a.trainers
	}
	return table.Trainers()
}

func (a *app) trainerNames() (list []cobra.Completion) {
	for _, t := range a.allTrainers() {
		list = append(list, t.Encoder)
	}
	return list
}

// trained is the JSON of `train`.
type trained struct {
	Data     []lesson       `json:"data"`
	Held     *lesson        `json:"held"`
	Seed     uint64         `json:"seed"`
	Quick    bool           `json:"quick"`
	Encoders []trainedCodec `json:"encoders"`
}

// trainedCodec is what came out for one encoder.
type trainedCodec struct {
	Encoder string         `json:"encoder"`
	Seconds float64        `json:"seconds"` // differs between runs, as nothing else here
	Files   []trainedFile  `json:"files"`
	Curve   []trainedPoint `json:"curve"`
	per     string         // what the curve tells the bits of
}

type trainedFile struct {
	Path   string `json:"path"` // below --out, with slashes
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// trainedPoint is a point of the loss curve, in bits per what train.Trainer.Per says.
type trainedPoint struct {
	Part  string   `json:"part"`
	Epoch int      `json:"epoch"`
	Train *float64 `json:"train"` // null where nothing was measured
	Held  *float64 `json:"held"`
}

func (a *app) train(ctx context.Context, f trainFlags) error {
	if len(f.data) == 0 {
		return usagef("tui train expects --data SPEC, recordings to learn from")
	}
	if f.out == "" {
		return usagef("tui train expects --out DIR, a folder to write into")
	}
	trainers, err := a.chosenTrainers(f.encoder)
	if err != nil {
		return err
	}
	if trainers, err = a.forData(ctx, f, trainers); err != nil {
		return err
	}
	model := trainers[0].Model // then there is no other
	dir := f.out
	if model {
		if err := a.fileName(f.out); err != nil {
			return err
		}
		dir = filepath.Dir(f.out)
	}
	made, err := a.disk.Prepare(dir) // before the work, not after it
	if err != nil {
		return asUsageError(writeError(dir, err))
	}
	out, err := a.trainAll(ctx, f, trainers)
	if err != nil {
		a.disk.RemoveEmpty(made) // holds nothing if nothing was learnt
	}
	if len(out.Encoders) > 0 {
		err = cmp.Or(a.writeResult(out, func(w io.Writer) { writeTrained(w, &out) }), err)
		if !model {
			a.remark("files in %s", f.out)
		}
	}
	return err
}

// fileName refuses what cannot be the name of a model's file.
func (a *app) fileName(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() || filepath.Base(path) == string(filepath.Separator) {
		return usagef("--out %s is no file; expected the name of one, such as game.model", path)
	}
	return nil
}

// chosenTrainers resolves --encoder: without it, all those that make what is embedded.
func (a *app) chosenTrainers(name string) ([]train.Trainer, error) {
	var known []string
	var chosen []train.Trainer
	for _, t := range a.allTrainers() {
		if t.Encoder == name || name == "" && !t.Model {
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
		return nil, usagef("encoder %s has nothing to learn; expected one of %s", name, strings.Join(known, ", "))
	}
	return nil, asUsageError(unknownName("encoder", name, known, "tui encoders"))
}

// forData chooses among trainers of one encoder, which learn from data of different kinds.
func (a *app) forData(ctx context.Context, f trainFlags, trainers []train.Trainer) ([]train.Trainer, error) {
	if f.encoder == "" || len(trainers) < 2 {
		return trainers, nil
	}
	data := dataFlags{spec: joined(f.data)[0], seed: f.seed}
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
	return trainers, nil // to be told what they learn from
}

// trainAll trains one encoder after the other and writes the files of each as soon
// as it is done. With an error it returns those that were.
func (a *app) trainAll(ctx context.Context, f trainFlags, trainers []train.Trainer) (trained, error) {
	out := trained{Seed: f.seed, Quick: f.quick, Encoders: []trainedCodec{}}
	job := train.Job{Seed: f.seed, Quick: f.quick}
	if f.size != "" {
		size, err := lossset.Size.Read("--size", f.size)
		if err != nil {
			return out, asUsageError(err)
		}
		job.Size = int(size)
	}
	var err error
	if out.Data, out.Held, err = a.lessons(ctx, f, trainers); err != nil {
		return out, err
	}
	if trainers, err = suited(trainers, out); err != nil {
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
		one, err := a.trainOne(ctx, f.out, t, job)
		if err != nil {
			return out, err
		}
		out.Encoders = append(out.Encoders, one)
	}
	return out, nil
}

// suited are the trainers that learn from all of the data.
func suited(trainers []train.Trainer, out trained) (list []train.Trainer, err error) {
	all := slices.Clone(out.Data)
	if out.Held != nil {
		all = append(all, *out.Held)
	}
	for _, t := range trainers {
		if !slices.ContainsFunc(all, func(l lesson) bool { return !learnsFrom(t, l.schema) }) {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return nil, usagef("no encoder learns from %s and from %s together; expected data of one kind", all[0].Spec, all[len(all)-1].Spec)
	}
	return list, nil
}

// trainOne trains one encoder and writes its files and its curve.
func (a *app) trainOne(ctx context.Context, dir string, t train.Trainer, job train.Job) (trainedCodec, error) {
	out := trainedCodec{Encoder: t.Encoder, Curve: []trainedPoint{}, per: cmp.Or(t.Per, "changed cube")}
	teacher := a.teacher(t.Encoder, job.Held != nil)
	start := a.clock()
	files, err := t.Train(ctx, job, teacher.log())
	teacher.line.done()
	if errors.Is(err, train.ErrSize) {
		return out, asUsageError(fmt.Errorf("--size: %w", err))
	}
	if err != nil {
		return out, markDataError(err)
	}
	if err := ctx.Err(); err != nil {
		return out, err // what a trainer made after that may be half of it
	}
	out.Seconds = math.Round((a.clock()-start).Seconds()*10) / 10
	for _, p := range teacher.curve {
		out.Curve = append(out.Curve, trainedPoint{p.Part, p.Epoch, finite(p.Train), finite(p.Held)})
	}
	folder := t.Folder
	if t.Model {
		dir, files[0].Name = filepath.Split(dir)
		dir, folder = cmp.Or(dir, "."), "."
	} else {
		files = append(files, curveFile(t.Encoder, out.Curve))
	}
	for _, file := range files {
		sum := sha256.Sum256(file.Data)
		out.Files = append(out.Files, trainedFile{path.Join(folder, file.Name), len(file.Data), hex.EncodeToString(sum[:])})
	}
	return out, a.writeTogether(dir, folder, files)
}

// finite returns v, nil if it is no number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// writeTogether writes files into dir/folder. They belong together: all of them
// appear, or none.
func (a *app) writeTogether(dir, folder string, files []train.File) error {
	into := filepath.Join(dir, filepath.FromSlash(folder))
	made, err := a.disk.MkdirAll(into)
	if err != nil {
		return writeError(into, err)
	}
	var entries []atomicfile.Entry
	for _, f := range files {
		entries = append(entries, atomicfile.Bytes(f.Name, f.Data))
	}
	if err := a.disk.Group(into, entries); err != nil {
		a.disk.RemoveEmpty(made)
		return withoutSyscall(err)
	}
	return nil
}

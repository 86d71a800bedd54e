package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/internal/texttable"
)

// encoderInfo describes an encoder in the JSON output of tui encoders.
type encoderInfo struct {
	Name      string               `json:"name"`
	ID        uint8                `json:"id"`
	Version   int                  `json:"version,omitempty"` // of its packets; 0 for a plugin
	Summary   string               `json:"summary"`
	Source    string               `json:"source"`
	Cubes     bool                 `json:"cubes"`      // encodes snapshots of cubes
	Refs      int                  `json:"refs"`       // largest number of frames that a packet is encoded relative to
	Alone     bool                 `json:"standalone"` // packets are decoded without a reference frame
	Quantises bool                 `json:"quantises"`  // decoded values are near those sent, but not equal
	Params    []encoders.ParamInfo `json:"params"`
}

// newEncoderInfo returns the description of a codec. Params is empty, not nil, without parameters, so
// that JSON has a list.
func newEncoderInfo(c *encoders.Codec) encoderInfo {
	return encoderInfo{
		Name: c.Name, ID: c.ID, Version: c.PacketVersion(), Summary: c.Summary, Source: c.Source, Cubes: c.Suits(frame.Cubes(frame.WalkoffCubes)),
		Refs: c.Refs, Alone: c.Standalone, Quantises: c.Quantises, Params: append([]encoders.ParamInfo{}, c.ParamInfo()...),
	}
}

// encoderInfos returns the description of each codec.
func encoderInfos(codecs []encoders.Codec) (list []encoderInfo) {
	for i := range codecs {
		list = append(list, newEncoderInfo(&codecs[i]))
	}
	return list
}

// encodersCommand returns tui encoders.
func (a *app) encodersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "encoders [NAME]",
		GroupID: groupLists,
		Short:   "List the encoders, or describe one with its parameters",
		Long: `List the encoders. Those of Fiedler's article form a ladder: each adds one idea to the
one before it. With NAME, describe one encoder: its source, and its parameters, which go
under [encoder.params] in a configuration.`,
		Example: `  tui encoders
  tui encoders relative-orientation
  tui encoders --json | jq -r '.encoders[].name'`,
		Args: optionalArg("the name of an encoder"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listEncoders()
			}
			return a.showEncoder(args[0])
		},
		ValidArgsFunction: completeArg(encoderNames, cobra.ShellCompDirectiveNoFileComp),
	}
	a.addJSON(cmd)
	return cmd
}

// listEncoders writes the list of all encoders.
func (a *app) listEncoders() error {
	return writeList(a, "encoders", encoderInfos(table.All()), "\ntui encoders NAME shows the source and the parameters of an encoder.\n",
		[]string{"encoder", "idea"}, func(c encoderInfo) []any { return []any{c.Name, c.Summary} })
}

// showEncoder writes the description of one encoder.
func (a *app) showEncoder(name string) error {
	codec, err := table.ByName(name)
	if err != nil {
		return asUsageError(withSuggestion(err))
	}
	info := newEncoderInfo(codec)
	return a.writeResult(info, func(io.Writer) { a.writeEncoder(info) })
}

// writeEncoder writes the description of an encoder as text.
func (a *app) writeEncoder(info encoderInfo) {
	printf(a.stdout, "%s: %s\nBased on: %s.\n", info.Name, info.Summary, strings.TrimSuffix(info.Source, "."))
	if len(info.Params) == 0 {
		fmt.Fprint(a.stdout, "This encoder has no parameters.\n")
		return
	}
	fmt.Fprint(a.stdout, "\n[encoder.params]\n")
	g := texttable.New("name", ">default", "unit", "range", "meaning")
	for _, p := range info.Params {
		g.Add(p.Name, fmt.Sprint(p.Default), p.Unit, paramRange(p), p.Help)
	}
	g.WriteText(a.stdout, a.columns)
}

// paramRange formats the range of values of a parameter, or its type if it has no bounds.
func paramRange(p encoders.ParamInfo) string {
	switch {
	case p.Min != nil && p.Max != nil:
		return fmt.Sprintf("%g..%g", *p.Min, *p.Max)
	case p.Min != nil:
		return fmt.Sprintf("from %g", *p.Min)
	case p.Max != nil:
		return fmt.Sprintf("to %g", *p.Max)
	}
	return p.Type
}

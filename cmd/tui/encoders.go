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

// encoderInfo is one encoder in the JSON of `encoders`.
type encoderInfo struct {
	Name      string               `json:"name"`
	ID        uint8                `json:"id"`
	Summary   string               `json:"summary"`
	Source    string               `json:"source"`
	Cubes     bool                 `json:"cubes"` // takes snapshots of cubes
	Refs      int                  `json:"refs"`
	Alone     bool                 `json:"standalone"` // its packets need no reference to be decoded
	Quantises bool                 `json:"quantises"`
	Params    []encoders.ParamInfo `json:"params"`
}

func infoOf(c *encoders.Codec) encoderInfo {
	return encoderInfo{
		Name: c.Name, ID: c.ID, Summary: c.Summary, Source: c.Source, Cubes: c.Suits(frame.Cubes(frame.WalkoffCubes)),
		Refs: c.Refs, Alone: c.Standalone, Quantises: c.Quantises, Params: append([]encoders.ParamInfo{}, c.ParamInfo()...),
	}
}

func infosOf(codecs []encoders.Codec) (list []encoderInfo) {
	for i := range codecs {
		list = append(list, infoOf(&codecs[i]))
	}
	return list
}

func (a *app) encodersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "encoders [NAME]",
		GroupID: groupLists,
		Short:   "List the encoders, or describe one with its parameters",
		Long: `List the encoders in the order in which to climb them: each rung of the ladder is
one idea more than the one before. With a name: its source and its parameters,
which go under [encoder.params] in a configuration.`,
		Example: `  tui encoders
  tui encoders relative-orientation
  tui encoders --json | jq -r '.encoders[].name'`,
		Args: perhapsArg("the name of an encoder"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.encoders()
			}
			return a.encoder(args[0])
		},
		ValidArgsFunction: completeArg(encoderNames, cobra.ShellCompDirectiveNoFileComp),
	}
	a.addJSON(cmd)
	return cmd
}

func (a *app) encoders() error {
	return listOf(a, "encoders", infosOf(table.All()), "\ntui encoders NAME tells the source and the parameters of one.\n",
		[]string{"encoder", "idea"}, func(c encoderInfo) []any { return []any{c.Name, c.Summary} })
}

func (a *app) encoder(name string) error {
	codec, err := table.ByName(name)
	if err != nil {
		return usage(named(err))
	}
	info := infoOf(codec)
	return a.answer(info, func(io.Writer) { a.describe(info) })
}

// describe tells a person about one encoder.
func (a *app) describe(info encoderInfo) {
	fmt.Fprintf(a.stdout, "%s: %s\nAfter %s.\n", info.Name, info.Summary, strings.TrimSuffix(info.Source, "."))
	if len(info.Params) == 0 {
		fmt.Fprint(a.stdout, "It has no parameters.\n")
		return
	}
	fmt.Fprint(a.stdout, "\n[encoder.params]\n")
	g := texttable.New("name", ">default", "unit", "range", "what it does")
	for _, p := range info.Params {
		g.Add(p.Name, fmt.Sprint(p.Default), p.Unit, bounds(p), p.Help)
	}
	g.WriteText(a.stdout, a.columns)
}

// bounds shows what a parameter may be set to.
func bounds(p encoders.ParamInfo) string {
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
